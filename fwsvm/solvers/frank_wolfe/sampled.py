"""Search among rows drawn at random (003 section 4.2), with q at the active rows alone or, once cheaper, at all rows.

At the active rows alone the run holds their kernel matrix. Candidates are compared by kernel values with the active
rows, and those of the vertex become its column.
"""

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, ColumnCache
from fwsvm.kernels.rows import some_rows
from fwsvm.kernels.sparse_tiles import TILE, WIDE, fill_sparse
from fwsvm.kernels.tables import kernel_matrix
from fwsvm.numerics.compile import generic, njit
from fwsvm.numerics.random import below
from fwsvm.numerics.threads import in_shares
from fwsvm.problems.simplex_qp import SimplexQP
from fwsvm.solvers.frank_wolfe.gradient import goal
from fwsvm.solvers.frank_wolfe.state import (
    CANDIDATES_MISS,
    GOING,
    NO_VIOLATOR,
    REACHED,
    FullSearch,
    Search,
    SimplexState,
)
from fwsvm.solvers.tuning import FIRST_ROOM, LONE_COLUMN_COST, PREFETCH_WITHIN, UPDATE_COST

CANDIDATES = 59  # hold one of the best 5 per cent with probability 0.95 (003 Theorem 1)


@generic
def select(search, s):
    """Set ``now.vertex`` and ``now.gap``, or ``now.stop``."""


@select.implements(FullSearch)
def _select_least(search, s):
    now = s.now[0]
    now.iterations += 1
    now.vertex = now.best
    now.gap = 2.0 * (now.R - s.q[now.best])
    if now.gap <= goal(s):
        now.stop = REACHED


@select.implements(Search)
def _select_candidate(search, s):
    now = s.now[0]
    if now.draws == 0:
        now.iterations += 1
        draw(s)
    while now.stop == GOING:
        c, least = best_candidate(s)
        now.gap = 2.0 * (now.R - least)
        if now.gap > goal(s):
            now.vertex, now.draws = hold(s, c, least), 0
            return
        if now.draws >= search.retries:
            now.draws, now.stop = 0, NO_VIOLATOR
        else:
            draw(s)


@njit(each_step=True)
def draw(s):
    """Draw candidates, with replacement; come back for their kernel values if need be."""
    search, sample, now = s.search, s.sample, s.now[0]
    m, plus = sample.place_of.size, sample.plus
    outside = search.outside and now.active < m
    plus_left, minus_left = plus - now.plus, m - plus - (now.active - now.plus)
    first, size = 0, m
    for c in range(CANDIDATES):
        if outside and search.in_turn:  # or of one class where the other has none left
            from_plus = plus_left > 0 and (c % 2 == 0 or minus_left == 0)
            first, size = (0, plus) if from_plus else (plus, m - plus)
        i = first + below(sample.random, size)
        while outside and is_active(s, i):
            i = first + below(sample.random, size)
        sample.drawn[c] = i
    now.draws += 1
    if search.computed:
        now.looked += CANDIDATES * now.active
        now.stop = CANDIDATES_MISS


@njit(inline="always")
def is_active(s, i):
    """Return whether row i of the problem is in the active set."""
    t = s.sample.place_of[i]
    return t >= 0 and s.sample.row[t] == i and s.place[t] >= 0


@njit(each_step=True)
def best_candidate(s):
    """Return the candidate with the least q, the first of equals, and that q."""
    best, least = 0, np.inf
    for c in range(CANDIDATES):
        i = s.sample.drawn[c]
        q_i = gradient_of(s, c, i) if s.search.computed else s.q[i]
        if q_i < least:
            best, least = c, q_i
    return best, least


@njit(each_step=True)
def gradient_of(s, c, i):
    """Return q_i of candidate c, row i of the problem, from its kernel values with the active rows."""
    h = 0.0
    for p in range(s.now[0].active):
        t = s.active[p]
        k = s.sample.values[c, p] + 1.0
        h += s.alpha[t] * (k if t < s.plus else -k)
    t = s.sample.place_of[i]
    return (h if i < s.sample.plus else -h) + (s.alpha[t] * s.ridge[t] if is_active(s, i) else 0.0)


@njit(each_step=True)
def hold(s, c, q_i):
    """Return the place of candidate c: a free one of its class, with its column, unless it is held."""
    sample, i = s.sample, np.int64(s.sample.drawn[c])
    if not s.search.computed or is_active(s, i):
        t = np.int64(sample.place_of[i])
        s.q[t] = q_i
        return t
    t = np.int64(0 if i < sample.plus else s.plus)
    while s.place[t] >= 0:
        t += 1
    sample.row[t], sample.place_of[i] = i, t
    s.q[t], s.ridge[t], s.diagonal[t] = q_i, sample.ridge[i], sample.diagonal[i]
    for p in range(s.now[0].active):
        r = s.active[p]
        s.cached[t, r] = s.cached[r, t] = sample.values[c, p]
    s.cached[t, t] = s.diagonal[t] - s.ridge[t] - 1.0
    return t


# ---------------------------------------------------------------- kernel values, outside the compiled loop

_LINES = np.arange(WIDE)


def fetch_candidates(s: SimplexState, columns: ColumnCache) -> None:
    """Compute k between the candidates and the active rows."""
    active = s.sample.row[s.active[: int(s.now["active"][0])]]
    (rows, own, _), some = columns.table, s.sample.drawn[:CANDIDATES]

    def share(first: int, last: int) -> None:
        part = active[first:last]
        fill_sparse(columns.kernel, rows, own, some, rows, own, part, s.sample.values, first, _LINES)

    threads = columns.table.threads(len(active) * len(some), columns.threads)
    in_shares(share, len(active), threads, TILE)
    columns.counts[EVALUATIONS] += CANDIDATES * len(active)
    s.now["stop"] = GOING


def room_for(active: int) -> int:
    """Return how many rows of each class to have places for where so many of one are active."""
    return max(FIRST_ROOM, 3 * active // 2)


def matrix_fits(active: int, cache_bytes: int) -> bool:
    """Return whether the kernel matrix of so many active rows, with room for more, fits in the cache."""
    return 8 * (2 * room_for(active)) ** 2 <= cache_bytes


def has_room(s: SimplexState) -> bool:
    """Return whether there is a place for one more row of each class."""
    active, plus = int(s.now["active"][0]), int(s.now["plus"][0])
    return max(plus, active - plus) < s.plus


def places_for(qp: SimplexQP, support: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the row at each place, the place of each row where these are active, and the first place of the class -1.

    Places that are not taken yet have row 0.
    """
    plus = support < qp.plus
    room = room_for(int(max(np.count_nonzero(plus), np.count_nonzero(~plus))))
    places = np.where(plus, plus.cumsum() - 1, room + (~plus).cumsum() - 1)
    row, place_of = np.zeros(2 * room, np.int32), np.full(len(qp.ridge), -1, np.int32)
    row[places], place_of[support] = support, places
    return row, place_of, room


def matrix_of(columns: ColumnCache, support: np.ndarray) -> np.ndarray:
    """Return the kernel values of these rows with each other."""
    K = kernel_matrix(columns.kernel, some_rows(columns.table.rows, support), columns.threads)
    columns.counts[EVALUATIONS] += K.size
    return K


def drawn_soon(m: int) -> bool:
    """Return whether a row, one of m, becomes a candidate so soon that its column may be computed ahead of time."""
    return m <= PREFETCH_WITHIN * CANDIDATES


def tracking_pays(s: SimplexState, cache_bytes: int) -> bool:
    """Whether candidates have cost more kernel values than q at all rows would have from the start.

    That is the gradient once, a column for each active row, and an update of m entries a step.
    """
    now, m = s.now[0], len(s.sample.place_of)
    fits = 2 * int(now["active"]) * m * s.cached.itemsize <= cache_bytes
    each = 1 if drawn_soon(m) else LONE_COLUMN_COST
    a_step = UPDATE_COST if fits else each
    return bool(now["looked"] > m * (2 * each * now["active"] + a_step * now["steps"]))
