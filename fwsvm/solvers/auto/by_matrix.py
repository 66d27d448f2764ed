"""swap-2o on the pairs of classes of a small problem, each over its matrix K~ in float64, all in compiled code.

Rows are grouped by class, so that the rows of a pair are two ranges of the kernel matrix of all rows. What is
recomputed from that matrix at the end is a certificate. A pair of a hundred rows takes some twenty microseconds, where
a run of its own takes half a millisecond in the interpreter.
"""

import numpy as np

from fwsvm.numerics.compile import njit
from fwsvm.numerics.machine import compare_exchange
from fwsvm.numerics.simd import (
    WIDTH,
    broadcast,
    lane_max,
    lane_min,
    load,
    maximum,
    reduce_max,
    reduce_min,
    store,
    where_positive,
)
from fwsvm.problems.simplex_qp import write_certificate
from fwsvm.solvers.auto.grouped_rows import most_steps
from fwsvm.solvers.frank_wolfe.scans import TINY
from fwsvm.solvers.tuning import MATRIX_CHECKS, SETTLE_EVERY


@njit
def solve_by_matrix(groups, penalties, numbers, claimed, kernel_values, goal, solutions):
    """Solve those of the pairs ``numbers`` that no other thread has claimed, and write what they came to.

    Parameters
    ----------
    groups : GroupedRows
    penalties : ndarray of float64, shape (S,), the values of C, for each of which a pair begins where it ended before
    numbers : ndarray of int
    claimed : ndarray of int64, shape (pairs,), 1 where a pair is some thread's
    kernel_values : ndarray of float64, shape (m, m)
    goal : Goal
    solutions : Solutions
    """
    starts = groups.starts
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        i, j = groups.pairs[number]
        first, second = (starts[i], starts[i + 1]), (starts[j], starts[j + 1])
        plus, n = first[1] - first[0], first[1] - first[0] + second[1] - second[0]
        filled = (n + WIDTH - 1) // WIDTH * WIDTH
        K, alpha, q, diagonal = np.empty((n, filled)), np.empty(filled), np.empty(filled), np.empty(filled)
        pair_matrix(kernel_values, first, second, K)
        own, ridge = np.empty(n), np.empty(n)
        for t in range(filled):
            alpha[t], diagonal[t] = 0.0, 0.0
        alpha[0], alpha[plus] = 0.5, 0.5
        for t in range(n):
            own[t] = K[t, t]
        for k in range(penalties.size):
            for t in range(n):
                row = first[0] + t if t < plus else second[0] + t - plus
                ridge[t] = 1.0 / (penalties[k] * groups.weights[row])
                K[t, t] = diagonal[t] = own[t] + ridge[t]
            steps, R, reached = solve_pair(K, goal, alpha, q, diagonal)
            solutions.steps[k, number], solutions.reached[k, number] = steps, reached
            bias = 0.0
            for t in range(n):
                row = first[0] + t if t < plus else second[0] + t - plus
                coefficient = (alpha[t] if t < plus else -alpha[t]) / R
                solutions.coefficients[k, row, j - 1 if t < plus else i] = coefficient
                bias += coefficient
            solutions.biases[k, number] = bias
            write_certificate(
                alpha[:n], q[:n], ridge, diagonal[:n], goal.value_rounding, solutions.certificates[k, number]
            )
            if not reached:  # another method goes on, for this penalty and those after it
                break


@njit(each_step=True)
def pair_matrix(kernel_values, first, second, K):
    """Fill y_i y_j (k_ij + 1) for the rows of two classes; zeros beyond.

    Parameters
    ----------
    kernel_values : ndarray of float64, shape (m, m)
    first, second : the ranges of the rows of the classes +1 and -1
    K : ndarray, shape (n, n filled up to `WIDTH`)
    """
    plus, n = first[1] - first[0], K.shape[0]
    for t in range(n):
        row = first[0] + t if t < plus else second[0] + t - plus
        k, sign = kernel_values[row], 1.0 if t < plus else -1.0
        ours, theirs, K_t = k[first[0] : first[1]], k[second[0] : second[1]], K[t]
        for p in range(plus):
            K_t[p] = sign * (ours[p] + 1.0)
        for p in range(n - plus):
            K_t[plus + p] = -sign * (theirs[p] + 1.0)
        for p in range(n, K.shape[1]):
            K_t[p] = 0.0


@njit(each_step=True)
def solve_pair(K, goal, alpha, q, diagonal):
    """Minimise alpha' K~ alpha over the simplex from alpha on; return steps, R, and whether the goal is reached.

    K~ has the shape (n, n filled up), alpha, q and its diagonal the length n filled up; at the end q = K~ alpha from
    scratch.
    """
    n = K.shape[0]
    R, least = gradient(K, alpha, q)
    steps, checks, most = 0, 0, most_steps(goal, n)
    while steps < most:
        if not 2.0 * (R - least) > goal.constant + goal.slope * R:
            R, least = gradient(K, alpha, q)
            if 2.0 * (R - least) <= goal.constant + goal.slope * R:
                return steps, R, True
            checks += 1
            if not checks < MATRIX_CHECKS:
                return steps, R, False
            continue
        i = _place(q, least)
        gain = _best_gain(K[i], q, alpha, diagonal, least, diagonal[i])
        slope, curvature = R - least, max(R - 2.0 * least + diagonal[i], TINY)
        if gain > slope * slope / curvature:
            j = _partner(K[i], q, alpha, diagonal, least, diagonal[i], gain)
            slope, curvature = q[j] - least, max(diagonal[i] - 2.0 * K[i, j] + diagonal[j], TINY)
            step = slope / curvature
            if step >= alpha[j]:
                step, alpha[j] = alpha[j], 0.0
            else:
                alpha[j] -= step
            alpha[i] += step
            least = _update(q, K[i], K[j], 1.0, step, -step)
        else:
            step = min(slope / curvature, 1.0)
            for t in range(n):
                alpha[t] *= 1.0 - step
            alpha[i] += step
            least = _update(q, K[i], K[i], 1.0 - step, step, 0.0)
        R -= step * (2.0 * slope - step * curvature)
        steps += 1
        if steps % SETTLE_EVERY == 0:
            R = _product(alpha, q, n)
    return steps, R, False


@njit(each_step=True)
def gradient(K, alpha, q):
    """Set q = K~ alpha, infinite beyond the n rows; return R = alpha' q and the least q."""
    n = K.shape[0]
    for p in range(q.size):
        q[p] = 0.0 if p < n else np.inf
    least = 0.0
    for t in range(n):
        if alpha[t] > 0.0:
            least = _update(q, K[t], K[t], 1.0, alpha[t], 0.0)
    return _product(alpha, q, n), least


@njit(each_step=True)
def _product(alpha, q, n):
    """Return alpha' q."""
    R = 0.0
    for t in range(n):
        R += alpha[t] * q[t]
    return R


@njit(each_step=True)
def _place(q, value):
    """Return the first t with q_t = value."""
    t = 0
    while t < q.size - 1 and q[t] != value:
        t += 1
    return t


@njit(each_step=True)
def _update(q, K_i, K_j, scale, a, b):
    """Set q <- scale q + a K~_i + b K~_j; return the least q."""
    least = broadcast(np.inf)
    for t in range(0, q.size, WIDTH):
        q_t = load(q, t) * scale + (load(K_i, t) * a + load(K_j, t) * b)
        store(q, t, q_t)
        least = lane_min(q_t, least)
    return reduce_min(least)


@njit(each_step=True)
def _gains(K_i, q, alpha, diagonal, q_i, K_ii, t):
    """Return (q_j - q_i)^2 / (K~_ii - 2 K~_ij + K~_jj) of eight partners, 0 where one is not active or q_j <= q_i."""
    active = load(alpha, t)
    slope = where_positive(active, maximum(load(q, t) - q_i, 0.0), broadcast(0.0))
    return slope * slope / maximum(load(diagonal, t) + K_ii - load(K_i, t) * 2.0, TINY)


@njit(each_step=True)
def _best_gain(K_i, q, alpha, diagonal, q_i, K_ii):
    """Return the largest of the `_gains`."""
    most = broadcast(0.0)
    for t in range(0, q.size, WIDTH):
        most = lane_max(_gains(K_i, q, alpha, diagonal, q_i, K_ii, t), most)
    return reduce_max(most)


@njit(each_step=True)
def _partner(K_i, q, alpha, diagonal, q_i, K_ii, gain):
    """Return the active j of that gain, the first of equals."""
    for t in range(0, q.size, WIDTH):
        if reduce_max(_gains(K_i, q, alpha, diagonal, q_i, K_ii, t)) >= gain:
            best, most = t, -1.0
            for j in range(t, min(t + WIDTH, K_i.size)):
                slope = q[j] - q_i
                if alpha[j] > 0.0 and slope > 0.0:
                    found = slope * slope / max(diagonal[j] + K_ii - 2.0 * K_i[j], TINY)
                    if found > most:
                        best, most = j, found
            return best
    return 0
