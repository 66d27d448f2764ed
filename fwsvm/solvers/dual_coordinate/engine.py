"""One loop for dual coordinate descent on the box: a sweep of visits, now and then a survey of all rows.

A visit computes g_i = dD/dalpha_i and moves alpha_i to the best place in its interval. A method says in which
order a sweep visits (`begin`), which rows leave it (`leaves`), what it learns from a gain (`learn`), and when
it would stop by its own rule (`end`).

A survey computes margins with w at rest: the exact gap, and for every row at a bound how far w can move until that
row could want to leave it (|change of y <w, x>| <= |x| |change of w|). Until then a visit there is known to be a step
of length zero, and a method that only needs to know that (`rests`) is spared the inner product; so is the next
survey, which only takes off what w has moved. Surveys are made when visits have computed inner products that a
survey would have spared, and when the gap as last seen row by row suggests that the goal is near. If w misses it, the
best multiple of w is tried (`fwsvm.problems.multiple`): nothing but the stop depends on that, no step does.
"""

import numpy as np

from fwsvm.numerics.compile import generic, njit
from fwsvm.numerics.prefetch import prefetch
from fwsvm.problems.box_qp import add, inner, projected, shortfall
from fwsvm.problems.multiple import best_multiple
from fwsvm.solvers.dual_coordinate.state import GOING, OWN_RULE, REACHED, STALLED, SURVEYING, SWEEPING

AHEAD, FAR_AHEAD = 3, 8  # visits ahead that a row's values, and what is known of it, are asked for
MOST_VALUES = np.uint64(256)  # values of a row that are asked for; the memory guesses the rest by itself
VALUES_A_LINE, COLUMNS_A_LINE = np.uint64(8), np.uint64(16)
SURELY = 1.0 - 1e-9  # bounds are drawn in by this much against rounding
DRIFT = 1e-12
NEGLIGIBLE = 1e-12  # no step is made for a smaller violation, as in LIBLINEAR
RARELY, AT_FIRST = 1.5, 10  # a survey at the latest when the sweeps have grown by this factor and this number
WORTH_A_TRY = 1000.0  # goals that the gap of w may be above the goal for a multiple of w to be tried
LONG = 2.0  # times what w has moved that a row could rest on before a survey passes it by; above 1
EARLY = 2.0  # times the goal that the gap is awaited at to be surveyed: late surveys cost less than a sweep too many
WORTH_A_SURVEY = 0.125  # visits a row that a survey would have spared; it spares those to come, too
AT_REST = 40  # surveys in a row with D unchanged and a gap no better than before, which end the run


def _no(rule, s, i):
    return False


def _no_more(rule, s, i, g):
    return False


def _nothing(rule, s, i, gain):
    pass


@generic
def begin(rule, s):
    """Put the next sweep's rows into ``order[:now.size]``."""


@generic
def end(rule, s):
    """Draw conclusions from a sweep; return whether the method's own rule (``now.epsilon``) would stop."""


@generic(default=_no)
def rests(rule, s, i):
    """Return whether a visit of row i is known to be a step of length zero."""


@generic(default=_no_more)
def leaves(rule, s, i, g):
    """Return whether row i, at which the gradient is g, leaves the active set."""


@generic(default=_nothing)
def learn(rule, s, i, gain):
    """Take note that a step at row i gained so much of D."""


@njit(forceinline=True)
def _ask_ahead(s, k):
    now = s.now[0]
    if k + FAR_AHEAD < now.size:
        i = s.order[k + FAR_AHEAD]
        prefetch(s.qp.points, i)
        prefetch(s.qp.points, i + 1)  # a record may reach into the line in which the next begins
        prefetch(s.coordinates, i)
        prefetch(s.coordinates, i + 1)
        prefetch(s.preferences, i)
    if k + AHEAD < now.size:
        i = s.order[k + AHEAD]
        if s.coordinates[i].slack <= now.distance:
            first = s.qp.points[i].first
            end = min(s.qp.points[i].end, first + MOST_VALUES)
            for at in range(first, end, VALUES_A_LINE):
                prefetch(s.qp.values, at)
            for at in range(first, end, COLUMNS_A_LINE):
                prefetch(s.qp.columns, at)


@njit(forceinline=True)
def _move(s, i, g, violation):
    """Move alpha_i to the best place in [0, U_i], w with it; return the gain of D."""
    now, point, row = s.now[0], s.qp.points[i], s.coordinates[i]
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
    row.alpha, row.slack = there, -1.0
    add(s.qp, s.w, i, mu * point.y)
    gain = mu * (g - 0.5 * mu * point.curvature)
    now.dual += gain
    return gain


@njit(forceinline=True)
def _sweep(rule, s, budget):
    """Visit up to ``budget`` rows of the sweep; return how many."""
    now, qp = s.now[0], s.qp
    visited = 0
    while visited < budget and now.at < now.size:
        _ask_ahead(s, now.at)
        i = s.order[now.at]
        visited += 1
        if rests(rule, s, i):
            learn(rule, s, i, 0.0)
            now.at += 1
            now.steps += 1
            continue
        point, row = qp.points[i], s.coordinates[i]
        g = 1.0 - point.y * inner(qp, s.w, i) - point.ridge * row.alpha
        part = shortfall(point, row.alpha, g)
        now.gap += part - row.shortfall
        row.shortfall = part
        if leaves(rule, s, i, g):
            now.size -= 1
            s.order[now.at] = s.order[now.size]
            s.order[now.size] = i
            continue
        violation = projected(point, row.alpha, g)
        now.least, now.most = min(now.least, violation), max(now.most, violation)
        learn(rule, s, i, _move(s, i, g, violation))
        now.at += 1
        now.steps += 1
    now.iterations += visited
    return visited


@njit(forceinline=True)
def _rests_on(s, i):
    """Have row i rest on if it was far from moving; return whether it is.

    Its margin, unknown but for a lower bound, becomes that bound. Nothing that is made of margins then is too small:
    `moved`, as alpha_i can only be greater than the 0 it is now, and the gap of a multiple of w.
    """
    now, point, row = s.now[0], s.qp.points[i], s.coordinates[i]
    if row.alpha != 0.0 or not row.slack > LONG * now.distance:
        return False
    row.slack -= now.distance
    row.margin = 1.0 + SURELY * row.slack * np.sqrt(point.curvature - point.ridge)
    row.shortfall = 0.0
    return True


@njit(forceinline=True)
def _survey(s, budget):
    """Look at up to ``budget`` rows with w at rest; return how many."""
    now, qp = s.now[0], s.qp
    until = min(now.at + budget, len(qp.points))
    for i in range(now.at, until):
        if _rests_on(s, i):
            continue
        point, row = qp.points[i], s.coordinates[i]
        row.margin = point.y * inner(qp, s.w, i)
        g = 1.0 - row.margin - point.ridge * row.alpha
        row.shortfall = shortfall(point, row.alpha, g)
        now.gap += row.shortfall
        length2 = point.curvature - point.ridge
        slack = SURELY * abs(g) / np.sqrt(length2) if length2 > 0.0 else -1.0
        pressed = (g < 0.0) & (row.alpha == 0.0) | (g > 0.0) & (row.alpha == point.upper)
        row.slack = slack if pressed else -1.0  # by selection: a jump would often be guessed wrong
    looked = until - now.at
    now.at = until
    return looked


@njit
def goal(s):
    """Return the gap that the run is to reach."""
    return s.now[0].stop_constant + s.now[0].stop_slope * s.now[0].dual


@njit
def _next_sweep(rule, s):
    now = s.now[0]
    now.doing, now.at, now.theta, now.decrease = SWEEPING, 0, 1.0, 0.0
    now.travelled = 0.0
    begin(rule, s)


@njit
def start_survey(s):
    """Look at all rows next, whatever was going on."""
    now = s.now[0]
    now.optimism = now.gap  # set against the surveyed gap when the survey ends
    now.doing, now.at, now.gap = SURVEYING, 0, 0.0


@njit
def _end_sweep(rule, s):
    now = s.now[0]
    now.sweeps += 1
    now.reach = min(now.travelled, now.moved)  # as if steps were at right angles, or less if they turned back
    stops = end(rule, s)
    if now.by_own_rule:
        now.stop = OWN_RULE if stops else GOING
    wanted = (
        stops
        or now.gap <= EARLY * now.optimism * goal(s)
        or now.sweeps > max(RARELY * now.sweeps_surveyed, now.sweeps_surveyed + AT_FIRST)
    )
    if (wanted and not now.by_own_rule) or now.idle >= WORTH_A_SURVEY * len(s.qp.points):
        start_survey(s)
    else:
        _next_sweep(rule, s)


@njit
def _end_survey(rule, s):
    now = s.now[0]
    # the gap is of first order in the violations and D of second: it goes on falling when D no longer changes
    now.at_rest = now.at_rest + 1 if now.dual == now.dual_surveyed and now.gap > 0.9 * now.least_gap else 0
    now.least_gap = min(now.least_gap, now.gap)
    if not now.by_own_rule:
        if goal(s) < now.gap <= WORTH_A_TRY * goal(s):
            wanted, square = min(now.gap - goal(s), 0.5 * now.gap), (s.w * s.w).sum()
            now.theta, now.decrease = best_multiple(s.qp.points, s.coordinates.margin, square, wanted)
        if now.gap - now.decrease <= goal(s):
            now.stop = REACHED
            return
        if now.at_rest >= AT_REST:
            now.stop = STALLED
    seen = now.optimism / (now.gap - now.decrease) if now.gap > now.decrease else 1.0
    now.optimism = min(max(seen, 1.0), WORTH_A_TRY)
    now.moved, now.distance, now.idle = 0.0, 0.0, 0
    now.dual_surveyed, now.sweeps_surveyed = now.dual, now.sweeps
    _next_sweep(rule, s)


@njit
def advance(rule, s, budget):
    """Look at up to ``budget`` rows, in sweeps or surveys; return how many. Fewer means: see ``now.stop``."""
    now = s.now[0]
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
