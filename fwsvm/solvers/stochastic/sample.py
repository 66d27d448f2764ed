"""The rows that a method has drawn; these and their kernel values are the memory of a run."""

from typing import Any

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix, picked
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows, as_rows
from fwsvm.problems.binary import Binary


def picked_rows(X: RowMatrix, which: np.ndarray, dtype: type) -> Rows:
    """Return the rows ``which`` of X (m, n). Dense rows keep their zeros: finding them costs more than it saves."""
    taken = picked(X, which)
    if sparse.issparse(taken):
        return as_rows(taken, dtype)
    m, n = taken.shape
    features = np.tile(np.arange(n, dtype=np.int32), m)
    return Rows(taken.astype(dtype).reshape(-1), features, n * np.arange(m + 1, dtype=np.int64), n)


class RowBuffer:
    """A growing array of rows, doubled when full; ``rows`` and ``own`` are views of its used part.

    Attributes
    ----------
    rows : Rows
    own : ndarray, shape (rows,), the kernel's own terms of the rows
    """

    def __init__(self, kernel: Any, features: int, dtype: type) -> None:
        self.kernel, self.features = kernel, features
        self._values: np.ndarray = np.empty(0, dtype)
        self._columns = np.empty(0, np.int32)
        self._starts = np.zeros(1, np.int64)
        self._own: np.ndarray = np.empty(0, dtype)
        self._count = 0
        self.append(Rows(self._values, self._columns, self._starts, features))

    def append(self, rows: Rows) -> None:
        """Append rows."""
        old, used = self._count, int(self._starts[self._count])
        new, end = old + rows.height, used + len(rows.values)
        self._values = _with_room(self._values, used, end)
        self._columns = _with_room(self._columns, used, end)
        self._starts = _with_room(self._starts, old + 1, new + 1)
        self._own = _with_room(self._own, old, new)
        self._values[used:end], self._columns[used:end] = rows.values, rows.columns
        self._starts[old + 1 : new + 1] = used + rows.starts[1:]
        self._own[old:new] = own_terms(self.kernel, rows)
        self._count = new
        self.rows = Rows(self._values[:end], self._columns[:end], self._starts[: new + 1], self.features)
        self.own = self._own[:new]


def _with_room(array: np.ndarray, used: int, needed: int) -> np.ndarray:
    """Return the array, or a larger copy of its first ``used`` elements, so that ``needed`` fit."""
    if needed <= len(array):
        return array
    longer = np.empty(max(needed, 2 * len(array)), array.dtype)
    longer[:used] = array[:used]
    return longer


class Sample:
    """A sample that grows in an order fixed by the seed, so that each sample is a prefix of the next.

    Attributes
    ----------
    order : ndarray of int, shape (most,), the first ``len(sample)`` entries are the rows drawn
    store : RowBuffer, the rows drawn, in the order of drawing
    w : ndarray of float64, shape (most,), labels +1 or -1
    """

    def __init__(self, problem: Binary, kernel: Any, dtype: type, order: np.ndarray) -> None:
        self.problem, self.dtype, self.order = problem, dtype, order
        self.store = RowBuffer(kernel, problem.X.shape[1], dtype)
        self.w = problem.y[order]

    def __len__(self) -> int:
        return self.store.rows.height

    def draw(self, size: int) -> None:
        """Draw rows until there are ``size``."""
        self.store.append(picked_rows(self.problem.X, self.order[len(self) : size], self.dtype))


def random_order(m: int, most: int, stream: tuple[int, ...]) -> np.ndarray:
    """Return ``most`` different rows of m in random order."""
    return np.random.default_rng(stream).choice(m, most, replace=False)
