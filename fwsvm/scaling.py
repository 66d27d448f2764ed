"""Scaling features to an interval by their ranges over the training rows, as LIBSVM's svm-scale does.

A value v of feature j becomes ``lower + (upper - lower) (v - min_j) / (max_j - min_j)``; a feature that does
not vary over the training rows becomes 0, since svm-scale leaves it out. Rows to predict are scaled by the training
ranges and may fall outside.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import blocks, in_memory, is_mapped
from fwsvm._memory import require
from fwsvm._occurring import occurring, only_columns, widened
from fwsvm._stretches import feature_widths
from fwsvm.errors import DataError

TARGETS = {"[-1,1]": (-1.0, 1.0), "[0,1]": (0.0, 1.0)}
SCALINGS = ("none", *TARGETS)

#: A value is far outside where it is beyond its training range by more than this many of the range's own widths.
#: Unseen rows of the same kind often pass a range, but by a part of it: the range of a few hundred rows is nearly that
#: of all rows. Who is off by more than the whole range has most likely another unit, column or scale.
FAR = 1.0

#: Rows are uneven where the widest feature's range is more than this many times the median one's: two orders of
#: magnitude, beyond what features of like units differ by.
UNEVEN = 100.0

DENSE = 3 * 8  # bytes of a number as it is, scaled, and while it is computed

Rows: TypeAlias = np.ndarray | csr_array


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
        if other is None or (self.lower, self.upper) != (other.lower, other.upper):
            return False
        arrays = (
            (self.features, other.features),
            (self.minimum, other.minimum),
            (self.maximum, other.maximum),
        )
        return all(np.array_equal(mine, theirs) for mine, theirs in arrays)

    def text(self) -> str:
        """Return the lines of a range file of svm-scale."""
        rows = zip((self.features + 1).tolist(), self.minimum.tolist(), self.maximum.tolist(), strict=True)
        lines = "".join(f"{j} {low:.17g} {high:.17g}\n" for j, low, high in rows)
        return f"x\n{self.lower:.17g} {self.upper:.17g}\n{lines}"


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
            f"{self.value:g} in one, and was {self.minimum:g} to {self.maximum:g} in training, so it is beyond by "
            f"{self.widths:.3g} times that width"
        )


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


def fit(X: Rows, scaling: str, counted: NDArray[np.bool_] | None = None) -> Ranges:
    """Return the ranges of the columns of ``X``, shape (m, n), for a scaling of `TARGETS`.

    With ``counted``, a truth for each row, of those rows alone, if there are any.
    """
    if counted is not None and counted.any():
        X = X[counted]
    features, minimum, maximum = extremes(X)
    varies = maximum > minimum
    return Ranges(features[varies], minimum[varies], maximum[varies], *TARGETS[scaling])


def extremes(X: Rows) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the columns of X, shape (m, n), that may vary, ascending, and the least and largest value of each.

    Of wide sparse rows, those that store a value.
    """
    if 0 in X.shape:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    rows, columns = occurring(X)
    low, high = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf)
    for some in blocks(rows) if is_mapped(rows) else [slice(0, rows.shape[0])]:
        least, most = rows[some].min(axis=0), rows[some].max(axis=0)
        if isinstance(rows, csr_array):
            least, most = least.toarray().ravel(), most.toarray().ravel()
        low, high = np.minimum(low, least), np.maximum(high, most)
    return np.arange(X.shape[1]) if columns is None else columns.astype(np.int64), low, high


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

    def add(self, X: Rows) -> None:
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
        with np.errstate(over="ignore"):  # a width beyond doubles is infinite
            return uneven_widths(self.high - self.low)


def apply(X: Rows, ranges: Ranges) -> Rows:
    """Return ``X``, shape (m, n), scaled, in new memory.

    Sparse rows stay sparse where zero is mapped to zero, or where few of the n features vary.

    Raises
    ------
    DataError
        A value cannot be scaled, since its feature's range is too narrow or too wide for doubles; or sparse rows do not
        fit in the memory available once they are dense.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        too_wide = ~np.isfinite(ranges.maximum - ranges.minimum)
        if too_wide.any():
            raise _too_extreme(ranges, int(np.argmax(too_wide)))
        scaled = _sparse(X, ranges) if isinstance(X, csr_array) else _dense(X, ranges)
    finite = np.isfinite(scaled.data if isinstance(scaled, csr_array) else scaled)
    if not finite.all():
        at = int(np.argmin(finite))
        j = int(scaled.indices[at]) if isinstance(scaled, csr_array) else at % scaled.shape[1]
        raise _too_extreme(ranges, int(np.searchsorted(ranges.features, j)))
    return scaled


def _too_extreme(ranges: Ranges, k: int) -> DataError:
    j, low, high = ranges.features[k] + 1, ranges.minimum[k], ranges.maximum[k]
    return DataError(f"feature {j} cannot be scaled: its range {low:g} to {high:g} is too extreme")


def _dense(X: NDArray[np.float64], ranges: Ranges) -> NDArray[np.float64]:
    if len(ranges.features) == X.shape[1]:
        return _mapped(X, ranges)
    scaled = np.zeros(X.shape)
    scaled[:, ranges.features] = _mapped(X[:, ranges.features], ranges)
    return scaled


def _sparse(X: csr_array, ranges: Ranges) -> Rows:
    (m, n), k = X.shape, len(ranges.features)
    if not ranges.keeps_zeros:
        _require_room(m, min(n, 2 * k), ranges)
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


def _require_room(rows: int, features: int, ranges: Ranges) -> None:
    """Refuse to write sparse rows out with their zeros where those do not fit."""
    what = f"scaling to {ranges.interval}, which makes {rows:,} sparse rows of {features:,} features dense,"
    remedy = "scale to [0,1], which keeps zeros where no value is negative, or take fewer rows (fwsvm subset)"
    require(DENSE * rows * features, what, remedy, DataError)


def _mapped(values: NDArray[np.float64], ranges: Ranges) -> NDArray[np.float64]:
    """Return values of the features that vary, shape (m, k), scaled: in svm-scale's order, so that no bit differs."""
    scaled = values - ranges.minimum
    scaled *= ranges.upper - ranges.lower
    scaled /= ranges.maximum - ranges.minimum
    scaled += ranges.lower
    scaled[values == ranges.maximum] = ranges.upper  # exact at the ends, whatever the rounding above
    return np.ascontiguousarray(scaled)


def outside(X: Rows, ranges: Ranges) -> Outside | None:
    """Return which rows of X, shape (m, n), not scaled yet, are far outside the ranges (`FAR`); None if none is."""
    if is_mapped(X):
        parts = [one for some in blocks(X) if (one := outside(in_memory(X, some), ranges)) is not None]
        if not parts:
            return None
        return max(parts, key=lambda one: one.widths)._replace(rows=sum(one.rows for one in parts))
    width = ranges.maximum - ranges.minimum
    low, high = ranges.minimum - FAR * width, ranges.maximum + FAR * width
    if isinstance(X, csr_array):
        stored = only_columns(X, ranges.features)
        rows, place = np.repeat(np.arange(X.shape[0]), np.diff(stored.indptr)), stored.indices
        values = stored.data
        at_zero = np.flatnonzero((low > 0) | (high < 0))  # where a value that is not stored is far outside
        if len(at_zero):
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
    beyond = np.maximum(ranges.minimum[place] - values, values - ranges.maximum[place]) / width[place]
    farthest = int(np.argmax(beyond))
    k = place[farthest]
    return Outside(
        len(np.unique(rows)), int(ranges.features[k]), float(values[farthest]),
        float(ranges.minimum[k]), float(ranges.maximum[k]),
    )  # fmt: skip


def uneven(X: Rows) -> Uneven | None:
    """Return how uneven the ranges of the features that vary are, of rows X, shape (m, n); None up to `UNEVEN`."""
    return uneven_widths(feature_widths(occurring(X).X))


def uneven_widths(widths: NDArray[np.float64]) -> Uneven | None:
    """Return how uneven these widths of the features' ranges are, those of 0 left out; None up to `UNEVEN`."""
    widths = widths[widths > 0]
    if not len(widths) or widths.max() <= UNEVEN * np.median(widths):
        return None
    return Uneven(float(widths.max()), float(np.median(widths)))


def seem_scaled(X: Rows, ranges: Ranges) -> bool:
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
