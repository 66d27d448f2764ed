"""How the ascent vertex i* = argmin q is found, and what of q is kept: all of it, or its active part.

`Full` keeps q over all m rows, one or two cached columns a step, and its gap is exact. `Sampled` (003 section 4.2)
looks at some candidates drawn at random, keeps q on the active set alone, and computes kernel values between the
candidates and the active set as it goes: its cost does not depend on m, and its gap proves nothing.
"""

from typing import NamedTuple

import numpy as np

from fwsvm._compile import generic, njit
from fwsvm.kernels.blocks import NARROW, WIDE, clear, fill, lay_out
from fwsvm.kernels.columns import EVALUATIONS, HITS, MISSES, USED, compute
from fwsvm.solvers.frank_wolfe.state import NO_VIOLATOR, REACHED

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
def look(search, s):
    """Set ``now.vertex`` and ``now.gap``, or ``now.stop`` where nothing violates the goal."""


@generic
def shift(search, s, move):
    """Update q for a move: q <- scale q + gain K~_i - loss K~_j; the active set is still the old one."""


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
    else:
        columns.counts[HITS] += 1
    return columns.kept[columns.slot_of[i]]


@look.implements(Full)
def _look_at_all(search, s):  # noqa: ARG001
    now = s.now[0]
    now.iterations += 1
    now.vertex = now.best
    now.gap = 2.0 * (now.R - s.q[now.best])
    if now.gap <= goal(s):
        now.stop = REACHED


@njit(fastmath={"reassoc", "nnan", "nsz", "contract"})
def _pass_over(q, k_i, k_j, scale, a, b, first, last, best):
    """Set q <- scale q + a (k_i + 1) + b (k_j + 1) on a range; return its argmin, or best if no lower."""
    both = a + b
    least = q[best]
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
    return best


@shift.implements(Full)
def _shift_all(search, s, move):
    i = move.i if move.i >= 0 else move.j
    j = move.j if move.j >= 0 else move.i
    k_i = column(search, s, i)
    k_j = column(search, s, j)
    plus, m, q = s.qp.plus, s.q.size, s.q
    # The ridge's share first, so that the pass sees every entry as it will be; scale is undone where it acts.
    if move.i >= 0:
        q[i] += move.gain * s.qp.ridge[i] / move.scale if move.scale != 0.0 else 0.0
    if move.j >= 0:
        q[j] -= move.loss * s.qp.ridge[j] / move.scale
    a = move.gain if move.i < plus else -move.gain
    b = -move.loss if move.j < plus else move.loss
    now = s.now[0]
    best = 0
    q_first = q[0]
    q[0] = np.inf if plus > 0 else q_first
    q[0] = q_first
    best = _pass_over(q, k_i, k_j, move.scale, a, b, 0, plus, best)
    now.best = _pass_over(q, k_i, k_j, move.scale, -a, -b, plus, m, best)
