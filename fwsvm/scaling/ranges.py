"""The ranges of features over the training rows, the interval they are mapped to, and rows scaled by them.

A value v of feature j becomes ``lower + (upper - lower) (v - min_j) / (max_j - min_j)``; a feature that does not vary
over the training rows becomes 0, since svm-scale leaves it out. Rows to predict are scaled by the training ranges and
may fall outside.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, blocks, occurring, only_columns, widened
from fwsvm._memory import require
from fwsvm.errors import DataError

TARGETS = {"[-1,1]": (-1.0, 1.0), "[0,1]": (0.0, 1.0)}
SCALINGS = ("none", *TARGETS)
DENSE = 3 * 8  # bytes of a number as it is, scaled, and while it is computed


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
        return all(map(np.array_equal, self[:3], other[:3]))

    def text(self, first: int = 1) -> str:
        """Return the lines of a range file of svm-scale, whose features count from ``first``."""
        rows = zip(
            (self.features + first).tolist(), self.minimum.tolist(), self.maximum.tolist(), strict=True
        )
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
    if counted is not None and (counted.all() or not counted.any()):
        counted = None
    features, minimum, maximum = extremes(X, counted)
    if np.isnan(minimum).any() or np.isnan(maximum).any():
        raise DataError("the rows hold values that are not numbers, and have no ranges to be scaled by")
    varies = maximum > minimum
    return Ranges(features[varies], minimum[varies], maximum[varies], *TARGETS[scaling])


def extremes(
    X: RowMatrix, counted: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the columns of X, shape (m, n), that may vary, ascending, and the least and largest value of each.

    Of wide sparse rows, those that store a value. With ``counted``, a truth for each row of which one at least is true,
    the values are of those rows alone, which are not copied as a whole.
    """
    if 0 in X.shape:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    rows, columns = occurring(X)
    found: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for some in blocks(rows):
        part = rows[some] if counted is None else rows[some][counted[some]]
        if not part.shape[0]:
            continue
        least, most = part.min(axis=0), part.max(axis=0)
        if isinstance(rows, csr_array):
            least, most = least.toarray().ravel(), most.toarray().ravel()
        if found:
            least, most = np.minimum(found[0][0], least), np.maximum(found[0][1], most)
        found = [(least.astype(np.float64, copy=False), most.astype(np.float64, copy=False))]
    return np.arange(X.shape[1]) if columns is None else columns.astype(np.int64), *found[0]


def apply(X: RowMatrix, ranges: Ranges) -> RowMatrix:
    """Return ``X``, shape (m, n), scaled, in new memory.

    Sparse rows stay sparse where zero is mapped to zero, or where few of the n features vary.

    Raises
    ------
    DataError
        A value cannot be scaled, since its feature's range is too narrow or too wide for doubles; or sparse rows do not
        fit in the memory available with their zeros.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(ranges.maximum - ranges.minimum)
        scaled = _sparse(X, ranges) if isinstance(X, csr_array) else _dense(X, ranges)
    if not (values := np.isfinite(scaled.data if isinstance(scaled, csr_array) else scaled)).all():
        at = int(np.argmin(values))
        j = int(scaled.indices[at]) if isinstance(scaled, csr_array) else at % scaled.shape[1]
        finite[np.searchsorted(ranges.features, j)] = False
    if not finite.all():
        k = int(np.argmin(finite))
        j, low, high = ranges.features[k] + 1, ranges.minimum[k], ranges.maximum[k]
        raise DataError(f"feature {j} cannot be scaled: its range {low:g} to {high:g} is too extreme")
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
