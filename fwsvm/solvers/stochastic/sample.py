"""The rows that a method has drawn, kernel sums over them, and tests on rows drawn without regard to them.

A row whose coefficient changes adds its kernel values once. `StoredMatrixSums` reads them from the kernel matrix;
`RecomputedSums` computes them anew, 64 rows at a time, and keeps none: a method that draws a large sample and changes
few coefficients needs each about twice. Rows with few zeros are computed from a copy of them in tiles, in about half
the time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.dense_tiles import (
    DENSE,
    HEIGHT,
    DenseTiles,
    add_sums,
    empty_dense_tiles,
    no_dense_tiles,
    pack_rows,
)
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows, as_rows
from fwsvm.kernels.sparse_tiles import (
    WIDE,
    LeftBlock,
    clear,
    empty_left_block,
    kernel_matrix,
    scatter,
    wide_row,
)
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import in_shares, together
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


class RecomputedSums:
    """Sums at the rows of several samples, the first of which is the one that coefficients are over."""

    def __init__(self, kernel: Any, samples: Sequence[Sample], threads: int) -> None:
        self.kernel, self.samples, self.threads = kernel, list(samples), threads
        self.kernel_evaluations = 0
        self.tiles = [_room(sample) for sample in samples]
        self.laid = [0] * len(samples)
        self.left_block: list[LeftBlock] = []

    def replace(self, k: int, sample: Sample) -> None:
        """Let sample k be another one; `grown` comes next."""
        self.samples[k:], self.tiles[k:], self.laid[k:] = [sample], [_room(sample)], [0]

    def grown(self) -> None:
        """Update the tiles after the samples have drawn rows."""
        for k, (sample, tiles) in enumerate(zip(self.samples, self.tiles, strict=True)):
            if len(tiles.numbers):
                pack_rows(tiles, sample.store.rows, sample.store.own, self.laid[k])
                self.laid[k] = len(sample)
        if not all(len(tiles.numbers) for tiles in self.tiles):
            self.left_block = []  # before others are taken: they are as large
            self.left_block = [empty_left_block(self.samples[0].store.rows) for _ in range(self.threads)]

    def add(self, which: np.ndarray, weights: np.ndarray, outs: Sequence[np.ndarray]) -> None:
        """Add sum_j weights[o, j] k(s_which[j], x_t) to ``out[o, t]`` for the rows t of each sample.

        Parameters
        ----------
        which : ndarray of int, shape (j,)
        weights : ndarray, shape (outputs, j)
        outs : ndarrays of float64, shape (outputs, at least rows), one a sample
        """
        for k, out in enumerate(outs):
            self._add(k, which, weights, out, 0)

    def at_rows_from(self, k: int, which: np.ndarray, weights: np.ndarray, first: int) -> np.ndarray:
        """Return these sums at the rows t >= first of sample k, float64, shape (outputs, rows - first)."""
        out = np.zeros((len(weights), len(self.samples[k]) - first))
        self._add(k, which, weights, out, first)
        return out

    def _add(self, k: int, which: np.ndarray, weights: np.ndarray, out: np.ndarray, first: int) -> None:
        size = len(self.samples[k]) - first
        self.kernel_evaluations += len(which) * size
        parts = self.threads if size * len(which) > SUMS_PER_THREAD else 1
        if len(self.tiles[k].numbers):
            self._by_tiles(k, which, weights, out, first, parts)
        else:
            self._by_left_blocks(self.samples[k], which, weights, out, first, parts)

    def _by_tiles(
        self, k: int, which: np.ndarray, weights: np.ndarray, out: np.ndarray, start: int, parts: int
    ) -> None:
        sources, tiles = self.tiles[0], self.tiles[k]

        def share(first: int, last: int) -> None:
            add_sums(self.kernel, sources, which, weights, tiles, start + first, start + last, start, out)

        in_shares(share, len(self.samples[k]) - start, parts, HEIGHT)

    def _by_left_blocks(
        self, sample: Sample, which: np.ndarray, weights: np.ndarray, out: np.ndarray, start: int, parts: int
    ) -> None:
        source, store, size = self.samples[0].store, sample.store, len(sample) - start
        ends = [start + size * part // parts for part in range(parts + 1)]

        def share(part: int) -> None:
            _add_range(
                self.kernel,
                self.left_block[part],
                source.rows,
                source.own,
                which,
                weights,
                store.rows,
                store.own,
                start,
                ends[part],
                ends[part + 1],
                out,
            )

        together(share, parts)


def _room(sample: Sample) -> DenseTiles:
    """Return dense tiles for all rows that a sample may draw, or none if the data are too sparse.

    Samples of one problem are alike in this.
    """
    X: Any = sample.problem.X
    if sparse.issparse(X) and X.nnz < DENSE * X.shape[0] * X.shape[1]:
        return no_dense_tiles(sample.store.rows)
    return empty_dense_tiles(len(sample.order), X.shape[1], sample.dtype)


class StoredMatrixSums:
    """Sums at the rows of one sample whose kernel matrix is kept.

    Attributes
    ----------
    Q : ndarray of float32 or float64, shape (rows, rows)
    """

    def __init__(self, kernel: Any, sample: Sample, threads: int) -> None:
        m, every = len(sample), np.arange(len(sample))
        self.Q: np.ndarray = np.empty((m, m), sample.dtype)
        kernel_matrix(kernel, sample.store.rows, every, every, self.Q, threads)
        self.kernel_evaluations = m * m

    def add(self, which: np.ndarray, weights: np.ndarray, outs: Sequence[np.ndarray]) -> None:
        """Add sum_j weights[0, j] Q[which[j]] to ``outs[0][0]``."""
        _add_rows(self.Q, which, weights[0], outs[0][0])


# the sum over the left-hand rows in any order: else it waits on itself at every term
@njit(fastmath={"reassoc", "contract"})
def _add_range(kernel, left_block, sources, own_sources, which, weights, rows, own, start, first, last, out):
    """Add the sums at rows first ... last - 1 to ``out``, whose first column is row ``start``."""
    values, lines = np.empty(WIDE, rows.values.dtype), np.empty((weights.shape[0], WIDE))
    for at in range(0, which.size, WIDE):
        count = min(WIDE, which.size - at)
        some = which[at : at + count]
        for o in range(weights.shape[0]):
            for c in range(WIDE):
                lines[o, c] = weights[o, at + c] if c < count else 0.0
        laid = scatter(left_block, sources, own_sources, some, WIDE)
        for t in range(first, last):
            wide_row(kernel, left_block, rows, t, own[t], values, 0)
            for o in range(weights.shape[0]):
                total = 0.0
                for c in range(WIDE):
                    total += lines[o, c] * values[c]
                out[o, t - start] += total
        clear(left_block, laid)


@njit(fastmath={"contract"})
def _add_rows(Q, which, factors, out):
    """Add factors[c] Q[which[c]] to ``out``, four rows in one pass."""
    n, count, c = Q.shape[0], which.size, 0
    while c + 4 <= count:
        a, b, e, f = Q[which[c]], Q[which[c + 1]], Q[which[c + 2]], Q[which[c + 3]]
        p, q, r, t = factors[c], factors[c + 1], factors[c + 2], factors[c + 3]
        for i in range(n):
            out[i] += (p * a[i] + q * b[i]) + (r * e[i] + t * f[i])
        c += 4
    while c < count:
        a, p = Q[which[c]], factors[c]
        for i in range(n):
            out[i] += p * a[i]
        c += 1
