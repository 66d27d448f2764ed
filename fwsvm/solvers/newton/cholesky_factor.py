"""The Gram matrix of a set of rows: the lower triangle becomes the Cholesky factor, the upper serves products."""

from contextlib import nullcontext

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from fwsvm import phases
from fwsvm.numerics.compile import njit
from fwsvm.numerics.simd import broadcast, load, store, widen
from fwsvm.numerics.threads import blas_on
from fwsvm.solvers.newton.cholesky import factor_in_place
from fwsvm.solvers.newton.gram_rows import GramRows
from fwsvm.solvers.tuning import SHARED_FACTOR

BAND = 4  # rows whose values meet a stretch of numbers at a time


class CholeskyFactor:
    """K~_FF of rows F, in the precision of the factor.

    The lower triangle is factored in place. Above the diagonal stand the values k(x_i, x_j) alone, as the columns
    have them: a product with Q_FF reads each of them once, two bytes an entry of Q_FF in single precision, where the
    columns hold m / n of four. Signs and the constant 1 are added to its sums, which are float64.

    Parameters
    ----------
    lines : GramRows
    rows : ndarray of int, shape (n,), ascending
        Rows that were provided.
    ridge : ndarray of float64, shape (m,)
    dtype : float32 or float64
    room : ndarray of one dimension, optional
        Memory that another factor has left; new memory of the system's costs as much time as filling it.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
    definite : bool
        Whether K~_FF is positive definite in this precision; where it is not, there is no factor.
    """

    def __init__(
        self,
        lines: GramRows,
        rows: np.ndarray,
        ridge: np.ndarray,
        dtype: np.dtype,
        room: np.ndarray | None = None,
    ) -> None:
        self.y = lines.y[rows]
        size = len(rows) ** 2
        if room is None or room.dtype != dtype or room.size < size:
            room = np.empty(size + size // 8, dtype)  # the next may have some rows more
        self.room = room
        self.values = room[:size].reshape(len(rows), len(rows))
        inner = lines.matrix(rows, ridge, self.values)
        phases.inside("factoring", 0.0)
        self.diagonal = inner  # of kernel values
        self.upper = self.values.T  # what is below the diagonal is above in LAPACK's order
        with blas_on(lines.threads) if len(rows) > SHARED_FACTOR else nullcontext():
            self.definite = factor_in_place(self.upper)
        self.rows = rows

    def product(self, x: np.ndarray) -> np.ndarray:
        """Return Q_FF x (n,), summed in float64."""
        signed, out = self.y * x, np.zeros(len(x))
        _add_mirrored(self.values, signed, out)
        product: np.ndarray = self.y * (out + signed.sum()) + self.diagonal * x
        return product

    def half(self, right: np.ndarray) -> np.ndarray:
        """Return U'^-1 r for K~_FF = U'U, of vectors (n,) or of columns (n, k), which may be overwritten."""
        return self._by_factor(right, 1)

    def other_half(self, right: np.ndarray) -> np.ndarray:
        """Return U^-1 r, of vectors (n,) or of columns (n, k), which may be overwritten."""
        return self._by_factor(right, 0)

    def _by_factor(self, right: np.ndarray, trans: int) -> np.ndarray:
        right = right.astype(self.upper.dtype, order="F", copy=False)
        if right.ndim == 1:
            (trsv,) = get_blas_funcs(("trsv",), (self.upper,))
            return np.asarray(trsv(self.upper, right, lower=0, trans=trans, overwrite_x=1))
        (trsm,) = get_blas_funcs(("trsm",), (self.upper,))
        return np.asarray(trsm(1.0, self.upper, right, lower=0, trans_a=trans, overwrite_b=1))


@njit
def _add_mirrored(values, x, out):
    """Add, of the values above the diagonal and their mirror images, the products with x to ``out``."""
    sums = np.empty(BAND * 8)
    for i in range(0, x.size, BAND):
        _add_band(values, x, out, sums, i)


@njit(inner=True)
def _add_band(values, x, out, sums, i):
    """Do so for the rows from i on, as many as make a band."""
    n = x.size
    edge = min(i + BAND, n)
    for r in range(i, edge):
        for t in range(r + 1, edge):
            out[r] += values[r, t] * x[t]
            out[t] += values[r, t] * x[r]
    if edge == n:
        return
    a, b, c, d = values[i], values[i + 1], values[i + 2], values[i + 3]
    x_a, x_b, x_c, x_d = x[i], x[i + 1], x[i + 2], x[i + 3]
    s_a = s_b = s_c = s_d = broadcast(0.0)
    whole = edge + (n - edge) // 8 * 8
    for t in range(edge, whole, 8):
        k_a, k_b, k_c, k_d = widen(load(a, t)), widen(load(b, t)), widen(load(c, t)), widen(load(d, t))
        x_t = load(x, t)
        s_a, s_b, s_c, s_d = s_a + k_a * x_t, s_b + k_b * x_t, s_c + k_c * x_t, s_d + k_d * x_t
        store(out, t, load(out, t) + (k_a * x_a + k_b * x_b) + (k_c * x_c + k_d * x_d))
    store(sums, 0, s_a)
    store(sums, 8, s_b)
    store(sums, 16, s_c)
    store(sums, 24, s_d)
    for r in range(BAND):
        for t in range(8):
            out[i + r] += sums[r * 8 + t]
    for t in range(whole, n):
        out[i] += a[t] * x[t]
        out[i + 1] += b[t] * x[t]
        out[i + 2] += c[t] * x[t]
        out[i + 3] += d[t] * x[t]
        out[t] += (a[t] * x_a + b[t] * x_b) + (c[t] * x_c + d[t] * x_d)
