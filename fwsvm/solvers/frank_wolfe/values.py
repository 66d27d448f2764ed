"""The kernel values that the compiled loop asks for: blocks of columns, or candidates against the active set."""

from typing import Any

import numpy as np

from fwsvm._compile import generic, njit
from fwsvm.kernels.blocks import NARROW, WIDE, clear, fill, lay_out
from fwsvm.kernels.columns import EVALUATIONS, USED, Columns, compute
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

WORTH_A_CALL = 1 << 14  # kernel values: a block of fewer costs as much


def provide_columns(s: State, columns: Columns) -> None:
    """Compute the wanted column and others that will be (`Full`, `Tracked`)."""
    compute(columns, likely(s, columns), s.alpha, int(s.now[0]["vertex"]))
    s.now["stop"] = GOING


@generic
def block_size(search, columns):
    """Return how many columns to compute at once."""


@njit
def _cheapest(columns):
    """64 at once cost little more than eight, but of rows without gaps, where eight are as cheap apiece."""
    if columns.counts[USED] < columns.owner.size and columns.panels.numbers.size == 0:
        return WIDE
    return max(NARROW, min(WIDE, WORTH_A_CALL // columns.slot_of.size))


@block_size.implements(Full)
def _size_of_all(search, columns):
    return _cheapest(columns)


@block_size.implements(Tracked)
def _size_of_some(search, columns):
    """Which row of many will be drawn cannot be told."""
    return _cheapest(columns) if drawn_soon(search, columns.slot_of.size) else 1


@njit(nogil=False)  # microseconds: to let go of the interpreter costs other threads and this one more
def likely(s, columns):
    """Return the wanted row, and those of lowest q < R whose columns are missing too: the likeliest next vertices."""
    q, slot_of, R, wanted = s.q, s.slot_of, s.now[0].R, s.now[0].wanted
    rows = np.empty(max(1, min(block_size(s.search, columns), columns.owner.size // 2)), np.int32)
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


def provide_candidates(s: State, columns: Columns) -> None:
    """Compute k between the candidates drawn and the active set (`Sampled`)."""
    _against_active(s, columns, s.drawn[: s.search.candidates], WIDE)
    s.now["stop"] = GOING


def provide_active_columns(s: State, columns: Columns) -> None:
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


def _against_active(s: State, columns: Columns, which: Any, width: int) -> None:
    active = int(s.now["active"][0])
    used = lay_out(columns.anchors, columns.rows, columns.own, which, width)
    fill(
        columns.kernel, columns.anchors, width, len(which), columns.rows, columns.own, s.active, active,
        s.values, _LINES, columns.threads,
    )  # fmt: skip
    clear(columns.anchors, used)
    columns.counts[EVALUATIONS] += len(which) * active
