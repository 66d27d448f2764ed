"""One loop for dual coordinate descent on the box: sweeps of coordinate steps, and occasional surveys of all rows.

A visit computes g_i = dD/dalpha_i and moves alpha_i to the best place in its interval. A method says in which
order a sweep visits (`begin`), which rows leave it (`is_shrunk`), what it learns from a gain (`update_preference`),
and when it would stop by its own rule (`end`).

A survey computes margins with w at rest: the exact gap, and for every row at a bound how far w can move until that
row could want to leave it (|change of y <w, x>| <= |x| |change of w|). Until then a visit there is known to be a step
of length zero, and a method that only needs to know that (`is_at_rest`) is spared the inner product; so is the next
survey where the row is far from moving still. Surveys are made when visits have computed inner products that a survey
would have spared, and when the gap as last seen row by row suggests that the goal is near. If w misses it, the best
multiple of w is tried (`fwsvm.problems.box_qp.best_multiple`): nothing but the stop depends on that, no step does.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.numerics.compile import generic, njit, njit_inlined_step, njit_inner, record
from fwsvm.numerics.machine import LINE, prefetch
from fwsvm.numerics.random import shuffle
from fwsvm.problems.box_qp import BoxQP, add, best_multiple, product_with_row, projected, shortfall
from fwsvm.solvers.tuning import (
    EARLY_SURVEY_FACTOR,
    IDLE_VISITS_FOR_SURVEY,
    MAX_PREFETCHED_VALUES,
    MAX_SURVEYS_AT_REST,
    MULTIPLE_TRY_FACTOR,
    RECORDS_AHEAD,
    REST_MARGIN,
    ROWS_AHEAD,
    SURVEY_GROWTH,
    SURVEY_INCREMENT,
)

#: Why the compiled loop returned: budget used up, gap small enough, the method's own rule, or no progress.
GOING, REACHED, OWN_RULE, STALLED = range(4)
#: Its two phases: coordinate steps in the order of the sweep, or a survey of all rows with w unchanged.
SWEEPING, SURVEYING = range(2)

#: Numbers of a row.
COORDINATE = record(
    float64=(
        "alpha",
        "margin",  # y_i <w, x_i> at the last survey
        "slack",  # the row rests while |w - w at the survey| is below this; -1: it does not
        "shortfall",  # its part of the gap when last visited
    )
)

CONTROL = record(
    float64=(
        "dual",  # D, by the sum of gains
        "gap",  # sum of the shortfalls: the gap as of each row's last visit
        "moved",  # |w - w at the survey|^2, never too small
        "distance",  # its root
        "travelled",  # sum of the squared lengths of this sweep's steps
        "reach",  # what |change of w|^2 of a sweep is taken to be
        "least",  # range of the projected gradient in this sweep
        "most",
        "least_before",  # liblinear's thresholds, from the sweep before
        "most_before",
        "epsilon",  # tolerance of the method's own rule
        "reference",  # Delta_ref of AVSF
        "share",  # 1 / m
        "fade",  # exp(-c), what a step of length zero does to a preference
        "tolerance",  # of the gap, in parts of P or by itself
        "optimism",  # gap as tracked / best gap as surveyed, when last surveyed
        "decrease",  # what the best multiple of w takes off P and the gap, when last surveyed
        "dual_surveyed",  # D then
        "least_gap",  # the least gap surveyed
    ),
    int64=(
        "sweeps_surveyed",  # sweeps then
        "at_rest",  # surveys in a row without progress
        "idle",  # visits since then that moved nothing and that a survey would have spared
        "doing",  # SWEEPING or SURVEYING
        "at",  # place in the order, or row of the survey
        "size",  # length of the order: rows of this sweep
        "can_stop",  # AVSF: the sweep visits every row exactly once
        "relative",  # whether the tolerance is in parts of P
        "by_own_rule",  # whether the method's own rule ends the run (--stop eps)
        "block",  # rows of a mapped file that are visited together; 0: they are in memory
        "sweeps",
        "iterations",  # rows visited
        "steps",  # visits after which the row stays in the active set: the paper's steps
        "stop",  # GOING or the reason to come back
    ),
)


class LinearState(NamedTuple):
    """The point, the order of visits and bounds for each row; the arrays are updated in place.

    Attributes
    ----------
    qp : BoxQP of m points
    coordinates : ndarray of `COORDINATE`, shape (m,)
    preferences : ndarray of float64, shape (m,), p of AVSF
    w : ndarray of float64, shape (n + 1,), sum_i y_i alpha_i x_i; last the weight of the constant feature
    order : ndarray of uint32, shape (m,), the sweep's rows in its first ``now.size`` places
    now : a `CONTROL` record
    random : ndarray of uint64, shape (1,), a stream of `fwsvm.numerics.random`
    """

    qp: BoxQP
    coordinates: np.ndarray
    preferences: np.ndarray
    w: np.ndarray
    order: np.ndarray
    now: np.void
    random: np.ndarray


@njit
def shuffle_rows(s):
    """Put the rows of the next sweep, ``order[:now.size]``, in random order; mapped ones by blocks."""
    now = s.now
    shuffle(s.order, now.size, s.random)
    if now.block == 0:
        return
    blocks = np.arange((len(s.qp.points) + now.block - 1) // now.block)
    shuffle(blocks, len(blocks), s.random)
    rows = s.order[: now.size].copy()
    at = 0
    for b in blocks:
        for row in rows:
            if row // now.block == b:
                s.order[at] = row
                at += 1


VALUES_A_LINE = np.uint64(LINE // 8)
COLUMNS_A_LINE = np.uint64(LINE // 4)
SAFETY_FACTOR = 1.0 - 1e-9  # by which bounds are tightened against rounding
DRIFT = 1e-12
NEGLIGIBLE = 1e-12  # no step is made for a smaller violation, as in LIBLINEAR


@generic(each_step=False)
def begin(rule, s):
    """Set the rows of the next sweep, ``order[:now.size]``."""


@generic(each_step=False)
def end(rule, s):
    """Update the method's state after a sweep; return whether its own stopping rule (``now.epsilon``) is met."""


@generic(is_default=True)
def is_at_rest(rule, s, i):
    """Return whether a visit of row i is known to be a step of length zero."""
    return False


@generic(is_default=True)
def is_shrunk(rule, s, i, g):
    """Return whether row i, at which the gradient is g, leaves the active set."""
    return False


@generic(is_default=True)
def update_preference(rule, s, i, gain):
    """Update the method's preference for row i after a step that increased D by ``gain``."""


@njit_inlined_step
def _prefetch_ahead(s, k):
    now = s.now
    if k + RECORDS_AHEAD < now.size:
        i = s.order[k + RECORDS_AHEAD]
        prefetch(s.qp.points, i)
        prefetch(s.qp.points, i + 1)  # a record may reach into the line in which the next begins
        prefetch(s.coordinates, i)
        prefetch(s.coordinates, i + 1)
        prefetch(s.preferences, i)
    if k + ROWS_AHEAD < now.size:
        i = s.order[k + ROWS_AHEAD]
        if s.coordinates[i].slack <= now.distance:
            first = s.qp.points[i].first
            end = min(s.qp.points[i].end, first + MAX_PREFETCHED_VALUES)
            for at in range(first, end, VALUES_A_LINE):
                prefetch(s.qp.values, at)
            _prefetch_columns(s.qp.columns, first, end)


@njit_inlined_step(no_rewrites=False)
def _prefetch_columns(columns, first, end):
    if columns is not None:
        for at in range(first, end, COLUMNS_A_LINE):
            prefetch(columns, at)


@njit_inlined_step
def _move(s, i, g, violation):
    """Move alpha_i to the best place in [0, U_i], w with it; return the gain of D."""
    now, point, row = s.now, s.qp.points[i], s.coordinates[i]
    there = min(max(row.alpha + g / point.curvature, 0.0), point.upper)
    mu = there - row.alpha
    if mu == 0.0 or abs(violation) < NEGLIGIBLE:
        now.idle += g * g > now.reach * point.curvature  # farther from moving than w goes in a sweep
        return 0.0
    margin = 1.0 - g - point.ridge * row.alpha
    change = mu * (2.0 * (margin - row.margin) + mu * (point.curvature - point.ridge))
    now.moved = max(now.moved + change, 0.0) + DRIFT * abs(change)
    now.distance = np.sqrt(now.moved)
    now.travelled += mu * mu * point.curvature
    row.alpha = there
    row.slack = -1.0
    add(s.qp, s.w, i, mu * point.y)
    gain = mu * (g - 0.5 * mu * point.curvature)
    now.dual += gain
    return gain


@njit_inlined_step
def _sweep(rule, s, budget):
    """Visit up to ``budget`` rows of the sweep; return how many."""
    now = s.now
    qp = s.qp
    visited = 0
    while visited < budget and now.at < now.size:
        _prefetch_ahead(s, now.at)
        i = s.order[now.at]
        visited += 1
        if is_at_rest(rule, s, i):
            update_preference(rule, s, i, 0.0)
            now.at += 1
            now.steps += 1
            continue
        point = qp.points[i]
        row = s.coordinates[i]
        g = 1.0 - point.y * product_with_row(qp, s.w, i) - point.ridge * row.alpha
        part = shortfall(point, row.alpha, g)
        now.gap += part - row.shortfall
        row.shortfall = part
        if is_shrunk(rule, s, i, g):
            now.size -= 1
            s.order[now.at] = s.order[now.size]
            s.order[now.size] = i
            continue
        violation = projected(point, row.alpha, g)
        now.least = min(now.least, violation)
        now.most = max(now.most, violation)
        update_preference(rule, s, i, _move(s, i, g, violation))
        now.at += 1
        now.steps += 1
    now.iterations += visited
    return visited


@njit_inlined_step
def _stays_at_rest(s, i):
    """Return whether row i was so far from moving that a survey may leave it at rest.

    Its margin becomes a lower bound. What is computed from margins is then not too small: `moved`, since alpha_i can
    only increase from 0, and the gap of a multiple of w.
    """
    now, point, row = s.now, s.qp.points[i], s.coordinates[i]
    if row.alpha != 0.0 or not row.slack > REST_MARGIN * now.distance:
        return False
    row.slack -= now.distance
    row.margin = 1.0 + SAFETY_FACTOR * row.slack * np.sqrt(point.curvature - point.ridge)
    row.shortfall = 0.0
    return True


@njit_inlined_step
def _survey(s, budget):
    """Compute the margins of up to ``budget`` rows with w unchanged; return how many."""
    now = s.now
    qp = s.qp
    until = min(now.at + budget, len(qp.points))
    for i in range(now.at, until):
        if _stays_at_rest(s, i):
            continue
        point = qp.points[i]
        row = s.coordinates[i]
        row.margin = point.y * product_with_row(qp, s.w, i)
        g = 1.0 - row.margin - point.ridge * row.alpha
        row.shortfall = shortfall(point, row.alpha, g)
        now.gap += row.shortfall
        length2 = point.curvature - point.ridge
        slack = SAFETY_FACTOR * abs(g) / np.sqrt(length2) if length2 > 0.0 else -1.0
        pressed = (g < 0.0) & (row.alpha == 0.0) | (g > 0.0) & (row.alpha == point.upper)
        row.slack = slack if pressed else -1.0  # by selection: a jump would often be guessed wrong
    looked = until - now.at
    now.at = until
    return looked


@njit
def goal(s, gap):
    """Return the gap that the run is to reach, at a point with this gap."""
    now = s.now
    return now.tolerance * (now.dual + gap) if now.relative else now.tolerance


@njit_inner
def _next_sweep(rule, s):
    now = s.now
    now.doing = SWEEPING
    now.at = 0
    now.decrease = now.travelled = 0.0
    begin(rule, s)


@njit_inner
def _end_sweep(rule, s):
    now = s.now
    now.sweeps += 1
    now.reach = min(now.travelled, now.moved)  # as if steps were at right angles, or less if they turned back
    stops = end(rule, s)
    if now.by_own_rule:
        now.stop = OWN_RULE if stops else GOING
    wanted = (
        stops
        or now.gap <= EARLY_SURVEY_FACTOR * now.optimism * goal(s, now.gap)
        or now.sweeps > max(SURVEY_GROWTH * now.sweeps_surveyed, now.sweeps_surveyed + SURVEY_INCREMENT)
    )
    if (wanted and not now.by_own_rule) or now.idle >= IDLE_VISITS_FOR_SURVEY * len(s.qp.points):
        now.optimism = now.gap  # set against the surveyed gap when the survey ends
        now.doing, now.at, now.gap = SURVEYING, 0, 0.0
    else:
        _next_sweep(rule, s)


@njit_inner
def _end_survey(rule, s):
    now = s.now
    # the gap is of first order in the violations, D of second: the gap still falls when D no longer changes
    now.at_rest = now.at_rest + 1 if now.dual == now.dual_surveyed and now.gap > 0.9 * now.least_gap else 0
    now.least_gap = min(now.least_gap, now.gap)
    if not now.by_own_rule:
        aim = goal(s, now.gap)
        if aim < now.gap <= MULTIPLE_TRY_FACTOR * aim:
            wanted = min(now.gap - aim, 0.5 * now.gap)
            square = (s.w * s.w).sum()
            now.decrease = best_multiple(s.qp.points, s.coordinates.margin, square, wanted)[1]
        left = now.gap - now.decrease
        if left <= goal(s, left):
            now.stop = REACHED
            return
        if now.at_rest >= MAX_SURVEYS_AT_REST:
            now.stop = STALLED
    seen = now.optimism / (now.gap - now.decrease) if now.gap > now.decrease else 1.0
    now.optimism = min(max(seen, 1.0), MULTIPLE_TRY_FACTOR)
    now.moved = now.distance = 0.0
    now.idle = 0
    now.dual_surveyed = now.dual
    now.sweeps_surveyed = now.sweeps
    _next_sweep(rule, s)


@njit
def advance(rule, s, budget):
    """Visit up to ``budget`` rows, in sweeps or surveys; return how many. If fewer, ``now.stop`` says why."""
    now = s.now
    spent = 0
    while spent < budget and now.stop == GOING:
        if now.doing == SWEEPING:
            spent += _sweep(rule, s, budget - spent)
            if now.at >= now.size:
                _end_sweep(rule, s)
        else:
            spent += _survey(s, budget - spent)
            if now.at >= len(s.qp.points):
                _end_survey(rule, s)
    return spent
