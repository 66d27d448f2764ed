"""Search for the ascent vertex i* = argmin q, and storage of the gradient q: over all rows, or the active set.

`Full` keeps q over all m rows; a step reads one or two kernel columns, and the gap is exact. `Sampled` (003 section
4.2) looks at some rows drawn at random and keeps q on the active set alone: the kernel values it needs, between the
candidates and the active set, do not depend on m, and its gap proves nothing. It keeps the kernel matrix of the
active set: each row that enters brings its column, which is a line for itself and one more value for all others.
`Tracked` draws the same candidates but reads their q off, for it keeps q over all rows as `Full` does: what `Sampled`
becomes once that is cheaper (`fwsvm.solvers.frank_wolfe.run`). The points are the same but for rounding.

Kernel values are computed outside the compiled loop (see `fwsvm.solvers.frank_wolfe.fetch`), which comes back with
``now.stop`` when it wants some; so it is compiled once for all kernels.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.numerics.compile import generic, njit
from fwsvm.numerics.random import below
from fwsvm.solvers.frank_wolfe.scans import update_scan
from fwsvm.solvers.frank_wolfe.state import CANDIDATES_MISS, GOING, NO_VIOLATOR, REACHED
from fwsvm.solvers.frank_wolfe.thread_team import shared_update_scan

ROUNDING = 4.0 * np.finfo(np.float64).eps  # relative gaps below this are rounding
VERTEX_LINE, PARTNER_LINE = 0, 1  # of `Sampled`: used for one move by rows without a line of their own
SOON = 512  # steps within which a candidate that was prefetched should be drawn
OWN_LINES = 2  # the first line that belongs to an active row


class Full(NamedTuple):
    """Look at every row."""


class Sampled(NamedTuple):
    """Look at ``candidates`` rows drawn with replacement, up to ``retries`` times while none violates the goal.

    59 candidates hold one of the best 5 per cent with probability 0.95 (003 Theorem 1).
    """

    candidates: int = 59
    retries: int = 7


class Tracked(NamedTuple):
    """Look at some rows as `Sampled` does, with q kept over all rows."""

    candidates: int
    retries: int


@njit
def drawn_soon(search, m):
    """Return whether a row, one of m, becomes a candidate so soon that its column may be computed ahead of time."""
    return m <= SOON * search.candidates


@generic(each_step=True)
def select(search, s):
    """Set ``now.vertex`` and ``now.gap``, or ``now.stop``."""


@generic(each_step=True)
def update(search, s, move):
    """Update q for a move: q <- scale q + gain K~_i - loss K~_j. Both rows are in the active set."""


@generic(each_step=True)
def cache_index(search, s, t):
    """Return the place in a cached column of the kernel value with row t."""


@generic(each_step=True)
def on_add(search, s, i):
    """Store the column of row i, which was added to the end of the active set."""


@generic(each_step=True)
def on_drop(search, s, j, place):
    """Remove row j from the storage; the last row of the active set has taken its place."""


@njit(each_step=True)
def goal(s):
    """Return the largest gap at which the run may stop: its rule's, or what rounding makes of none."""
    now = s.now[0]
    return max(now.stop_constant + now.stop_slope * now.R, ROUNDING * now.R, now.noise)


# ---------------------------------------------------------------- q over all rows


@select.implements(Full)
def _select_from_all(search, s):
    now = s.now[0]
    now.iterations += 1
    now.vertex = now.best
    now.gap = 2.0 * (now.R - s.q[now.best])
    if now.gap <= goal(s):
        now.stop = REACHED


@njit(each_step=True)
def _signed(s, move):
    """Return the rows i and j of a move (twice the same where it has one), y_i gain and -y_j loss."""
    i = move.i if move.i >= 0 else move.j
    j = move.j if move.j >= 0 else i
    return i, j, move.gain if i < s.plus else -move.gain, -move.loss if j < s.plus else move.loss


@cache_index.implements(Full)
@cache_index.implements(Tracked)
def _index_in_all(search, s, t):
    return t


@on_add.implements(Full)
@on_add.implements(Tracked)
def _on_add_all(search, s, i):
    """Nothing: the columns are those of the store."""


@on_drop.implements(Full)
@on_drop.implements(Tracked)
def _on_drop_all(search, s, j, place):
    """Nothing."""


@update.implements(Full)
@update.implements(Tracked)
def _update_all(search, s, move):
    q, plus = s.q, s.plus
    i, j, a, b = _signed(s, move)
    k_i, k_j = s.cached[s.slot_of[i]], s.cached[s.slot_of[j]]
    if move.scale != 0.0:  # the ridge's share goes first, so that the pass meets every entry as it will be
        q[i] += move.gain * s.ridge[i] / move.scale
        q[j] -= move.loss * s.ridge[j] / move.scale
    if s.team.claimed.size > 0:
        best = shared_update_scan(s, i, j, move.scale, a, b)
    else:
        best, least = update_scan(q, k_i, k_j, move.scale, a, b, 0, plus, 0, np.inf)
        best, least = update_scan(q, k_i, k_j, move.scale, -a, -b, plus, q.size, best, least)
    if move.scale == 0.0:
        q[i] += s.ridge[i]
        best = q.argmin()
    s.now[0].best = best


# ---------------------------------------------------------------- some rows, drawn at random


@select.implements(Sampled)
def _select_from_some(search, s):
    """Draw candidates, come back for their kernel values with the active set, and decide."""
    now = s.now[0]
    if now.draws > 0:
        best = _best_candidate(s, search.candidates)
        if _decided(search, s, best):
            if now.stop == GOING:
                _hold(s, best, now.vertex)
            return
    else:
        now.iterations += 1
    _draw(search, s)
    now.looked += search.candidates * now.active
    now.stop = CANDIDATES_MISS


@select.implements(Tracked)
def _select_from_some_known(search, s):
    """Draw candidates and decide by their q, which are at hand."""
    now = s.now[0]
    if now.draws == 0:
        now.iterations += 1
        _draw(search, s)
    while not _decided(search, s, _best_known(s, search.candidates)):
        _draw(search, s)


@njit(each_step=True)
def _draw(search, s):
    for c in range(search.candidates):
        s.drawn[c] = below(s.random, s.q.size)
    s.now[0].draws += 1


@njit(each_step=True)
def _decided(search, s, best):
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
def _best_known(s, candidates):
    """Return the candidate with the least q."""
    best = 0
    for c in range(1, candidates):
        if s.q[s.drawn[c]] < s.q[s.drawn[best]]:
            best = c
    return best


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
    if s.slot_of[i] < 0:
        s.slot_of[i] = VERTEX_LINE
        put_column(s, c, i)


@njit(each_step=True)
def put_column(s, c, i):
    """Copy line c of ``values``, kernel values with the active set, to row i's line of ``cached``."""
    line = s.slot_of[i]
    for p in range(s.now[0].active):
        s.cached[line, p] = s.values[c, p]


@njit(each_step=True)
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


@on_add.implements(Sampled)
def _on_add_active(search, s, i):
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


@on_drop.implements(Sampled)
def _on_drop_active(search, s, j, place):
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
    i, j, a, b = _signed(s, move)
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
