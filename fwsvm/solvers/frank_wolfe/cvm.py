"""CVM: core sets, or fully corrective Frank-Wolfe (003 Algorithm 1, 000 Algorithm 2; Badoiu & Clarkson).

The core set is the active set. As long as a pair inside it differs by more than the inner tolerance, the next vertex
comes from inside and weight is swapped by the second-order rule: LIBCVM's inner solver, warm-started where it stands.
Then the ascent vertex of all rows enters.

Under sampled search q is known on the core set alone, scattered over all rows. There steps are taken on copies that lie
together, many between two returns to the engine, which makes the last of them: it also drops rows and fetches columns.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.numerics.compile import generic, njit
from fwsvm.numerics.simd import (
    broadcast,
    load,
    maximum,
    minimum,
    reduce_max,
    reduce_min,
    store,
    widen,
)
from fwsvm.solvers.frank_wolfe.engine import choose, find
from fwsvm.solvers.frank_wolfe.gradient import select
from fwsvm.solvers.frank_wolfe.moves import NOBODY, best_partner, swap, toward
from fwsvm.solvers.frank_wolfe.sampled import OWN_LINES, Sampled
from fwsvm.solvers.frank_wolfe.scans import COMPARISON_ROUNDING, curvature, place_of
from fwsvm.solvers.frank_wolfe.state import GOING
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
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
            lowest, highest = minimum(q_t, lowest), maximum(q_t, highest)
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
            excess = maximum(_excess(k_i, q, diagonal, y, q_i, K_ii, twice, bar, t), excess)
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


LIBCVM_INNER = 1e-3  # inside the core set, absolute


@register(
    "cvm",
    family="simplex",
    paper="Frandi et al. (2013), Algorithm 1",
    tolerance="the Frank-Wolfe gap 2 (R - min q)",
)
class CVM(NamedTuple):
    """Solve on the core set, add the ascent vertex, repeat.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap over all rows once the core set is
    solved.

    Parameters
    ----------
    inner : largest q_j - q_i left inside the core set at first; halved whenever a vertex enters that violates by less;
        0: the protocol's, which is 1e-3, and a tenth of the run's tolerance under fw-svms
    inner_share : instead of inner, that number as a part of the run's tolerance; 0: not given
    """

    inner: float = 0.0
    inner_share: float = 0.0


def first_inner(rule: CVM, resolved: Resolved) -> float:
    """Return the tolerance inside the core set that a run begins with.

    Raises
    ------
    UsageError
        ``inner`` or ``inner_share`` is negative, or both are given.
    """
    if rule.inner < 0.0 or rule.inner_share < 0.0 or (rule.inner and rule.inner_share):
        raise UsageError(
            f"cvm needs inner or inner_share, a positive number, not inner {rule.inner:g} and inner_share "
            f"{rule.inner_share:g}; leave one of them out"
        )
    share = rule.inner_share or resolved.protocol.inner_share
    if rule.inner or share is None:
        return rule.inner or LIBCVM_INNER
    return share * resolved.tolerance


@find.implements(CVM)
def _find(rule, s):
    # Candidates that were drawn are looked at before anything moves: their kernel values are of this core set.
    if s.now[0].draws == 0 and improve_core(s.search, s):
        return
    select(s.search, s)
    now = s.now[0]
    while now.stop == GOING and 0.5 * now.gap <= now.inner:
        now.inner *= 0.5


@choose.implements(CVM)
def _choose(rule, s, i):
    j = best_partner(s, i)
    return toward(s, i) if j == NOBODY else swap(s, i, j)
