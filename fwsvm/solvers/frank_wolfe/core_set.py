"""Steps by pairs inside the core set of CVM: LIBCVM's inner solver, the second-order rule of SMO.

Under sampled search q is known on the core set alone, scattered over all rows. There steps are taken on copies that lie
together, many between two returns to the engine, which makes the last of them: it also drops rows and fetches columns.
"""

import numpy as np

from fwsvm.numerics.compile import generic, njit
from fwsvm.numerics.formulas import maximum
from fwsvm.numerics.simd import (
    broadcast,
    lane_max,
    lane_min,
    load,
    reduce_max,
    reduce_min,
    store,
    widen,
)
from fwsvm.solvers.frank_wolfe.gradient.sampled import OWN_LINES, Sampled
from fwsvm.solvers.frank_wolfe.scans import COMPARISON_ROUNDING, curvature, place_of
from fwsvm.solvers.tuning import SCAN_STRETCH, SETTLE_EVERY


def _next_pair(search, s):
    """Take no step."""
    now = s.now[0]
    i = s.active[0]
    for p in range(1, now.active):
        if s.q[s.active[p]] < s.q[i]:
            i = s.active[p]
    worst = 0.0
    for p in range(now.active):
        worst = max(worst, s.q[s.active[p]] - s.q[i])
    if worst <= max(now.inner, now.noise):
        return False
    now.vertex = i
    return True


@generic(default=_next_pair, each_step=True)
def improve_core(search, s):
    """Take steps inside the core set, as many as the storage takes by itself, and none that drops a row.

    Return whether a pair is left that differs by more than the inner tolerance; then ``now.vertex`` is argmin of q over
    the core set.
    """


@improve_core.implements(Sampled)
def _improve_copies(search, s):
    now, q, diagonal, y = s.now[0], s.core[0], s.core[1], s.core[2]
    n, tolerance = now.active, max(now.inner, now.noise)
    i, least, most = 0, np.inf, -np.inf
    for p in range(n):
        t = s.active[p]
        q[p], diagonal[p], y[p] = s.q[t], s.diagonal[t], 1.0 if t < s.plus else -1.0
        most = max(most, q[p])
        if q[p] < least:
            i, least = p, q[p]
    # R is settled at the same steps as by the engine's own
    steps_left = SETTLE_EVERY - 1 - now.steps % SETTLE_EVERY
    while most - least > tolerance and steps_left > 0:
        steps_left -= 1
        row_i = s.active[i]
        line_i = s.slot_of[row_i]
        if line_i < OWN_LINES:
            break
        k_i = s.cached[line_i]
        j = _partner(k_i, q, diagonal, y, i, n)
        if j < 0:
            break
        row_j = s.active[j]
        line_j = s.slot_of[row_j]
        slope = q[j] - q[i]
        bend = curvature(np.float64(k_i[j]), diagonal[j], diagonal[i], 2.0 * y[i] * y[j])
        step = slope / bend
        decrease = step * (2.0 * slope - step * bend)
        if line_j < OWN_LINES or step >= s.alpha[row_j] or not decrease > 0.0:
            break
        s.alpha[row_i] += step
        s.alpha[row_j] -= step
        q[i] += step * s.ridge[row_i]
        q[j] -= step * s.ridge[row_j]
        i, least, most = _update(q, y, k_i, s.cached[line_j], y[i] * step, -y[j] * step, n)
        now.R -= decrease
        now.steps += 1
    for p in range(n):
        s.q[s.active[p]] = q[p]
    if most - least <= tolerance:
        return False
    now.vertex = s.active[i]
    return True


@njit(each_step=True)
def _update(q, y, k_i, k_j, a, b, n):
    """Set q <- q + y (a (k_i + 1) + b (k_j + 1)) on the first n places; return argmin q, min q and max q."""
    both, whole = a + b, n // 8 * 8
    best, least, most = 0, np.inf, -np.inf
    for start in range(0, whole, SCAN_STRETCH):
        lowest, highest = broadcast(np.inf), broadcast(-np.inf)
        for t in range(start, min(start + SCAN_STRETCH, whole), 8):
            q_t = load(q, t) + load(y, t) * (widen(load(k_i, t)) * a + widen(load(k_j, t)) * b + both)
            store(q, t, q_t)
            lowest, highest = lane_min(q_t, lowest), lane_max(q_t, highest)
        low, most = reduce_min(lowest), max(most, reduce_max(highest))
        if low < least:
            best, least = place_of(q, low, start), low
    for t in range(whole, n):
        q[t] += y[t] * (a * k_i[t] + b * k_j[t] + both)
        most = max(most, q[t])
        if q[t] < least:
            best, least = t, q[t]
    return best, least, most


@njit(inline="always")
def _excess(k_i, q, diagonal, y, q_i, K_ii, twice, bar, t):
    """Return slope^2 - bar curvature of eight partners: positive where one gains more than ``bar``."""
    slope = maximum(load(q, t) - q_i, 0.0)
    return slope * slope - curvature(widen(load(k_i, t)), load(diagonal, t), K_ii, load(y, t) * twice) * bar


@njit(each_step=True)
def _partner(k_i, q, diagonal, y, i, n):
    """Return the place of the largest gain of a swap with place i, the first of equals; -1 if there is none.

    As in `fwsvm.solvers.frank_wolfe.scans.partner_scan` a stretch is read place by place only where it may hold it.
    """
    q_i, K_ii, twice, whole = q[i], diagonal[i], 2.0 * y[i], n // 8 * 8
    best, most = -1, 0.0
    for start in range(0, whole, SCAN_STRETCH):
        stop = min(start + SCAN_STRETCH, whole)
        excess, bar = broadcast(-1.0), most * (1.0 - COMPARISON_ROUNDING)
        for t in range(start, stop, 8):
            excess = lane_max(_excess(k_i, q, diagonal, y, q_i, K_ii, twice, bar, t), excess)
        if reduce_max(excess) > 0.0:
            for t in range(start, stop, 8):
                bar = most * (1.0 - COMPARISON_ROUNDING)
                if reduce_max(_excess(k_i, q, diagonal, y, q_i, K_ii, twice, bar, t)) > 0.0:
                    best, most = _best_of(k_i, q, diagonal, y, q_i, K_ii, twice, t, t + 8, best, most)
    return _best_of(k_i, q, diagonal, y, q_i, K_ii, twice, whole, n, best, most)[0]


@njit(each_step=True)
def _best_of(k_i, q, diagonal, y, q_i, K_ii, twice, first, last, best, most):
    """Return the place of the largest gain above ``most`` among some, or ``best``; and the gain."""
    for t in range(first, last):
        slope = q[t] - q_i
        if slope > 0.0:
            gain = slope * slope / curvature(np.float64(k_i[t]), diagonal[t], K_ii, twice * y[t])
            if gain > most:
                best, most = t, gain
    return best, most
