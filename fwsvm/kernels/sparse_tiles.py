"""Kernel values of sparse rows: a left-hand block of up to 64 rows against all others.

The block is scattered into a dense table with one line of 64 numbers for each feature that any of its rows has. Each
other row is then read once: every stored number is multiplied with the line of its feature and added to 64 sums in
vector registers. The work is one pass over the stored numbers, whatever the sparsity.
"""

import numpy as np

from fwsvm.kernels.kernel import pair, value
from fwsvm.numerics.compile import njit
from fwsvm.numerics.simd import broadcast, load, store, store_transposed

WIDE, NARROW = 64, 8
TILE = 64  # rows whose values are buffered, then transposed and written column by column


@njit(inner=True)
def _left_block(sources, own_sources, wanted, width):
    """Return a table of rows, ``width`` numbers a line; the line of each feature, 0 for none; and their own terms.

    Line 0 is zero, for features that none of the rows has.
    """
    own_block, line_of = np.zeros(width, own_sources.dtype), np.zeros(sources.features, np.int32)
    used = stored = np.int64(0)
    for t in wanted:
        stored += sources.starts[t + 1] - sources.starts[t]
    table = np.zeros((min(stored, sources.features) + 1) * width, own_sources.dtype)
    for place in range(wanted.size):
        t = wanted[place]
        own_block[place] = own_sources[t]
        for p in range(sources.starts[t], sources.starts[t + 1]):
            line = np.int64(line_of[sources.columns[p]])
            if line == 0:
                used += 1
                line = used
                line_of[sources.columns[p]] = line
            table[line * width + place] = sources.values[p]
    return table, line_of, own_block


@njit(each_step=True, forceinline=True)
def _add_number(kernel, sums, x, table, at):
    """Return the sums of 32 rows of the block after a feature that has the value x in the other row."""
    a, b, c, d = sums
    return (
        pair(kernel, a, x, load(table, at)),
        pair(kernel, b, x, load(table, at + 8)),
        pair(kernel, c, x, load(table, at + 16)),
        pair(kernel, d, x, load(table, at + 24)),
    )


@njit(each_step=True, forceinline=True)
def _write_values(kernel, sums, own, own_block, first, tile, at):
    """Write the kernel values of the 32 rows of the block from ``first`` on to ``tile[at + first:]``."""
    to = at + first
    store(tile, to, value(kernel, sums[0], own, load(own_block, first)))
    store(tile, to + 8, value(kernel, sums[1], own, load(own_block, first + 8)))
    store(tile, to + 16, value(kernel, sums[2], own, load(own_block, first + 16)))
    store(tile, to + 24, value(kernel, sums[3], own, load(own_block, first + 24)))


@njit(each_step=True, forceinline=True)
def _wide_row(kernel, table, line_of, own_block, rows, t, own_t, tile, at):
    """Write the kernel values of row t with a block of 64 rows to ``tile[at:at + 64]``."""
    zero, own = broadcast(tile.dtype.type(0)), broadcast(own_t)
    low = high = (zero, zero, zero, zero)
    for p in range(rows.starts[t], rows.starts[t + 1]):
        line = np.int64(line_of[rows.columns[p]])
        if line == 0:
            continue
        x = broadcast(rows.values[p])
        low = _add_number(kernel, low, x, table, line * WIDE)
        high = _add_number(kernel, high, x, table, line * WIDE + 32)
    _write_values(kernel, low, own, own_block, 0, tile, at)
    _write_values(kernel, high, own, own_block, 32, tile, at)


@njit(each_step=True, forceinline=True)
def _narrow_row(kernel, table, line_of, own_block, rows, t, own_t, tile, at):
    """Write the kernel values of row t with a block of 8 rows to ``tile[at:at + 8]``."""
    total = broadcast(tile.dtype.type(0))
    for p in range(rows.starts[t], rows.starts[t + 1]):
        # line 0 adds nothing, and is cheaper than a branch
        line = np.int64(line_of[rows.columns[p]])
        total = pair(kernel, total, broadcast(rows.values[p]), load(table, line * NARROW))
    store(tile, at, value(kernel, total, broadcast(own_t), load(own_block, 0)))


@njit(inner=True)
def _write_columns(tile, width, count, out, lines, start, height):
    """Transpose the buffered tile and write column c to ``out[lines[c], start:start + height]``."""
    # one flat view: a view of each line would count references
    whole, flat, m, eights = height // 8 * 8, out.reshape(-1), out.shape[1], count // 8 * 8
    for c in range(0, eights, 8):
        for r in range(0, whole, 8):
            store_transposed(tile, r * width + c, width, flat, lines, c, m, start + r)
    for c in range(count):
        for r in range(whole if c < eights else 0, height):
            flat[lines[c] * m + start + r] = tile[r * width + c]


@njit
def fill_sparse(kernel, sources, own_sources, wanted, rows, own, which, out, start, lines):
    """Write k(sources[wanted[c]], rows[which[r]]) to ``out[lines[c], start + r]``; return the number of rows r.

    At most 64 rows are wanted; ``own_sources`` and ``own`` are the own terms of the two tables.
    """
    width = WIDE if wanted.size > NARROW else NARROW
    table, line_of, own_block = _left_block(sources, own_sources, wanted, width)
    tile = np.empty(TILE * width, out.dtype)
    for first in range(0, which.size, TILE):
        height = min(TILE, which.size - first)
        for r in range(height):
            t = which[first + r]
            if width == WIDE:
                _wide_row(kernel, table, line_of, own_block, rows, t, own[t], tile, r * WIDE)
            else:
                _narrow_row(kernel, table, line_of, own_block, rows, t, own[t], tile, r * NARROW)
        _write_columns(tile, width, wanted.size, out, lines, start + first, height)
    return which.size


@njit(fastmath={"reassoc"})  # any order of the sum: else each addition waits for the one before
def add_sparse_sums(kernel, sources, own_sources, which, weights, rows, own, first, last, out, start):
    """Add sum_j weights[j, o] k(sources[which[j]], row t) to ``out[o, t - start]`` for first <= t < last."""
    values, part = np.empty(WIDE, own.dtype), np.zeros((out.shape[0], WIDE))
    for at in range(0, which.size, WIDE):
        table, line_of, own_block = _left_block(sources, own_sources, which[at : at + WIDE], WIDE)
        for o in range(out.shape[0]):
            for c in range(WIDE):
                part[o, c] = weights[at + c, o] if at + c < which.size else 0.0
        for t in range(first, last):
            _wide_row(kernel, table, line_of, own_block, rows, t, own[t], values, 0)
            for o in range(out.shape[0]):
                total = 0.0
                for c in range(WIDE):
                    total += part[o, c] * values[c]
                out[o, t - start] += total
