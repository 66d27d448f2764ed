"""Kernel values of dense rows: a register-blocked matrix product over packed tiles.

Rows are packed in tiles of sixteen, feature by feature, and the rows of the left-hand block in groups of four. The
micro-kernel multiplies a group with a tile: 4 x 16 sums in eight vector registers at most, one fused multiply-add a
register and feature. Sums run over the features in ascending order, as in `fwsvm.kernels.sparse_tiles`, and have the
same bits: a zero adds exactly nothing.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.kernel import pair, value
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.compile import njit_inlined_step, njit_lean, njit_step
from fwsvm.numerics.simd import (
    lanes_of,
    load_as,
    maximum,
    minimum,
    muladd,
    store,
    zeros,
)

HEIGHT, GROUP = 16, 4  # rows of a tile, and of a group of the left-hand block
MOST = 64  # rows of the left-hand block
REGISTERS = (
    2  # that hold the sums of a left-hand row with a tile; of float64 they may hold those with a half of it
)
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


def dense_tiles(rows: Rows, own: np.ndarray, which: np.ndarray) -> DenseTiles:
    """Return the rows ``which`` (row numbers), in that order, packed in tiles."""
    count = -(-len(which) // HEIGHT) * HEIGHT
    numbers = np.zeros(count * rows.features, rows.values.dtype)
    padded = np.zeros(count, rows.values.dtype)
    padded[: len(which)] = own[which]
    _pack_rows(rows, which, numbers)
    return DenseTiles(numbers, padded, rows.features)


@njit_lean
def _pack_rows(rows, which, numbers):
    """Pack the rows ``which`` into tiles."""
    for t in range(which.size):
        base = t // HEIGHT * rows.features * HEIGHT + t % HEIGHT
        for p in range(rows.starts[which[t]], rows.starts[which[t] + 1]):
            numbers[base + rows.columns[p] * HEIGHT] = rows.values[p]


def scratch(tiles: DenseTiles) -> np.ndarray:
    """Return memory for `fill_dense` and `add_dense_sums`: a left-hand block, its own terms, values and their sums."""
    return np.empty(MOST * (tiles.features + 1 + HEIGHT) + HEIGHT, tiles.own.dtype)


@njit_inlined_step
def _meet(kernel, tiles, tile, left, count, out, lines, width, shift):
    """Write k(left-hand row c, row r) for the sixteen rows of a tile from ``out[lines[c] * width + shift]`` on.

    Rows after the last of ``lines`` are equal to it.
    """
    n = tiles.features
    last = lines.size - 1
    zero = zeros(out, HEIGHT, REGISTERS)
    for c in range(0, count, GROUP):
        for part in range(0, HEIGHT, lanes_of(zero)):
            x, z = (
                np.uint64(tile * n * HEIGHT + part),
                np.uint64(c * n),
            )  # numba tests signed ones for being < 0
            sums = (zero, zero, zero, zero)
            for _ in range(n):
                sums = _add_feature(kernel, sums, load_as(zero, tiles.numbers, x), left, z)
                x += np.uint64(HEIGHT)
                z += np.uint64(GROUP)
            own = load_as(zero, tiles.own, tile * HEIGHT + part)
            for k in range(GROUP):
                to = lines[minimum(c + k, last)] * width + shift + part
                store(out, to, value(kernel, sums[k], own, zero + left[MOST * n + c + k]))


@njit_inlined_step
def _add_feature(kernel, sums, x, left, z):
    """Return the sums of a group of four left-hand rows with the rows of a tile after the feature x of these."""
    a, b, c, d = sums
    return (
        pair(kernel, a, x, left[z]),
        pair(kernel, b, x, left[z + np.uint64(1)]),
        pair(kernel, c, x, left[z + np.uint64(2)]),
        pair(kernel, d, x, left[z + np.uint64(3)]),
    )


@njit_step
def _pack(sources, wanted, left):
    """Pack rows into the left-hand block, and their own terms; return how many, padded with the last row to fours."""
    n = sources.features
    count = (wanted.size + GROUP - 1) // GROUP * GROUP
    for c in range(count):
        t = wanted[minimum(c, wanted.size - 1)]
        source = t // HEIGHT * n * HEIGHT + t % HEIGHT
        to = c // GROUP * n * GROUP + c % GROUP
        for f in range(n):
            left[to + f * GROUP] = sources.numbers[source + f * HEIGHT]
        left[MOST * n + c] = sources.own[t]
    return count


@njit_lean
def fill_dense(kernel, sources, wanted, tiles, first, last, out, width, start, lines, left):
    """Write k(source wanted[c], row r) to ``out[lines[c] * width + r - start]`` for rows r < start + width of tiles.

    The tiles are ``first ... last - 1``. At most 64 rows are wanted, of ``sources``, which are tiles, too; ``left`` is
    `scratch`.
    """
    spare = MOST * (tiles.features + 1)
    count = _pack(sources, wanted, left)
    for tile in range(first, last):
        column = tile * HEIGHT - start
        full = column + HEIGHT <= width
        at = (out, lines, width, column) if full else (left, _EVERY, HEIGHT, spare)
        _meet(kernel, tiles, tile, left, count, *at)  # called once: its code is long
        if not full:
            for c in range(wanted.size):
                for r in range(width - column):
                    out[lines[c] * width + column + r] = left[spare + c * HEIGHT + r]


@njit_lean
def add_dense_sums(kernel, sources, which, weights, tiles, first, last, out, start, left):
    """Add sum_j weights[j // 64, o, j % 64] k(source which[j], row r) to ``out[o, r - start]`` for first <= r < last.

    Sums of 64 values are kept in the precision of the rows, sums of these in float64; ``left`` is `scratch`.
    """
    values = MOST * (tiles.features + 1)
    totals = values + MOST * HEIGHT
    zero = zeros(left, HEIGHT, HEIGHT)
    for at in range(0, which.size, MOST):
        count = _pack(sources, which[at : at + MOST], left)
        part = weights[at // MOST]
        for tile in range(first // HEIGHT, (last + HEIGHT - 1) // HEIGHT):
            _meet(kernel, tiles, tile, left, count, left, _EVERY, HEIGHT, values)
            row = tile * HEIGHT
            for o in range(out.shape[0]):
                even = odd = zero  # two sums: each addition waits for the one before
                for k in range(0, count, 2):
                    even = muladd(load_as(zero, left, values + k * HEIGHT), part[o, k], even)
                    odd = muladd(load_as(zero, left, values + (k + 1) * HEIGHT), part[o, k + 1], odd)
                store(left, totals, even + odd)
                for r in range(maximum(first, row), minimum(last, row + HEIGHT)):
                    out[o, r - start] += left[totals + r - row]
