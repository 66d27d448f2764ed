"""How the ascent vertex i* = argmin q is found, and how much of q is kept: all of it, or its active part.

`Full` keeps q over all m rows; a step reads one or two kernel columns, and the gap is exact. `Sampled` (003 section
4.2) looks at some rows drawn at random and keeps q on the active set alone: the kernel values it needs, between the
candidates and the active set, do not depend on m, and its gap proves nothing.

Kernel values are computed outside the compiled loop (see `fwsvm.solvers.frank_wolfe.values`), which comes back with
``now.stop`` when it wants some; so it is compiled once for all kernels.
"""

from typing import NamedTuple

import numpy as np

from fwsvm._compile import generic, njit
from fwsvm._random import below
from fwsvm.solvers.frank_wolfe.passes import shift_pass
from fwsvm.solvers.frank_wolfe.state import NO_VIOLATOR, REACHED, WANTS_VALUES


class Full(NamedTuple):
    """Look at every row."""


class Sampled(NamedTuple):
    """Look at ``candidates`` rows drawn with replacement, up to ``retries`` times while none violates the goal.

    59 candidates hold one of the best 5 per cent with probability 0.95 (003 Theorem 1).
    """

    candidates: int = 59
    retries: int = 7


@generic
def look(search, s):
    """Set ``now.vertex`` and ``now.gap``, or ``now.stop``."""


@generic
def shift(search, s, move):
    """Update q for a move: q <- scale q + gain K~_i - loss K~_j. Both rows are in the active set."""


@njit
def goal(s):
    """Return the largest gap at which the run may stop."""
    return s.now[0].goal_constant + s.now[0].goal_slope * s.now[0].R


# ---------------------------------------------------------------- all rows


@look.implements(Full)
def _look_at_all(search, s):
    now = s.now[0]
    now.iterations += 1
    now.vertex = now.best
    now.gap = 2.0 * (now.R - s.q[now.best])
    if now.gap <= goal(s):
        now.stop = REACHED


@njit
def _signed(s, move):
    """Return the rows i and j of a move (twice the same where it has one), y_i gain and -y_j loss."""
    i = move.i if move.i >= 0 else move.j
    j = move.j if move.j >= 0 else i
    return i, j, move.gain if i < s.plus else -move.gain, -move.loss if j < s.plus else move.loss


@shift.implements(Full)
def _shift_all(search, s, move):
    q, plus = s.q, s.plus
    i, j, a, b = _signed(s, move)
    k_i, k_j = s.kept[s.slot_of[i]], s.kept[s.slot_of[j]]
    if move.scale != 0.0:  # the ridge's share goes first, so that the pass meets every entry as it will be
        q[i] += move.gain * s.ridge[i] / move.scale
        q[j] -= move.loss * s.ridge[j] / move.scale
    best, least = shift_pass(q, k_i, k_j, move.scale, a, b, 0, plus, 0, np.inf)
    best, least = shift_pass(q, k_i, k_j, move.scale, -a, -b, plus, q.size, best, least)
    if move.scale == 0.0:
        q[i] += s.ridge[i]
        best = q.argmin()
    s.now[0].best = best


# ---------------------------------------------------------------- some rows, drawn at random


@look.implements(Sampled)
def _look_at_some(search, s):
    """Draw candidates, come back for their kernel values, and take the best if it violates the goal."""
    now = s.now[0]
    if now.draws > 0:
        best = _best_candidate(s, search.candidates)
        if now.gap > goal(s):
            _hold(s, best, s.drawn[best])
            return
        if now.draws == search.retries:
            now.draws = 0
            now.stop = NO_VIOLATOR
            return
    else:
        now.iterations += 1
    for c in range(search.candidates):
        s.drawn[c] = below(s.random, s.q.size)
    now.draws += 1
    now.stop = WANTS_VALUES


@njit
def _best_candidate(s, candidates):
    """Set ``now.gap`` and the q of the candidate with the least; q is computed anew from its kernel values."""
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
    now.gap = 2.0 * (now.R - least)
    s.q[s.drawn[best]] = least
    return best


@njit
def _hold(s, c, i):
    """Make candidate c, row i, the vertex, with its column in the first line of ``kept``."""
    now = s.now[0]
    now.vertex, now.draws = i, 0
    s.slot_of[i] = 0
    put_column(s, c, i)


@njit
def put_column(s, c, i):
    """Copy line c of ``values``, kernel values with the active set, to row i's line of ``kept``."""
    k_i = s.kept[s.slot_of[i]]
    for p in range(s.now[0].active):
        k_i[s.active[p]] = s.values[c, p]
    k_i[i] = s.diagonal[i] - s.ridge[i] - 1.0


@shift.implements(Sampled)
def _shift_active(search, s, move):
    q = s.q
    i, j, a, b = _signed(s, move)
    k_i, k_j = s.kept[s.slot_of[i]], s.kept[s.slot_of[j]]
    for p in range(s.now[0].active):
        t = s.active[p]
        change = a * (k_i[t] + 1.0) + b * (k_j[t] + 1.0)
        q[t] = move.scale * q[t] + (change if t < s.plus else -change)
    q[i] += move.gain * s.ridge[i]
    q[j] -= move.loss * s.ridge[j]
    # Columns on the active set do not cover it once it has changed; the vertex need not be a row of the move.
    s.slot_of[i] = s.slot_of[j] = s.slot_of[s.now[0].vertex] = -1
