"""Kernel values of dense rows: a register-blocked matrix product over packed tiles.

Rows are packed in tiles of sixteen, feature by feature, and the rows of the left-hand block in groups of four. The
micro-kernel multiplies a group with a tile: 4 x 16 sums in eight vector registers, one fused multiply-add a vector and
feature. Sums run over the features in ascending order, as in `fwsvm.kernels.sparse_tiles`, and have the same bits: a
zero adds exactly nothing.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.kernel import pair, value
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.compile import njit
from fwsvm.numerics.simd import broadcast, load, maximum, minimum, muladd, store, takes_two_registers

HEIGHT, GROUP = 16, 4  # rows of a tile, and of a group of the left-hand block
MOST = 64  # rows of the left-hand block
_EVERY = np.arange(MOST)  # their numbers


class DenseTiles(NamedTuple):
    """Rows packed in tiles.

    Attributes
    ----------
    numbers : ndarray, shape (tiles * features * 16,)
    own : ndarray, shape (tiles * 16,)
        The rows' own terms, padded with zeros.
    features : int
    """

    numbers: np.ndarray
    own: np.ndarray
    features: int


def dense_tiles(rows: Rows, own: np.ndarray, first: int = 0, last: int | None = None) -> DenseTiles:
    """Return the rows first ... last - 1, by default all, packed in tiles."""
    last = rows.height if last is None else last
    count = -(-(last - first) // HEIGHT) * HEIGHT
    numbers, padded = np.zeros(count * rows.features, rows.values.dtype), np.zeros(count, rows.values.dtype)
    padded[: last - first] = own[first:last]
    _pack_rows(rows, first, last, numbers)
    return DenseTiles(numbers, padded, rows.features)


@njit
def _pack_rows(rows, first, last, numbers):
    """Pack the rows first ... last - 1 into tiles."""
    for t in range(first, last):
        base = (t - first) // HEIGHT * rows.features * HEIGHT + (t - first) % HEIGHT
        for p in range(rows.starts[t], rows.starts[t + 1]):
            numbers[base + rows.columns[p] * HEIGHT] = rows.values[p]


@njit(each_step=True, forceinline=True)
def _add_feature(kernel, sums, x, left, z):
    """Return the sums of a group of four left-hand rows with eight rows after the feature that these have in x."""
    a, b, c, d = sums
    return (
        pair(kernel, a, x, broadcast(left[z])),
        pair(kernel, b, x, broadcast(left[z + np.uint64(1)])),
        pair(kernel, c, x, broadcast(left[z + np.uint64(2)])),
        pair(kernel, d, x, broadcast(left[z + np.uint64(3)])),
    )


@njit(each_step=True, forceinline=True)
def _write(kernel, low, high, own_low, own_high, own, out, at):
    """Write the kernel values of a left-hand row with sixteen rows."""
    store(out, at, value(kernel, low, own_low, broadcast(own)))
    store(out, at + 8, value(kernel, high, own_high, broadcast(own)))


@njit(each_step=True, forceinline=True)
def _meet(kernel, tiles, tile, left, own_left, count, out, lines, width, shift):
    """Write k(left-hand row c, row r) for the sixteen rows of a tile from ``out[lines[c] * width + shift]`` on.

    Rows after the last of ``lines`` are equal to it.
    """
    last, n, numbers, zero = lines.size - 1, tiles.features, tiles.numbers, broadcast(out.dtype.type(0))
    own = load(tiles.own, tile * HEIGHT), load(tiles.own, tile * HEIGHT + 8)
    for c in range(0, count, GROUP):
        # unsigned indices: numba does not test them for being negative
        x, z = np.uint64(tile * n * HEIGHT), np.uint64(c * n)
        low = high = (zero, zero, zero, zero)
        if takes_two_registers(numbers):  # all sums at once would leave none
            for _ in range(n):
                low = _add_feature(kernel, low, load(numbers, x), left, z)
                x, z = x + np.uint64(HEIGHT), z + np.uint64(GROUP)
            x, z = np.uint64(tile * n * HEIGHT + 8), np.uint64(c * n)
            for _ in range(n):
                high = _add_feature(kernel, high, load(numbers, x), left, z)
                x, z = x + np.uint64(HEIGHT), z + np.uint64(GROUP)
        else:
            for _ in range(n):
                low = _add_feature(kernel, low, load(numbers, x), left, z)
                high = _add_feature(kernel, high, load(numbers, x + np.uint64(8)), left, z)
                x, z = x + np.uint64(HEIGHT), z + np.uint64(GROUP)
        _write(kernel, low[0], high[0], *own, own_left[c], out, lines[minimum(c, last)] * width + shift)
        _write(
            kernel, low[1], high[1], *own, own_left[c + 1], out, lines[minimum(c + 1, last)] * width + shift
        )
        _write(
            kernel, low[2], high[2], *own, own_left[c + 2], out, lines[minimum(c + 2, last)] * width + shift
        )
        _write(
            kernel, low[3], high[3], *own, own_left[c + 3], out, lines[minimum(c + 3, last)] * width + shift
        )


@njit(inner=True)
def _pack(sources, wanted, left, own_left):
    """Pack rows into the left-hand block, and their own terms; return how many, padded with the last row to fours."""
    n, count = sources.features, (wanted.size + GROUP - 1) // GROUP * GROUP
    for c in range(count):
        t = wanted[minimum(c, wanted.size - 1)]
        source, to = t // HEIGHT * n * HEIGHT + t % HEIGHT, c // GROUP * n * GROUP + c % GROUP
        for f in range(n):
            left[to + f * GROUP] = sources.numbers[source + f * HEIGHT]
        own_left[c] = sources.own[t]
    return count


@njit
def fill_dense(kernel, sources, wanted, tiles, first, last, out, start, lines):
    """Write k(source wanted[c], row r) to ``out[lines[c], r - start]`` for the rows r of the tiles first ... last - 1.

    At most 64 rows are wanted, of ``sources``, which are tiles, too. Returns the number of tiles.
    """
    m, flat, dtype = out.shape[1], out.reshape(-1), out.dtype
    left, own_left = np.empty(MOST * tiles.features, dtype), np.empty(MOST, dtype)
    spare, count = np.empty(MOST * HEIGHT, dtype), _pack(sources, wanted, left, own_left)
    for tile in range(first, last):
        column = tile * HEIGHT - start
        full = column + HEIGHT <= m
        at = (flat, lines, m, column) if full else (spare, _EVERY, HEIGHT, 0)
        _meet(kernel, tiles, tile, left, own_left, count, *at)  # called once: its code is long
        if not full:
            for c in range(wanted.size):
                for r in range(m - column):
                    flat[lines[c] * m + column + r] = spare[c * HEIGHT + r]
    return last - first


@njit
def add_dense_sums(kernel, sources, which, weights, tiles, first, last, out, start):
    """Add sum_j weights[j, o] k(source which[j], row r) to ``out[o, r - start]`` for the rows r of first ... last - 1.

    Sums of 64 values are kept in the precision of the rows, sums of these in float64.
    """
    dtype = tiles.own.dtype
    left, own_left = np.empty(MOST * tiles.features, dtype), np.empty(MOST, dtype)
    values, totals, zero = np.empty(MOST * HEIGHT, dtype), np.empty(HEIGHT, dtype), broadcast(dtype.type(0))
    part = np.empty((out.shape[0], MOST), dtype)
    for at in range(0, which.size, MOST):
        count = _pack(sources, which[at : at + MOST], left, own_left)
        for o in range(out.shape[0]):
            for c in range(MOST):
                part[o, c] = weights[at + c, o] if at + c < which.size else 0.0
        for tile in range(first // HEIGHT, (last + HEIGHT - 1) // HEIGHT):
            _meet(kernel, tiles, tile, left, own_left, count, values, _EVERY, HEIGHT, 0)
            row = tile * HEIGHT
            for o in range(out.shape[0]):
                a = b = c = d = zero  # four sums: each addition waits for the one before
                for k in range(0, count, 2):
                    one, two, x = broadcast(part[o, k]), broadcast(part[o, k + 1]), k * HEIGHT
                    a, b = muladd(load(values, x), one, a), muladd(load(values, x + 8), one, b)
                    c, d = muladd(load(values, x + 16), two, c), muladd(load(values, x + 24), two, d)
                store(totals, 0, a + c)
                store(totals, 8, b + d)
                for r in range(maximum(first, row), minimum(last, row + HEIGHT)):
                    out[o, r - start] += totals[r - row]
