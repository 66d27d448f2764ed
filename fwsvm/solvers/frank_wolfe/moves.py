"""The three moves on the simplex; slope, curvature and longest step of each are scalars already at hand.

    move        direction      half slope   curvature               longest
    toward i    e_i - alpha    R - q_i      R - 2 q_i + K~_ii       1
    away j      alpha - e_j    q_j - R      R - 2 q_j + K~_jj       a_j / (1 - a_j)
    swap i<-j   e_i - e_j      q_j - q_i    K~_ii - 2 K~_ij + K~_jj a_j

A step lam along a direction lowers R by 2 lam slope - lam^2 curvature, most at lam = slope / curvature, by
slope^2 / curvature (000 eqs. 25-28; these general forms hold for kernels that are not normalised).
"""

from typing import NamedTuple

import numpy as np

from fwsvm.numerics.compile import njit_inline, njit_step
from fwsvm.numerics.simd import maximum, minimum
from fwsvm.solvers.frank_wolfe.scans import PARTNER, TINY, highest_active, scan
from fwsvm.solvers.tuning import SCAN_FROM

NOBODY = -1


class Move(NamedTuple):
    """alpha <- scale alpha + gain e_i - loss e_j.

    Attributes
    ----------
    i, j : int, the rows, or NOBODY
    scale, gain, loss : float
    decrease : float, by how much R falls
    promise : float, by how much R would fall if the step might be as long as it liked
    drops : bool, whether a_j becomes exactly zero
    """

    i: int
    j: int
    scale: float
    gain: float
    loss: float
    decrease: float
    promise: float
    drops: bool


@njit_inline
def _step(slope, curvature, longest):
    """Return the best step in [0, longest], its decrease, and the decrease without that bound."""
    curvature = maximum(curvature, TINY)
    free = slope / curvature
    step = minimum(free, longest)
    return step, step * (2.0 * slope - step * curvature), slope * free


@njit_step
def toward(s, i):
    """Return the Frank-Wolfe step to vertex i (003 Alg. 2 line 5, 000 eqs. 25 and 27), clipped at the vertex."""
    R = s.now.R
    q_i = s.q[i]
    step, decrease, promise = _step(R - q_i, R - 2.0 * q_i + s.diagonal[i], 1.0)
    return Move(i, NOBODY, 1.0 - step, step, 0.0, decrease, promise, False)


@njit_step
def away(s, j):
    """Return the step away from the active vertex j (003 Alg. 3), a drop where a_j is used up."""
    R, q_j, a_j = s.now.R, s.q[j], s.alpha[j]
    longest = a_j / (1.0 - a_j) if a_j < 1.0 else 0.0
    step, decrease, promise = _step(q_j - R, R - 2.0 * q_j + s.diagonal[j], longest)
    return Move(NOBODY, j, 1.0 + step, 0.0, step, decrease, promise, step >= longest)


@njit_step
def swap(s, i, j):
    """Return the step that moves weight from the active vertex j to vertex i (000 eqs. 26 and 28)."""
    curvature = s.diagonal[i] - 2.0 * entry(s, i, j) + s.diagonal[j]
    step, decrease, promise = _step(s.q[j] - s.q[i], curvature, s.alpha[j])
    return Move(i, j, 1.0, step, step, decrease, promise, step >= s.alpha[j])


@njit_inline
def entry(s, i, j):
    """Return K~_ij for the vertex i and an active j other than i."""
    k = s.cached[s.slot_of[i], j] + 1.0
    return k if (i < s.plus) == (j < s.plus) else -k


@njit_inline
def few_active(s):
    """Return whether a walk through the active set is shorter than a scan of all rows held."""
    return s.now.active * SCAN_FROM < s.q.size


@njit_step
def extreme_active(s, sign):
    """Return the active row of the largest sign * q, the first of equals."""
    if not few_active(s):
        return highest_active(s.q, s.active_diagonal, sign)
    best = s.active[0]
    for p in range(1, s.now.active):
        j = s.active[p]
        more = sign * (s.q[j] - s.q[best])
        if more > 0.0 or (more == 0.0 and j < best):
            best = j
    return np.int64(best)


@njit_inline
def worst_active(s):
    """Return argmax of q over the active set, the first row of equals."""
    return extreme_active(s, 1.0)


@njit_step
def best_partner(s, i):
    """Return the active j of the largest (q_j - q_i)^2 / (K~_ii - 2 K~_ij + K~_jj) with q_j > q_i, the first of equals.

    (000 eqs. 21-23.) NOBODY if there is none.
    """
    if not few_active(s):
        return scan(s, PARTNER, i, i, 1.0, 2.0 if i < s.plus else -2.0, 0.0)
    partner = np.int64(NOBODY)
    most = 0.0
    for p in range(s.now.active):
        j = s.active[p]
        slope = s.q[j] - s.q[i]
        if slope > 0.0:
            gain = slope * slope / maximum(s.diagonal[i] + s.diagonal[j] - 2.0 * entry(s, i, j), TINY)
            if gain > most or (gain == most and j < partner):
                partner = np.int64(j)
                most = gain
    return partner
