"""What to say of rows and ranges: values far outside ranges, rows that are scaled already, ranges that are uneven."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, blocks
from fwsvm.scaling.ranges import Ranges, extremes

#: A value is far outside where it is beyond its training range by more than this many of the range's own widths.
#: Unseen rows of the same kind often pass a range, but by a part of it: the range of a few hundred rows is nearly that
#: of all rows. Who is off by more than the whole range has most likely another unit, column or scale.
FAR = 1.0
#: Rows are uneven where the widest feature's range is more than this many times the median one's: two orders of
#: magnitude, beyond what features of like units differ by.
UNEVEN = 100.0


class Outside(NamedTuple):
    """Rows far outside the training ranges: how many, and the value that is farthest, with its feature from 0.

    ``widths`` says how many widths of its range that value is beyond it.
    """

    rows: int
    feature: int
    value: float
    minimum: float
    maximum: float
    widths: float

    def sentence(self, of: int, what: str = "rows") -> str:
        """Say it, of so many rows."""
        return (
            f"{self.rows:,} of {of:,} {what} lie far outside the training ranges: feature {self.feature + 1} is "
            f"{self.value:g} in one, and was {self.minimum:g} to {self.maximum:g} in training: it lies "
            f"{self.widths:.3g} range widths outside"
        )


def outside(scaled: RowMatrix, ranges: Ranges) -> Outside | None:
    """Return which rows, shape (m, n), scaled by the ranges, are far outside them (`FAR`); None if none is."""
    rows, widest, feature, value, interval = 0, 0.0, 0, 0.0, ranges.upper - ranges.lower
    for some in blocks(scaled):
        X: Any = scaled[some]
        sparse = isinstance(X, csr_array)
        values = X.data if sparse else X.reshape(-1)
        beyond = np.maximum(ranges.lower - values, values - ranges.upper) / interval
        far = np.flatnonzero(beyond > FAR)
        rows += len(np.unique(np.searchsorted(X.indptr, far, "right") if sparse else far // X.shape[1]))
        if len(far) and beyond.max() > widest:
            at = int(beyond.argmax())
            widest, value = float(beyond[at]), float(values[at])
            feature = int(X.indices[at]) if sparse else at % X.shape[1]
    if not rows:
        return None
    k = int(np.searchsorted(ranges.features, feature))
    low, high = float(ranges.minimum[k]), float(ranges.maximum[k])
    return Outside(rows, feature, low + (value - ranges.lower) / interval * (high - low), low, high, widest)


def seem_scaled(X: RowMatrix, ranges: Ranges) -> bool:
    """Whether rows X, shape (m, n), given to be scaled look as if they were so already.

    They do where every feature whose training range is another than the interval, by place or by ten times the width,
    has all its values within the interval or its own width beside it, and one of them varies.
    """
    interval = ranges.upper - ranges.lower
    telling = (ranges.maximum - ranges.minimum > 10 * interval) | (ranges.minimum > ranges.upper)
    telling |= ranges.maximum < ranges.lower
    columns, low, high = extremes(X)
    here = np.isin(columns, ranges.features[telling])
    low, high = low[here], high[here]  # what no row stores is 0, and does not vary
    near = (low >= ranges.lower - interval) & (high <= ranges.upper + interval)
    return bool(near.all() and (high > low).any())


def uneven(X: RowMatrix, consequence: str, remedy: str) -> str:
    """Return a warning where the ranges of features of X, shape (m, n), differ by more than `UNEVEN`, else ''.

    It says what comes of it, and what brings all features to one range.
    """
    _, low, high = extremes(X)
    with np.errstate(over="ignore"):  # a width beyond doubles is infinite
        widths = high - low
    widths = widths[widths > 0]
    if not len(widths) or widths.max() <= UNEVEN * np.median(widths):
        return ""
    return (
        f"the rows are far from scaled: the widest feature spans {widths.max():.3g}, the median one "
        f"{np.median(widths):.3g}, so {consequence}; {remedy} brings all to one range"
    )
