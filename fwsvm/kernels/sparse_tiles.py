"""Kernel values of sparse rows: a left-hand block of up to 64 rows against all others.

The block is scattered into a dense table with one line of 64 numbers for each feature that any of its rows has. Each
other row is then read once: every stored number is multiplied with the line of its feature and added to 64 sums in
vector registers. The work is one pass over the stored numbers, whatever the sparsity.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.kernel import own_terms, pair, value
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.compile import njit
from fwsvm.numerics.simd import broadcast, load, store, transpose
from fwsvm.numerics.threads import in_shares

WIDE, NARROW = 64, 8
TILE = 64  # rows whose values are buffered, then transposed and written column by column
PRODUCTS_PER_THREAD = 1 << 21  # multiplications below which a second thread costs more than it saves


class LeftBlock(NamedTuple):
    """The dense table of a left-hand block of up to 64 rows; line 0 is zero, for features that none of them has.

    Attributes
    ----------
    table : ndarray, shape ((features that 64 rows may have + 1) * 64,)
    line_of : ndarray of int32, shape (features,)
        Line of each feature, 0 for none.
    features : ndarray of int32, shape (features that 64 rows may have + 1,)
        The feature of each line in use.
    own : ndarray, shape (64,)
        The block's own terms.
    """

    table: np.ndarray
    line_of: np.ndarray
    features: np.ndarray
    own: np.ndarray


def no_left_block(rows: Rows) -> LeftBlock:
    """Return a table without memory, for rows that are dense."""
    numbers, places = np.zeros(0, rows.values.dtype), np.zeros(0, np.int32)
    return LeftBlock(numbers, places, places, numbers)


def empty_left_block(rows: Rows) -> LeftBlock:
    """Allocate the table for any 64 of the given rows."""
    lengths = np.diff(rows.starts)
    longest = np.sort(lengths)[-WIDE:].sum() if len(lengths) else 0
    lines = int(min(rows.features, longest)) + 1
    dtype = rows.values.dtype
    return LeftBlock(
        np.zeros(lines * WIDE, dtype),
        np.zeros(rows.features, np.int32),
        np.zeros(lines, np.int32),
        np.zeros(WIDE, dtype),
    )


@njit
def scatter(left_block, rows, own, which, width):
    """Scatter the rows ``which`` into the table, ``width`` (64 or 8) numbers a line; return the lines used."""
    used = 0
    for place in range(which.size):
        t = which[place]
        left_block.own[place] = own[t]
        for p in range(rows.starts[t], rows.starts[t + 1]):
            feature = rows.columns[p]
            line = left_block.line_of[feature]
            if line == 0:
                used += 1
                line = used
                left_block.line_of[feature] = line
                left_block.features[line] = feature
                left_block.table[line * width : (line + 1) * width] = 0
            left_block.table[line * width + place] = rows.values[p]
    left_block.table[:width] = 0
    left_block.own[which.size :] = 0
    return used


@njit
def clear(left_block, used):
    """Unset the lines of the features; ``used`` is what `scatter` returned."""
    for line in range(1, used + 1):
        left_block.line_of[left_block.features[line]] = 0


@njit(each_step=True, forceinline=True)
def wide_row(kernel, left_block, rows, t, own_t, tile, at):
    """Write the kernel values of row t with a block of 64 rows to ``tile[at:at + 64]``."""
    zero = broadcast(tile.dtype.type(0))
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = zero
    table = left_block.table
    for p in range(rows.starts[t], rows.starts[t + 1]):
        line = np.int64(left_block.line_of[rows.columns[p]])
        if line == 0:
            continue
        x, base = broadcast(rows.values[p]), line * WIDE
        s0 = pair(kernel, s0, x, load(table, base))
        s1 = pair(kernel, s1, x, load(table, base + 8))
        s2 = pair(kernel, s2, x, load(table, base + 16))
        s3 = pair(kernel, s3, x, load(table, base + 24))
        s4 = pair(kernel, s4, x, load(table, base + 32))
        s5 = pair(kernel, s5, x, load(table, base + 40))
        s6 = pair(kernel, s6, x, load(table, base + 48))
        s7 = pair(kernel, s7, x, load(table, base + 56))
    own, z = broadcast(own_t), left_block.own
    store(tile, at, value(kernel, s0, own, load(z, 0)))
    store(tile, at + 8, value(kernel, s1, own, load(z, 8)))
    store(tile, at + 16, value(kernel, s2, own, load(z, 16)))
    store(tile, at + 24, value(kernel, s3, own, load(z, 24)))
    store(tile, at + 32, value(kernel, s4, own, load(z, 32)))
    store(tile, at + 40, value(kernel, s5, own, load(z, 40)))
    store(tile, at + 48, value(kernel, s6, own, load(z, 48)))
    store(tile, at + 56, value(kernel, s7, own, load(z, 56)))


@njit(each_step=True, forceinline=True)
def _narrow_row(kernel, left_block, rows, t, own_t, tile, at):
    """Write the kernel values of row t with a block of 8 rows to ``tile[at:at + 8]``."""
    total = broadcast(tile.dtype.type(0))
    for p in range(rows.starts[t], rows.starts[t + 1]):
        # line 0 adds nothing, and is cheaper than a branch
        line = np.int64(left_block.line_of[rows.columns[p]])
        total = pair(kernel, total, broadcast(rows.values[p]), load(left_block.table, line * NARROW))
    store(tile, at, value(kernel, total, broadcast(own_t), load(left_block.own, 0)))


@njit(inner=True)
def _write_columns(tile, width, count, out, lines, first, height):
    """Transpose the buffered tile and write column c to ``out[lines[c], first:first + height]``."""
    # one flat view: a view of each line would count references
    whole, flat, m = height // 8 * 8, out.reshape(-1), out.shape[1]
    for c in range(0, count - count % 8, 8):
        for r in range(0, whole, 8):
            at, to = r * width + c, first + r
            a, b, c_, d, e, f, g, h = transpose(
                load(tile, at),
                load(tile, at + width),
                load(tile, at + 2 * width),
                load(tile, at + 3 * width),
                load(tile, at + 4 * width),
                load(tile, at + 5 * width),
                load(tile, at + 6 * width),
                load(tile, at + 7 * width),
            )
            store(flat, lines[c] * m + to, a)
            store(flat, lines[c + 1] * m + to, b)
            store(flat, lines[c + 2] * m + to, c_)
            store(flat, lines[c + 3] * m + to, d)
            store(flat, lines[c + 4] * m + to, e)
            store(flat, lines[c + 5] * m + to, f)
            store(flat, lines[c + 6] * m + to, g)
            store(flat, lines[c + 7] * m + to, h)
        for k in range(c, c + 8):
            for r in range(whole, height):
                out[lines[k], first + r] = tile[r * width + k]
    for k in range(count - count % 8, count):
        for r in range(height):
            out[lines[k], first + r] = tile[r * width + k]


@njit
def fill_range(kernel, left_block, width, count, rows, own, which, first, last, out, lines):
    """Write k(block row c, row which[r]) to ``out[lines[c], r]`` for r of first ... last - 1; return last - first.

    ``which`` lists rows by number, ``width`` is that of `scatter`, ``count`` is the number of rows in the block.
    """
    tile = np.empty(TILE * width, out.dtype)
    for start in range(first, last, TILE):
        stop = min(start + TILE, last)
        for r in range(start, stop):
            t = which[r]
            if width == WIDE:
                wide_row(kernel, left_block, rows, t, own[t], tile, (r - start) * WIDE)
            else:
                _narrow_row(kernel, left_block, rows, t, own[t], tile, (r - start) * NARROW)
        _write_columns(tile, width, count, out, lines, start, stop - start)
    return last - first


@njit(fastmath={"reassoc"})  # any order of the sum: else each addition waits for the one before
def add_sparse_sums(kernel, left_block, sources, own_sources, which, weights, rows, own, first, last, out):
    """Add sum_j weights[o, j] k(sources[which[j]], row t) of up to 64 sources to ``out[o, t]``, first <= t < last."""
    values = np.empty(WIDE, rows.values.dtype)
    used = scatter(left_block, sources, own_sources, which, WIDE)
    for t in range(first, last):
        wide_row(kernel, left_block, rows, t, own[t], values, 0)
        for o in range(weights.shape[0]):
            total = 0.0
            for c in range(which.size):
                total += weights[o, c] * values[c]
            out[o, t] += total
    clear(left_block, used)


def threads_for(rows: Any, size: int, count: int, threads: int) -> int:
    """Return ``threads`` where a block of ``count`` rows against ``size`` rows is work for several, else 1."""
    each = 8.0 + rows.values.size / max(1, rows.starts.size - 1)
    return threads if size * count * each > PRODUCTS_PER_THREAD else 1


def fill_block(
    kernel: Any,
    left_block: LeftBlock,
    width: int,
    rows: Rows,
    own: np.ndarray,
    block: np.ndarray,
    which: np.ndarray,
    out: np.ndarray,
    lines: np.ndarray,
    threads: int,
) -> None:
    """Write k(rows[block[c]], rows[which[r]]) to ``out[lines[c], r]``, on several threads where that is faster."""
    used, size, count = scatter(left_block, rows, own, block, width), len(which), len(block)
    in_shares(
        lambda first, last: fill_range(
            kernel, left_block, width, count, rows, own, which, first, last, out, lines
        ),
        size,
        threads_for(rows, size, count, threads),
        TILE,
    )
    clear(left_block, used)


def kernel_matrix(
    kernel: Any, rows: Rows, first: np.ndarray, second: np.ndarray, out: np.ndarray, threads: int = 1
) -> None:
    """Write k(rows[first[i]], rows[second[j]]) to ``out[i, j]``, in the precision of ``rows``."""
    first, second = (np.ascontiguousarray(which, dtype=np.int32) for which in (first, second))
    left_block, own = empty_left_block(rows), own_terms(kernel, rows)
    for start in range(0, len(first), WIDE):
        some = first[start : start + WIDE]
        lines = np.arange(start, start + len(some))
        fill_block(kernel, left_block, WIDE, rows, own, some, second, out, lines, threads)
