"""How the ascent vertex i* = argmin q is found, and what of q is kept: all of it, or its active part.

`Full` keeps q over all m rows, one or two cached columns a step, and its gap is exact. `Sampled` (003 section 4.2)
looks at some candidates drawn at random, keeps q on the active set alone, and computes kernel values between the
candidates and the active set as it goes: its cost does not depend on m, and its gap proves nothing.
"""

from typing import NamedTuple

import numpy as np

from fwsvm._compile import generic, njit
from fwsvm.kernels.blocks import NARROW, WIDE, clear, fill, lay_out
from fwsvm.kernels.columns import EVALUATIONS, MISSES, REQUESTS, USED, compute
from fwsvm.solvers.frank_wolfe.state import NO_ROOM, NO_VIOLATOR, REACHED

PASS = 512  # rows updated between two looks for the least


class Full(NamedTuple):
    """Look at every row. ``together``: columns computed at once when one is missing (1 to 64)."""

    together: int = WIDE


class Sampled(NamedTuple):
    """Look at ``candidates`` rows drawn with replacement, up to ``retries`` times while none violates.

    59 candidates hold one of the best 5 per cent with probability 0.95 (003 Theorem 1).
    """

    candidates: int = 59
    retries: int = 7


@generic
def column(search, s, i):
    """Return k(x_i, .), shape (m,); under `Sampled` only its entries on the active set (and at i) hold."""


@generic
def bring(search, s, i):
    """Make row i the vertex of the next move, whatever the search would say."""


@generic
def look(search, s):
    """Set ``now.vertex`` and ``now.gap``, or ``now.stop`` where nothing violates the goal."""


@generic
def shift(search, s, move):
    """Update q for a move: q <- scale q + gain K~_i - loss K~_j; i is in the active set already, j still."""


@njit
def goal(s):
    """Return the largest gap at which the run may stop."""
    return s.now[0].goal_constant + s.now[0].goal_slope * s.now[0].R


# ---------------------------------------------------------------- all rows


@njit
def _hopes(s, i):
    """Put i and the lowest violating rows whose columns are missing into ``drawn``; return how many.

    Those rows are the likeliest next vertices, and 64 columns at once cost little more than eight.
    """
    columns = s.qp.columns
    full = columns.counts[USED] == columns.owner.size
    most = min(s.search.together, NARROW if full else WIDE, columns.owner.size // 2)
    drawn, count, R = s.drawn, 1, s.now[0].R
    drawn[0] = i
    if most == 1:
        return 1
    worst = 1
    for t in range(s.q.size):
        q_t = s.q[t]
        if q_t < R and columns.slot_of[t] < 0 and t != i and (count < most or q_t < s.q[drawn[worst]]):
            if count < most:
                drawn[count] = t
                count += 1
            else:
                drawn[worst] = t
            if count == most or q_t > s.q[drawn[worst]]:
                worst = 1
                for c in range(2, count):
                    if s.q[drawn[c]] > s.q[drawn[worst]]:
                        worst = c
    return count


@column.implements(Full)
def _kept_column(search, s, i):  # noqa: ARG001
    columns = s.qp.columns
    if columns.slot_of[i] < 0:
        columns.counts[MISSES] += 1
        compute(columns, s.drawn[: _hopes(s, i)], s.alpha, s.now[0].vertex)
    return columns.kept[columns.slot_of[i]]


@bring.implements(Full)
def _set_vertex(search, s, i):  # noqa: ARG001
    s.now[0].vertex = i


@look.implements(Full)
def _look_at_all(search, s):  # noqa: ARG001
    now = s.now[0]
    now.iterations += 1
    now.vertex = now.best
    now.gap = 2.0 * (now.R - s.q[now.best])
    if now.gap <= goal(s):
        now.stop = REACHED


@njit(fastmath={"reassoc", "nnan", "nsz", "contract"})  # no NaN: so the least of a stretch is one instruction
def _pass_over(q, k_i, k_j, scale, a, b, first, last, best, least):
    """Set q <- scale q + a (k_i + 1) + b (k_j + 1) on a range; return where it is least, and the least."""
    both = a + b
    for start in range(first, last, PASS):
        stop = min(start + PASS, last)
        lowest = np.inf
        for t in range(start, stop):
            q_t = scale * q[t] + (a * k_i[t] + b * k_j[t] + both)
            q[t] = q_t
            lowest = min(lowest, q_t)
        if lowest < least:
            for t in range(start, stop):
                if q[t] == lowest:
                    best, least = t, lowest
                    break
    return best, least


@shift.implements(Full)
def _shift_all(search, s, move):
    i = move.i if move.i >= 0 else move.j
    j = move.j if move.j >= 0 else i
    k_i, k_j = column(search, s, i), column(search, s, j)
    s.qp.columns.counts[REQUESTS] += 1 if i == j else 2
    q, plus, m = s.q, s.qp.plus, s.q.size
    a = move.gain if move.i < plus else -move.gain
    b = -move.loss if move.j < plus else move.loss
    if move.scale != 0.0:  # the ridge's share goes first, so that the pass meets every entry as it will be
        q[i] += move.gain * s.qp.ridge[i] / move.scale
        q[j] -= move.loss * s.qp.ridge[j] / move.scale
    best, least = _pass_over(q, k_i, k_j, move.scale, a, b, 0, plus, 0, np.inf)
    best, least = _pass_over(q, k_i, k_j, move.scale, -a, -b, plus, m, best, least)
    if move.scale == 0.0:
        q[i] += s.qp.ridge[i]
        best = q.argmin()
    s.now[0].best = best


# ---------------------------------------------------------------- some rows, drawn at random


@njit
def _values_with_active(s, anchors_at, count, width):
    """Compute k between ``drawn[anchors_at : ...]`` and the active set into the lines of ``values``."""
    columns, a = s.qp.columns, s.now[0].active
    which = s.drawn[anchors_at : anchors_at + count]
    used = lay_out(columns.anchors, columns.rows, columns.own, which, width)
    fill(
        columns.kernel, columns.anchors, width, count, columns.rows, columns.own, s.active, a,
        s.values, s.lines, columns.threads,
    )  # fmt: skip
    clear(columns.anchors, used)
    columns.counts[EVALUATIONS] += count * a


@njit
def _spread(s, line, i, column_of):
    """Scatter a line of ``values`` to the rows of the active set, and put k(x_i, x_i) beside it."""
    for p in range(s.now[0].active):
        column_of[s.active[p]] = s.values[line, p]
    column_of[i] = s.qp.diagonal[i] - s.qp.ridge[i] - 1.0


@njit
def _single_column(s, i, column_of):
    s.drawn[s.search.candidates] = i
    _values_with_active(s, s.search.candidates, 1, NARROW)
    _spread(s, 0, i, column_of)


@column.implements(Sampled)
def _column_on_active(search, s, i):  # noqa: ARG001
    if i == s.now[0].held:
        return s.column_i
    if i != s.now[0].held_j:
        _single_column(s, i, s.column_j)
        s.now[0].held_j = i
    return s.column_j


@bring.implements(Sampled)
def _bring_to_active(search, s, i):  # noqa: ARG001
    now = s.now[0]
    now.vertex = i
    if now.held != i:
        _single_column(s, i, s.column_i)
        now.held = i


@look.implements(Sampled)
def _look_at_some(search, s):
    """Draw candidates until one violates the goal; a candidate's q is computed, not remembered."""
    now, qp, m = s.now[0], s.qp, s.q.size
    if now.active >= s.values.shape[1]:
        now.stop = NO_ROOM
        return
    now.iterations += 1
    bias = 0.0
    for p in range(now.active):
        t = s.active[p]
        s.signed[p] = s.alpha[t] if t < qp.plus else -s.alpha[t]
        bias += s.signed[p]
    for _ in range(search.retries):
        for c in range(search.candidates):
            s.drawn[c] = s.random.integers(0, m)
        _values_with_active(s, 0, search.candidates, WIDE)
        best, least = 0, np.inf
        for c in range(search.candidates):
            i = s.drawn[c]
            h = bias
            for p in range(now.active):
                h += s.signed[p] * s.values[c, p]
            q_i = (h if i < qp.plus else -h) + s.alpha[i] * qp.ridge[i]
            if q_i < least:
                best, least = c, q_i
        now.gap = 2.0 * (now.R - least)
        if now.gap > goal(s):
            i = s.drawn[best]
            s.q[i] = least
            now.vertex = now.held = i
            _spread(s, best, i, s.column_i)
            return
    now.stop = NO_VIOLATOR


@shift.implements(Sampled)
def _shift_active(search, s, move):
    i = move.i if move.i >= 0 else move.j
    j = move.j if move.j >= 0 else i
    k_i, k_j = column(search, s, i), column(search, s, j)
    plus, q = s.qp.plus, s.q
    a = move.gain if move.i < plus else -move.gain
    b = -move.loss if move.j < plus else move.loss
    for p in range(s.now[0].active):
        t = s.active[p]
        change = a * (k_i[t] + 1.0) + b * (k_j[t] + 1.0)
        q[t] = move.scale * q[t] + (change if t < plus else -change)
    q[i] += move.gain * s.qp.ridge[i]
    q[j] -= move.loss * s.qp.ridge[j]
    s.now[0].held_j = -1
