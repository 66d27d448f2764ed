"""Kernel values of sparse rows: a left-hand block of up to 64 rows against all others.

The block is scattered into a dense table with one line of 64 numbers for each feature that any of its rows has. Each
other row is then read once: every stored number is multiplied with the line of its feature and added to 64 sums in
vector registers. The work is one pass over the stored numbers, whatever the sparsity.
"""

import numpy as np

from fwsvm.kernels.kernel import pair, value
from fwsvm.numerics.compile import njit, njit_inlined_step, njit_inner
from fwsvm.numerics.simd import lanes_of, load_as, store, store_transposed, zeros

WIDE, NARROW = 64, 8  # rows of a block
REGISTERS = 16  # that may hold the sums of a row with a block
TILE = 64  # rows whose values are buffered, then transposed and written column by column


@njit_inner
def _left_block(sources, own_sources, wanted, width):
    """Return a table of rows, ``width`` numbers a line; the line of each feature, 0 for none; and their own terms.

    Line 0 is zero, for features that none of the rows has.
    """
    own_block = np.zeros(width, own_sources.dtype)
    line_of = np.zeros(sources.features, np.int32)
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


@njit_inlined_step
def _write_row(kernel, zero, block, rows, t, own_t, tile, at):
    """Write the kernel values of row t with the rows of a block, one for each lane of ``zero``, to ``tile[at:]``."""
    (table, line_of, own_block), sums, width = block, zero, lanes_of(zero)
    for p in range(rows.starts[t], rows.starts[t + 1]):
        line = np.int64(line_of[rows.columns[p]])
        if line > 0 or width == NARROW:  # line 0 adds nothing: for few rows cheaper than a branch
            sums = pair(kernel, sums, rows.values[p], load_as(zero, table, line * width))
    store(tile, at, value(kernel, sums, zero + own_t, load_as(zero, own_block, 0)))


@njit_inner
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
    """Write k(sources[wanted[c]], rows[which[r]]) to ``out[lines[c], start + r]``.

    At most 64 rows are wanted; ``own_sources`` and ``own`` are the own terms of the two tables.
    """
    width = WIDE if wanted.size > NARROW else NARROW
    tile = np.empty(TILE * WIDE, out.dtype)
    block = _left_block(sources, own_sources, wanted, width)
    for first in range(0, which.size, TILE):
        height = min(TILE, which.size - first)
        for r in range(height):
            t = which[first + r]
            if width == WIDE:
                _write_row(kernel, zeros(tile, WIDE, REGISTERS), block, rows, t, own[t], tile, r * WIDE)
            else:
                _write_row(kernel, zeros(tile, NARROW, REGISTERS), block, rows, t, own[t], tile, r * NARROW)
        _write_columns(tile, width, wanted.size, out, lines, start + first, height)


@njit(fastmath={"reassoc"})  # any order of the sum: else each addition waits for the one before
def add_sparse_sums(kernel, sources, own_sources, which, weights, rows, own, first, last, out, start):
    """Add sum_j weights[j // 64, o, j % 64] k(sources[which[j]], row t) to ``out[o, t - start]``, first <= t < last.

    Sums of 64 values are kept in the precision of the rows, sums of these in float64.
    """
    values = np.empty(WIDE, own.dtype)
    for at in range(0, which.size, WIDE):
        block = _left_block(sources, own_sources, which[at : at + WIDE], WIDE)
        part = weights[at // WIDE]
        for t in range(first, last):
            _write_row(kernel, zeros(values, WIDE, REGISTERS), block, rows, t, own[t], values, 0)
            for o in range(out.shape[0]):
                total = values.dtype.type(0)
                for c in range(WIDE):
                    total += part[o, c] * values[c]
                out[o, t - start] += total
