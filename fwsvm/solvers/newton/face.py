"""Linear systems K~_AA x = 1 for a sequence of active sets A, by one Cholesky factor as long as A changes little.

With the signs y of the rows, K~ = Y G Y for G = K + 1 + diag(1 / C): the systems solved are G_AA u = y, u = Y x. The
matrix G_FF of the rows F of some A is factored, G_FF = U'U. For a later A, with the rows E in A but not in F, and D in
F but not in A, G_AA u = r is

    [ G_FF  G_FE  I_D ] [ u_F ]   [ r_F ]
    [ G_EF  G_EE   0  ] [ u_E ] = [ r_E ]
    [ I_D'   0     0  ] [ mu  ]   [  0  ]

solved by eliminating u_F, with the border B = [ G_FE  I_D ]. Factor and border have the precision of the columns,
float32 at first, and are the preconditioner of conjugate gradients whose products are summed in float64, which makes up
for half the precision.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.linalg import LinAlgError

from fwsvm import phases
from fwsvm.kernels.column_cache import ColumnCache, provide
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import blas_on, scipy_linalg
from fwsvm.problems.simplex_qp import sums_by_columns
from fwsvm.solvers.frank_wolfe.iterate import AllRows
from fwsvm.solvers.newton.low_rank import LowRank
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
        self.low: LowRank | None = None

    def lack_of_room(self, active: int, resolved: Resolved) -> str:
        """Say why a face is too large: its columns are kept, its matrix is factored, and a border goes beside that."""
        # a factor in double precision, and a border beside it
        needed = active * self.columns.cached.itemsize * len(self.y) + 10 * active * active
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
        self, rows: np.ndarray, u: np.ndarray, g: np.ndarray, accuracy: float, factor: "Factor | LowRank"
    ) -> bool:
        """Take conjugate gradient steps on u and g = (K + 1) u in place; return whether the residual became small."""
        residual = self.y[rows] - g[rows] - self.ridge[rows] * u[rows]
        p, before = np.zeros(len(u)), np.inf
        for step in range(1, (3 if factor is self.low else 1) * MOST_REFINEMENTS + 1):
            if float(np.abs(residual).max(initial=0.0)) <= accuracy:
                break
            phases.inside(f"CG step {step}")
            z = factor.solve(residual)
            now = float(z @ residual)
            p[rows] = z + (now / before) * p[rows]
            Kp = self._sums(p)
            Gp = Kp[rows] + self.ridge[rows] * p[rows]
            curvature = float(p[rows] @ Gp)
            if not (now > 0.0 and 0.0 < curvature < np.inf):
                break
            u += now / curvature * p
            g += now / curvature * Kp
            residual -= now / curvature * Gp
            before = now
        return bool(np.abs(residual).max(initial=0.0) <= accuracy)

    def _factors(self, rows: np.ndarray) -> Iterator["Factor | LowRank"]:
        """Yield solvers with G_AA, each better than the one before."""
        if self.low is not None and self.low.enclose(rows):
            yield self.low
        self.low = None
        changed = len(rows)
        if self.factor is not None:
            changed = len(np.setxor1d(rows, self.factor.rows, assume_unique=True))
            if changed <= BORDER_SHARE * len(self.factor.rows):
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
    upper : ndarray, shape (n, n), U
    half : ndarray, shape (n, k), U'^-1 B
    corner : ndarray, shape (k, k), the inverse of what is left for u_E and mu
    """

    def __init__(
        self, columns: ColumnCache, ridge: np.ndarray, rows: np.ndarray, dtype: np.dtype, threads: int
    ) -> None:
        self.columns, self.ridge, self.rows = columns, ridge, rows
        values: np.ndarray = np.empty((len(rows), len(rows)), dtype)
        phases.inside("matrix")
        _gather(columns.cached, columns.slot_of[rows], rows, ridge[rows], values)
        phases.inside("factoring")
        self.upper = values.T  # what is below the diagonal is above in LAPACK's order
        with blas_on(threads if len(rows) > SHARED_FACTOR else 1):
            (potrf,) = scipy_linalg().get_lapack_funcs(("potrf",), (self.upper,))
            self.definite = potrf(self.upper, lower=0, clean=0, overwrite_a=1)[1] == 0
        self.trsv, self.trsm = scipy_linalg().get_blas_funcs(("trsv", "trsm"), (self.upper,))
        if self.definite:
            self.enclose(rows)

    def enclose(self, rows: np.ndarray) -> None:
        """Serve for the rows A from here on."""
        self.stays, self.came = np.isin(self.rows, rows), ~np.isin(rows, self.rows)
        entering, leaving = rows[self.came], np.flatnonzero(~self.stays)
        values, k = self.columns.cached[self.columns.slot_of[entering]] + 1, len(entering)
        border = np.zeros((len(self.rows), k + len(leaving)), self.upper.dtype, order="F")
        border[:, :k] = values[:, self.rows].T
        border[leaving, np.arange(k, border.shape[1])] = 1.0
        self.half = self.trsm(1.0, self.upper, border, lower=0, trans_a=1, overwrite_b=1)
        corner = -(self.half.T @ self.half).astype(np.float64)
        corner[:k, :k] += values[:, entering] + np.diag(self.ridge[entering])
        self.corner = np.linalg.inv(corner)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return G_AA^-1 r (|A|,), in the precision of the factor."""
        inner, outer, u = np.zeros(len(self.rows)), np.zeros(len(self.corner)), np.empty(len(right))
        inner[self.stays], outer[: self.came.sum()] = right[~self.came], right[self.came]
        inner = self.trsv(self.upper, inner, lower=0, trans=1)
        rest = self.corner @ (outer - self.half.T @ inner)
        inner = self.trsv(self.upper, inner - self.half @ rest.astype(inner.dtype), lower=0)
        u[self.came], u[~self.came] = rest[: self.came.sum()], inner[self.stays]
        return u


@njit
def _gather(cached, lines, rows, ridge, out):
    """Write K + 1 + diag(ridge) of rows below the diagonal of a square and on it."""
    one = out.dtype.type(1)
    for i in range(rows.size):
        k = cached[lines[i]]
        for j in range(i + 1):
            out[i, j] = k[rows[j]] + one
        out[i, i] += ridge[i]
