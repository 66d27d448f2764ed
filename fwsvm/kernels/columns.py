"""Columns of the kernel matrix, kept in a budget of memory and computed in blocks when one is missing."""

from typing import Any, NamedTuple

import numpy as np

from fwsvm._compile import njit
from fwsvm.kernels.blocks import NARROW, WIDE, Anchors, clear, fill, lay_out, room_for_anchors
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows

EVALUATIONS, REQUESTS, MISSES, USED = range(4)
FEWEST = 16  # columns kept even where the budget would hold fewer


class Columns(NamedTuple):
    """Columns k(x_i, .) of m rows. Values of unnormalised sign and bias: labels and C are the problem's matter.

    Attributes
    ----------
    kernel, rows, own : the kernel, the m rows and their own terms (m,)
    anchors : room for the block being computed
    all_rows : ndarray of int32, shape (m,), 0 ... m - 1
    kept : ndarray of float32 or float64, shape (slots, m)
    slot_of : ndarray of int32, shape (m,); -1 where the column is not kept
    owner : ndarray of int32, shape (slots,)
    counts : ndarray of int64, shape (4,): kernel evaluations, columns asked for, columns computed on demand, slots in use
    threads : int
    """

    kernel: Any
    rows: Rows
    own: np.ndarray
    anchors: Anchors
    all_rows: np.ndarray
    kept: np.ndarray
    slot_of: np.ndarray
    owner: np.ndarray
    counts: np.ndarray
    threads: int


def columns_of(kernel: Any, rows: Rows, budget_bytes: int, threads: int = 1) -> Columns:
    """Return an empty store for the kernel's columns that stays within the budget (64-bit arithmetic).

    Pages are taken from the system only as columns come, so a generous budget costs nothing in itself.
    """
    m = rows.count
    dtype = rows.values.dtype
    slots = max(min(m, FEWEST), min(m, int(budget_bytes) // max(1, m * dtype.itemsize)))
    return Columns(
        kernel,
        rows,
        own_terms(kernel, rows),
        room_for_anchors(rows),
        np.arange(m, dtype=np.int32),
        np.empty((slots, m), dtype),
        np.full(m, -1, np.int32),
        np.full(slots, -1, np.int32),
        np.zeros(4, np.int64),
        threads,
    )


@njit
def _free_slot(columns, worth, keep, seed):
    """Return a slot to write to: an unused one, or that of a column of no worth, or one taken at random.

    Random replacement has no cliff: with room for nine tenths of the columns it still hits nine times in ten.
    """
    slots = columns.owner.size
    if columns.counts[USED] < slots:
        columns.counts[USED] += 1
        return columns.counts[USED] - 1
    mixed = np.uint64(seed)
    slot = 0
    for _ in range(8):
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(mixed >> np.uint64(11)) % slots
        if columns.owner[slot] != keep and worth[columns.owner[slot]] == 0.0:
            break
    while columns.owner[slot] == keep:
        slot = (slot + 1) % slots
    columns.slot_of[columns.owner[slot]] = -1
    return slot


@njit
def compute(columns, wanted, worth, keep):
    """Compute the columns ``wanted`` (at most 64 row numbers, none kept yet) as one block.

    ``worth`` (m,) is zero for rows whose columns may go first when room is short; the column of row ``keep``
    (-1 for none) stays in any case.
    """
    count = wanted.size
    lines = np.empty(count, np.int64)
    for c in range(count):
        slot = _free_slot(columns, worth, keep, columns.counts[EVALUATIONS] + 1000003 * (c + 1))
        columns.owner[slot] = wanted[c]
        columns.slot_of[wanted[c]] = slot
        lines[c] = slot
    width = NARROW if count <= NARROW else WIDE
    used = lay_out(columns.anchors, columns.rows, columns.own, wanted, width)
    m = columns.slot_of.size
    fill(
        columns.kernel, columns.anchors, width, count, columns.rows, columns.own, columns.all_rows, m,
        columns.kept, lines, columns.threads,
    )  # fmt: skip
    clear(columns.anchors, used)
    columns.counts[EVALUATIONS] += count * m
