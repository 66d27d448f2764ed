"""Search among rows drawn at random (003 section 4.2), with q on the active set alone or, once cheaper, over all rows.

`Sampled` keeps the kernel matrix of the active set: each row that enters brings its column, which is a line for itself
and one more value for all others. `Tracked` draws the same candidates but reads their q off. The points are the same
but for rounding.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, ColumnCache
from fwsvm.kernels.sparse_tiles import NARROW, WIDE, fill_block
from fwsvm.numerics.compile import njit
from fwsvm.numerics.random import below
from fwsvm.solvers.frank_wolfe.gradient import (
    add_row,
    cache_index,
    drop_row,
    enter,
    goal,
    leave,
    partner,
    partner_among_active,
    select,
    signed,
    update,
)
from fwsvm.solvers.frank_wolfe.state import CANDIDATES_MISS, GOING, NO_VIOLATOR, SimplexState
from fwsvm.solvers.tuning import LONE_COLUMN_COST, PREFETCH_WITHIN, UPDATE_COST

VERTEX_LINE, PARTNER_LINE = 0, 1  # used for one move by rows without a line of their own
OWN_LINES = 2  # the first line that belongs to an active row


class Sampled(NamedTuple):
    """Look at ``candidates`` rows drawn with replacement, up to ``retries`` times while none violates the goal.

    59 candidates hold one of the best 5 per cent with probability 0.95 (003 Theorem 1). With ``outside`` they are drawn
    from the rows outside the active set, with ``in_turn`` from its two classes in turn, as LIBCVM and the program of
    003's authors do for CVM.
    """

    candidates: int = 59
    retries: int = 7
    outside: bool = False
    in_turn: bool = False


@select.implements(Sampled)
def _select_from_some(search, s):
    """Draw candidates, come back for their kernel values with the active set, and decide."""
    now = s.now[0]
    if now.draws > 0:
        best = _best_candidate(s, search.candidates)
        if decided(search, s, best):
            if now.stop == GOING:
                _hold(s, best, now.vertex)
            return
    else:
        now.iterations += 1
    draw(search, s)
    now.looked += search.candidates * now.active
    now.stop = CANDIDATES_MISS


@njit(each_step=True)
def draw(search, s):
    """Draw candidates, with replacement."""
    if search.outside and s.now[0].active < s.q.size:
        _draw_outside(search, s)
    else:
        for c in range(search.candidates):
            s.drawn[c] = below(s.random, s.q.size)
    s.now[0].draws += 1


@njit(each_step=True)
def _draw_outside(search, s):
    """Draw rows outside the active set; of the two classes in turn, or of one where the other has none left."""
    active, m = s.now[0].active, s.q.size
    first, size = 0, m
    plus_active = 0
    for p in range(active):
        plus_active += s.active[p] < s.plus
    plus_left, minus_left = s.plus - plus_active, m - s.plus - (active - plus_active)
    for c in range(search.candidates):
        if search.in_turn:
            from_plus = plus_left > 0 and (c % 2 == 0 or minus_left == 0)
            first, size = (0, s.plus) if from_plus else (s.plus, m - s.plus)
        i = first + below(s.random, size)
        while s.place[i] >= 0:
            i = first + below(s.random, size)
        s.drawn[c] = i


@njit(each_step=True)
def decided(search, s, best):
    """Take candidate ``best`` as the vertex if it violates the goal; give up after the last draw."""
    now = s.now[0]
    now.gap = 2.0 * (now.R - s.q[s.drawn[best]])
    if now.gap > goal(s):
        now.vertex, now.draws = s.drawn[best], 0
        return True
    if now.draws >= search.retries:
        now.draws, now.stop = 0, NO_VIOLATOR
        return True
    return False


@njit(each_step=True)
def _best_candidate(s, candidates):
    """Return the candidate with the least q, and set that; q is computed anew from its kernel values."""
    now = s.now[0]
    best, least = 0, np.inf
    for c in range(candidates):
        i = s.drawn[c]
        h = 0.0
        for p in range(now.active):
            t = s.active[p]
            k = s.values[c, p] + 1.0
            h += s.alpha[t] * (k if t < s.plus else -k)
        q_i = (h if i < s.plus else -h) + s.alpha[i] * s.ridge[i]
        if q_i < least:
            best, least = c, q_i
    s.q[s.drawn[best]] = least
    return best


@njit(each_step=True)
def _hold(s, c, i):
    """Have the column of candidate c, row i, at hand."""
    if s.slot_of[i] < OWN_LINES:  # a line lent before may hold another row by now
        s.slot_of[i] = VERTEX_LINE
        put_column(s, c, i)


@njit(each_step=True)
def put_column(s, c, i):
    """Copy line c of ``values``, kernel values with the active set, to row i's line of ``cached``."""
    line = s.slot_of[i]
    for p in range(s.now[0].active):
        s.cached[line, p] = s.values[c, p]


@njit(each_step=True, inner=False)
def line_of_place(s, place):
    """Return the line of ``cached`` for the active row of that place, -1 where memory ends before."""
    return place + OWN_LINES if place + OWN_LINES < s.cached.shape[0] else -1


@njit(each_step=True)
def _copy(cached, line, other, count):
    """Copy the first ``count`` numbers of a line to another."""
    for p in range(count):
        cached[other, p] = cached[line, p]


@cache_index.implements(Sampled)
def _index_in_active(search, s, t):
    return s.place[t]


@enter.implements(Sampled)
def _enter_active(search, s, i):
    add_row(s, i)
    place, borrowed = s.place[i], s.slot_of[i]
    k_i = s.cached[borrowed]
    k_i[place] = s.diagonal[i] - s.ridge[i] - 1.0
    for p in range(place):
        line = s.slot_of[s.active[p]]
        if line >= 0:
            s.cached[line, place] = k_i[p]
    line = line_of_place(s, place)
    if line >= 0:
        _copy(s.cached, borrowed, line, place + 1)
        s.slot_of[i] = line


@leave.implements(Sampled)
def _leave_active(search, s, j):
    place = s.place[j]
    drop_row(s, j)
    active = s.now[0].active
    s.slot_of[j] = -1
    if place == active:
        return
    for p in range(active):
        line = s.slot_of[s.active[p]]
        if line >= 0:
            s.cached[line, place] = s.cached[line, active]
    last = s.active[place]
    if s.slot_of[last] >= OWN_LINES:
        line = line_of_place(s, place)
        _copy(s.cached, s.slot_of[last], line, active)
        s.slot_of[last] = line


@update.implements(Sampled)
def _update_active(search, s, move):
    q = s.q
    i, j, a, b = signed(s, move)
    k_i, k_j = s.cached[s.slot_of[i]], s.cached[s.slot_of[j]]
    for p in range(s.now[0].active):
        t = s.active[p]
        change = a * (k_i[p] + 1.0) + b * (k_j[p] + 1.0)
        q[t] = move.scale * q[t] + (change if t < s.plus else -change)
    q[i] += move.gain * s.ridge[i]
    q[j] -= move.loss * s.ridge[j]
    give_back(s, i)
    give_back(s, j)
    give_back(s, s.now[0].vertex)  # need not be a row of the move


@njit(each_step=True)
def give_back(s, t):
    """Let go of row t's line if it is borrowed: it does not cover what enters later."""
    if 0 <= s.slot_of[t] < OWN_LINES:
        s.slot_of[t] = -1


@partner.implements(Sampled)
def _partner_in_active(search, s, i):
    return partner_among_active(s, i)


# ---------------------------------------------------------------- kernel values, outside the compiled loop


def fetch_candidates(s: SimplexState, columns: ColumnCache) -> None:
    """Compute k between the candidates drawn and the active set."""
    _against_active(s, columns, s.drawn[: s.search.candidates], WIDE)
    s.now["stop"] = GOING


def fetch_active_columns(s: SimplexState, columns: ColumnCache) -> None:
    """Compute the wanted row's column on the active set, with those of active rows that are missing.

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


def _against_active(s: SimplexState, columns: ColumnCache, which: Any, width: int) -> None:
    active, some = int(s.now["active"][0]), np.ascontiguousarray(which)
    fill_block(
        columns.kernel,
        columns.left_block,
        width,
        columns.rows,
        columns.own,
        some,
        s.active[:active],
        s.values,
        _LINES,
        columns.threads,
    )
    columns.counts[EVALUATIONS] += len(which) * active


def lines_within(room: int, dtype: Any, cache_bytes: int) -> int:
    """Return how many lines of that many kernel values fit in the budget, beside those that are lent."""
    return OWN_LINES + min(room, cache_bytes // (room * np.dtype(dtype).itemsize))


def with_room(s: SimplexState, cache_bytes: int) -> SimplexState:
    """Return the state with room for the kernel values of one more active row."""
    needed, before = int(s.now["active"][0]) + 1, s.values.shape[1]
    if needed <= before:
        return s
    room = max(2 * before, needed)
    lines = lines_within(room, s.cached.dtype, cache_bytes)
    cached = np.empty((lines, room), s.cached.dtype)
    cached[: len(s.cached), :before] = s.cached[:lines]
    s.slot_of[s.slot_of >= lines] = -1
    return s._replace(values=np.empty((WIDE, room), s.values.dtype), core=np.empty((3, room)), cached=cached)


class Tracked(NamedTuple):
    """Look at some rows as `Sampled` does, with q kept over all rows."""

    candidates: int
    retries: int
    outside: bool
    in_turn: bool


@select.implements(Tracked)
def _select_from_some_known(search, s):
    """Draw candidates and decide by their q, which are at hand."""
    now = s.now[0]
    if now.draws == 0:
        now.iterations += 1
        draw(search, s)
    while not decided(search, s, _best_known(s, search.candidates)):
        draw(search, s)


@njit(each_step=True)
def _best_known(s, candidates):
    """Return the candidate with the least q."""
    best = 0
    for c in range(1, candidates):
        if s.q[s.drawn[c]] < s.q[s.drawn[best]]:
            best = c
    return best


def drawn_soon(search: Sampled | Tracked, m: int) -> bool:
    """Return whether a row, one of m, becomes a candidate so soon that its column may be computed ahead of time."""
    return bool(m <= PREFETCH_WITHIN * search.candidates)


def tracking_pays(s: SimplexState, cache_bytes: int) -> bool:
    """Whether candidates have cost more kernel values than q over all rows would have from the start.

    That is the gradient once, a column for each active row, and an update of m entries a step.
    """
    now, m = s.now[0], len(s.q)
    fits = 2 * int(now["active"]) * m * s.cached.itemsize <= cache_bytes
    each = 1 if drawn_soon(s.search, m) else LONE_COLUMN_COST
    a_step = UPDATE_COST if fits else each
    return bool(now["looked"] > m * (2 * each * now["active"] + a_step * now["steps"]))
