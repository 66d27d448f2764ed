"""Columns of the kernel matrix, kept in a budget of memory and computed in blocks when one is missing."""

from typing import Any, NamedTuple

import numpy as np

from fwsvm._calls import address_of, call
from fwsvm._compile import njit
from fwsvm._random import below, stream
from fwsvm.kernels.between import values_between
from fwsvm.kernels.blocks import (
    NARROW,
    WIDE,
    Anchors,
    clear,
    fill,
    fill_range,
    lay_out,
    no_anchors,
    room_for_anchors,
    threads_for,
)
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.panels import HEIGHT, Panels, fill_columns, fill_panels, laid_out, no_panels, panels_of
from fwsvm.kernels.rows import Rows

EVALUATIONS, MISSES, USED = range(3)
FEWEST = 16  # columns kept even where the budget would hold fewer


class Columns(NamedTuple):
    """Columns k(x_i, .) of m rows. Values of unnormalised sign and bias: labels and C are the problem's matter.

    Attributes
    ----------
    kernel, rows, own : the kernel, the m rows and their own terms (m,)
    anchors : room for the block being computed, unless there are panels
    panels : the rows laid out without gaps, where they have few; blocks are then computed from these
    all_rows : ndarray of int32, shape (m,), 0 ... m - 1
    kept : ndarray of float32 or float64, shape (slots, m)
    slot_of : ndarray of int32, shape (m,); -1 where the column is not kept
    owner : ndarray of int32, shape (slots,)
    counts : ndarray of int64, shape (3,): kernel evaluations, blocks computed on demand, slots in use
    random : ndarray of uint64, shape (1,), a stream of `fwsvm._random`, for replacement
    threads : int
    panels_at, stored_at : int, the addresses of `fill_panels` and `fill_range` for these arrays
    """

    kernel: Any
    rows: Rows
    own: np.ndarray
    anchors: Anchors
    panels: Panels
    all_rows: np.ndarray
    kept: np.ndarray
    slot_of: np.ndarray
    owner: np.ndarray
    counts: np.ndarray
    random: np.ndarray
    threads: int
    panels_at: Any
    stored_at: Any


def columns_of(kernel: Any, rows: Rows, budget_bytes: int, threads: int = 1) -> Columns:
    """Return an empty store for the kernel's columns that stays within the budget (64-bit arithmetic).

    Pages are taken from the system only as columns come, so a generous budget costs nothing in itself.
    """
    m = rows.height
    dtype = rows.values.dtype
    slots = max(min(m, FEWEST), min(m, int(budget_bytes) // max(1, m * dtype.itemsize)))
    own = own_terms(kernel, rows)
    panels = panels_of(rows, own) if budget_bytes else no_panels(rows)
    anchors = no_anchors(rows) if len(panels.numbers) else room_for_anchors(rows)
    all_rows, kept, lines = np.arange(m, dtype=np.int32), np.empty((slots, m), dtype), np.empty(0, np.int64)
    return Columns(
        kernel,
        rows,
        own,
        anchors,
        panels,
        all_rows,
        kept,
        np.full(m, -1, np.int32),
        np.full(slots, -1, np.int32),
        np.zeros(3, np.int64),
        stream(0),
        threads,
        address_of(fill_panels, kernel, panels, lines, 0, 0, kept, lines),
        address_of(fill_range, kernel, anchors, WIDE, 0, rows, own, all_rows, 0, 0, kept, lines),
    )


@njit
def _taken(slot, owner, keep, lines, c):
    """Whether a slot must stay: it is ``keep``'s, or has been claimed a moment ago."""
    if owner[slot] == keep:
        return True
    for earlier in range(c):  # noqa: SIM110 - compiled code has no any over a generator
        if lines[earlier] == slot:
            return True
    return False


@njit(nogil=False)  # microseconds, see `laid_out`
def _claim(columns, worth, keep, wanted):
    """Give every wanted column a slot: an unused one, or that of a column of no worth, or one taken at random.

    Random replacement has no cliff: with room for nine tenths of the columns it still hits nine times in ten.
    """
    owner, slot_of, counts = columns.owner, columns.slot_of, columns.counts
    lines, slots = np.empty(wanted.size, np.int64), owner.size
    for c in range(wanted.size):
        if counts[USED] < slots:
            slot = counts[USED]
            counts[USED] += 1
        else:
            slot = below(columns.random, slots)
            for _ in range(8):
                if worth[owner[slot]] == 0.0 and not _taken(slot, owner, keep, lines, c):
                    break
                slot = below(columns.random, slots)
            while _taken(slot, owner, keep, lines, c):
                slot = (slot + 1) % slots
            slot_of[owner[slot]] = -1
        owner[slot] = wanted[c]
        slot_of[wanted[c]] = slot
        lines[c] = slot
    counts[EVALUATIONS] += wanted.size * slot_of.size
    counts[MISSES] += 1
    return lines


@njit
def compute_here(columns, wanted, worth, keep):
    """Do `compute` in this thread; return how many."""
    lines, m = _claim(columns, worth, keep, wanted), columns.slot_of.size
    kernel, panels, anchors, rows, own = (
        columns.kernel,
        columns.panels,
        columns.anchors,
        columns.rows,
        columns.own,
    )
    if panels.numbers.size > 0:
        which, to = laid_out(panels, wanted, lines)
        call(columns.panels_at, (kernel, panels, which, 0, panels.own.size // HEIGHT, columns.kept, to))
        return wanted.size
    width = NARROW if wanted.size <= NARROW else WIDE
    used = lay_out(anchors, rows, own, wanted, width)
    call(
        columns.stored_at,
        (kernel, anchors, width, wanted.size, rows, own, columns.all_rows, 0, m, columns.kept, lines),
    )
    clear(anchors, used)
    return wanted.size


def compute(columns: Columns, wanted: np.ndarray, worth: np.ndarray, keep: int = -1) -> None:
    """Compute the columns ``wanted`` (int32 row numbers, at most 64, none kept yet) as one block.

    ``worth`` (m,) is zero for rows whose columns may go first when room is short; the column of row ``keep`` stays
    in any case.
    """
    threads = threads_for(columns.rows, len(columns.slot_of), len(wanted), columns.threads)
    if threads == 1:
        compute_here(columns, wanted, worth, keep)
        return
    lines = _claim(columns, worth, keep, wanted)
    if len(columns.panels.numbers):
        fill_columns(columns.kernel, columns.panels, wanted, columns.kept, lines, threads)
    else:
        _fill_by_stored(columns, wanted, lines)


def take_over(columns: Columns, others: Columns, which: np.ndarray) -> None:
    """Copy to an empty store, of the rows ``which`` of others, the columns of these rows that the others have."""
    there = np.flatnonzero(others.slot_of[which] >= 0)[: len(columns.owner)].astype(np.int32)
    lines = np.arange(len(there), dtype=np.int32)
    _copy_some(others.kept, others.slot_of[which[there]], which, columns.kept)
    columns.owner[lines], columns.slot_of[there], columns.counts[USED] = there, lines, len(there)


@njit
def _copy_some(kept, lines, which, out):
    """Copy entries ``which`` of some lines to the first lines of ``out``."""
    for c in range(lines.size):
        line, to = kept[lines[c]], out[c]
        for t in range(which.size):
            to[t] = line[which[t]]


def at_hand(columns: Columns, wanted: np.ndarray, worth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an array and its lines with the columns ``wanted``, at most 64.

    They are kept from here on if there is room for twice as many; else computed for this once, to the same bits.
    """
    missing = wanted[columns.slot_of[wanted] < 0].astype(np.int32)
    if 2 * len(wanted) <= len(columns.owner):
        if len(missing):
            compute(columns, missing, worth)
        if (lines := columns.slot_of[wanted]).min() >= 0:  # none made room for another
            return columns.kept, lines
    lent = np.empty((len(wanted), len(columns.slot_of)), columns.kept.dtype)
    values_between(columns.kernel, columns.rows, wanted, columns.all_rows, lent, columns.threads)
    columns.counts[EVALUATIONS] += lent.size
    return lent, np.arange(len(wanted), dtype=np.int32)  # as where columns are kept: one form to compile


def _fill_by_stored(columns: Columns, wanted: np.ndarray, lines: np.ndarray) -> None:
    count, m = len(wanted), len(columns.slot_of)
    width = NARROW if count <= NARROW else WIDE
    used = lay_out(columns.anchors, columns.rows, columns.own, wanted, width)
    fill(
        columns.kernel, columns.anchors, width, count, columns.rows, columns.own, columns.all_rows, m,
        columns.kept, lines, columns.threads,
    )  # fmt: skip
    clear(columns.anchors, used)
