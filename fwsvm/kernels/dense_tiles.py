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
from fwsvm.numerics.simd import broadcast, load, muladd, store, takes_two_registers
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
def _meet(kernel, tiles, which, tile, out, places):
    """Write k(row which[c], row r) for the sixteen rows of a tile to ``out[places[c]:]``."""
    n, numbers, left_block, own = tiles.features, tiles.numbers, tiles.left_block, tiles.own
    own_0, own_8 = load(own, tile * HEIGHT), load(own, tile * HEIGHT + 8)
    zero = broadcast(out.dtype.type(0))
    for c in range(0, which.size, GROUP):
        a0, a8, b0, b8, c0, c8, d0, d8 = micro_kernel(kernel, numbers, tile, left_block, c, n, zero)
        _finish(kernel, a0, a8, own_0, own_8, own[which[c]], out, places[c])
        _finish(kernel, b0, b8, own_0, own_8, own[which[c + 1]], out, places[c + 1])
        _finish(kernel, c0, c8, own_0, own_8, own[which[c + 2]], out, places[c + 2])
        _finish(kernel, d0, d8, own_0, own_8, own[which[c + 3]], out, places[c + 3])


@njit
def fill_dense(kernel, tiles, which, first, last, cached, lines):
    """Write k(row which[c], row r) to ``cached[lines[c], r]`` for the rows r of the tiles first ... last - 1.

    Returns the number of tiles.
    """
    m = cached.shape[1]
    out, places = cached.reshape(-1), np.empty(which.size, np.int64)
    # by loops: what numba makes of arithmetic with whole arrays takes two seconds to compile
    for tile in range(first, min(last, m // HEIGHT)):
        for c in range(which.size):
            places[c] = lines[c] * m + tile * HEIGHT
        _meet(kernel, tiles, which, tile, out, places)
    if last > m // HEIGHT:  # the last tile is not full
        edge, start = np.empty(which.size * HEIGHT, out.dtype), m // HEIGHT * HEIGHT
        for c in range(which.size):
            places[c] = c * HEIGHT
        _meet(kernel, tiles, which, m // HEIGHT, edge, places)
        for c in range(which.size):
            for r in range(start, m):
                cached[lines[c], r] = edge[c * HEIGHT + r - start]
    return last - first


@njit(nogil=False)  # takes microseconds: releasing the interpreter lock would cost more
def pack_left_block(tiles, wanted, lines):
    """Copy the rows ``wanted`` to the left-hand block; return them and their lines, padded to whole groups.

    The padding repeats the first row, whose column is written twice.
    """
    size = (wanted.size + GROUP - 1) // GROUP * GROUP
    which, to = np.empty(size, np.int64), np.empty(size, np.int64)
    for c in range(size):
        source = c if c < wanted.size else 0
        which[c], to[c] = wanted[source], lines[source]
    gather(tiles, which, tiles.left_block)
    return which, to


def fill_dense_columns(
    kernel: Any, tiles: DenseTiles, wanted: np.ndarray, cached: np.ndarray, lines: np.ndarray, threads: int
) -> None:
    """Write the columns of the rows ``wanted`` to ``cached[lines]``, on several threads."""
    which, to = pack_left_block(tiles, wanted, lines)
    in_shares(
        lambda first, last: fill_dense(kernel, tiles, which, first, last, cached, to),
        len(tiles.own) // HEIGHT, threads,
    )  # fmt: skip


#: Bytes of rows that are laid out at a time: they stay in the second-level cache while left-hand blocks pass by.
LAID = 1 << 20


@njit(each_step=True, forceinline=True)
def _add_group(low, high, v0, v8, w):
    return muladd(v0, broadcast(w), low), muladd(v8, broadcast(w), high)


@njit(each_step=True, forceinline=True)
def _meet_sums(kernel, tiles, left_block, own, count, weights, tile, totals):
    """Set ``totals`` (outputs * 16) to the weighted sums over ``count`` left-hand rows at a tile's rows."""
    n, numbers = tiles.features, tiles.numbers
    outputs = weights.shape[0]
    zero = broadcast(totals.dtype.type(0))
    for o in range(outputs):
        store(totals, o * HEIGHT, zero)
        store(totals, o * HEIGHT + 8, zero)
    own_0, own_8 = load(tiles.own, tile * HEIGHT), load(tiles.own, tile * HEIGHT + 8)
    for c in range(0, count, GROUP):
        a0, a8, b0, b8, c0, c8, d0, d8 = micro_kernel(kernel, numbers, tile, left_block, c, n, zero)
        a, b, e, f = broadcast(own[c]), broadcast(own[c + 1]), broadcast(own[c + 2]), broadcast(own[c + 3])
        a0, a8 = value(kernel, a0, own_0, a), value(kernel, a8, own_8, a)
        b0, b8 = value(kernel, b0, own_0, b), value(kernel, b8, own_8, b)
        c0, c8 = value(kernel, c0, own_0, e), value(kernel, c8, own_8, e)
        d0, d8 = value(kernel, d0, own_0, f), value(kernel, d8, own_8, f)
        for o in range(outputs):
            low, high = load(totals, o * HEIGHT), load(totals, o * HEIGHT + 8)
            low, high = _add_group(low, high, a0, a8, weights[o, c])
            low, high = _add_group(low, high, b0, b8, weights[o, c + 1])
            low, high = _add_group(low, high, c0, c8, weights[o, c + 2])
            low, high = _add_group(low, high, d0, d8, weights[o, c + 3])
            store(totals, o * HEIGHT, low)
            store(totals, o * HEIGHT + 8, high)


@njit
def add_sums(kernel, sources, which, weights, tiles, first, last, shift, out):
    """Add sum_j weights[o, j] k(sources[which[j]], row t) to ``out[o, t - shift]`` for the rows t first ... last - 1.

    Sums of 64 values are kept in the precision of the rows, sums of these in float64.
    """
    outputs, dtype = weights.shape[0], tiles.numbers.dtype
    left_block, own = np.empty(MOST * tiles.features, dtype), np.empty(MOST, dtype)
    lines, totals = np.empty((outputs, MOST), dtype), np.empty(outputs * HEIGHT, dtype)
    for at in range(0, which.size, MOST):
        some = which[at : at + MOST]
        count = (some.size + GROUP - 1) // GROUP * GROUP
        gather(sources, some, left_block)
        for c in range(count):
            own[c] = sources.own[some[c if c < some.size else 0]]
            for o in range(outputs):
                lines[o, c] = weights[o, at + c] if c < some.size else 0.0
        for tile in range(first // HEIGHT, (last + HEIGHT - 1) // HEIGHT):
            _meet_sums(kernel, tiles, left_block, own, count, lines, tile, totals)
            start, stop = max(first, tile * HEIGHT), min(last, tile * HEIGHT + HEIGHT)
            for o in range(outputs):
                to = o * HEIGHT - tile * HEIGHT
                for t in range(start, stop):
                    out[o, t - shift] += totals[to + t]


@njit
def add_sums_of_rows(kernel, sources, weights, rows, own, first, last, out):
    """Do `add_sums` with all of the sources for rows that are in no tiles: some at a time are laid out here."""
    n, dtype = rows.features, rows.values.dtype
    height = max(1, LAID // (max(1, n) * rows.values.itemsize * HEIGHT)) * HEIGHT
    numbers, terms, which = np.empty(height * n, dtype), np.zeros(height, dtype), np.arange(weights.shape[1])
    for start in range(first, last, height):
        stop = min(start + height, last)
        numbers[:] = 0.0
        pack_range(rows, start, stop, start, numbers)
        for t in range(start, stop):  # an assignment of slices takes two seconds to compile
            terms[t - start] = own[t]
        tiles = DenseTiles(numbers, terms, sources.left_block, n)
        # not a literal 0, for which numba compiles a version of its own
        add_sums(kernel, sources, which, weights, tiles, np.int64(0), stop - start, -start, out)
