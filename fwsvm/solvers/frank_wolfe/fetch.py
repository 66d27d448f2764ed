"""Kernel values that the compiled loop misses: blocks of columns, or candidates against the active set."""

from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, USED, ColumnCache, compute
from fwsvm.kernels.sparse_tiles import NARROW, WIDE, clear, fill, scatter
from fwsvm.numerics.compile import generic, njit
from fwsvm.solvers.frank_wolfe.search import (
    PARTNER_LINE,
    VERTEX_LINE,
    Full,
    Tracked,
    drawn_soon,
    line_of_place,
    put_column,
)
from fwsvm.solvers.frank_wolfe.state import GOING, State

WORTH_A_CALL = 1 << 14  # kernel values: a smaller block costs as much


def fetch_columns(s: State, columns: ColumnCache) -> None:
    """Compute the column that was missed and a prefetch set with it (`Full`, `Tracked`)."""
    compute(columns, prefetch_set(s, columns), s.alpha, int(s.now[0]["vertex"]))
    s.now["stop"] = GOING


@generic
def block_size(search, columns):
    """Return how many columns to compute at once."""


@njit
def _cheapest(columns):
    """Return the block size of least cost a column: 64, but eight for dense rows, where each costs the same."""
    if columns.counts[USED] < columns.row_of.size and columns.tiles.numbers.size == 0:
        return WIDE
    return max(NARROW, min(WIDE, WORTH_A_CALL // columns.slot_of.size))


@block_size.implements(Full)
def _size_of_all(search, columns):
    return _cheapest(columns)


@block_size.implements(Tracked)
def _size_of_some(search, columns):
    """Return 1 where a row is drawn too rarely for a prefetch."""
    return _cheapest(columns) if drawn_soon(search, columns.slot_of.size) else 1


@njit(nogil=False)  # takes microseconds: releasing the interpreter lock would cost more
def prefetch_set(s, columns):
    """Return the missed row and the rows of lowest q < R whose columns are not cached: likely next vertices."""
    q, slot_of, R, wanted = s.q, s.slot_of, s.now[0].R, s.now[0].wanted
    rows = np.empty(max(1, min(block_size(s.search, columns), columns.row_of.size // 2)), np.int32)
    rows[0], count, worst = wanted, 1, 1
    for t in range(q.size):
        if rows.size > 1 and q[t] < R and slot_of[t] < 0 and t != wanted:
            if count < rows.size:
                rows[count] = t
                count += 1
            elif q[t] < q[rows[worst]]:
                rows[worst] = t
            else:
                continue
            if count == rows.size:
                worst = 1
                for c in range(2, count):
                    if q[rows[c]] > q[rows[worst]]:
                        worst = c
    return rows[:count]


def fetch_candidates(s: State, columns: ColumnCache) -> None:
    """Compute k between the candidates drawn and the active set (`Sampled`)."""
    _against_active(s, columns, s.drawn[: s.search.candidates], WIDE)
    s.now["stop"] = GOING


def fetch_active_columns(s: State, columns: ColumnCache) -> None:
    """Compute the wanted row's column on the active set, with those of active rows that are missing (`Sampled`).

    Each goes to the row's own line; a row without one, not active or beyond the memory, is lent one. Many are missing
    only after a start from another run's end: a row that enters brings its column.
    """
    now = s.now[0]
    i = int(now["wanted"])
    which = np.empty(WIDE, np.int32)
    count = _missing(s, i, which)
    _against_active(s, columns, which[:count], WIDE if count > NARROW else NARROW)
    if line_of_place(s, s.place[i]) < 0 or s.place[i] < 0:
        s.slot_of[i] = VERTEX_LINE if i == now["vertex"] else PARTNER_LINE
    _put_columns(s, which[:count])
    now["stop"] = GOING


@njit
def _missing(s, i, which):
    """Put row i and active rows without a column that have a line of their own into ``which``; return how many."""
    which[0], count = i, 1
    for p in range(s.now[0].active):
        t = s.active[p]
        if t != i and s.slot_of[t] < 0 and line_of_place(s, p) >= 0:
            which[count] = t
            count += 1
            if count == which.size:
                break
    return count


@njit
def _put_columns(s, which):
    """Copy the first lines of ``values`` to the lines of these rows."""
    for c in range(which.size):
        t = which[c]
        if s.slot_of[t] < 0:
            s.slot_of[t] = line_of_place(s, s.place[t])
        put_column(s, c, t)


_LINES = np.arange(WIDE)


def _against_active(s: State, columns: ColumnCache, which: Any, width: int) -> None:
    active = int(s.now["active"][0])
    used = scatter(columns.left_block, columns.rows, columns.own, which, width)
    fill(
        columns.kernel, columns.left_block, width, len(which), columns.rows, columns.own, s.active, active,
        s.values, _LINES, columns.threads,
    )  # fmt: skip
    clear(columns.left_block, used)
    columns.counts[EVALUATIONS] += len(which) * active
