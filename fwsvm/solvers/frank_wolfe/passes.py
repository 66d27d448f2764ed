"""Passes over all rows, eight at a time: where a step under full search spends its time.

Lanes tell of a stretch of rows whether it may hold a new extreme; one that may is read again for its place. So each
pass returns exactly what the plain loop would: the first row of equals.
"""

import numpy as np

from fwsvm._compile import njit
from fwsvm.kernels.lanes import (
    greater,
    greatest_of,
    larger,
    least_of,
    lesser,
    load,
    splat,
    store,
    where_positive,
    widen,
)  # fmt: skip

STRETCH = 128  # rows
ROUNDING = 1e-14  # of a comparison made in two ways; what is let through in vain is only read again
TINY = 1e-12  # the least curvature, as in LIBCVM: guards against rounding, for K~ is positive definite


@njit
def shift_pass(q, k_i, k_j, scale, a, b, first, last, best, least):
    """Set q <- scale q + a (k_i + 1) + b (k_j + 1) on a range; return the place of the least q, and it.

    ``best`` and ``least`` are those of an earlier range.
    """
    both = a + b
    for start in range(first, last, STRETCH):
        stop = min(start + STRETCH, last)
        whole = start + (stop - start) // 8 * 8
        lowest = splat(np.inf)
        for t in range(start, whole, 8):
            q_t = load(q, t) * scale + (widen(load(k_i, t)) * a + widen(load(k_j, t)) * b + both)
            store(q, t, q_t)
            lowest = lesser(q_t, lowest)
        low = least_of(lowest)
        for t in range(whole, stop):
            q[t] = scale * q[t] + (a * k_i[t] + b * k_j[t] + both)
            low = min(low, q[t])
        if low < least:
            for t in range(start, stop):
                if q[t] == low:
                    best, least = t, low
                    break
    return best, least


@njit
def highest_pass(q, lit):
    """Return argmax of q over the rows with lit > 0, which are active."""
    best, most = -1, -np.inf
    for start in range(0, q.size, STRETCH):
        stop = min(start + STRETCH, q.size)
        whole = start + (stop - start) // 8 * 8
        highest = splat(-np.inf)
        for t in range(start, whole, 8):
            highest = greater(where_positive(load(lit, t), load(q, t), splat(-np.inf)), highest)
        high = greatest_of(highest)
        for t in range(whole, stop):
            if lit[t] > 0.0:
                high = max(high, q[t])
        if high > most:
            for t in range(start, stop):
                if lit[t] > 0.0 and q[t] == high:
                    best, most = t, high
                    break
    return best


@njit
def _curvature(k, diagonal, K_ii, twice):
    """Return K_ii + K_jj - twice (k + 1), for numbers or for lanes of them."""
    return larger(diagonal + K_ii - (k + 1.0) * twice, TINY)


@njit
def partner_pass(k_i, q, lit, q_i, K_ii, twice, first, last, best, most):
    """Return the j of a range of the largest gain of a swap with i, among lit_j > 0 and q_j > q_i; and the gain.

    ``lit`` is K~_jj of the active rows, ``twice`` is 2 y_i y_j, the same for all of the range; ``best`` and ``most``
    are those of an earlier range. Lanes ask of a stretch whether slope^2 > most curvature anywhere, which takes no
    division; there it is read again.
    """
    nothing = splat(0.0)
    for start in range(first, last, STRETCH):
        stop = min(start + STRETCH, last)
        whole = start + (stop - start) // 8 * 8
        bar = most * (1.0 - ROUNDING)
        excess = splat(-1.0)
        for t in range(start, whole, 8):
            diagonal = load(lit, t)
            slope = where_positive(diagonal, larger(load(q, t) - q_i, 0.0), nothing)
            curvature = _curvature(widen(load(k_i, t)), diagonal, K_ii, twice)
            excess = greater(slope * slope - curvature * bar, excess)
        if greatest_of(excess) > 0.0 or whole < stop:
            for t in range(start, stop):
                if lit[t] > 0.0 and q[t] > q_i:
                    slope_t = q[t] - q_i
                    gain = slope_t * slope_t / _curvature(np.float64(k_i[t]), lit[t], K_ii, twice)
                    if gain > most:
                        best, most = t, gain
    return best, most
