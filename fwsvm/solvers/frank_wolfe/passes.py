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

STRETCH = 64  # rows
ROUNDING = 1e-14  # of a comparison made in two ways; what is let through in vain is only read again
TINY = 1e-12  # the least curvature, as in LIBCVM: guards against rounding, for K~ is positive definite


@njit
def shift_pass(q, k_i, k_j, scale, a, b, first, last, best, least):
    """Set q <- scale q + a (k_i + 1) + b (k_j + 1) on a range; return the place of the least q, and it.

    ``best`` and ``least`` are those of an earlier range.
    """
    both, whole = a + b, first + (last - first) // 8 * 8
    for start in range(first, whole, STRETCH):
        stop = min(start + STRETCH, whole)
        lowest = splat(np.inf)
        for t in range(start, stop, 8):
            q_t = load(q, t) * scale + (widen(load(k_i, t)) * a + widen(load(k_j, t)) * b + both)
            store(q, t, q_t)
            lowest = lesser(q_t, lowest)
        low = least_of(lowest)
        if low < least:
            best, least = _place_of(q, low, start), low
    for t in range(whole, last):
        q[t] = scale * q[t] + (a * k_i[t] + b * k_j[t] + both)
        if q[t] < least:
            best, least = t, q[t]
    return best, least


@njit
def _place_of(q, value, start):
    """Return the first t >= start with q_t = value."""
    while q[start] != value:
        start += 1
    return start


@njit
def highest_pass(q, lit):
    """Return argmax of q over the rows with lit > 0, which are active."""
    best, most, whole = -1, -np.inf, q.size // 8 * 8
    for start in range(0, whole, STRETCH):
        highest = splat(-np.inf)
        for t in range(start, min(start + STRETCH, whole), 8):
            highest = greater(where_positive(load(lit, t), load(q, t), splat(-np.inf)), highest)
        high = greatest_of(highest)
        if high > most:
            best, most = start, high
            while not (lit[best] > 0.0 and q[best] == high):
                best += 1
    for t in range(whole, q.size):
        if lit[t] > 0.0 and q[t] > most:
            best, most = t, q[t]
    return best


@njit
def _curvature(k, diagonal, K_ii, twice):
    """Return K_ii + K_jj - twice (k + 1), for numbers or for lanes of them."""
    return larger(diagonal + K_ii - (k + 1.0) * twice, TINY)


@njit(inline="always")
def _excess(k_i, q, lit, q_i, K_ii, twice, bar, t):
    """Return slope^2 - bar curvature of eight partners: positive where one gains more than ``bar``."""
    diagonal = load(lit, t)
    slope = where_positive(diagonal, larger(load(q, t) - q_i, 0.0), splat(0.0))
    return slope * slope - _curvature(widen(load(k_i, t)), diagonal, K_ii, twice) * bar


@njit
def partner_pass(k_i, q, lit, q_i, K_ii, twice, first, last, best, most):
    """Return the j of a range of the largest gain of a swap with i, among lit_j > 0 and q_j > q_i; and the gain.

    ``lit`` is K~_jj of the active rows, ``twice`` is 2 y_i y_j, the same for all of the range; ``best`` and ``most``
    are those of an earlier range. Lanes ask of a stretch, and then of eight rows of it, whether slope^2 > most
    curvature anywhere, which takes no division; those are read again.
    """
    whole = first + (last - first) // 8 * 8
    for start in range(first, whole, STRETCH):
        stop = min(start + STRETCH, whole)
        excess, bar = splat(-1.0), most * (1.0 - ROUNDING)
        for t in range(start, stop, 8):
            excess = greater(_excess(k_i, q, lit, q_i, K_ii, twice, bar, t), excess)
        if greatest_of(excess) > 0.0:
            for t in range(start, stop, 8):
                bar = most * (1.0 - ROUNDING)
                if greatest_of(_excess(k_i, q, lit, q_i, K_ii, twice, bar, t)) > 0.0:
                    best, most = _best_of(k_i, q, lit, q_i, K_ii, twice, t, t + 8, best, most)
    return _best_of(k_i, q, lit, q_i, K_ii, twice, whole, last, best, most)


@njit
def _best_of(k_i, q, lit, q_i, K_ii, twice, first, last, best, most):
    """Do `partner_pass` row by row."""
    for t in range(first, last):
        if lit[t] > 0.0 and q[t] > q_i:
            slope = q[t] - q_i
            gain = slope * slope / _curvature(np.float64(k_i[t]), lit[t], K_ii, twice)
            if gain > most:
                best, most = t, gain
    return best, most
