"""SIMD scans over all rows, where a step under full search spends its time.

A scan compares vectors of eight rows with the extreme found so far and reads a stretch of rows again only where it may
hold a new one. It returns exactly what the plain loop would: the first row of equals.

Rows and places are int64: for a literal 0 numba compiles a version of its own.
"""

import numpy as np

from fwsvm.numerics.compile import njit
from fwsvm.numerics.formulas import maximum
from fwsvm.numerics.simd import (
    broadcast,
    lane_max,
    lane_min,
    load,
    reduce_max,
    reduce_min,
    store,
    where_positive,
    widen,
)
from fwsvm.solvers.tuning import SCAN_STRETCH

#: Relative rounding of a comparison computed in two ways; a false alarm only costs a second reading.
COMPARISON_ROUNDING = 1e-14
TINY = 1e-12  # the least curvature, as in LIBCVM: guards against rounding, for K~ is positive definite


@njit
def update_scan(q, k_i, k_j, scale, a, b, first, last, best, least):
    """Set q <- scale q + a (k_i + 1) + b (k_j + 1) on a range; return the place of the least q, and it.

    ``best`` and ``least`` are those of an earlier range.
    """
    both, whole = a + b, first + (last - first) // 8 * 8
    for start in range(first, whole, SCAN_STRETCH):
        stop = min(start + SCAN_STRETCH, whole)
        lowest = broadcast(np.inf)
        for t in range(start, stop, 8):
            q_t = load(q, t) * scale + (widen(load(k_i, t)) * a + widen(load(k_j, t)) * b + both)
            store(q, t, q_t)
            lowest = lane_min(q_t, lowest)
        low = reduce_min(lowest)
        if low < least:
            best, least = place_of(q, low, start), low
    for t in range(whole, last):
        q[t] = scale * q[t] + (a * k_i[t] + b * k_j[t] + both)
        if q[t] < least:
            best, least = t, q[t]
    return best, least


@njit(inner=True)
def place_of(q, value, start):
    """Return the first t >= start with q_t = value."""
    while q[start] != value:
        start += 1
    return start


@njit
def highest_active(q, active_diagonal):
    """Return argmax of q over the active rows."""
    best, most, whole = -1, -np.inf, q.size // 8 * 8
    for start in range(0, whole, SCAN_STRETCH):
        highest = broadcast(-np.inf)
        for t in range(start, min(start + SCAN_STRETCH, whole), 8):
            highest = lane_max(
                where_positive(load(active_diagonal, t), load(q, t), broadcast(-np.inf)), highest
            )
        high = reduce_max(highest)
        if high > most:
            best, most = start, high
            while not (active_diagonal[best] > 0.0 and q[best] == high):
                best += 1
    for t in range(whole, q.size):
        if active_diagonal[t] > 0.0 and q[t] > most:
            best, most = t, q[t]
    return best


@njit(inner=True)
def curvature(k, diagonal, K_ii, twice):
    """Return K_ii + K_jj - twice (k + 1), of numbers or of vectors."""
    return maximum(diagonal + K_ii - (k + 1.0) * twice, TINY)


@njit(inline="always")
def _excess(k_i, q, active_diagonal, q_i, K_ii, twice, bar, t):
    """Return slope^2 - bar curvature of eight partners: positive where one gains more than ``bar``."""
    diagonal = load(active_diagonal, t)
    slope = where_positive(diagonal, maximum(load(q, t) - q_i, 0.0), broadcast(0.0))
    return slope * slope - curvature(widen(load(k_i, t)), diagonal, K_ii, twice) * bar


@njit
def partner_scan(k_i, q, active_diagonal, q_i, K_ii, twice, first, last, best, most):
    """Return the j of a range of the largest gain of a swap with i, among the active j with q_j > q_i; and the gain.

    ``active_diagonal`` is K~_jj of the active rows, ``twice`` is 2 y_i y_j over the range; ``best`` and ``most`` are
    those of an earlier range. A vector test whether slope^2 > most curvature anywhere in a stretch takes no
    division; only vectors that pass it are read row by row.
    """
    whole = first + (last - first) // 8 * 8
    for start in range(first, whole, SCAN_STRETCH):
        stop = min(start + SCAN_STRETCH, whole)
        excess, bar = broadcast(-1.0), most * (1.0 - COMPARISON_ROUNDING)
        for t in range(start, stop, 8):
            excess = lane_max(_excess(k_i, q, active_diagonal, q_i, K_ii, twice, bar, t), excess)
        if reduce_max(excess) > 0.0:
            for t in range(start, stop, 8):
                bar = most * (1.0 - COMPARISON_ROUNDING)
                if reduce_max(_excess(k_i, q, active_diagonal, q_i, K_ii, twice, bar, t)) > 0.0:
                    best, most = _best_of(k_i, q, active_diagonal, q_i, K_ii, twice, t, t + 8, best, most)
    return _best_of(k_i, q, active_diagonal, q_i, K_ii, twice, whole, last, best, most)


@njit(inner=True)
def _best_of(k_i, q, active_diagonal, q_i, K_ii, twice, first, last, best, most):
    """Do `partner_scan` row by row."""
    for t in range(first, last):
        if active_diagonal[t] > 0.0 and q[t] > q_i:
            slope = q[t] - q_i
            gain = slope * slope / curvature(np.float64(k_i[t]), active_diagonal[t], K_ii, twice)
            if gain > most:
                best, most = t, gain
    return best, most
