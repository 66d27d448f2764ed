"""One loop for all methods on the simplex: find a vertex, choose a move, make it.

A method is a NamedTuple with an implementation of `choose`; CVM also says itself which vertex comes next (`find`).
"""

from enum import IntEnum
from typing import Any

import numpy as np

from fwsvm.numerics.compile import generic, njit_inline, njit_lean, njit_step
from fwsvm.solvers.frank_wolfe.gradient import GAP_ROUNDING, add_row, drop_row, update
from fwsvm.solvers.frank_wolfe.sampled import select
from fwsvm.solvers.frank_wolfe.state import COLUMN_MISS, GOING, NO_PROGRESS
from fwsvm.solvers.tuning import SETTLE_EVERY


@generic
def choose(rule, s, i):
    """Return the Move that the method makes with ascent vertex i."""


@generic(is_default=True)
def find(rule, s):
    """Set ``now.vertex``, or ``now.stop``; by default to the ascent vertex that the search finds."""
    select(s.sample, s)


@njit_inline
def make(s, move):
    """Carry out a move on alpha, q, R and the active set; a weight that is used up becomes exactly zero."""
    now = s.now
    if move.i >= 0 and s.place[move.i] < 0:
        add_row(s, move.i)
    update(s, move)
    if move.scale == 0.0:  # the step ends at the vertex i
        for p in range(now.active - 1, -1, -1):
            if s.active[p] != move.i:
                drop_row(s, np.int64(s.active[p]))
        s.alpha[move.i] = 0.0
    elif move.scale != 1.0:
        for p in range(now.active):
            s.alpha[s.active[p]] *= move.scale
    if move.i >= 0:
        s.alpha[move.i] += move.gain
    if move.j >= 0:
        s.alpha[move.j] -= move.loss
        if move.drops or not s.alpha[move.j] > 0.0:  # by rounding, a hair before a drop
            drop_row(s, move.j)
    now.R -= move.decrease
    now.steps += 1


@njit_inline
def _at_hand(s, i):
    """Whether the column of row i is there; else come back for it."""
    if s.slot_of[i] >= 0:
        return True
    s.now.wanted = i
    s.now.stop = COLUMN_MISS
    return False


@njit_step
def _settle(s):
    """Recompute R = <alpha, q> over the active set, against the drift of its recursion, and what is noise beside it.

    An entry of q is a sum of terms up to alpha_j K~_jj: large kernel values that cancel leave no gap smaller than that.
    """
    R = squares = 0.0
    for p in range(s.now.active):
        j = s.active[p]
        R += s.alpha[j] * s.q[j]
        term = s.alpha[j] * s.diagonal[j]
        squares += term * term
    s.now.R = R
    s.now.noise = GAP_ROUNDING * np.sqrt(squares)


@njit_lean
def advance(rule, s, steps):
    """Find a vertex, choose a move and make it, ``steps`` times at most; return how many.

    Fewer means that ``now.stop`` says why. For 0 steps, R is recomputed.
    """
    now = s.now
    if steps == 0:
        _settle(s)
    for taken in range(steps):
        if now.steps % SETTLE_EVERY == 0:
            _settle(s)
        if not now.found:
            find(rule, s)
            if now.stop != GOING:
                return taken
            now.found = 1
        if not _at_hand(s, now.vertex):
            return taken
        move = choose(rule, s, now.vertex)
        if not move.decrease > 0.0:
            now.found = 0
            now.stop = NO_PROGRESS
            return taken
        if move.j >= 0 and not _at_hand(s, move.j):
            return taken
        make(s, move)
        now.found = 0
    return steps


def plain(rule: Any) -> Any:
    """Return the rule with plain numbers for members of an IntEnum, which would slow every call of compiled code."""
    return rule._replace(**{k: int(v) for k, v in rule._asdict().items() if isinstance(v, IntEnum)})
