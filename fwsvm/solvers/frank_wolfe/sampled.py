"""Search among rows drawn at random (003 section 4.2), with q at the active rows alone or, once cheaper, at all rows.

At the active rows alone the run holds their kernel matrix. For each sample the compiled loop comes back: candidates are
compared by kernel values with the active rows, and those of the best become its column.
"""

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, ColumnCache
from fwsvm.kernels.rows import some_rows
from fwsvm.kernels.values import fill_some, kernel_matrix
from fwsvm.numerics.compile import generic, njit_inline, njit_step
from fwsvm.numerics.random import below
from fwsvm.solvers.frank_wolfe.gradient import goal
from fwsvm.solvers.frank_wolfe.iterate import AllRows
from fwsvm.solvers.frank_wolfe.state import (
    CANDIDATES_MISS,
    GOING,
    NO_VIOLATOR,
    REACHED,
    Sample,
    SimplexState,
)
from fwsvm.solvers.tuning import FIRST_ROOM, LONE_COLUMN_COST, PREFETCH_WITHIN, UPDATE_COST

CANDIDATES = 59  # hold one of the best 5 per cent with probability 0.95 (003 Theorem 1)


@generic(is_default=True)
def select(sample, s):
    """Set ``now.vertex`` and ``now.gap``, or ``now.stop``; there is no sample under full search."""
    now = s.now
    now.iterations += 1
    now.vertex = now.best
    now.gap = 2.0 * (now.R - s.q[now.best])
    if now.gap <= goal(s):
        now.stop = REACHED


@select.implements(Sample)
def _select_candidate(sample, s):
    now = s.now
    if now.draws == 0:
        now.iterations += 1
        draw(s)
    while now.stop == GOING:
        now.vertex = now.best if sample.computed else best_drawn(s)
        now.gap = 2.0 * (now.R - s.q[now.vertex])
        if now.gap > goal(s):
            now.draws = 0
            return
        if now.draws >= sample.retries:
            now.draws = 0
            now.stop = NO_VIOLATOR
        else:
            draw(s)


@njit_step
def draw(s):
    """Draw candidates, with replacement; come back for their kernel values if need be."""
    sample = s.sample
    now = s.now
    m = sample.place_of.size
    plus = sample.plus
    outside = sample.outside and now.active < m
    plus_left = plus - now.plus
    minus_left = m - plus - (now.active - now.plus)
    first = 0
    size = m
    for c in range(CANDIDATES):
        if outside and sample.in_turn:  # or of one class where the other has none left
            from_plus = plus_left > 0 and (c % 2 == 0 or minus_left == 0)
            first, size = (0, plus) if from_plus else (plus, m - plus)
        i = first + below(sample.random, size)
        while outside and is_active(s, i):
            i = first + below(sample.random, size)
        sample.drawn[c] = i
    now.draws += 1
    if sample.computed:
        now.looked += CANDIDATES * now.active
        now.stop = CANDIDATES_MISS


@njit_inline
def is_active(s, i):
    """Return whether row i of the problem is in the active set."""
    t = s.sample.place_of[i]
    return t >= 0 and s.sample.row[t] == i and s.place[t] >= 0


@njit_step
def best_drawn(s):
    """Return the candidate with the least q, the first of equals."""
    best = s.sample.drawn[0]
    for i in s.sample.drawn[1:CANDIDATES]:
        if s.q[i] < s.q[best]:
            best = i
    return np.int64(best)


# ---------------------------------------------------------------- kernel values, outside the compiled loop


def hold_best(s: SimplexState, columns: ColumnCache, rows: AllRows) -> None:
    """Find the candidate with the least q, the first of equals, and let ``now.best`` be its place.

    That is a free one of its class, with its column, unless it is active.
    """
    sample, active, drawn = s.sample, s.active[: s.now["active"]], s.sample.drawn[:CANDIDATES]
    which = sample.row[active]
    values = np.empty((len(drawn), len(active)), s.cached.dtype)
    fill_some(columns.kernel, columns.table, drawn, which, values, columns.threads)
    columns.counts[EVALUATIONS] += values.size
    places = sample.place_of[drawn]
    held = (places >= 0) & (sample.row[places] == drawn) & (s.place[places] >= 0)
    q = rows.y[drawn] * ((values + 1.0) @ (rows.y[which] * s.alpha[active]))
    q += np.where(held, s.alpha[places] * s.ridge[places], 0.0)
    c = q.argmin()
    i = drawn[c]
    t = places[c]
    if not held[c]:
        first = 0 if i < sample.plus else s.plus
        t = first + (s.place[first:] < 0).argmax()
        sample.row[t] = i
        sample.place_of[i] = t
        s.ridge[t] = rows.ridge[i]
        s.diagonal[t] = rows.diagonal[i]
        s.cached[t, active] = s.cached[active, t] = values[c]
        s.cached[t, t] = s.diagonal[t] - s.ridge[t] - 1.0
    s.q[t] = q[c]
    s.now["best"] = t
    s.now["stop"] = GOING


def room_for(active: int) -> int:
    """Return how many rows of each class to have places for where so many of one are active."""
    return max(FIRST_ROOM, 3 * active // 2)


def has_room(s: SimplexState) -> bool:
    """Return whether there is a place for one more row of each class."""
    active = s.now["active"]
    plus = s.now["plus"]
    return max(plus, active - plus) < s.plus


def places_for(support: np.ndarray, plus: int, m: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the row at each place, the place of each row where these are active, and the first place of the class -1.

    Of m rows the first ``plus`` are of the class +1.
    Places that are not taken yet have row 0.
    """
    first = support < plus
    room = room_for(int(max(np.count_nonzero(first), np.count_nonzero(~first))))
    places = np.where(first, first.cumsum() - 1, room + (~first).cumsum() - 1)
    row = np.zeros(2 * room, np.int32)
    place_of = np.full(m, -1, np.int32)
    row[places] = support
    place_of[support] = places
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
    now = s.now
    m = len(s.sample.place_of)
    fits = 2 * now["active"] * m * s.cached.itemsize <= cache_bytes
    each = 1 if drawn_soon(m) else LONE_COLUMN_COST
    a_step = UPDATE_COST if fits else each
    return now["looked"] > m * (2 * each * now["active"] + a_step * now["steps"])
