"""Linear systems K~_AA x = 1 for one set of rows A after another, by a factor that outlives small changes of A."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import LinAlgError, lu_factor, lu_solve
from scipy.linalg.blas import get_blas_funcs
from scipy.linalg.lapack import get_lapack_funcs
from threadpoolctl import threadpool_limits

from fwsvm.solvers.active_face.lines import Lines

Solve = Callable[[np.ndarray], np.ndarray]
LITTLE = 1 / 8  # of the rows factored may change: n / 6 right-hand sides cost what a new factor does
SHARED = (
    4096  # rows: a smaller factor takes one thread, for BLAS's wait for each other where others use the cores
)
ROUNDS = 12  # of refinement, before a better factor is worth more


class Face:
    """A Cholesky factor of K~_FF for rows F, and a bordered system for what A has more and less than F.

    With the rows E in A but not in F, and D in F but not in A, K~_AA x = r is

        [ K~_FF  K~_FE  I_D ] [ x_F ]   [ r_F ]
        [ K~_EF  K~_EE   0  ] [ x_E ] = [ r_E ]
        [ I_D'    0      0  ] [ mu  ]   [  0  ]

    solved by eliminating x_F. Factor and border have the precision of the lines, float32 at first, and are the
    preconditioner of conjugate gradients whose products are summed in float64, which makes up for half the precision.
    Where `ROUNDS` of them do not, the rows are factored anew, and if need be in float64 from then on.

    Parameters
    ----------
    lines : Lines
    ridge : ndarray of float64, shape (m,)
    """

    def __init__(self, lines: Lines, ridge: np.ndarray) -> None:
        self.lines, self.ridge, self.dtype = lines, ridge, lines.dtype
        self.rows = np.empty(0, np.intp)  # F
        self._forget_border()

    def solve(
        self, rows: np.ndarray, b: np.ndarray, f: np.ndarray, accuracy: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return x (m,) with K~_AA x_A = 1, zero outside the rows A, given in ascending order; and Q x (m,).

        Begins at b (m,), of which f = Q b is known, and ends where no row of the residual exceeds ``accuracy``, or
        where double precision ends. LinAlgError where K~_AA is not positive definite, in double precision.
        """
        x = np.zeros(len(b))
        x[rows] = b[rows]
        f, gone = f.copy(), np.setdiff1d(np.flatnonzero(b), rows, assume_unique=True)
        for first in range(0, len(gone), self.lines.most):  # there may be no room for these beside the rows
            some, part = gone[first : first + self.lines.most], np.zeros(len(b))
            part[some] = b[some]
            self.lines.provide(some)
            f -= self.lines.product(part)
        self.lines.provide(rows)
        for precondition in self._inverses(rows):
            if self._descend(rows, x, f, accuracy, precondition):
                break
        return x, f

    def _descend(
        self, rows: np.ndarray, x: np.ndarray, f: np.ndarray, accuracy: float, precondition: Solve
    ) -> bool:
        """Take conjugate gradient steps on x and f = Q x in place; return whether the residual became small."""
        p, before = np.zeros(len(rows)), np.inf
        spread = np.zeros(len(x))
        for _ in range(ROUNDS):
            residual = 1.0 - f[rows] - self.ridge[rows] * x[rows]
            if np.abs(residual).max(initial=0.0) <= accuracy:
                return True
            z = precondition(residual)
            now = float(z @ residual)
            p = z + (now / before) * p
            spread[rows] = p
            Qp = self.lines.product(spread)
            curvature = float(p @ (Qp[rows] + self.ridge[rows] * p))
            if not (now > 0.0 and 0.0 < curvature < np.inf):
                return False
            x[rows] += now / curvature * p
            f += now / curvature * Qp
            before = now
        return False

    def _inverses(self, rows: np.ndarray) -> Iterator[Solve]:
        """Yield solvers with K~_AA, each better than the one before."""
        entering = np.setdiff1d(rows, self.rows, assume_unique=True)
        leaving = np.setdiff1d(self.rows, rows, assume_unique=True)
        changed = len(entering) + len(leaving)
        if changed <= LITTLE * len(self.rows) and len(self._bordering) <= 2 * LITTLE * len(self.rows):
            yield self._bordered(rows, entering, leaving) if changed else self._solve
        if changed and self._factor(rows):
            yield self._solve
        if self.dtype != np.float64:
            self.dtype = np.dtype(np.float64)
            if self._factor(rows):
                yield self._solve
        if not len(self.rows):
            raise LinAlgError("not positive definite")

    def _factor(self, rows: np.ndarray) -> bool:
        """Factor K~_AA; return whether it is positive definite."""
        self._forget_border()
        self._upper = None  # its memory is wanted for the next
        matrix = self.lines.matrix(rows, self.ridge, self.dtype).T  # which is upper, and in LAPACK's order
        (potrf,) = get_lapack_funcs(("potrf",), (matrix,))
        with threadpool_limits(self.lines.threads if len(rows) > SHARED else 1, user_api="blas"):
            self._upper, failed = potrf(matrix, lower=0, overwrite_a=1, clean=0)
        self.rows = rows[:0] if failed else rows
        return not failed

    def _solve(self, right: np.ndarray) -> np.ndarray:
        (trsv,) = get_blas_funcs(("trsv",), (self._upper,))
        half = trsv(self._upper, right.astype(self.dtype), lower=0, trans=1, overwrite_x=1)
        return trsv(self._upper, half, lower=0, trans=0, overwrite_x=1).astype(np.float64)

    # ---------------------------------------------------------------- the border

    def _forget_border(self) -> None:
        self._bordering = np.empty(0, np.intp)  # rows that entered or left since the factor was made
        # a column each: K~_Fe or a unit vector, and K~_FF^-1 of it
        self._border = self._solved = np.empty((0, 0))

    def _bordered(self, rows: np.ndarray, entering: np.ndarray, leaving: np.ndarray) -> Solve:
        """Return the solver with K~_AA by that with K~_FF; columns of the border are solved for once."""
        new = np.setdiff1d(np.concatenate([entering, leaving]), self._bordering)
        if len(new):
            self._add_columns(new)
        place = np.full(len(self.ridge), -1)
        place[self._bordering] = np.arange(len(self._bordering))
        which = place[np.concatenate([entering, leaving])]
        border, solved = self._border[:, which], self._solved[:, which]
        corner = -(border.T @ solved).astype(np.float64)
        corner[: len(entering), : len(entering)] += self.lines.block(entering, entering)
        corner[np.arange(len(entering)), np.arange(len(entering))] += self.ridge[entering]
        corner = lu_factor(corner, overwrite_a=True, check_finite=False)
        stays, came = (
            np.isin(self.rows, rows, assume_unique=True),
            np.isin(rows, entering, assume_unique=True),
        )

        def solve(right: np.ndarray) -> np.ndarray:
            inner, outer, x = np.zeros(len(self.rows)), np.zeros(len(which)), np.empty(len(rows))
            inner[stays], outer[: len(entering)] = right[~came], right[came]
            inner = self._solve(inner)
            rest = lu_solve(corner, outer - border.T @ inner.astype(self.dtype), check_finite=False)
            inner -= solved @ rest.astype(self.dtype)
            x[~came], x[came] = inner[stays], rest[: len(entering)]
            return x

        return solve

    def _add_columns(self, new: np.ndarray) -> None:
        """Append the border's columns for rows that were not in it before."""
        at = np.searchsorted(self.rows, new)
        inside = self.rows[np.minimum(at, len(self.rows) - 1)] == new
        columns = np.zeros((len(self.rows), len(new)), self.dtype, order="F")
        columns[at[inside], np.flatnonzero(inside)] = 1.0
        columns[:, ~inside] = self.lines.block(new[~inside], self.rows).T
        (potrs,) = get_lapack_funcs(("potrs",), (self._upper,))
        solved, _ = potrs(self._upper, columns, lower=0)
        if len(self._bordering):
            columns, solved = np.hstack([self._border, columns]), np.hstack([self._solved, solved])
        self._bordering = np.concatenate([self._bordering, new])
        self._border, self._solved = columns, solved
