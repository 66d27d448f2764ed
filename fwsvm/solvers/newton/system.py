"""Linear systems K~_AA x = 1 for a sequence of active sets A, by one factor as long as A changes little."""

from collections.abc import Iterator

import numpy as np
from numpy.linalg import LinAlgError

from fwsvm import phases
from fwsvm.errors import SettingError
from fwsvm.solvers.newton.factor import BorderedFactor, CholeskyFactor
from fwsvm.solvers.newton.gram_rows import GramRows
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.tuning import BORDER_SHARE, MOST_REFINEMENTS


class ActiveSetSystem:
    """A Cholesky factor of K~_FF for rows F, and a bordered system for what A has more and less than F.

    The factor and its border have the precision of the lines, float32 at first, and are the preconditioner of
    conjugate gradients whose products are summed in float64, which makes up for half the precision. Where
    `MOST_REFINEMENTS` steps do not reach the accuracy, the rows are factored anew, in float64 from then on
    if need be.

    Parameters
    ----------
    lines : GramRows
    ridge : ndarray of float64, shape (m,)
    """

    def __init__(self, lines: GramRows, ridge: np.ndarray) -> None:
        self.lines, self.ridge, self.dtype = lines, ridge, lines.dtype
        self.border: BorderedFactor | None = None
        self.room: np.ndarray | None = None  # memory of the last factor, which the next one takes

    def check_room(self, active: int, resolved: Resolved) -> None:
        """Refuse a face too large: its lines are kept, its matrix is factored, and a border goes beside that.

        Raises
        ------
        SettingError
            It does not fit in what the run was given.
        """
        m, itemsize = len(self.ridge), self.lines.dtype.itemsize
        needed = (
            active * itemsize * m + 14 * active * active
        )  # a factor in double precision, and a border beside it
        if needed > resolved.cache_bytes or active > self.lines.most:
            raise SettingError(
                f"newton has {active:,} active rows and needs {needed >> 20:,} MiB for them, where cache_mib allows "
                f"{resolved.cache_mib:,}; give more (threads with a pair of classes each share it), or use swap-2o"
            )

    def solve(
        self, rows: np.ndarray, b: np.ndarray, f: np.ndarray, accuracy: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return x (m,) with K~_AA x_A = 1, zero outside the rows A, given in ascending order; and Q x (m,).

        Begins at b (m,), of which f = Q b is known, and ends where no row of the residual exceeds ``accuracy``, or
        where double precision ends. LinAlgError where K~_AA is not positive definite, in double precision.
        """
        x = np.zeros(len(b))
        x[rows] = b[rows]
        f = f - self.lines.product_anywhere(b - x)  # there may be no room for these rows beside the others
        self.lines.provide(rows)
        for border in self._borders(rows):
            if self._descend(rows, x, f, accuracy, border):
                break
        return x, f

    def _descend(
        self, rows: np.ndarray, x: np.ndarray, f: np.ndarray, accuracy: float, border: BorderedFactor
    ) -> bool:
        """Take conjugate gradient steps on x and f = Q x in place; return whether the residual became small."""
        residual = 1.0 - f[rows] - self.ridge[rows] * x[rows]
        p, before, way = np.zeros(len(rows)), np.inf, np.zeros(len(x))
        for step in range(1, MOST_REFINEMENTS + 1):
            if float(np.abs(residual).max(initial=0.0)) <= accuracy:
                break
            phases.inside(f"CG step {step}")
            z = border.solve(residual)
            now = float(z @ residual)
            p = z + (now / before) * p
            Kp = border.product(p)
            curvature = float(p @ Kp)
            if not (now > 0.0 and 0.0 < curvature < np.inf):
                break
            way[rows] += now / curvature * p
            residual -= now / curvature * Kp
            before = now
        if way.any():
            x += way
            f += self.lines.product(way)
        return bool(np.abs(residual).max(initial=0.0) <= accuracy)

    def _borders(self, rows: np.ndarray) -> Iterator[BorderedFactor]:
        """Yield solvers with K~_AA, each better than the one before."""
        changed = True
        if self.border is not None:
            factored = self.border.factor.rows
            entering, leaving = (
                np.setdiff1d(rows, factored, assume_unique=True),
                np.setdiff1d(factored, rows, assume_unique=True),
            )
            changed = bool(few := len(entering) + len(leaving))
            if few <= BORDER_SHARE * len(factored) and self.border.width <= 2 * BORDER_SHARE * len(factored):
                self.border.enclose(rows, entering, leaving)
                yield self.border
        if changed and (made := self._factored(rows)):
            yield made
        if self.dtype != np.float64:
            self.dtype = np.dtype(np.float64)
            if made := self._factored(rows):
                yield made
        if self.border is None:
            raise LinAlgError("not positive definite")

    def _factored(self, rows: np.ndarray) -> BorderedFactor | None:
        """Factor K~_AA; None where it is not positive definite."""
        self.border = None  # its memory is wanted for the next
        factor = CholeskyFactor(self.lines, rows, self.ridge, self.dtype, self.room)
        self.room = factor.room
        if factor.definite:
            self.border = BorderedFactor(factor, self.lines, self.ridge)
        return self.border
