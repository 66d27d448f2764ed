"""Kernel columns of dense rows: a register-blocked matrix product over packed tiles.

Rows are packed in tiles of sixteen, feature by feature, and the rows whose columns are wanted in a left-hand block of
groups of four. The micro-kernel multiplies a group with a tile: 4 x 16 sums in eight vector registers, one fused
multiply-add a vector and feature. Sums run over the features in ascending order, as in `fwsvm.kernels.sparse_tiles`,
and have the same bits: a zero adds exactly nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.kernel import pair, value
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.compile import njit
from fwsvm.numerics.simd import broadcast, load, maximum, minimum, muladd, store, takes_two_registers
from fwsvm.numerics.threads import in_shares

HEIGHT, GROUP = 16, 4  # rows of a tile, and of a group of the left-hand block
MOST = 64  # rows of the left-hand block
#: Share of numbers that are not zero from which eight columns cost less here than by sparse tiles.
DENSE = 0.25


class DenseTiles(NamedTuple):
    """Rows packed in tiles, and memory for a left-hand block.

    Attributes
    ----------
    numbers : ndarray, shape (tiles * features * 16,)
        Empty where rows are sparse (`fwsvm.kernels.sparse_tiles` serves them).
    own : ndarray, shape (tiles * 16,)
        The rows' own terms, padded with zeros.
    left_block : ndarray, shape (64 * features,)
        Up to 64 rows in groups of four, feature by feature.
    features : int
    """

    numbers: np.ndarray
    own: np.ndarray
    left_block: np.ndarray
    features: int


def no_dense_tiles(rows: Rows) -> DenseTiles:
    """Return tiles of no rows."""
    nothing = np.empty(0, rows.values.dtype)
    return DenseTiles(nothing, nothing, nothing, rows.features)


def dense_tiles(rows: Rows, own: np.ndarray) -> DenseTiles:
    """Return the rows packed in tiles, or no tiles where the rows are sparse."""
    if not is_dense(rows):
        return no_dense_tiles(rows)
    tiles = empty_dense_tiles(rows.height, rows.features, rows.values.dtype)
    pack_rows(tiles, rows, own, 0)
    return tiles


def is_dense(rows: Rows) -> bool:
    """Whether enough of the numbers are not zero for dense tiles to be faster."""
    return len(rows.values) >= DENSE * rows.height * rows.features


def empty_dense_tiles(capacity: int, features: int, dtype: type | np.dtype) -> DenseTiles:
    """Return tiles for ``capacity`` rows, all zero; the system provides memory pages as rows are packed."""
    count = -(-capacity // HEIGHT)
    numbers = np.zeros(count * features * HEIGHT, dtype)
    return DenseTiles(numbers, np.zeros(count * HEIGHT, dtype), np.empty(MOST * features, dtype), features)


def pack_rows(tiles: DenseTiles, rows: Rows, own: np.ndarray, first: int) -> None:
    """Pack the rows ``first`` and later."""
    tiles.own[first : len(own)] = own[first:]
    pack_range(rows, first, rows.height, 0, tiles.numbers)


@njit
def pack_range(rows, first, last, start, numbers):
    """Pack the rows first ... last - 1 into tiles whose first row is ``start``."""
    for t in range(first, last):
        base = (t - start) // HEIGHT * rows.features * HEIGHT + (t - start) % HEIGHT
        for p in range(rows.starts[t], rows.starts[t + 1]):
            numbers[base + rows.columns[p] * HEIGHT] = rows.values[p]


@njit(inner=True)
def gather(tiles, which, left_block):
    """Copy the rows ``which`` to ``left_block`` in groups of four; the last group is padded with the first row."""
    n = tiles.features
    for c in range((which.size + GROUP - 1) // GROUP * GROUP):
        t = which[c if c < which.size else 0]
        source, to = t // HEIGHT * n * HEIGHT + t % HEIGHT, c // GROUP * n * GROUP + c % GROUP
        for f in range(n):
            left_block[to + f * GROUP] = tiles.numbers[source + f * HEIGHT]


@njit(inline="always")
def _finish(kernel, low, high, own_low, own_high, own, out, at):
    """Write the kernel values of sixteen sums to ``out[at:]``."""
    store(out, at, value(kernel, low, own_low, broadcast(own)))
    store(out, at + 8, value(kernel, high, own_high, broadcast(own)))


@njit(each_step=True, forceinline=True)
def _half_kernel(kernel, numbers, x, left_block, c, n, zero):
    """Return the sums over n features of four left-hand rows with half a tile, whose numbers begin at x."""
    a = b = d = e = zero
    z = np.uint64(c * n)
    for _ in range(n):
        eight = load(numbers, x)
        a = pair(kernel, a, eight, broadcast(left_block[z]))
        b = pair(kernel, b, eight, broadcast(left_block[z + np.uint64(1)]))
        d = pair(kernel, d, eight, broadcast(left_block[z + np.uint64(2)]))
        e = pair(kernel, e, eight, broadcast(left_block[z + np.uint64(3)]))
        x, z = x + np.uint64(HEIGHT), z + np.uint64(GROUP)
    return a, b, d, e


@njit(each_step=True, forceinline=True)
def micro_kernel(kernel, numbers, tile, left_block, c, n, zero):
    """Return the sums over n features of four left-hand rows, from the c-th, with a tile: 4 x 16 in 8 vectors."""
    # unsigned indices: numba does not test them for being negative
    x, z = np.uint64(tile * n * HEIGHT), np.uint64(c * n)
    if takes_two_registers(numbers):  # all sums at once would leave none
        a0, b0, c0, d0 = _half_kernel(kernel, numbers, x, left_block, c, n, zero)
        a8, b8, c8, d8 = _half_kernel(kernel, numbers, x + np.uint64(8), left_block, c, n, zero)
        return a0, a8, b0, b8, c0, c8, d0, d8
    a0 = a8 = b0 = b8 = c0 = c8 = d0 = d8 = zero
    for _ in range(n):
        x0, x8 = load(numbers, x), load(numbers, x + np.uint64(8))
        i, j = broadcast(left_block[z]), broadcast(left_block[z + np.uint64(1)])
        k, l = broadcast(left_block[z + np.uint64(2)]), broadcast(left_block[z + np.uint64(3)])  # noqa: E741
        a0, a8 = pair(kernel, a0, x0, i), pair(kernel, a8, x8, i)
        b0, b8 = pair(kernel, b0, x0, j), pair(kernel, b8, x8, j)
        c0, c8 = pair(kernel, c0, x0, k), pair(kernel, c8, x8, k)
        d0, d8 = pair(kernel, d0, x0, l), pair(kernel, d8, x8, l)
        x, z = x + np.uint64(HEIGHT), z + np.uint64(GROUP)
    return a0, a8, b0, b8, c0, c8, d0, d8


@njit(each_step=True, forceinline=True)
def _meet(kernel, tiles, left_block, left_own, count, tile, out, places):
    """Write k(left-hand row c, row r) for the sixteen rows of a tile to ``out[places[c]:]``."""
    n, numbers = tiles.features, tiles.numbers
    own_0, own_8 = load(tiles.own, tile * HEIGHT), load(tiles.own, tile * HEIGHT + 8)
    zero = broadcast(out.dtype.type(0))
    for c in range(0, count, GROUP):
        a0, a8, b0, b8, c0, c8, d0, d8 = micro_kernel(kernel, numbers, tile, left_block, c, n, zero)
        _finish(kernel, a0, a8, own_0, own_8, left_own[c], out, places[c])
        _finish(kernel, b0, b8, own_0, own_8, left_own[c + 1], out, places[c + 1])
        _finish(kernel, c0, c8, own_0, own_8, left_own[c + 2], out, places[c + 2])
        _finish(kernel, d0, d8, own_0, own_8, left_own[c + 3], out, places[c + 3])


@njit
def fill_dense(kernel, tiles, left_own, first, last, cached, lines):
    """Write k(left-hand row c, row r) to ``cached[lines[c], r]`` for the rows r of the tiles first ... last - 1.

    The left-hand block is that of `pack_left_block`. Returns the number of tiles.
    """
    m, count = cached.shape[1], lines.size
    out, places, whole = cached.reshape(-1), np.empty(count, np.int64), m // HEIGHT
    # by loops: what numba makes of arithmetic with whole arrays takes two seconds to compile
    for tile in range(first, minimum(last, whole)):
        for c in range(count):
            places[c] = lines[c] * m + tile * HEIGHT
        _meet(kernel, tiles, tiles.left_block, left_own, count, tile, out, places)
    if last > whole:  # the last tile is not full
        edge, start = np.empty(count * HEIGHT, out.dtype), whole * HEIGHT
        for c in range(count):
            places[c] = c * HEIGHT
        _meet(kernel, tiles, tiles.left_block, left_own, count, whole, edge, places)
        for c in range(count):
            for r in range(start, m):
                cached[lines[c], r] = edge[c * HEIGHT + r - start]
    return last - first


@njit(nogil=False)  # takes microseconds: releasing the interpreter lock would cost more
def pack_left_block(tiles, wanted, lines):
    """Copy the rows ``wanted`` to the left-hand block; return their own terms and lines, padded to whole groups.

    The padding repeats the first row, whose column is written twice.
    """
    size = (wanted.size + GROUP - 1) // GROUP * GROUP
    own, to = np.empty(size, tiles.own.dtype), np.empty(size, np.int64)
    for c in range(size):
        source = c if c < wanted.size else 0
        own[c], to[c] = tiles.own[wanted[source]], lines[source]
    gather(tiles, wanted, tiles.left_block)
    return own, to


def fill_dense_columns(
    kernel: Any, tiles: DenseTiles, wanted: np.ndarray, cached: np.ndarray, lines: np.ndarray, threads: int
) -> None:
    """Write the columns of the rows ``wanted`` to ``cached[lines]``, on several threads."""
    own, to = pack_left_block(tiles, wanted, lines)
    in_shares(
        lambda first, last: fill_dense(kernel, tiles, own, first, last, cached, to),
        len(tiles.own) // HEIGHT,
        threads,
    )


#: Bytes of rows that are laid out at a time: they stay in the second-level cache while left-hand blocks pass by.
LAID = 1 << 20


@njit
def add_sums(kernel, sources, which, weights, tiles, first, last, shift, out):
    """Add sum_j weights[o, j] k(sources[which[j]], row t) to ``out[o, t - shift]`` for the rows t first ... last - 1.

    Sums of 64 values are kept in the precision of the rows, sums of these in float64.
    """
    outputs, dtype = weights.shape[0], tiles.numbers.dtype
    left_block, own = np.empty(MOST * tiles.features, dtype), np.empty(MOST, dtype)
    lines, totals = np.empty((outputs, MOST), dtype), np.empty(HEIGHT, dtype)
    values, places, some = np.empty(MOST * HEIGHT, dtype), np.empty(MOST, np.int64), np.empty(MOST, np.int64)
    for c in range(MOST):
        places[c] = c * HEIGHT
    for at in range(0, which.size, MOST):
        count = minimum(MOST, which.size - at)
        for c in range(MOST):  # rows of no weight fill the last group
            some[c] = which[at + c if c < count else at]
            own[c] = sources.own[some[c]]
            for o in range(outputs):
                lines[o, c] = weights[o, at + c] if c < count else 0.0
        count = (count + GROUP - 1) // GROUP * GROUP
        gather(sources, some[:count], left_block)
        for tile in range(first // HEIGHT, (last + HEIGHT - 1) // HEIGHT):
            _meet(kernel, tiles, left_block, own, count, tile, values, places)
            start, stop = maximum(first, tile * HEIGHT), minimum(last, tile * HEIGHT + HEIGHT)
            for o in range(outputs):
                low = high = broadcast(dtype.type(0))
                for c in range(count):
                    weight = broadcast(lines[o, c])
                    low = muladd(load(values, c * HEIGHT), weight, low)
                    high = muladd(load(values, c * HEIGHT + 8), weight, high)
                store(totals, 0, low)
                store(totals, 8, high)
                for t in range(start, stop):
                    out[o, t - shift] += totals[t - tile * HEIGHT]


def add_sums_of_rows(
    kernel: Any,
    sources: DenseTiles,
    weights: np.ndarray,
    rows: Rows,
    own: np.ndarray,
    first: int,
    last: int,
    out: np.ndarray,
) -> None:
    """Do `add_sums` with all of the sources for rows that are in no tiles: some at a time are laid out here."""
    n, which = rows.features, np.arange(weights.shape[1])
    height = (
        min(max(1, LAID // (max(1, n) * rows.values.itemsize * HEIGHT)), -(-(last - first) // HEIGHT))
        * HEIGHT
    )
    numbers, terms = np.empty(height * n, rows.values.dtype), np.zeros(height, rows.values.dtype)
    tiles = DenseTiles(numbers, terms, sources.left_block, n)
    for start in range(first, last, height):
        stop = min(start + height, last)
        numbers[:] = 0.0
        pack_range(rows, start, stop, start, numbers)
        terms[: stop - start] = own[start:stop]
        add_sums(kernel, sources, which, weights, tiles, 0, stop - start, -start, out)
