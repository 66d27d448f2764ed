"""The rows that a method has drawn, and kernel sums over them, whose values are computed anew and not kept.

A method that draws a large sample and changes few coefficients needs each kernel value about twice. Rows with few
zeros are packed in tiles, which takes about half the time.
"""

from typing import Any

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.dense_tiles import DENSE, HEIGHT, add_sums, empty_dense_tiles, pack_range, scratch_for
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows, as_rows
from fwsvm.kernels.sums import sums_of_sparse
from fwsvm.numerics.threads import in_shares
from fwsvm.problems.binary import Binary
from fwsvm.solvers.tuning import SUMS_PER_THREAD


def picked_rows(X: RowMatrix, which: np.ndarray, dtype: type) -> Rows:
    """Return the rows ``which`` of X (m, n). Dense rows keep their zeros: finding them costs more than it saves."""
    taken = X[which]
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
        self.kernel = kernel
        self._values: np.ndarray = np.empty(0, dtype)
        self._columns = np.empty(0, np.int32)
        self._starts = np.zeros(1, np.int64)
        self._own: np.ndarray = np.empty(0, dtype)
        self.rows, self.own = Rows(self._values, self._columns, self._starts, features), self._own

    def append(self, rows: Rows) -> None:
        """Append rows."""
        old, used = self.rows.height, len(self.rows.values)
        new, end = old + rows.height, used + len(rows.values)
        self._values = _with_room(self._values, used, end)
        self._columns = _with_room(self._columns, used, end)
        self._starts = _with_room(self._starts, old + 1, new + 1)
        self._own = _with_room(self._own, old, new)
        self._values[used:end], self._columns[used:end] = rows.values, rows.columns
        self._starts[old + 1 : new + 1] = used + rows.starts[1:]
        self._own[old:new] = own_terms(self.kernel, rows)
        self.rows = Rows(self._values[:end], self._columns[:end], self._starts[: new + 1], rows.features)
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
    order : ndarray of int, shape (most,), the first ``size`` entries are the rows drawn
    size : int
    kernel_evaluations : int, of `sums`
    """

    def __init__(self, problem: Binary, kernel: Any, dtype: type, order: np.ndarray, threads: int) -> None:
        self.kernel, self.dtype, self.order, self.threads = kernel, dtype, order, threads
        X: Any = problem.X
        self.X = X
        self.size = self.kernel_evaluations = 0
        m, n = X.shape
        self.is_dense = not sparse.issparse(X) or X.nnz >= DENSE * m * n
        self.tiles = empty_dense_tiles(len(order) if self.is_dense else 0, n, dtype)
        self.buffer = RowBuffer(kernel, n, dtype)

    def draw(self, size: int) -> None:
        """Draw rows until there are ``size``."""
        old, self.size = self.size, size
        drawn = picked_rows(self.X, self.order[old:size], self.dtype)
        if self.is_dense:
            self.tiles.own[old:size] = own_terms(self.kernel, drawn)
            pack_range(drawn, 0, drawn.height, -old, self.tiles.numbers)
        else:
            self.buffer.append(drawn)

    def sums(self, at: "Sample", which: np.ndarray, weights: np.ndarray, first: int = 0) -> np.ndarray:
        """Return sum_j weights[o, j] k(x_which[j], x_t) at the rows t >= ``first`` of a sample.

        Parameters
        ----------
        which : ndarray of int, shape (j,), rows of this sample
        weights : ndarray, shape (outputs, j)

        Returns
        -------
        ndarray of float64, shape (outputs, at.size - first)
        """
        size, kernel = at.size - first, self.kernel
        self.kernel_evaluations += len(which) * size
        parts = self.threads if size * len(which) > SUMS_PER_THREAD else 1
        if not self.is_dense:
            rows, own = at.buffer.rows, at.buffer.own[first:]
            targets = rows._replace(starts=rows.starts[first:])
            own_sources = self.buffer.own
            return sums_of_sparse(
                kernel, self.buffer.rows, own_sources, which, weights.T, targets, own, parts
            ).T
        out, weights = np.zeros((len(weights), size)), np.ascontiguousarray(weights)

        def add(start: int, stop: int) -> None:
            tiles, scratch = at.tiles, scratch_for(at.tiles)
            add_sums(
                kernel, self.tiles, which, weights, tiles, first + start, first + stop, first, out, scratch
            )

        in_shares(add, size, parts, HEIGHT)
        return out


def random_order(m: int, most: int, stream: tuple[int, ...]) -> np.ndarray:
    """Return ``most`` different rows of m in random order."""
    return np.random.default_rng(stream).choice(m, most, replace=False)
