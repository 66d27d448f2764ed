"""Cholesky factors of Gram matrices of active rows, extended by a border for rows that enter and leave."""

from contextlib import nullcontext

import numpy as np

from fwsvm import phases
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import blas_on, scipy_linalg
from fwsvm.solvers.newton.gram_rows import GramRows
from fwsvm.solvers.tuning import SHARED_FACTOR


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
        phases.inside("factoring")
        self.diagonal = inner  # of kernel values
        self.upper = self.values.T  # what is below the diagonal is above in LAPACK's order
        with blas_on(lines.threads) if len(rows) > SHARED_FACTOR else nullcontext():
            (potrf,) = scipy_linalg().get_lapack_funcs(("potrf",), (self.upper,))
            self.definite = potrf(self.upper, lower=0, clean=0, overwrite_a=1)[1] == 0
        self.rows = rows

    def product(self, x: np.ndarray) -> np.ndarray:
        """Return Q_FF x (n,), summed in float64."""
        signed, out = self.y * x, np.zeros(len(x))
        _add_mirrored(self.values, signed, out)
        product: np.ndarray = self.y * (out + signed.sum()) + self.diagonal * x
        return product

    def half(self, right: np.ndarray, *, transposed: bool = True) -> np.ndarray:
        """Return U'^-1 r for K~_FF = U'U, or U^-1 r, of vectors (n,) or columns (n, k), which may be overwritten."""
        right = right.astype(self.upper.dtype, order="F", copy=False)
        if right.ndim == 1:
            (trsv,) = scipy_linalg().get_blas_funcs(("trsv",), (self.upper,))
            return np.asarray(trsv(self.upper, right, lower=0, trans=transposed, overwrite_x=1))
        (trsm,) = scipy_linalg().get_blas_funcs(("trsm",), (self.upper,))
        return np.asarray(trsm(1.0, self.upper, right, lower=0, trans_a=transposed, overwrite_b=1))


@njit(fastmath={"reassoc", "contract"})
def _add_mirrored(values, x, out):
    """Add, of the values above the diagonal and their mirror images, the products with x to ``out``."""
    for i in range(x.size):
        line, x_i, total = values[i], x[i], 0.0
        for t in range(i + 1, x.size):
            total += line[t] * x[t]
            out[t] += line[t] * x_i
        out[i] += total


class BorderedFactor:
    """Solutions of, and products with, K~_AA by the factor of the rows F.

    With the rows E in A but not in F, and D in F but not in A, K~_AA x = r is

        [ K~_FF  K~_FE  I_D ] [ x_F ]   [ r_F ]
        [ K~_EF  K~_EE   0  ] [ x_E ] = [ r_E ]
        [ I_D'    0      0  ] [ mu  ]   [  0  ]

    solved by eliminating x_F. With K~_FF = U'U and the border B = [ K~_FE  I_D ] that takes U'^-1 B alone.

    Parameters
    ----------
    factor : CholeskyFactor
    lines : GramRows
    ridge : ndarray of float64, shape (m,)
    """

    def __init__(self, factor: CholeskyFactor, lines: GramRows, ridge: np.ndarray) -> None:
        self.factor, self.lines, self.ridge = factor, lines, ridge
        nothing = np.empty(0, np.intp)
        # rows that entered or left since the factor was made, and U'^-1 B, a column each
        self.known = nothing
        self.halves = np.empty((len(factor.rows), 0), factor.values.dtype, order="F")
        self.enclose(factor.rows, nothing, nothing)

    @property
    def width(self) -> int:
        """Columns that were solved for so far."""
        return len(self.known)

    def enclose(self, rows: np.ndarray, entering: np.ndarray, leaving: np.ndarray) -> None:
        """Serve for the rows A from here on: F with the rows ``entering`` and without the rows ``leaving``."""
        changing = np.concatenate([entering, leaving])
        place = np.full(len(self.ridge), -1)
        place[self.known] = np.arange(self.width)
        self._add(changing[place[changing] < 0])
        place[self.known] = np.arange(self.width)
        self.half = self.halves[:, place[changing]]
        self.rows = rows
        gone, new = np.zeros((2, len(self.ridge)), dtype=bool)
        gone[leaving], new[entering] = True, True
        self.stays, self.came = ~gone[self.factor.rows], new[rows]
        self.entering, self.values = entering, np.empty((0, len(rows)))
        if not len(changing):
            return
        count = len(entering)
        self.values = self.lines.block(entering, rows, np.float64)  # Q_EA
        corner = -(self.half.T @ self.half).astype(np.float64)
        corner[:count, :count] += self.values[:, self.came] + np.diag(self.ridge[entering])
        self.corner = scipy_linalg().lu_factor(corner, overwrite_a=True, check_finite=False)

    def _add(self, new: np.ndarray) -> None:
        """Append the border's columns for rows that were not in it before."""
        if not len(new):
            return
        rows = self.factor.rows
        at = np.searchsorted(rows, new)
        inside = rows[np.minimum(at, len(rows) - 1)] == new
        columns = np.zeros((len(rows), len(new)), self.halves.dtype, order="F")
        columns[at[inside], np.flatnonzero(inside)] = 1.0
        columns[:, ~inside] = self.lines.block(new[~inside], rows, columns.dtype).T
        self.known = np.concatenate([self.known, new])
        self.halves = np.asfortranarray(np.hstack([self.halves, self.factor.half(columns)]))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return K~_AA^-1 r (|A|,), in the precision of the factor."""
        inner, x = np.zeros(len(self.stays)), np.empty(len(right))
        inner[self.stays] = right[~self.came]
        inner = self.factor.half(inner)
        if self.half.shape[1]:
            outer = np.zeros(self.half.shape[1])
            outer[: len(self.entering)] = right[self.came]
            rest = scipy_linalg().lu_solve(self.corner, outer - self.half.T @ inner, check_finite=False)
            inner -= self.half @ rest.astype(inner.dtype)
            x[self.came] = rest[: len(self.entering)]
        x[~self.came] = self.factor.half(inner, transposed=False)[self.stays]
        return x

    def product(self, x: np.ndarray) -> np.ndarray:
        """Return K~_AA x (|A|,), summed in float64."""
        inner = np.zeros(len(self.stays))
        inner[self.stays] = x[~self.came]
        out = self.ridge[self.rows] * x
        out[~self.came] += self.factor.product(inner)[self.stays]
        if len(self.entering):
            out[~self.came] += x[self.came] @ self.values[:, ~self.came]
            out[self.came] += self.values @ x
        return out
