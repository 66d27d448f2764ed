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
#: Bytes of rows that are laid out at a time: they stay in the second-level cache while left-hand blocks pass by.
LAID = 1 << 20
#: Share of numbers that are not zero from which eight columns cost less here than by sparse tiles.
DENSE = 0.25


class DenseTiles(NamedTuple):
    """Rows packed in tiles.

    Attributes
    ----------
    numbers : ndarray, shape (tiles * features * 16,)
        Empty where rows are sparse (`fwsvm.kernels.sparse_tiles` serves them).
    own : ndarray, shape (tiles * 16,)
        The rows' own terms, padded with zeros.
    features : int
    """

    numbers: np.ndarray
    own: np.ndarray
    features: int


def no_dense_tiles(rows: Rows) -> DenseTiles:
    """Return tiles of no rows."""
    nothing = np.empty(0, rows.values.dtype)
    return DenseTiles(nothing, nothing, rows.features)


def dense_tiles(rows: Rows, own: np.ndarray) -> DenseTiles:
    """Return the rows packed in tiles."""
    tiles = empty_dense_tiles(rows.height, rows.features, rows.values.dtype)
    pack_rows(tiles, rows, own, 0)
    return tiles


def is_dense(rows: Rows) -> bool:
    """Whether enough of the numbers are not zero for dense tiles to be faster."""
    return len(rows.values) >= DENSE * rows.height * rows.features


def empty_dense_tiles(capacity: int, features: int, dtype: type | np.dtype) -> DenseTiles:
    """Return tiles for ``capacity`` rows, all zero; the system provides memory pages as rows are packed."""
    count = -(-capacity // HEIGHT)
    return DenseTiles(np.zeros(count * features * HEIGHT, dtype), np.zeros(count * HEIGHT, dtype), features)


def scratch_for(tiles: DenseTiles) -> np.ndarray:
    """Return memory for a left-hand block (64 x features), its own terms, its values with a tile, and their sums."""
    return np.empty(MOST * (tiles.features + 1 + HEIGHT) + HEIGHT, tiles.numbers.dtype)


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
def _pack_left_block(tiles, which, at, count, scratch):
    """Copy ``count`` rows from ``which[at]`` on in groups of four, and their own terms.

    The last group is padded with the first row.
    """
    n = tiles.features
    for c in range((count + GROUP - 1) // GROUP * GROUP):
        t = which[at + (c if c < count else 0)]
        source, to = t // HEIGHT * n * HEIGHT + t % HEIGHT, c // GROUP * n * GROUP + c % GROUP
        for f in range(n):
            scratch[to + f * GROUP] = tiles.numbers[source + f * HEIGHT]
        scratch[MOST * n + c] = tiles.own[t]


@njit(each_step=True, forceinline=True)
def _add_feature(kernel, sums, x, scratch, z):
    """Return the sums of a group of four left-hand rows with eight rows after the feature that these have in x."""
    a, b, c, d = sums
    return (
        pair(kernel, a, x, broadcast(scratch[z])),
        pair(kernel, b, x, broadcast(scratch[z + np.uint64(1)])),
        pair(kernel, c, x, broadcast(scratch[z + np.uint64(2)])),
        pair(kernel, d, x, broadcast(scratch[z + np.uint64(3)])),
    )


@njit(each_step=True, forceinline=True)
def _write(
    kernel, low, high, c, own_low, own_high, scratch, own_at, count, out, lines, by_lines, stride, start
):
    """Write the kernel values of left-hand row c with sixteen rows."""
    line = lines[c if c < count else 0] if by_lines else c
    own, at = broadcast(scratch[own_at + c]), line * stride + start
    store(out, at, value(kernel, low, own_low, own))
    store(out, at + 8, value(kernel, high, own_high, own))


@njit(each_step=True, forceinline=True)
def _meet(kernel, tiles, tile, count, scratch, lines, by_lines, out, stride, start):
    """Write k(left-hand row c, row r) for the sixteen rows of a tile from ``out[lines[c] * stride + start]`` on.

    From ``out[c * stride + start]`` on unless ``by_lines``.
    """
    n, numbers, zero = tiles.features, tiles.numbers, broadcast(scratch.dtype.type(0))
    own_low, own_high, own = load(tiles.own, tile * HEIGHT), load(tiles.own, tile * HEIGHT + 8), MOST * n
    for c in range(0, count, GROUP):
        # unsigned indices: numba does not test them for being negative
        x, z = np.uint64(tile * n * HEIGHT), np.uint64(c * n)
        low = high = (zero, zero, zero, zero)
        if takes_two_registers(numbers):  # all sums at once would leave none
            for _ in range(n):
                low = _add_feature(kernel, low, load(numbers, x), scratch, z)
                x, z = x + np.uint64(HEIGHT), z + np.uint64(GROUP)
            x, z = np.uint64(tile * n * HEIGHT + 8), np.uint64(c * n)
            for _ in range(n):
                high = _add_feature(kernel, high, load(numbers, x), scratch, z)
                x, z = x + np.uint64(HEIGHT), z + np.uint64(GROUP)
        else:
            for _ in range(n):
                low = _add_feature(kernel, low, load(numbers, x), scratch, z)
                high = _add_feature(kernel, high, load(numbers, x + np.uint64(8)), scratch, z)
                x, z = x + np.uint64(HEIGHT), z + np.uint64(GROUP)
        to = own_low, own_high, scratch, own, count, out, lines, by_lines, stride, start
        _write(kernel, low[0], high[0], c, *to)
        _write(kernel, low[1], high[1], c + 1, *to)
        _write(kernel, low[2], high[2], c + 2, *to)
        _write(kernel, low[3], high[3], c + 3, *to)


@njit(each_step=True, forceinline=True)
def _fill_tile(kernel, tiles, tile, count, scratch, out, lines, m, shift):
    """Write the values of one tile to ``out[lines[c] * m + r - shift]``; of one that is not full by ``scratch``."""
    height, values = np.int64(HEIGHT), MOST * (tiles.features + 1)
    start = tile * height - shift
    is_full = start + height <= m
    to = (out, m, start) if is_full else (scratch, height, values)
    _meet(kernel, tiles, tile, count, scratch, lines, is_full, *to)  # called once: its code is long
    if not is_full:
        for c in range(count):
            for r in range(start, m):
                out[lines[c] * m + r] = scratch[values + c * height + r - start]


@njit
def fill_dense(kernel, tiles, wanted, lines, first, last, cached, scratch, shift):
    """Write k(row wanted[c], row r) to ``cached[lines[c], r - shift]`` for the rows r of the tiles first ... last - 1.

    ``wanted`` are at most 64 rows of the tiles. Returns the number of tiles.
    """
    m, count, out = cached.shape[1], wanted.size, cached.reshape(-1)
    _pack_left_block(tiles, wanted, 0, count, scratch)
    for tile in range(first, last):
        _fill_tile(kernel, tiles, tile, count, scratch, out, lines, m, shift)
    return last - first


def fill_dense_columns(
    kernel: Any, tiles: DenseTiles, wanted: np.ndarray, cached: np.ndarray, lines: np.ndarray, threads: int
) -> None:
    """Write the columns of the rows ``wanted`` to ``cached[lines]``, on several threads."""
    in_shares(
        lambda first, last: fill_dense(
            kernel, tiles, wanted, lines, first, last, cached, scratch_for(tiles), 0
        ),
        len(tiles.own) // HEIGHT,
        threads,
    )


@njit
def add_sums(kernel, sources, which, weights, tiles, first, last, shift, out, scratch):
    """Add sum_j weights[o, j] k(sources[which[j]], row t) to ``out[o, t - shift]`` for the rows t first ... last - 1.

    Sums of 64 values are kept in the precision of the rows, sums of these in float64.
    """
    dtype, values = scratch.dtype, MOST * (tiles.features + 1)
    totals = values + MOST * HEIGHT
    for at in range(0, which.size, MOST):
        count = minimum(MOST, which.size - at)
        _pack_left_block(sources, which, at, count, scratch)
        for tile in range(first // HEIGHT, (last + HEIGHT - 1) // HEIGHT):
            _meet(kernel, tiles, tile, count, scratch, which, False, scratch, HEIGHT, values)
            start = tile * HEIGHT
            for o in range(
                0, weights.shape[0], 2
            ):  # two outputs at a time: each addition waits for the one before
                two = minimum(o + 1, weights.shape[0] - 1)
                low = high = low_of_two = high_of_two = broadcast(dtype.type(0))
                for c in range(count):
                    x, y = load(scratch, values + c * HEIGHT), load(scratch, values + c * HEIGHT + 8)
                    weight = broadcast(dtype.type(weights[o, at + c]))
                    low, high = muladd(x, weight, low), muladd(y, weight, high)
                    weight = broadcast(dtype.type(weights[two, at + c]))
                    low_of_two, high_of_two = muladd(x, weight, low_of_two), muladd(y, weight, high_of_two)
                _add_totals(low, high, scratch, totals, out[o], start, first, last, shift)
                if two > o:
                    _add_totals(low_of_two, high_of_two, scratch, totals, out[two], start, first, last, shift)


@njit(each_step=True, forceinline=True)
def _add_totals(low, high, scratch, totals, out, start, first, last, shift):
    """Add sixteen sums, those of the rows ``start`` and later, to ``out`` where it has these rows."""
    store(scratch, totals, low)
    store(scratch, totals + 8, high)
    for t in range(maximum(first, start), minimum(last, start + HEIGHT)):
        out[t - shift] += scratch[totals + t - start]


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
    most = max(1, LAID // (max(1, n) * rows.values.itemsize * HEIGHT)) * HEIGHT
    tiles = empty_dense_tiles(max(1, min(most, last - first)), n, rows.values.dtype)
    height, scratch = len(tiles.own), scratch_for(tiles)
    for start in range(first, last, height):
        stop = min(start + height, last)
        tiles.numbers[:] = 0.0
        pack_range(rows, start, stop, start, tiles.numbers)
        tiles.own[: stop - start] = own[start:stop]
        add_sums(kernel, sources, which, weights, tiles, 0, stop - start, -start, out, scratch)
