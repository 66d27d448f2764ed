"""Coordinate descent on the matrix of a working set, the entry that gains most at each step, in compiled code."""

import numpy as np

from fwsvm.numerics.compile import njit
from fwsvm.numerics.simd import WIDTH, broadcast, lane_max, load, reduce_max, store, where_positive


@njit
def add_signs(K, y, ridge, first, last):
    """Make K~ of kernel values, in rows ``first`` to ``last`` - 1 of K (n, p); columns beyond n become zeros.

    Parameters
    ----------
    y, ridge : ndarray, shape (n,), of the precision of K
    """
    one, n = K.dtype.type(1), y.size
    for i in range(first, last):
        for j in range(n):
            K[i, j] = (K[i, j] + one) * (y[i] * y[j])
        K[i, n:] = 0
        K[i, i] += ridge[i]


@njit(each_step=True)
def _gains(b, g, scale, t):
    """Return sqrt of twice what eight entries would gain: |g| / sqrt(K~_ii), 0 where b = 0 and g > 0."""
    slope = load(g, t)
    falls = where_positive(load(b, t), slope, broadcast(b.dtype.type(0)))
    return lane_max(falls, slope * b.dtype.type(-1)) * load(scale, t)


@njit(each_step=True)
def most_gain(b, g, scale):
    """Return the largest of the `_gains`, at least 0."""
    most = broadcast(b.dtype.type(0))
    for t in range(0, b.size, WIDTH):
        most = lane_max(_gains(b, g, scale, t), most)
    return reduce_max(most)


@njit(each_step=True)
def _place(b, g, scale, gain):
    """Return the first entry of that gain."""
    for t in range(0, b.size, WIDTH):
        if reduce_max(_gains(b, g, scale, t)) >= gain:
            for i in range(t, t + WIDTH):
                slope = g[i] if b[i] > 0 and g[i] > 0 else -g[i]
                if slope * scale[i] >= gain:
                    return i
    return 0


@njit(each_step=True)
def _move(b, g, scale, row, step):
    """Add ``step`` times a row of the matrix to g; return the largest of the `_gains` after it."""
    most = broadcast(b.dtype.type(0))
    for t in range(0, b.size, WIDTH):
        store(g, t, load(g, t) + load(row, t) * step)
        most = lane_max(_gains(b, g, scale, t), most)
    return reduce_max(most)


@njit(each_step=True, inner=False)
def descend(K, b, g, scale, share, steps):
    """Minimise 1/2 b' K~ b - sum b over b >= 0 until the largest gain is ``share`` of what it was; return the steps.

    Parameters
    ----------
    K : ndarray, shape (n, p), K~ of n rows, filled up with columns of zeros to a multiple of `WIDTH`
    b, g : ndarray, shape (p,), changed: b >= 0 and its gradient; beyond n zeros, and no less
    scale : ndarray, shape (p,), 1 / sqrt(K~_ii), beyond n 0
    steps : int, at most so many; all arrays have one precision
    """
    most = most_gain(b, g, scale)
    goal, taken = most * share, 0
    while taken < steps and most > goal:
        i = _place(b, g, scale, most)
        step = -g[i] * scale[i] * scale[i]
        if b[i] + step > 0:
            b[i] += step
        else:
            step, b[i] = -b[i], 0
        most = _move(b, g, scale, K[i], step)
        taken += 1
    return taken


def filled(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return values (n,) in a precision, with zeros up to a multiple of `WIDTH`."""
    out = np.zeros(-(-len(values) // WIDTH) * WIDTH, dtype)
    out[: len(values)] = values
    return out
