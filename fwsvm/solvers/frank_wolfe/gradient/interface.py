"""What the engine asks of a storage mode of the gradient: functions that each mode implements."""

import numpy as np

from fwsvm.numerics.compile import generic, njit
from fwsvm.solvers.frank_wolfe.scans import TINY

GAP_ROUNDING = 4.0 * np.finfo(np.float64).eps  # relative gaps below this are rounding


@generic(each_step=True)
def select(search, s):
    """Set ``now.vertex`` and ``now.gap``, or ``now.stop``."""


@generic(each_step=True)
def update(search, s, move):
    """Update q for a move: q <- scale q + gain K~_i - loss K~_j. Both rows are in the active set."""


@generic(each_step=True)
def cache_index(search, s, t):
    """Return the place in a cached column of the kernel value with row t."""


@generic(each_step=True)
def on_add(search, s, i):
    """Store the column of row i, which was added to the end of the active set."""


@generic(each_step=True)
def on_drop(search, s, j, place):
    """Remove row j from the storage; the last row of the active set has taken its place."""


@generic(each_step=True)
def partner(search, s, i):
    """Return the active j whose swap with i promises most, -1 if there is none."""


@generic
def block_size(search, columns):
    """Return how many columns to compute at once."""


@njit(each_step=True)
def goal(s):
    """Return the largest gap at which the run may stop: its rule's, but no less than rounding leaves of a gap of 0."""
    now = s.now[0]
    return max(now.stop_constant + now.stop_slope * now.R, GAP_ROUNDING * now.R, now.noise)


@njit(each_step=True)
def signed(s, move):
    """Return the rows i and j of a move (twice the same where it has one), y_i gain and -y_j loss."""
    i = move.i if move.i >= 0 else move.j
    j = move.j if move.j >= 0 else i
    return i, j, move.gain if i < s.plus else -move.gain, -move.loss if j < s.plus else move.loss


@njit(each_step=True)
def partner_among_active(s, i):
    """Return the best partner of i by a walk through the active set."""
    k_i, q, q_i, K_ii, plus = s.cached[s.slot_of[i]], s.q, s.q[i], s.diagonal[i], s.plus
    partner, most = np.int64(-1), 0.0
    for j in s.active[: s.now[0].active]:
        slope = q[j] - q_i
        if slope > 0.0:
            k = 2.0 * (k_i[cache_index(s.search, s, j)] + 1.0)
            curvature = K_ii + s.diagonal[j] - (k if (i < plus) == (j < plus) else -k)
            gain = slope * slope / max(curvature, TINY)
            if gain > most or (gain == most and j < partner):
                partner, most = np.int64(j), gain
    return partner
