"""The rows of two classes that the coordinator has."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fwsvm.kernels.rows import Rows, some_rows


class WorkingSet(NamedTuple):
    """Rows with the class +1 first, each class ascending.

    Attributes
    ----------
    numbers : ndarray of int64, shape (k,), in the whole table
    plus : int, how many are +1
    rows : Rows, (k, n)
    alpha : ndarray of float64, shape (k,), where the inner run ended; zeros before
    """

    numbers: np.ndarray
    plus: int
    rows: Rows
    alpha: np.ndarray

    @property
    def y(self) -> np.ndarray:
        """+1 or -1, float64 of shape (k,)."""
        return np.where(np.arange(len(self.numbers)) < self.plus, 1.0, -1.0)

    def support(self) -> tuple[Rows, np.ndarray]:
        """Return the rows with weight, and y alpha of each."""
        which = np.flatnonzero(self.alpha)
        return some_rows(self.rows, which), (self.y * self.alpha)[which]

    def next(self, kept: np.ndarray, new: np.ndarray, plus: np.ndarray, rows: Rows) -> "WorkingSet":
        """Return a set of the rows ``kept`` of this one and of new ones, with the weights there are.

        Parameters
        ----------
        kept : ndarray of int, their numbers
        new : ndarray of int, shape (k,), the numbers of others
        plus : ndarray of bool, shape (k,), whether these are +1
        rows : Rows, (k, n), these
        """
        order = np.argsort(self.numbers, kind="stable")
        places = order[np.searchsorted(self.numbers, kept, sorter=order)]
        numbers = np.concatenate([kept, new])
        signs = np.concatenate([places < self.plus, plus])
        alpha = np.concatenate([self.alpha[places], np.zeros(len(new))])
        every = stacked([some_rows(self.rows, places), rows], rows.features)
        order = np.lexsort([numbers, ~signs])
        return WorkingSet(numbers[order], int(np.count_nonzero(signs)), some_rows(every, order), alpha[order])


def stacked(parts: Sequence[Rows], features: int) -> Rows:
    """Return tables of rows one below the other."""
    ends = np.cumsum([0, *(len(rows.values) for rows in parts)])
    starts = [rows.starts[:-1] + end for rows, end in zip(parts, ends, strict=False)]
    return Rows(
        np.concatenate([np.zeros(0), *(rows.values for rows in parts)]),
        np.concatenate([np.zeros(0, np.int32), *(rows.columns for rows in parts)]),
        np.concatenate([*starts, ends[-1:]]).astype(np.int64),
        features,
    )
