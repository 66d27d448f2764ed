"""Rows that are far from scaled: features' ranges differ by orders of magnitude."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm._mapped import RowMatrix
from fwsvm.scaling.ranges import extremes

#: Rows are uneven where the widest feature's range is more than this many times the median one's: two orders of
#: magnitude, beyond what features of like units differ by.
UNEVEN = 100.0


class Uneven(NamedTuple):
    """Ranges of features that differ by orders of magnitude: the widest one's width, and the median width."""

    widest: float
    median: float

    def sentence(self, consequence: str, remedy: str) -> str:
        """Say it, what comes of it (may be empty), and what brings all features to one range."""
        so = f", so {consequence}" if consequence else ""
        return (
            f"the rows are far from scaled: the widest feature spans {self.widest:.3g}, the median one "
            f"{self.median:.3g}{so}; {remedy} brings all to one range"
        )


def uneven(X: RowMatrix) -> Uneven | None:
    """Return how uneven the ranges of the features that vary are, of rows X, shape (m, n); None up to `UNEVEN`."""
    _, low, high = extremes(X)
    return _uneven_between(low, high)


def uneven_widths(widths: NDArray[np.float64]) -> Uneven | None:
    """Return how uneven these widths of the features' ranges are, those of 0 left out; None up to `UNEVEN`."""
    widths = widths[widths > 0]
    if not len(widths) or widths.max() <= UNEVEN * widths.min():  # the median is no smaller, and takes longer
        return None
    if widths.max() <= UNEVEN * np.median(widths):
        return None
    return Uneven(float(widths.max()), float(np.median(widths)))


class Seen:
    """The ranges of the features of rows that come in parts, whose numbers of columns may differ.

    Attributes
    ----------
    columns : ndarray of int64, shape (k,), that may vary, ascending; any other is 0 in all rows
    low, high : ndarrays of float64, shape (k,)
    """

    def __init__(self) -> None:
        self.columns, self.low, self.high = np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
        self._empty = True

    def add(self, X: RowMatrix) -> None:
        """Go through more rows, (m, n)."""
        if not X.shape[0]:
            return
        columns, low, high = extremes(X)
        if not self._empty:
            every = np.union1d(self.columns, columns)
            before, new = np.zeros((2, len(every))), np.zeros((2, len(every)))
            before[:, np.searchsorted(every, self.columns)] = self.low, self.high
            new[:, np.searchsorted(every, columns)] = low, high
            columns, low, high = every, np.minimum(before[0], new[0]), np.maximum(before[1], new[1])
        self.columns, self.low, self.high, self._empty = columns, low, high, False

    @property
    def uneven(self) -> Uneven | None:
        """How uneven the ranges are; see `uneven`."""
        return _uneven_between(self.low, self.high)


def _uneven_between(low: NDArray[np.float64], high: NDArray[np.float64]) -> Uneven | None:
    with np.errstate(over="ignore"):  # a width beyond doubles is infinite
        return uneven_widths(high - low)
