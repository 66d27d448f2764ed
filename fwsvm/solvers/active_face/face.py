"""Linear systems K~_AA x = 1 for one set of rows A after another, by a factor that outlives small changes of A."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

#: Writes lines of K~ over all rows, for the rows given, to an array of float64.
Lines = Callable[[np.ndarray, np.ndarray], None]
LITTLE = 1 / 8  # of the rows factored may change: n / 6 right-hand sides cost what a new factor does


class Face:
    """Lines of K~, a Cholesky factor of K~_FF for rows F, and a bordered system for what A has more and less than F.

    With the rows E in A but not in F, and D in F but not in A, x solves

        [ K~_FF  K~_FE  I_D ] [ x_F ]   [ 1 ]
        [ K~_EF  K~_EE   0  ] [ x_E ] = [ 1 ]
        [ I_D'    0      0  ] [ mu  ]   [ 0 ]

    by eliminating x_F.

    Parameters
    ----------
    lines : callable, see `Lines`
    height : int, m
    most : int, lines that there is memory for; A must not have more rows
    """

    def __init__(self, lines: Lines, height: int, most: int) -> None:
        self._lines = lines
        self._room = np.empty((min(most, height), height))  # memory is taken as lines come
        self._kept = self._room[:0]
        self._line_of = np.full(height, -1)
        self.rows = np.empty(0, np.intp)  # F

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """Return x (m,), zero outside the rows A, given in ascending order.

        LinAlgError where K~_AA is not positive definite, in double precision.
        """
        self._fetch(rows)
        entering, leaving = np.setdiff1d(rows, self.rows), np.flatnonzero(~np.isin(self.rows, rows))
        x = np.zeros(len(self._line_of))
        if len(entering) + len(leaving) > LITTLE * len(self.rows):
            self._factor(rows)
            x[rows] = self._ones
            return x
        border = np.zeros((len(self.rows), len(entering) + len(leaving)))
        border[:, : len(entering)] = self._entries(entering, self.rows).T
        border[leaving, len(entering) + np.arange(len(leaving))] = 1.0
        solved = cho_solve(self._factored, border, check_finite=False)
        corner = -border.T @ solved
        corner[: len(entering), : len(entering)] += self._entries(entering, entering)
        right = np.concatenate([np.ones(len(entering)), np.zeros(len(leaving))]) - border.T @ self._ones
        rest = np.linalg.solve(corner, right)
        x[self.rows] = self._ones - solved @ rest
        x[self.rows[leaving]] = 0.0
        x[entering] = rest[: len(entering)]
        return x

    def product(self, x: np.ndarray) -> np.ndarray:
        """Return K~ x (m,) for an x that is zero outside rows that were solved for."""
        rows = np.flatnonzero(x)
        if len(rows) > len(self._kept) // 2:  # no copy of the lines: a zero for each of the others
            weights = np.zeros(len(self._kept))
            weights[self._line_of[rows]] = x[rows]
            return weights @ self._kept
        return x[rows] @ self._kept[self._line_of[rows]]

    def _fetch(self, rows: np.ndarray) -> None:
        new = rows[self._line_of[rows] < 0]
        if len(self._kept) + len(new) > len(self._room):  # forget all, the factor too
            self._line_of[:] = -1
            self._kept, self.rows, new = self._room[:0], self.rows[:0], rows
        if len(new):
            before, self._kept = len(self._kept), self._room[: len(self._kept) + len(new)]
            self._line_of[new] = before + np.arange(len(new))
            self._lines(new, self._kept[before:])

    def _entries(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return self._kept[np.ix_(self._line_of[first], second)]

    def _factor(self, rows: np.ndarray) -> None:
        matrix = self._entries(rows, rows)
        self._factored = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        self.rows = rows
        self._ones = cho_solve(self._factored, np.ones(len(rows)), check_finite=False)
