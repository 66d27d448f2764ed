"""Scaling features to an interval by their ranges over the training rows, as LIBSVM's svm-scale does.

A value v of feature j becomes ``lower + (upper - lower) (v - min_j) / (max_j - min_j)``; a feature that does not vary
over the training rows becomes 0, since svm-scale leaves it out. Rows to predict are scaled by the training ranges and
may fall outside.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, all_finite, blocks, occurring, only_columns, widened
from fwsvm._memory import require
from fwsvm.errors import DataError

TARGETS = {"[-1,1]": (-1.0, 1.0), "[0,1]": (0.0, 1.0)}
SCALINGS = ("none", *TARGETS)
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

    features: NDArray[np.int64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]
    lower: float
    upper: float

    @property
    def interval(self) -> str:
        """The interval as text, such as ``[0,1]``."""
        return f"[{self.lower:g},{self.upper:g}]"

    @property
    def keeps_zeros(self) -> bool:
        """Whether zero is mapped to zero, so that sparse rows stay sparse."""
        return self.lower == 0 and not self.minimum.any()

    def same_as(self, other: "Ranges | None") -> bool:
        """Whether the other scales every row alike."""
        return other is not None and self[3:] == other[3:] and all(map(np.array_equal, self[:3], other[:3]))

    def text(self, first: int = 1) -> str:
        """Return the lines of a range file of svm-scale, whose features count from ``first``."""
        rows = zip((self.features + first).tolist(), self.minimum, self.maximum, strict=True)
        lines = "".join(f"{j} {low:.17g} {high:.17g}\n" for j, low, high in rows)
        return f"x\n{self.lower:.17g} {self.upper:.17g}\n{lines}"


def fit(X: RowMatrix, scaling: str, counted: NDArray[np.bool_] | None = None) -> Ranges:
    """Return the ranges of the columns of ``X``, shape (m, n), for a scaling of `TARGETS`.

    With ``counted``, a truth for each row, of those rows alone, if there are any.

    Raises
    ------
    DataError
        A value is NaN.
    """
    if counted is not None and counted.any() and not counted.all():
        X = X[counted]
    features, minimum, maximum = extremes(X)
    if np.isnan(minimum + maximum).any():
        raise DataError("the rows hold values that are not numbers, and have no ranges to be scaled by")
    varies = maximum > minimum
    return Ranges(features[varies], minimum[varies], maximum[varies], *TARGETS[scaling])


def extremes(X: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the columns of X, shape (m, n), that may vary, ascending, and the least and largest value of each.

    Of wide sparse rows, those that store a value.
    """
    rows, columns = occurring(X)
    if 0 in rows.shape:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    least, most = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf)
    for some in blocks(rows):
        low, high = rows[some].min(axis=0), rows[some].max(axis=0)
        if isinstance(rows, csr_array):
            low, high = low.toarray().ravel(), high.toarray().ravel()
        least, most = np.minimum(least, low), np.maximum(most, high)
    return np.arange(X.shape[1]) if columns is None else columns.astype(np.int64), least, most


def apply(X: RowMatrix, ranges: Ranges) -> RowMatrix:
    """Return ``X``, shape (m, n), scaled, in new memory.

    Sparse rows stay sparse where zero is mapped to zero, or where few of the n features vary.

    Raises
    ------
    DataError
        A value or range is too extreme for doubles; or sparse rows do not fit in the memory available with their zeros.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = _sparse(X, ranges) if isinstance(X, csr_array) else _dense(X, ranges)
        widths = ranges.maximum - ranges.minimum
    if not (all_finite(scaled) and all_finite(widths)):
        raise DataError(
            "the rows cannot be scaled: a value, or the range of a feature, is too extreme for doubles"
        )
    return scaled


def _dense(X: NDArray[np.float64], ranges: Ranges) -> NDArray[np.float64]:
    if len(ranges.features) == X.shape[1]:
        return _mapped(X, ranges)
    scaled = np.zeros(X.shape)
    scaled[:, ranges.features] = _mapped(X[:, ranges.features], ranges)
    return scaled


def _sparse(X: csr_array, ranges: Ranges) -> RowMatrix:
    (m, n), k = X.shape, len(ranges.features)
    if not ranges.keeps_zeros:
        require(
            DENSE * m * min(n, 2 * k),
            f"scaling to {ranges.interval}, which makes {m:,} sparse rows of {min(n, 2 * k):,} features dense,",
            "scale to [0,1], which keeps zeros where no value is negative, or take fewer rows (fwsvm subset)",
            DataError,
        )
        if n <= 2 * k:
            return _dense(X.toarray(), ranges)
    rows = only_columns(X, ranges.features)
    if ranges.keeps_zeros:
        maximum = ranges.maximum[rows.indices]
        values = np.where(rows.data == maximum, ranges.upper, ranges.upper * rows.data / maximum)
        rows = csr_array((values, rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)
    else:
        rows = csr_array(_mapped(rows.toarray(), ranges))
    rows.eliminate_zeros()
    return widened(rows, ranges.features, n)


def _mapped(values: NDArray[np.float64], ranges: Ranges) -> NDArray[np.float64]:
    """Return values of the features that vary, shape (m, k), scaled: in svm-scale's order, so that no bit differs."""
    scaled = values - ranges.minimum
    scaled *= ranges.upper - ranges.lower
    scaled /= ranges.maximum - ranges.minimum
    scaled += ranges.lower
    scaled[values == ranges.maximum] = ranges.upper  # exact at the ends, whatever the rounding above
    return np.ascontiguousarray(scaled)


# ---------------------------------------------------------------- rows that ranges do not suit


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
    rows, farthest, interval = 0, (0.0, 0, 0.0), ranges.upper - ranges.lower
    for some in blocks(scaled):
        part = csr_array(scaled[some])  # zero is in every interval
        beyond = np.maximum(ranges.lower - part.data, part.data - ranges.upper) / interval
        far = np.flatnonzero(beyond > FAR)
        if len(far):
            rows += len(np.unique(np.searchsorted(part.indptr, far, "right")))
            at = int(beyond.argmax())
            farthest = max(farthest, (float(beyond[at]), int(part.indices[at]), float(part.data[at])))
    if not rows:
        return None
    widths, feature, value = farthest
    k = int(np.searchsorted(ranges.features, feature))
    low, high = float(ranges.minimum[k]), float(ranges.maximum[k])
    return Outside(rows, feature, low + (value - ranges.lower) / interval * (high - low), low, high, widths)


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
