"""Scaling features to an interval by their ranges over the training rows, as LIBSVM's svm-scale does.

A value v of feature j becomes ``lower + (upper - lower) (v - min_j) / (max_j - min_j)``; a feature that does not vary
over the training rows becomes 0, since svm-scale leaves it out. Rows to predict are scaled by the training ranges and
may fall outside.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy

from fwsvm._mapped import RowMatrix, all_finite, blocks, occurring, only_columns, slices
from fwsvm._memory import require
from fwsvm.errors import DataError

TARGETS = {"[-1,1]": (-1.0, 1.0), "[0,1]": (0.0, 1.0)}
SCALINGS = ("none", *TARGETS)
ALL = slice(None)  # features
DENSE = 3 * 8  # bytes of a number as it is, scaled, and while it is computed
#: A value is far outside where it is beyond its training range by more than this many of the range's own widths.
#: Unseen rows of the same kind often pass a range, but by a part of it: the range of a few hundred rows is nearly that
#: of all rows. Who is off by more than the whole range has most likely another unit, column or scale.
FAR = 1.0
#: Rows are uneven where the widest feature's range is more than this many times the median one's: in squared distances
#: it then weighs about a thousand times as much.
UNEVEN = 30.0


class Ranges(NamedTuple):
    """How rows are scaled: the training ranges of the features that vary, and the interval they are mapped to.

    Attributes
    ----------
    features : ndarray of int64, shape (k,)
        Columns that vary over the training rows, ascending from 0; all others become 0.
    minimum, maximum : ndarray of float64, shape (k,)
    lower, upper : float
    """

    features: np.ndarray
    minimum: np.ndarray
    maximum: np.ndarray
    lower: float
    upper: float

    @property
    def interval(self) -> str:
        """The interval as text, such as ``[0,1]``."""
        return f"[{self.lower:g},{self.upper:g}]"

    def text(self, first: int = 1) -> str:
        """Return the lines of a range file of svm-scale, whose features count from ``first``."""
        rows = zip((self.features + first).tolist(), self.minimum, self.maximum, strict=True)
        lines = "".join(f"{j} {low:.17g} {high:.17g}\n" for j, low, high in rows)
        return f"x\n{self.lower:.17g} {self.upper:.17g}\n{lines}"


def fit(X: RowMatrix, scaling: str, counted: np.ndarray | None = None) -> Ranges:
    """Return the ranges of the columns of ``X``, shape (m, n), for a scaling of `TARGETS`.

    With ``counted``, a boolean mask (m,), of those rows alone, if there are any.

    Raises
    ------
    DataError
        A value is NaN.
    """
    if counted is not None and counted.any():
        X = X[counted]
    features, minimum, maximum = extremes(X)
    if np.isnan([minimum, maximum]).any():
        raise DataError("the rows hold values that are not numbers, and have no ranges to be scaled by")
    varies = maximum > minimum
    return Ranges(features[varies], minimum[varies], maximum[varies], *TARGETS[scaling])


def extremes(X: RowMatrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns of X, shape (m, n), that may vary, ascending, and the least and largest value of each.

    Of wide sparse rows, those that store a value.
    """
    rows, columns = occurring(X)
    m, n = rows.shape
    least = np.full(n, np.inf)
    most = np.full(n, -np.inf)
    if isinstance(rows, np.ndarray):
        for some in blocks(rows):
            least = np.minimum(least, rows[some].min(axis=0))
            most = np.maximum(most, rows[some].max(axis=0))
    else:
        stored = np.zeros(n, np.int64)
        for some in slices(rows.nnz, rows.nnz):
            places = rows.indices[some]
            np.minimum.at(least, places, rows.data[some])
            np.maximum.at(most, places, rows.data[some])
            stored += np.bincount(places, minlength=n)
        has_zero = stored < m
        least[has_zero] = np.minimum(least[has_zero], 0.0)
        most[has_zero] = np.maximum(most[has_zero], 0.0)
    return (np.arange(X.shape[1]) if columns is None else columns).astype(np.int64), least, most


def apply(X: RowMatrix, ranges: Ranges) -> RowMatrix:
    """Return ``X``, shape (m, n), scaled, in new memory.

    Sparse rows stay sparse where zero is mapped to zero, or where few of the n features vary.

    Raises
    ------
    DataError
        A value or range is too extreme for doubles; or sparse rows do not fit in the memory available with their zeros.
    """
    m, n = X.shape
    k = len(ranges.features)
    scaled: RowMatrix
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(X, np.ndarray):
            scaled = _mapped(X if k == n else X[:, ranges.features], ranges)
        elif ranges.lower == 0 and not ranges.minimum.any():  # zero is mapped to zero
            scaled = only_columns(X, ranges.features).copy()
            scaled.data = _mapped(scaled.data, ranges, scaled.indices)
        else:
            width = min(n, 2 * k)
            require(
                DENSE * m * width,
                f"scaling to {ranges.interval}, which makes {m:,} sparse rows of {width:,} features dense,",
                "scale to [0,1], which keeps zeros where no value is negative, or take fewer rows (fwsvm subset)",
                DataError,
            )
            scaled = _mapped(only_columns(X, ranges.features).toarray(), ranges)
        widths = ranges.maximum - ranges.minimum
    if not (all_finite(scaled) and all_finite(widths)):
        raise DataError(
            "the rows cannot be scaled: a value, or the range of a feature, is too extreme for doubles"
        )
    if not isinstance(scaled, np.ndarray) or (not isinstance(X, np.ndarray) and n > 2 * k):
        scaled = scipy.sparse.csr_array(scaled)
        scaled.eliminate_zeros()
        places = ranges.features[scaled.indices]
        return scipy.sparse.csr_array((scaled.data, places, scaled.indptr), shape=X.shape)
    if k == n:
        return scaled
    every = np.zeros(X.shape)
    every[:, ranges.features] = scaled
    return every


def _mapped(values: np.ndarray, ranges: Ranges, which: Any = ALL) -> np.ndarray:
    """Return values scaled in svm-scale's order, so that no bit differs; ``which`` are their places in the ranges."""
    low = ranges.minimum[which]
    high = ranges.maximum[which]
    scaled = np.ascontiguousarray(values - low)
    scaled *= ranges.upper - ranges.lower
    scaled /= high - low
    scaled += ranges.lower
    scaled[values == high] = ranges.upper  # exact at the ends, whatever the rounding above
    return scaled


# ---------------------------------------------------------------- rows that ranges do not suit


def outside(scaled: RowMatrix, ranges: Ranges, what: str = "rows") -> tuple[int, str]:
    """Return how many rows, shape (m, n), scaled by the ranges, are far outside them (`FAR`), and a sentence on these.

    The sentence calls the rows ``what`` and names the farthest value; it is empty where no row is far outside.
    """
    rows, farthest, interval = 0, (FAR, 0, 0.0), ranges.upper - ranges.lower
    for some in blocks(scaled):
        part = scipy.sparse.coo_array(scaled[some])  # zero is in every interval
        beyond = np.maximum(ranges.lower - part.data, part.data - ranges.upper) / interval
        if (far := beyond > FAR).any():
            rows += len(np.unique(part.coords[0][far]))
            at = beyond.argmax()
            farthest = max(farthest, (beyond[at], part.coords[1][at], part.data[at]))
    if not rows:
        return 0, ""
    widths, feature, value = farthest
    k = np.searchsorted(ranges.features, feature)
    low = ranges.minimum[k]
    high = ranges.maximum[k]
    return rows, (
        f"{rows:,} of {scaled.shape[0]:,} {what} lie far outside the training ranges: feature {feature + 1} is "
        f"{low + (value - ranges.lower) / interval * (high - low):g} in one, and was {low:g} to {high:g} in training: "
        f"it lies {widths:.3g} range widths outside"
    )


def seem_scaled(X: RowMatrix, ranges: Ranges) -> bool:
    """Whether rows X, shape (m, n), given to be scaled look as if they were so already.

    They do where every feature whose training range is ten times as wide as the interval has all its values within the
    interval or its own width beside it, and one of them varies. Of narrower features `outside` tells.
    """
    interval = ranges.upper - ranges.lower
    columns, low, high = extremes(X)
    wide = np.isin(columns, ranges.features[ranges.maximum - ranges.minimum > 10 * interval])
    low, high = low[wide], high[wide]  # what no row stores is 0, and does not vary
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
    widest = widths.max(initial=0.0)
    # the median takes longer than all the rest
    if widest <= UNEVEN * widths.min(initial=widest) or widest <= UNEVEN * np.median(widths):
        return ""
    return (
        f"the rows are far from scaled: the widest feature spans {widest:.3g}, the median one "
        f"{np.median(widths):.3g}, so {consequence}; {remedy} brings all to one range"
    )
