"""What to say of rows and ranges: values far outside ranges, rows that are scaled already, ranges that are uneven."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import NUMBERS, RowMatrix, slices
from fwsvm._occurring import only_columns
from fwsvm.scaling.ranges import Ranges, extremes

#: A value is far outside where it is beyond its training range by more than this many of the range's own widths.
#: Unseen rows of the same kind often pass a range, but by a part of it: the range of a few hundred rows is nearly that
#: of all rows. Who is off by more than the whole range has most likely another unit, column or scale.
FAR = 1.0
#: Rows are uneven where the widest feature's range is more than this many times the median one's: two orders of
#: magnitude, beyond what features of like units differ by.
UNEVEN = 100.0


class Outside(NamedTuple):
    """Rows far outside the training ranges: how many, and the value that is farthest, with its feature from 0."""

    rows: int
    feature: int
    value: float
    minimum: float
    maximum: float

    @property
    def widths(self) -> float:
        """How many widths of its range the farthest value is beyond it."""
        beyond = max(self.minimum - self.value, self.value - self.maximum)
        return beyond / (self.maximum - self.minimum)

    def sentence(self, of: int, what: str = "rows") -> str:
        """Say it, of so many rows."""
        return (
            f"{self.rows:,} of {of:,} {what} lie far outside the training ranges: feature {self.feature + 1} is "
            f"{self.value:g} in one, and was {self.minimum:g} to {self.maximum:g} in training: it lies "
            f"{self.widths:.3g} range widths outside"
        )


def outside(X: RowMatrix, ranges: Ranges) -> Outside | None:
    """Return which rows of X, shape (m, n), not scaled yet, are far outside the ranges (`FAR`); None if none is."""
    width = ranges.maximum - ranges.minimum
    low, high = ranges.minimum - FAR * width, ranges.maximum + FAR * width
    away = (low > 0) | (high < 0)  # features of which a zero is far outside
    numbers, found = X.nnz if isinstance(X, csr_array) else X.size, list[Outside]()
    for some in slices(X.shape[0], max(numbers, X.shape[0] * int(away.sum())), NUMBERS):
        if isinstance(X, csr_array):
            stored = only_columns(X[some], ranges.features)
            rows, place, values = (
                np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr)),
                stored.indices,
                stored.data,
            )
            if away.any():
                at = np.flatnonzero(away)
                filled = csr_array((np.ones(len(place)), place, stored.indptr), shape=stored.shape)[:, at]
                gap_row, gap = np.nonzero(filled.toarray() == 0)
                rows, place = np.concatenate([rows, gap_row]), np.concatenate([place, at[gap]])
                values = np.concatenate([values, np.zeros(len(gap))])
            far = (values < low[place]) | (values > high[place])
            rows, place, values = rows[far], place[far], values[far]
        else:
            given = X[some][:, ranges.features]
            rows, place = np.nonzero((given < low) | (given > high))
            values = given[rows, place]
        if not len(rows):
            continue
        with np.errstate(over="ignore"):  # a width may be tiny
            beyond = np.maximum(ranges.minimum[place] - values, values - ranges.maximum[place]) / width[place]
        k, value = place[int(np.argmax(beyond))], float(values[int(np.argmax(beyond))])
        bounds = float(ranges.minimum[k]), float(ranges.maximum[k])
        found.append(Outside(len(np.unique(rows)), int(ranges.features[k]), value, *bounds))
    if not found:
        return None
    return max(found, key=lambda one: one.widths)._replace(rows=sum(one.rows for one in found))


def seem_scaled(X: RowMatrix, ranges: Ranges) -> bool:
    """Whether rows X, shape (m, n), given to be scaled look as if they were so already.

    They do where every feature whose training range is another than the interval, by place or by ten times the width,
    has all its values within the interval or its own width beside it, and one of them varies.
    """
    interval = ranges.upper - ranges.lower
    width = ranges.maximum - ranges.minimum
    telling = (width > 10 * interval) | (ranges.minimum > ranges.upper) | (ranges.maximum < ranges.lower)
    if not telling.any():
        return False
    columns, low, high = extremes(X)
    minimum, maximum = np.zeros(len(width)), np.zeros(len(width))
    there = np.isin(ranges.features, columns)
    at = np.searchsorted(columns, ranges.features[there])
    minimum[there], maximum[there] = low[at], high[at]
    minimum, maximum = minimum[telling], maximum[telling]
    near = (minimum >= ranges.lower - interval) & (maximum <= ranges.upper + interval)
    return bool(near.all() and (maximum > minimum).any())


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
    return _uneven(low, high)


def _uneven(low: NDArray[np.float64], high: NDArray[np.float64]) -> Uneven | None:
    with np.errstate(over="ignore"):  # a width beyond doubles is infinite
        widths = high - low
    widths = widths[widths > 0]
    if not len(widths) or widths.max() <= UNEVEN * np.median(widths):
        return None
    return Uneven(float(widths.max()), float(np.median(widths)))


class Seen:
    """The ranges of the features of rows that come in parts, whose numbers of columns may differ."""

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
        return _uneven(self.low, self.high)
