"""Linear systems K~_AA x = 1 for a sequence of active sets A, by one Cholesky factor as long as A changes little.

With the signs y of the rows, K~_AA = Y G_AA Y for G = K + 1 + diag(1 / C). The matrix G_FF of the rows F of some A is
factored, G_FF = U'U. For a later A, with the rows E in A but not in F, and D in F but not in A, G_AA u = r is

    [ G_FF  G_FE  I_D ] [ u_F ]   [ r_F ]
    [ G_EF  G_EE   0  ] [ u_E ] = [ r_E ]
    [ I_D'   0     0  ] [ mu  ]   [  0  ]

solved by eliminating u_F. That solver has the precision of the factor, float32 at first, and is the preconditioner of
conjugate gradients whose products are summed in float64, which makes up for half the precision.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial

import numpy as np
from numpy.linalg import LinAlgError

from fwsvm import phases
from fwsvm.kernels.column_cache import pieces, provide
from fwsvm.numerics.threads import blas_on, in_shares, scipy_linalg
from fwsvm.problems.simplex_qp import STRETCH, SimplexQP, add_lines, signs
from fwsvm.solvers.tuning import BORDER_SHARE, HELD_COLUMNS, MOST_REFINEMENTS, SHARED_FACTOR

Solve = Callable[[np.ndarray], np.ndarray]


class Face:
    """Solutions of K~_AA x = 1, and products with Q = K~ - diag(1 / C), by the columns of a problem.

    Parameters
    ----------
    qp : SimplexQP
    threads : int
    """

    def __init__(self, qp: SimplexQP, threads: int) -> None:
        self.columns, self.ridge, self.y, self.threads = qp.columns, qp.ridge, signs(qp), threads
        self.dtype = qp.columns.cached.dtype  # of factors
        self.rows = np.empty(0, np.intp)  # of the present factor
        self.upper: np.ndarray | None = None

    def bytes_for(self, active: int) -> int:
        """Return what the columns, the matrix, a factor in double precision and its border take."""
        itemsize = self.columns.cached.itemsize
        return active * itemsize * len(self.y) + (itemsize + 10) * active * active

    @property
    def most(self) -> float:
        """How many columns may be held at the same time."""
        slots = len(self.columns.row_of)
        return slots if slots == len(self.y) else HELD_COLUMNS * slots

    def product(self, x: np.ndarray) -> np.ndarray:
        """Return Q x (m,) for any x (m,)."""
        out = np.zeros(len(x))
        for rows in pieces(self.columns, np.flatnonzero(x)):
            out += self._sums(self.columns.cached, self.columns.slot_of[rows], (self.y * x)[rows])
        return self.y * out

    def solve(
        self, rows: np.ndarray, b: np.ndarray, f: np.ndarray, accuracy: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return x (m,) with K~_AA x_A = 1, zero outside the rows A, given in ascending order; and Q x (m,).

        Begins at b (m,), of which f = Q b is known, and ends where no row of the residual exceeds ``accuracy``, or
        where double precision ends. LinAlgError where K~_AA is not positive definite, in double precision.
        """
        x = np.zeros(len(b))
        x[rows] = b[rows]
        f = f - self.product(b - x)
        provide(self.columns, rows, partial(phases.inside, "kernel values"))
        phases.inside("matrix")
        values = self._block(rows, rows)
        for solver in self._solvers(rows, values):
            if self._refine(rows, x, f, accuracy, values, solver):
                break
        return x, f

    def _refine(
        self,
        rows: np.ndarray,
        x: np.ndarray,
        f: np.ndarray,
        accuracy: float,
        values: np.ndarray,
        solver: Solve,
    ) -> bool:
        """Take conjugate gradient steps on x and f = Q x in place; return whether the residual became small."""
        y, lines = self.y[rows], np.arange(len(rows), dtype=np.int32)
        residual = 1.0 - f[rows] - self.ridge[rows] * x[rows]
        p, before, way = np.zeros(len(rows)), np.inf, np.zeros(len(x))
        for step in range(1, MOST_REFINEMENTS + 1):
            if float(np.abs(residual).max(initial=0.0)) <= accuracy:
                break
            phases.inside(f"CG step {step}")
            z = y * solver(y * residual)
            now = float(z @ residual)
            p = z + (now / before) * p
            Kp = y * self._sums(values, lines, y * p) + self.ridge[rows] * p
            curvature = float(p @ Kp)
            if not (now > 0.0 and 0.0 < curvature < np.inf):
                break
            way[rows] += now / curvature * p
            residual -= now / curvature * Kp
            before = now
        if way.any():
            x += way
            f += self.product(way)
        return bool(np.abs(residual).max(initial=0.0) <= accuracy)

    def _solvers(self, rows: np.ndarray, values: np.ndarray) -> Iterator[Solve]:
        """Yield solvers with G_AA, each better than the one before."""
        changes = len(np.setxor1d(self.rows, rows, assume_unique=True))
        if self.upper is not None and changes <= BORDER_SHARE * len(self.rows):
            yield self._bordered(rows)
        for dtype in dict.fromkeys((self.dtype, np.dtype(np.float64))):
            if changes or dtype != self.dtype:
                self._factor(rows, values, dtype)
                if self.upper is not None:
                    yield self._bordered(rows)
        if self.upper is None:
            raise LinAlgError("not positive definite")

    def _factor(self, rows: np.ndarray, values: np.ndarray, dtype: np.dtype) -> None:
        """Factor G_AA; leave no factor where it is not positive definite in this precision."""
        phases.inside("factoring")
        self.rows, self.dtype, self.upper = rows, dtype, None
        matrix = values.astype(dtype)
        matrix += 1.0
        matrix[np.diag_indices(len(rows))] += self.ridge[rows]
        with blas_on(self.threads) if len(rows) > SHARED_FACTOR else nullcontext():
            try:
                self.upper, _ = scipy_linalg().cho_factor(matrix.T, overwrite_a=True, check_finite=False)
            except LinAlgError:
                return

    def _bordered(self, rows: np.ndarray) -> Solve:
        """Return the solver with G_AA by the factor of the rows F: r (|A|,) to G_AA^-1 r."""
        upper = self.upper
        assert upper is not None  # noqa: S101 - for the type
        stays = np.isin(self.rows, rows, assume_unique=True)
        came = ~np.isin(rows, self.rows, assume_unique=True)
        left, new = np.flatnonzero(~stays), rows[came]
        k = len(new)
        border = np.zeros((len(stays), k + len(left)), upper.dtype, order="F")
        border[:, :k] = 1.0 + self._block(new, self.rows).T
        border[left, k + np.arange(len(left))] = 1.0

        def half(right: np.ndarray, trans: int) -> np.ndarray:
            solve_triangular = scipy_linalg().solve_triangular
            return np.asarray(solve_triangular(upper, right, trans, overwrite_b=True, check_finite=False))

        if not border.size:
            return lambda right: half(half(right.astype(upper.dtype), 1), 0)
        H = half(border, 1)
        corner = -(H.T @ H).astype(np.float64)
        corner[:k, :k] += 1.0 + self._block(new, new) + np.diag(self.ridge[new])
        inverse = np.linalg.inv(corner)

        def solve(right: np.ndarray) -> np.ndarray:
            inner, outer, u = np.zeros(len(stays), H.dtype), np.zeros(H.shape[1]), np.empty(len(rows))
            inner[stays], outer[:k] = right[~came], right[came]
            inner = half(inner, 1)
            rest = inverse @ (outer - H.T @ inner)
            u[came], u[~came] = rest[:k], half(inner - H @ rest.astype(H.dtype), 0)[stays]
            return u

        return solve

    def _sums(self, cached: np.ndarray, lines: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_c weights[c] (1 + cached[lines[c]]), summed in float64."""
        out: np.ndarray = np.full(cached.shape[1], weights.sum())
        in_shares(
            lambda first, last: add_lines(cached, lines, weights, out, first, last),
            len(out),
            self.threads,
            STRETCH,
        )
        return out

    def _block(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return k(x_i, x_j) for rows whose columns are provided and any others."""
        values = np.empty((len(first), len(second)), self.columns.cached.dtype)
        for line, slot in zip(values, self.columns.slot_of[first], strict=True):
            np.take(
                self.columns.cached[slot], second, out=line, mode="clip"
            )  # by any other mode there is a copy
        return values
