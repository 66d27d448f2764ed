"""Coordinate descent on a small matrix: the optimum over the rows of a starting point, or of a working set."""

import numpy as np

from fwsvm.numerics.compile import njit
from fwsvm.numerics.simd import WIDTH, broadcast, load, maximum, reduce_max, store, where_positive
from fwsvm.solvers.frank_wolfe.scans import LANES, first_of


@njit(each_step=True)
def move_entry(b, g, scale, row, step):
    """Add ``step`` times a row of the matrix to g; return the entry that then gains most, and |g| / sqrt(K~_ii) of it.

    That is the square root of twice the gain; 0 where b = 0 and g > 0.
    """
    zero, lanes = broadcast(b.dtype.type(0)), load(LANES, 0)
    most, where = zero, broadcast(0.0)
    for t in range(0, b.size, WIDTH):
        slope = load(g, t) + load(row, t) * step
        store(g, t, slope)
        gain = maximum(where_positive(load(b, t), slope, zero), zero - slope) * load(scale, t)
        where = where_positive(gain - most, lanes + np.float64(t), where)
        most = maximum(gain, most)
    highest = reduce_max(most)
    return first_of(highest - most, where), highest


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
    i, most = move_entry(b, g, scale, K[0], b.dtype.type(0))
    goal, taken = most * share, 0
    while taken < steps and most > goal:
        step = -g[i] * scale[i] * scale[i]
        if b[i] + step > 0:
            b[i] += step
        else:
            step, b[i] = -b[i], 0
        i, most = move_entry(b, g, scale, K[i], step)
        taken += 1
    return taken


def solve_small(
    K: np.ndarray,
    y: np.ndarray,
    ridge: np.ndarray,
    b: np.ndarray,
    slope: np.ndarray,
    share: float,
    steps: int,
) -> tuple[np.ndarray, int]:
    """Return the b >= 0 that `descend` comes to on a few rows, shape (n,), and its steps.

    Parameters
    ----------
    K : ndarray, shape (n, p), kernel values, which become K~; p is a multiple of `WIDTH`, columns beyond n are zero
    y, ridge : ndarrays, shape (n,)
    b, slope : ndarrays, shape (n,), where it begins, and the gradient there
    share, steps : float and int, where it ends
    """
    few, signs, vectors = K[:, : len(K)], y.astype(K.dtype), np.zeros((3, K.shape[1]), K.dtype)
    few += 1.0
    few *= signs
    few *= signs[:, None]
    np.fill_diagonal(few, few.diagonal() + ridge)
    vectors[:, : len(K)] = b, slope, 1.0 / np.sqrt(few.diagonal())
    taken = descend(K, *vectors, K.dtype.type(share), steps)
    return vectors[0, : len(K)], int(taken)
