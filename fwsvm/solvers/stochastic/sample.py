"""The rows that a method has drawn, and their kernel matrix: all the memory that a run takes."""

from typing import Any

import numpy as np
from scipy import sparse

from fwsvm._compile import njit
from fwsvm.kernels.blocks import WIDE, clear, fill, lay_out, room_for_anchors
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows, as_rows

TILE = 64


def take(X: np.ndarray | sparse.csr_array, which: np.ndarray, dtype: type) -> Rows:
    """Return the rows ``which`` of X (m, n). Dense rows keep their zeros: to look for them costs more than they do."""
    if sparse.issparse(X):
        return as_rows(X[which], dtype)
    m, n = len(which), X.shape[1]
    features = np.tile(np.arange(n, dtype=np.int32), m)
    return Rows(X[which].astype(dtype).reshape(-1), features, n * np.arange(m + 1, dtype=np.int64), n)


class Store:
    """Rows that come piece by piece, in arrays that double when full; ``rows`` and ``own`` are views of them.

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
        """Take in more rows at the end."""
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
    """Return the array, or one twice as long with its first ``used`` numbers, so that ``needed`` fit."""
    if needed <= len(array):
        return array
    longer = np.empty(max(needed, 2 * len(array)), array.dtype)
    longer[:used] = array[:used]
    return longer


class Sample:
    """S_k: rows drawn without replacement in an order fixed by the seed, so that S_{k-1} is a part of S_k.

    Attributes
    ----------
    order : ndarray of int, shape (m,), the first ``len(sample)`` entries are the rows drawn
    kernel_evaluations : int
    """

    def __init__(
        self, X: np.ndarray | sparse.csr_array, kernel: Any, dtype: type, order: np.ndarray, threads: int
    ) -> None:
        self.X, self.kernel, self.dtype, self.order, self.threads = X, kernel, dtype, order, threads
        self.store = Store(kernel, X.shape[1], dtype)
        self.kernel_evaluations = 0

    def __len__(self) -> int:
        return self.rows.height

    @property
    def rows(self) -> Rows:
        """The rows drawn, in the order of drawing."""
        return self.store.rows

    def grow(self, size: int, Q: np.ndarray) -> None:
        """Draw rows until there are ``size``, and write their kernel values to Q[:size, :size]."""
        old = len(self)
        drawn = self.order[old:size]
        self.store.append(take(self.X, drawn, self.dtype))
        own, anchors = self.store.own, room_for_anchors(self.rows)
        everyone = np.arange(size, dtype=np.int32)
        for first in range(old, size, WIDE):
            some = everyone[first : min(first + WIDE, size)]
            used = lay_out(anchors, self.rows, own, some, WIDE)
            fill(
                self.kernel, anchors, WIDE, len(some), self.rows, own, everyone, first + len(some), Q,
                some.astype(np.int64), self.threads,
            )  # fmt: skip
            clear(anchors, used)
            self.kernel_evaluations += len(some) * (first + len(some))
        _mirror(Q, old, size)


@njit
def _mirror(Q, old, size):
    """Copy Q[i, j] to Q[j, i] for every j < i with i >= old, in tiles that fit the cache."""
    for top in range(old // TILE * TILE, size, TILE):
        for left in range(0, top + 1, TILE):
            for i in range(max(top, old), min(top + TILE, size)):
                for j in range(left, min(left + TILE, i)):
                    Q[j, i] = Q[i, j]
