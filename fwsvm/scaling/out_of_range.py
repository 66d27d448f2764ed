"""Rows that the ranges of other rows do not suit: values far outside them, or rows that are scaled already."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, blocks, in_memory, is_mapped
from fwsvm._occurring import only_columns
from fwsvm._stretches import NUMBERS, stretches
from fwsvm.scaling.ranges import Ranges, extremes
from fwsvm.scaling.scaled_rows import require_room

#: A value is far outside where it is beyond its training range by more than this many of the range's own widths.
#: Unseen rows of the same kind often pass a range, but by a part of it: the range of a few hundred rows is nearly that
#: of all rows. Who is off by more than the whole range has most likely another unit, column or scale.
FAR = 1.0


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
    """Return which rows of X, shape (m, n), not scaled yet, are far outside the ranges (`FAR`); None if none is.

    `DataError` where zeros that sparse rows do not store are far outside, and do not fit in the memory available: then
    the scaled rows do not either.
    """
    if is_mapped(X):
        return _of_parts((in_memory(X, some) for some in blocks(X)), ranges)
    width = ranges.maximum - ranges.minimum
    low, high = ranges.minimum - FAR * width, ranges.maximum + FAR * width
    if isinstance(X, csr_array):
        stored = only_columns(X, ranges.features)
        rows, place = np.repeat(np.arange(X.shape[0]), np.diff(stored.indptr)), stored.indices
        values = stored.data
        at_zero = np.flatnonzero((low > 0) | (high < 0))  # where a value that is not stored is far outside
        if len(at_zero):
            require_room(X.shape[0], len(at_zero), ranges)
            if X.shape[0] > 1 and X.shape[0] * len(at_zero) > NUMBERS:
                parts = stretches(X.shape[0], X.shape[0] * len(at_zero), NUMBERS)
                return _of_parts((X[some] for some in parts), ranges)
            filled = csr_array((np.ones(len(place)), place, stored.indptr), shape=stored.shape)[:, at_zero]
            gap_row, gap = np.nonzero(filled.toarray() == 0)
            rows, place = np.concatenate([rows, gap_row]), np.concatenate([place, at_zero[gap]])
            values = np.concatenate([values, np.zeros(len(gap))])
        far = (values < low[place]) | (values > high[place])
        rows, place, values = rows[far], place[far], values[far]
    else:
        given = X[:, ranges.features]
        rows, place = np.nonzero((given < low) | (given > high))
        values = given[rows, place]
    if not len(rows):
        return None
    with np.errstate(over="ignore"):  # a width may be tiny
        beyond = np.maximum(ranges.minimum[place] - values, values - ranges.maximum[place]) / width[place]
    farthest = int(np.argmax(beyond))
    k = place[farthest]
    return Outside(
        len(np.unique(rows)), int(ranges.features[k]), float(values[farthest]),
        float(ranges.minimum[k]), float(ranges.maximum[k]),
    )  # fmt: skip


def _of_parts(parts: Iterable[RowMatrix], ranges: Ranges) -> Outside | None:
    """Return which rows of all parts are far outside the ranges, as `outside` does."""
    found = [one for part in parts if (one := outside(part, ranges)) is not None]
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
