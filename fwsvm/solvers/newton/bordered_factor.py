"""A Cholesky factor of K~_FF extended to rows A by a bordered system for the rows that differ."""

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from fwsvm import phases
from fwsvm.solvers.newton.cholesky_factor import CholeskyFactor
from fwsvm.solvers.newton.gram_rows import GramRows

TOGETHER = 32  # columns of a border that are solved for between two announcements: meanwhile scipy lets no display run


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
        self.corner = lu_factor(corner, overwrite_a=True, check_finite=False)

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
        for first in range(0, len(new), TOGETHER):
            phases.inside("border", first / len(new))
            some = slice(first, first + TOGETHER)
            columns[:, some] = self.factor.half(columns[:, some])
        self.known = np.concatenate([self.known, new])
        self.halves = np.asfortranarray(np.hstack([self.halves, columns]))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return K~_AA^-1 r (|A|,), in the precision of the factor."""
        inner, x = np.zeros(len(self.stays)), np.empty(len(right))
        inner[self.stays] = right[~self.came]
        inner = self.factor.half(inner)
        if self.half.shape[1]:
            outer = np.zeros(self.half.shape[1])
            outer[: len(self.entering)] = right[self.came]
            rest = lu_solve(self.corner, outer - self.half.T @ inner, check_finite=False)
            inner -= self.half @ rest.astype(inner.dtype)
            x[self.came] = rest[: len(self.entering)]
        x[~self.came] = self.factor.other_half(inner)[self.stays]
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
