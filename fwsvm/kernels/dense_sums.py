"""Weighted sums of kernel values of dense rows, without storing the values.

The micro-kernel is that of `fwsvm.kernels.dense_tiles`; each value is multiplied by its weight in a register instead of
being written to memory, which takes a quarter of the time.
"""

import numpy as np

from fwsvm.kernels.dense_tiles import GROUP, HEIGHT, MOST, DenseTiles, gather, micro_kernel, pack_range
from fwsvm.kernels.kernel import value
from fwsvm.numerics.compile import njit
from fwsvm.numerics.formulas import muladd
from fwsvm.numerics.simd import broadcast, load, store

#: Bytes of rows that are laid out at a time: they stay in the second-level cache while left-hand blocks pass by.
LAID = 1 << 20


@njit(each_step=True, forceinline=True)
def _add_group(low, high, v0, v8, w):
    return muladd(v0, broadcast(w), low), muladd(v8, broadcast(w), high)


@njit(each_step=True, forceinline=True)
def _meet(kernel, tiles, left_block, own, count, weights, tile, totals):
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
            _meet(kernel, tiles, left_block, own, count, lines, tile, totals)
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
