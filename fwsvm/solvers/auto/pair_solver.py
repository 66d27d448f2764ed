"""swap-2o on small pairs of classes, one after another, in compiled code.

A pair is solved by the scans of `fwsvm.solvers.frank_wolfe.scans`, as a run of its own would be, without the half of a
millisecond that a run spends in the interpreter. For several penalties a pair is solved for one after another, from
where it ended for the one before, with the same kernel values (`fwsvm.solvers.auto.pair_values`). At the end q is
summed anew from these values: that is the certificate.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.numerics.compile import njit
from fwsvm.numerics.machine import compare_exchange
from fwsvm.problems.simplex_qp import write_certificate
from fwsvm.solvers.auto.pair_values import FAR, fill, lines_of, new_pair
from fwsvm.solvers.frank_wolfe.gradient import least_cost, prefetch_set
from fwsvm.solvers.frank_wolfe.scans import TINY, curvature, partner_scan, update_scan
from fwsvm.solvers.tuning import FIRST_SWAPS, NEWTON_OVERHEAD, PAIR_CHECKS, SCAN_FROM, SETTLE_EVERY

AHEAD = 4  # blocks of `least_cost` at a time for several penalties, which want more rows sooner or later


class Solutions(NamedTuple):
    """What the pairs of K classes came to for each of S penalties.

    Attributes
    ----------
    coefficients : ndarray, shape (S, places, K - 1), of the machines, laid out as in
        `fwsvm.problems.machines.KernelModel`
    biases : ndarray, shape (S, pairs)
    certificates : ndarray, shape (S, pairs, 5): objective, gap, primal, dual, and rounding of the gap, from scratch
    steps, evaluations : ndarray of int, shape (S, pairs)
        Steps, and kernel values of rows of different classes.
    """

    coefficients: np.ndarray
    biases: np.ndarray
    certificates: np.ndarray
    steps: np.ndarray
    evaluations: np.ndarray


@njit
def solve_pairs(some, penalties, numbers, claimed, fill_at, crossing, solutions):
    """Solve those of the pairs ``numbers`` that no other thread has claimed, and write what they came to.

    Parameters
    ----------
    some : PairRows
    penalties : ndarray of float64, shape (S,), the values of C
    numbers : ndarray of int
    claimed : ndarray of int64, shape (pairs,), 1 where a pair is some thread's
    fill_at : int, see `fill_address`
    crossing : int, where in the kernel values this thread's pairs have theirs
    solutions : Solutions
    """
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        s = new_pair(some, some.pairs[number, 0], some.pairs[number, 1], crossing)
        rows, computed = some.counts[s.i] + some.counts[s.j], 0
        block = least_cost(rows, some.table.tiles.own.size > 0)
        block = min(WIDE, AHEAD * block) if penalties.size > 1 else block
        for t in (0, s.plus):
            s.alpha[t] = 0.5
            computed += fill(some, s, fill_at, np.full(1, t, np.int32))
        for k in range(penalties.size):
            _set_penalty(some, s, penalties[k])
            R, best = _settled(s) if k else _recompute(some, s)
            steps, checks, most = 0, 0, max(int(FIRST_SWAPS * rows), NEWTON_OVERHEAD)
            while True:
                taken, R, best, missed = _steps(some, s, R, best, most - steps)
                steps += taken
                if missed:
                    computed += fill(some, s, fill_at, _wanted(s, R, best, block))
                    continue
                R, best = _recompute(some, s)
                checks += 1
                reached = 2.0 * (R - s.q[best]) <= some.constant + some.slope * R
                if reached or steps >= most or checks == PAIR_CHECKS:
                    break
            solutions.steps[k, number], solutions.evaluations[k, number], computed = (steps, computed, 0)
            _write(some, s, R, k, number, solutions)
            if not reached:  # another method goes on, for this penalty and those after it
                break


@njit(inner=True)
def _write(some, s, R, k, number, solutions):
    """Write the machine and the certificate of a pair for the k-th penalty."""
    bias, first, second = 0.0, some.starts[s.i], some.starts[s.j] - s.plus
    lines = solutions.coefficients[k]
    for t in range(s.plus):
        lines[first + t, s.j - 1] = s.alpha[t] / R
        bias += s.alpha[t] / R
    for t in range(s.plus, s.q.size):
        lines[second + t, s.i] = -s.alpha[t] / R
        bias -= s.alpha[t] / R
    solutions.biases[k, number] = bias
    found = solutions.certificates[k, number]
    write_certificate(s.alpha, s.q, s.ridge, s.diagonal, some.value_rounding, found)


@njit(inner=True)
def _set_penalty(some, s, penalty):
    """Set what depends on C."""
    for c in range(2):
        first, last = s.ranges[c]
        place = some.starts[s.j if c else s.i] - first
        for t in range(first, last):
            ridge = 1.0 / (penalty * some.weights[place + t])
            s.q[t] += s.alpha[t] * (ridge - s.ridge[t])
            s.ridge[t], s.diagonal[t] = ridge, some.itself[place + t] + 1.0 + ridge
            s.active_diagonal[t] = s.diagonal[t] if s.alpha[t] > 0.0 else -1.0


@njit(inner=True)
def _wanted(s, R, missed, block):
    """Return the row whose kernel values are missed, and those of its class that are likely to be wanted next."""
    first, last = s.ranges[0] if missed < s.plus else s.ranges[1]
    rows = np.empty(block, np.int32)
    of_class = s.q[first:last], s.alpha[first:last], s.line[first:last]
    count = prefetch_set(*of_class, R, missed - first, True, rows)
    for c in range(count):
        rows[c] += first
    return rows[:count]


@njit(each_step=True)
def _recompute(some, s):
    """Set q = K~ alpha from kernel values; return R and where q is least."""
    q, alpha, i = s.q, s.alpha, -1
    for t in range(q.size):
        q[t] = FAR
    for first, last in s.ranges:
        for t in range(first, last):
            q[t] = 0.0
    for j in range(q.size):  # two rows at a time
        if alpha[j] > 0.0 and i < 0:
            i = j
        elif alpha[j] > 0.0:
            _add(some, s, i, j, alpha[j])
            i = -1
    if i >= 0:
        _add(some, s, i, i, 0.0)
    for t in range(q.size):
        q[t] += alpha[t] * s.ridge[t]
    return _settled(s)


@njit(each_step=True)
def _add(some, s, i, j, weight):
    """Add what the rows i and j contribute to q, j of this weight."""
    (k_i, l_i), (k_j, l_j) = lines_of(some, s, i), lines_of(some, s, j)
    a, b = s.alpha[i] if i < s.plus else -s.alpha[i], weight if j < s.plus else -weight
    update_scan(s.q, k_i, k_j, 1.0, a, b, np.int64(0), s.ends[0], np.int64(0), np.inf)
    update_scan(s.q, l_i, l_j, 1.0, -a, -b, s.plus, s.ends[1], np.int64(0), np.inf)


@njit(each_step=True)
def _settled(s):
    """Return R, and where q is least."""
    R, best = 0.0, 0
    for t in range(s.q.size):
        R += s.alpha[t] * s.q[t]
        if s.q[t] < s.q[best]:
            best = t
    return R, best


@njit(each_step=True)
def _list_active(s):
    """List the rows with weight in ``active``; return how many they are."""
    count = 0
    for t in range(s.q.size):
        if s.alpha[t] > 0.0:
            s.active[count] = t
            count += 1
    return count


@njit(each_step=True)
def _partner(s, count, k_i, l_i, i, gain):
    """Return the row whose swap with i gains most, -1 where none gains more than ``gain``; and its gain.

    By a scan of all rows, or by a walk through the ``count`` rows with weight where these are few.
    """
    q, q_i, K_ii, twice, best = s.q, s.q[i], s.diagonal[i], 2.0 if i < s.plus else -2.0, np.int64(-1)
    if count * SCAN_FROM >= q.size:
        of_pair, start = (q, s.active_diagonal, q_i, K_ii), np.int64(0)
        best, gain = partner_scan(k_i, *of_pair, twice, start, s.ends[0], best, gain)
        return partner_scan(l_i, *of_pair, -twice, s.plus, s.ends[1], best, gain)
    for j in s.active[:count]:
        slope = q[j] - q_i
        if slope > 0.0:
            k, factor = (k_i[j], twice) if j < s.plus else (l_i[j], -twice)
            found = slope * slope / curvature(k, s.diagonal[j], K_ii, factor)
            if found > gain or (found == gain and j < best):
                best, gain = np.int64(j), found
    return best, gain


@njit(each_step=True)
def _take(s, j, weight, count):
    """Take weight from row j, which leaves the ``count`` active rows with its last; return how many are left."""
    s.alpha[j] -= weight
    s.q[j] -= weight * s.ridge[j]
    if s.alpha[j] > 0.0:
        return count
    s.alpha[j], s.active_diagonal[j], place = 0.0, -1.0, 0
    while s.active[place] != j:
        place += 1
    s.active[place] = s.active[count - 1]
    return count - 1


@njit(each_step=True)
def _go_to_vertex(some, s, i):
    """Give row i all weight; return R and where q is least."""
    s.alpha[:], s.active_diagonal[:] = 0.0, -1.0
    s.alpha[i], s.active_diagonal[i], s.active[0] = 1.0, s.diagonal[i], i
    return _recompute(some, s)


@njit(each_step=True)
def _steps(some, s, R, best, most):
    """Take up to ``most`` steps of swap-2o (`fwsvm.solvers.frank_wolfe.swap_2o`) from a point with this R.

    The goal ends them. Return how many were taken, R, where q is least, and whether they ended because kernel values
    of that row are missed.
    """
    q, alpha, diagonal, plus, ends, count = s.q, s.alpha, s.diagonal, s.plus, s.ends, _list_active(s)
    for taken in range(most):
        i, slope = best, R - q[best]
        near = not 2.0 * slope > some.constant + some.slope * R
        if near or s.line[i] < 0:
            return taken, R, best, not near
        (k_i, l_i), bend = lines_of(some, s, i), max(R - 2.0 * q[i] + diagonal[i], TINY)
        # a swap has to gain more than a step toward i
        j, gain = _partner(s, count, k_i, l_i, i, slope * slope / bend)
        scale, k_j, l_j, b = 1.0, k_i, l_i, 0.0
        if j >= 0:
            slope, bend = q[j] - q[i], (q[j] - q[i]) ** 2 / gain
            step = min(slope / bend, alpha[j])
            count = _take(s, j, step, count)
            (k_j, l_j), b = lines_of(some, s, j), -step if j < plus else step
        else:
            step = min(slope / bend, 1.0)
            scale = 1.0 - step
            if scale == 0.0:
                (R, best), count = _go_to_vertex(some, s, i), 1
                continue
            for t in range(q.size):
                alpha[t] *= scale
        if not alpha[i] > 0.0:
            s.active[count], s.active_diagonal[i] = i, diagonal[i]
            count += 1
        alpha[i] += step
        q[i] += step * s.ridge[i] / scale  # before the scan, so that it meets every entry as it will be
        a, best, least = step if i < plus else -step, np.int64(0), np.inf
        best, least = update_scan(q, k_i, k_j, scale, a, b, np.int64(0), ends[0], best, least)
        best, least = update_scan(q, l_i, l_j, scale, -a, -b, plus, ends[1], best, least)
        R -= step * (2.0 * slope - step * bend)
        if (taken + 1) % SETTLE_EVERY == 0:
            R = _settled(s)[0]
    return most, R, best, False
