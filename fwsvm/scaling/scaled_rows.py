"""Rows scaled by ranges.

A value v of feature j becomes ``lower + (upper - lower) (v - min_j) / (max_j - min_j)``; a feature that does
not vary over the training rows becomes 0, since svm-scale leaves it out. Rows to predict are scaled by the training
ranges and may fall outside.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix
from fwsvm._memory import require
from fwsvm._occurring import only_columns, widened
from fwsvm.errors import DataError
from fwsvm.scaling.ranges import Ranges

DENSE = 3 * 8  # bytes of a number as it is, scaled, and while it is computed
SPARSE = 5 * 8  # bytes of a stored number scaled, with its index, and while it is computed
CHECKED = 2  # bytes of truths about a number: whether it is the largest, and whether it is finite


def apply(X: RowMatrix, ranges: Ranges) -> RowMatrix:
    """Return ``X``, shape (m, n), scaled, in new memory.

    Sparse rows stay sparse where zero is mapped to zero, or where few of the n features vary.

    Raises
    ------
    DataError
        A value cannot be scaled, since its feature's range is too narrow or too wide for doubles; or the scaled rows do
        not fit in the memory available.
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
    (m, n), k = X.shape, len(ranges.features)
    picked = 0 if k == n else (X.itemsize + 8) * k
    _require_copy(m * ((8 + CHECKED) * n + picked), m, ranges)
    if k == n:
        return _mapped(X, ranges)
    scaled = np.zeros(X.shape)
    scaled[:, ranges.features] = _mapped(X[:, ranges.features], ranges)
    return scaled


def _sparse(X: csr_array, ranges: Ranges) -> RowMatrix:
    (m, n), k = X.shape, len(ranges.features)
    if not ranges.keeps_zeros:
        require_room(m, min(n, 2 * k), ranges)
        if n <= 2 * k:
            return _dense(X.toarray(), ranges)
    else:
        _require_copy(SPARSE * X.nnz, m, ranges)
    rows = only_columns(X, ranges.features)
    if ranges.keeps_zeros:
        maximum = ranges.maximum[rows.indices]
        values = np.where(rows.data == maximum, ranges.upper, ranges.upper * rows.data / maximum)
        rows = csr_array((values, rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)
    else:
        rows = csr_array(_mapped(rows.toarray(), ranges))
    rows.eliminate_zeros()
    return widened(rows, ranges.features, n)


def require_room(rows: int, features: int, ranges: Ranges) -> None:
    """Refuse to write sparse rows out with their zeros where those do not fit."""
    what = f"scaling to {ranges.interval}, which makes {rows:,} sparse rows of {features:,} features dense,"
    remedy = "scale to [0,1], which keeps zeros where no value is negative, or take fewer rows (fwsvm subset)"
    require(DENSE * rows * features, what, remedy, DataError)


def _require_copy(needed: int, rows: int, ranges: Ranges) -> None:
    """Refuse to scale rows where the bytes that the copy needs are not available."""
    what = f"scaling {rows:,} rows to {ranges.interval}"
    require(needed, what, "take fewer rows at a time (fwsvm subset)", DataError)


def _mapped(values: NDArray[np.float64], ranges: Ranges) -> NDArray[np.float64]:
    """Return values of the features that vary, shape (m, k), scaled: in svm-scale's order, so that no bit differs."""
    scaled = values - ranges.minimum
    scaled *= ranges.upper - ranges.lower
    scaled /= ranges.maximum - ranges.minimum
    scaled += ranges.lower
    scaled[values == ranges.maximum] = ranges.upper  # exact at the ends, whatever the rounding above
    return np.ascontiguousarray(scaled)
