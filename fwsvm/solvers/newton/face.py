"""Linear systems K~_AA x = 1 for a sequence of active sets A, by one Cholesky factor as long as A changes little.

With the signs y of the rows, K~ = Y G Y for G = K + 1 + diag(1 / C): the systems solved are G_AA u = y, u = Y x. The
matrix G_FF of the rows F of some A is factored, G_FF = U'U. For a later A, with the rows E in A but not in F, and D in
F but not in A, G_AA u = r is

    [ G_FF  G_FE  I_D ] [ u_F ]   [ r_F ]
    [ G_EF  G_EE   0  ] [ u_E ] = [ r_E ]
    [ I_D'   0     0  ] [ mu  ]   [  0  ]

solved by eliminating u_F. With the border B = [ G_FE  I_D ] that takes U'^-1 B alone, whose columns are kept. Factor
and border have the precision of the columns, float32 at first, and are the preconditioner of conjugate gradients whose
products are summed in float64, which makes up for half the precision.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial

import numpy as np
from numpy.linalg import LinAlgError

from fwsvm import phases
from fwsvm.kernels.column_cache import ColumnCache, provide
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import blas_on, scipy_linalg
from fwsvm.problems.simplex_qp import sums_by_columns
from fwsvm.solvers.frank_wolfe.iterate import AllRows
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.tuning import BORDER_SHARE, HELD_COLUMNS, MOST_REFINEMENTS, SHARED_FACTOR


class Face:
    """Solutions of K~_AA x = 1, and products with Q = K~ - diag(1 / C), by the column cache of a problem."""

    def __init__(self, columns: ColumnCache, rows: AllRows) -> None:
        self.columns, self.ridge, self.y, self.threads = columns, rows.ridge, rows.y, columns.threads
        slots = len(columns.row_of)
        self.most = (
            slots if slots == len(self.y) else int(HELD_COLUMNS * slots)
        )  # columns held at the same time
        self.dtype = columns.cached.dtype  # of factors
        self.factor: Factor | None = None

    def lack_of_room(self, active: int, resolved: Resolved) -> str:
        """Say why a face is too large: its columns are kept, its matrix is factored, and a border goes beside that."""
        # a factor in double precision, and a border beside it
        needed = active * self.columns.cached.itemsize * len(self.y) + 14 * active * active
        if needed <= resolved.cache_bytes and active <= self.most:
            return ""
        return (
            f"newton has {active:,} active rows and needs {needed >> 20:,} MiB for them, where cache_mib allows "
            f"{resolved.cache_mib:,}; give more (threads with a pair of classes each share it), or use swap-2o"
        )

    def product(self, x: np.ndarray) -> np.ndarray:
        """Return Q x (m,) for any x (m,)."""
        return self.y * self._sums(self.y * x)

    def _sums(self, u: np.ndarray) -> np.ndarray:
        """Return (K + 1) u, summed in float64."""
        return sums_by_columns(self.columns, u, self.threads)

    def solve(
        self, rows: np.ndarray, b: np.ndarray, f: np.ndarray, accuracy: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return x (m,) with K~_AA x_A = 1, zero outside the rows A, given in ascending order; and Q x (m,).

        Begins at b (m,), of which f = Q b is known, and ends where no row of the residual exceeds ``accuracy``, or
        where double precision ends. LinAlgError where K~_AA is not positive definite, in double precision.
        """
        u = np.zeros(len(b))
        u[rows] = (self.y * b)[rows]
        g = self.y * f - self._sums(self.y * b - u)  # there may be no room for these rows beside the others
        provide(self.columns, rows, partial(phases.inside, "kernel values"))
        for factor in self._factors(rows):
            if self._refine(rows, u, g, accuracy, factor):
                break
        return self.y * u, self.y * g

    def _refine(
        self, rows: np.ndarray, u: np.ndarray, g: np.ndarray, accuracy: float, factor: "Factor"
    ) -> bool:
        """Take conjugate gradient steps on u and g = (K + 1) u in place; return whether the residual became small."""
        residual = self.y[rows] - g[rows] - self.ridge[rows] * u[rows]
        p, before, way = np.zeros(len(rows)), np.inf, np.zeros(len(u))
        for step in range(1, MOST_REFINEMENTS + 1):
            if float(np.abs(residual).max(initial=0.0)) <= accuracy:
                break
            phases.inside(f"CG step {step}")
            z = factor.solve(residual)
            now = float(z @ residual)
            p = z + (now / before) * p
            Gp = factor.product(p)
            curvature = float(p @ Gp)
            if not (now > 0.0 and 0.0 < curvature < np.inf):
                break
            way[rows] += now / curvature * p
            residual -= now / curvature * Gp
            before = now
        if way.any():
            u += way
            g += self._sums(way)
        return bool(np.abs(residual).max(initial=0.0) <= accuracy)

    def _factors(self, rows: np.ndarray) -> Iterator["Factor"]:
        """Yield solvers with G_AA, each better than the one before."""
        changed = True
        if self.factor is not None:
            few, size = len(np.setxor1d(rows, self.factor.rows, assume_unique=True)), len(self.factor.rows)
            changed = few > 0
            if few <= BORDER_SHARE * size and len(self.factor.known) <= 2 * BORDER_SHARE * size:
                self.factor.enclose(rows)
                yield self.factor
        for dtype in dict.fromkeys((self.dtype, np.dtype(np.float64))):
            if changed or dtype != self.dtype:
                self.factor, self.dtype = None, dtype  # its memory is wanted for the next
                factor = Factor(self.columns, self.ridge, rows, dtype, self.threads)
                if factor.definite:
                    self.factor = factor
                    yield factor
        if self.factor is None:
            raise LinAlgError("not positive definite")


class Factor:
    """G_FF of rows F, factored, and the border by which it serves for other rows A.

    The lower triangle is factored in place. Above the diagonal stand the values k(x_i, x_j) alone, as the columns
    have them: a product reads each of them once, two bytes an entry of G_FF in single precision, where the columns hold
    m / n of four.

    Parameters
    ----------
    columns : ColumnCache, with the columns of these rows
    ridge : ndarray of float64, shape (m,)
    rows : ndarray of int, shape (n,), F, ascending
    dtype : float32 or float64
    threads : int

    Attributes
    ----------
    definite : bool
        Whether G_FF is positive definite in this precision; where it is not, there is no factor.
    known : ndarray of int, rows that entered or left since the factor was made
    halves : ndarray, U'^-1 B, a column each
    """

    def __init__(
        self, columns: ColumnCache, ridge: np.ndarray, rows: np.ndarray, dtype: np.dtype, threads: int
    ) -> None:
        self.columns, self.ridge, self.rows, lines = columns, ridge, rows, columns.slot_of[rows]
        self.values: np.ndarray = np.empty((len(rows), len(rows)), dtype)
        phases.inside("matrix")
        _gather(columns.cached, lines, rows, ridge[rows], self.values)
        self.diagonal = columns.cached[lines, rows].astype(np.float64)  # of kernel values
        phases.inside("factoring")
        self.upper = self.values.T  # what is below the diagonal is above in LAPACK's order
        with blas_on(threads) if len(rows) > SHARED_FACTOR else nullcontext():
            (potrf,) = scipy_linalg().get_lapack_funcs(("potrf",), (self.upper,))
            self.definite = potrf(self.upper, lower=0, clean=0, overwrite_a=1)[1] == 0
        self.known, self.halves = np.empty(0, np.intp), np.empty((len(rows), 0), dtype, order="F")
        if self.definite:
            self.enclose(rows)

    def _block(
        self, first: np.ndarray, second: np.ndarray, dtype: type | np.dtype = np.float64
    ) -> np.ndarray:
        """Return k(x_i, x_j) + 1 for rows whose columns are provided and any others."""
        values = self.columns.cached[np.ix_(self.columns.slot_of[first], second)].astype(dtype)
        values += 1
        return values

    def _half(self, right: np.ndarray, trans: int = 1) -> np.ndarray:
        """Return U'^-1 r, or U^-1 r, of vectors (n,) or columns (n, k), which may be overwritten."""
        right = right.astype(self.upper.dtype, order="F", copy=False)
        trsv, trsm = scipy_linalg().get_blas_funcs(("trsv", "trsm"), (self.upper,))
        if right.ndim == 1:
            return np.asarray(trsv(self.upper, right, lower=0, trans=trans, overwrite_x=1))
        return np.asarray(trsm(1.0, self.upper, right, lower=0, trans_a=trans, overwrite_b=1))

    def enclose(self, rows: np.ndarray) -> None:
        """Serve for the rows A from here on."""
        self.stays, self.came = np.isin(self.rows, rows), ~np.isin(rows, self.rows)
        self.entering = entering = rows[self.came]
        changing, k = np.concatenate([entering, self.rows[~self.stays]]), len(entering)
        if len(new := np.setdiff1d(changing, self.known)):
            inside, border = np.isin(new, self.rows), np.zeros((len(self.rows), len(new)), self.upper.dtype)
            border[np.searchsorted(self.rows, new[inside]), np.flatnonzero(inside)] = 1.0
            border[:, ~inside] = self._block(new[~inside], self.rows, border.dtype).T
            self.known = np.concatenate([self.known, new])
            self.halves = np.asfortranarray(np.hstack([self.halves, self._half(border)]))
        place = np.empty(len(self.ridge), np.intp)
        place[self.known] = np.arange(len(self.known))
        self.half, self.entering_values = self.halves[:, place[changing]], self._block(entering, rows)
        corner = -(self.half.T @ self.half).astype(np.float64)
        corner[:k, :k] += self.entering_values[:, self.came] + np.diag(self.ridge[entering])
        self.corner = np.linalg.inv(corner)
        self.ridge_here = self.ridge[rows]

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return G_AA^-1 r (|A|,), in the precision of the factor."""
        inner, outer, u = np.zeros(len(self.stays)), np.zeros(len(self.corner)), np.empty(len(right))
        inner[self.stays], outer[: len(self.entering)] = right[~self.came], right[self.came]
        inner = self._half(inner)
        rest = self.corner @ (outer - self.half.T @ inner)
        inner -= self.half @ rest.astype(inner.dtype)
        u[self.came], u[~self.came] = rest[: len(self.entering)], self._half(inner, 0)[self.stays]
        return u

    def product(self, u: np.ndarray) -> np.ndarray:
        """Return G_AA u (|A|,), summed in float64."""
        inner, sums = np.zeros(len(self.stays)), np.zeros(len(self.stays))
        inner[self.stays] = u[~self.came]
        _add_mirrored(self.values, inner, sums)
        sums += inner.sum() + self.diagonal * inner
        out = self.ridge_here * u
        out[~self.came] += sums[self.stays] + u[self.came] @ self.entering_values[:, ~self.came]
        out[self.came] += self.entering_values @ u
        return out


@njit
def _gather(cached, lines, rows, ridge, out):
    """Write K + 1 + diag(ridge) of rows below the diagonal of a square and on it, and above it K."""
    one = out.dtype.type(1)
    for i in range(rows.size):
        k = cached[lines[i]]
        for j in range(i + 1):
            out[i, j] = k[rows[j]] + one
        out[i, i] += ridge[i]
        for j in range(i + 1, rows.size):
            out[i, j] = k[rows[j]]


@njit(fastmath={"reassoc", "contract"})
def _add_mirrored(values, x, out):
    """Add, of the values above the diagonal and their mirror images, the products with x to ``out``."""
    for i in range(x.size):
        line, x_i, total = values[i], x[i], 0.0
        for t in range(i + 1, x.size):
            total += line[t] * x[t]
            out[t] += line[t] * x_i
        out[i] += total
