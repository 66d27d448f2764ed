"""swap-2o on small pairs of classes, one after another, in compiled code.

A pair is solved by the scans of `fwsvm.solvers.frank_wolfe.scans`, as a run of its own would be, without the half of a
millisecond that a run spends in the interpreter. For several penalties a pair is solved for one after another, from
where it ended for the one before, with the same kernel values. At the end q is summed anew from these values: that is
the certificate.

Kernel values are float64. Pairs share those of all rows where classes are so small that nearly all are wanted; else
values are computed as they are wanted, and those of a row with its own class serve all pairs.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT, fill_dense
from fwsvm.kernels.sparse_tiles import WIDE, fill_sparse
from fwsvm.kernels.tables import Table
from fwsvm.numerics.compile import njit
from fwsvm.numerics.machine import address_of, call, compare_exchange, load_acquire, store_release
from fwsvm.problems.simplex_qp import add_lines, write_certificate
from fwsvm.solvers.frank_wolfe.gradient import least_cost, prefetch_set
from fwsvm.solvers.frank_wolfe.scans import TINY, curvature, partner_scan, update_scan
from fwsvm.solvers.tuning import FIRST_SWAPS, NEWTON_OVERHEAD, PAIR_CHECKS, SCAN_FROM, SETTLE_EVERY

FAR = 1e300  # q where there is no row: never the least, and no part of a sum
AHEAD = 4  # blocks of `least_cost` at a time for several penalties, which want more rows sooner or later


class PairRows(NamedTuple):
    """Rows grouped by class, each class from a multiple of `HEIGHT` places on, with empty rows up to the next.

    Attributes
    ----------
    kernel : the kernel
    starts : ndarray of int, shape (K + 1,), the place where each class starts
    counts : ndarray of int, shape (K,), the rows of each class; a class may have none here
    pairs : ndarray of int, shape (pairs, 2), the classes i < j of each pair
    weights : ndarray of float64, shape (places,), which multiply C
    table : Table of float64, the rows
    itself : ndarray of float64, shape (places,), k(x, x)
    whole : bool, whether pairs share the kernel values of all rows
    values : ndarray of float64, shape (places, places) if ``whole``, else (places, rows of the largest class)
        Kernel values of rows with all rows, or with their own class.
    known : ndarray of int64, shape (places,), 1 where ``values`` has those of a row
    value_rounding : float, what kernel values are off by (`fwsvm.kernels.sums.product_rounding`)
    constant, slope : float
        The largest gap at which a pair has converged is constant + slope R.
    """

    kernel: Any
    starts: np.ndarray
    counts: np.ndarray
    pairs: np.ndarray
    weights: np.ndarray
    table: Table
    itself: np.ndarray
    whole: bool
    values: np.ndarray
    known: np.ndarray
    value_rounding: float
    constant: float
    slope: float


class Pair(NamedTuple):
    """A pair of classes and where it stands: arrays (n,) of float64 unless said otherwise.

    The class +1 comes first. Where there is no row an entry has no weight, K~_ii = 0 and q = `FAR`.

    Attributes
    ----------
    plus : int, where the range of the class -1 starts
    ridge, diagonal : 1 / C_i and K~_ii
    alpha, q : the weights, and K~ alpha
    active_diagonal : K~_ii of rows with weight, -1 of the others
    active : ndarray of int32, room for the numbers of the rows with weight
    slot_of : ndarray of int32, the line of a row's column, its own number, or -1
    cached : ndarray, shape (n, n), kernel columns
    """

    plus: int
    ridge: np.ndarray
    diagonal: np.ndarray
    alpha: np.ndarray
    q: np.ndarray
    active_diagonal: np.ndarray
    active: np.ndarray
    slot_of: np.ndarray
    cached: np.ndarray


class Scratch(NamedTuple):
    """Memory of one thread.

    Attributes
    ----------
    columns : ndarray of float64, for the columns of its largest pair
    places : ndarray of int32, the places of the rows of its pair
    """

    columns: np.ndarray
    places: np.ndarray


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


def fill_address(some: PairRows, scratch: Scratch) -> int:
    """Return where the machine code stands that computes kernel values (`fwsvm.numerics.machine`)."""
    kernel, (rows, own, tiles), which = some.kernel, some.table, scratch.places
    out, lines = scratch.columns.reshape(1, -1), np.empty(0, np.int64)
    if tiles.numbers.size:
        return address_of(fill_dense, kernel, tiles, which, tiles, 0, 0, out, 0, lines)
    return address_of(fill_sparse, kernel, rows, own, which, rows, own, which, out, 0, lines)


@njit
def solve_pairs(some, penalties, numbers, claimed, fill_at, scratch, solutions):
    """Solve those of the pairs ``numbers`` that no other thread has claimed, and write what they came to.

    Parameters
    ----------
    some : PairRows
    penalties : ndarray of float64, shape (S,), the values of C
    numbers : ndarray of int
    claimed : ndarray of int64, shape (pairs,), 1 where a pair is some thread's
    fill_at : int, see `fill_address`
    scratch : Scratch
    solutions : Solutions
    """
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        i, j = some.pairs[number]
        s, rows = _begun(some, i, j, scratch), some.counts[i] + some.counts[j]
        most = max(int(FIRST_SWAPS * rows), NEWTON_OVERHEAD)
        block = least_cost(2 * rows, some.table.tiles.own.size > 0)
        wanted = np.empty(min(WIDE, AHEAD * block) if penalties.size > 1 else block, np.int32)
        computed = _fill(some, s, i, j, fill_at, scratch, s.active[:2])
        for k in range(penalties.size):
            _set_penalty(some, s, i, j, penalties[k])
            R, best = _recompute(some, s, i, j) if k == 0 else _settled(s)
            steps, checks, reached = 0, 0, False
            while not reached and steps < most and checks < PAIR_CHECKS:
                taken, R, best, missed = _steps(s, R, best, some.constant, some.slope, most - steps)
                steps += taken
                if missed:
                    count = prefetch_set(s.q, s.alpha, s.slot_of, R, best, True, wanted)
                    computed += _fill(some, s, i, j, fill_at, scratch, wanted[:count])
                    continue
                R, best = _recompute(some, s, i, j)
                checks += 1
                reached = 2.0 * (R - s.q[best]) <= some.constant + some.slope * R
            solutions.steps[k, number], solutions.evaluations[k, number], computed = steps, computed, 0
            _write(some, s, i, j, R, solutions.coefficients[k], solutions.biases[k, number : number + 1])
            found = solutions.certificates[k, number]
            write_certificate(s.alpha, s.q, s.ridge, s.diagonal, some.value_rounding, found)
            if not reached:  # another method goes on, for this penalty and those after it
                break


@njit(inner=True)
def _begun(some, i, j, scratch):
    """Return the pair of the classes i and j, with half of the weight on the first row of each."""
    plus = some.starts[i + 1] - some.starts[i]
    n = plus + some.starts[j + 1] - some.starts[j]
    vectors, numbers = np.ones((5, n)), np.empty((2, n), np.int32)
    columns = scratch.columns[: n * n].reshape(n, n)
    s = Pair(
        plus, vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], numbers[0], numbers[1], columns
    )
    for t in range(n):
        scratch.places[t] = some.starts[i] + t if t < plus else some.starts[j] + t - plus
        s.alpha[t], s.active_diagonal[t], s.diagonal[t], s.slot_of[t] = 0.0, -1.0, 0.0, -1
    s.alpha[0] = s.alpha[plus] = 0.5
    s.active[0], s.active[1] = 0, plus
    return s


@njit(inner=True)
def _set_penalty(some, s, i, j, penalty):
    """Set what depends on C, of q the ridge's part."""
    for c, at in ((i, 0), (j, s.plus)):
        for t in range(at, at + some.counts[c]):
            p = some.starts[c] + t - at
            before, s.ridge[t] = s.ridge[t], 1.0 / (penalty * some.weights[p])
            s.q[t] += s.alpha[t] * (s.ridge[t] - before)
            s.diagonal[t] = some.itself[p] + 1.0 + s.ridge[t]
            s.active_diagonal[t] = s.diagonal[t] if s.alpha[t] > 0.0 else -1.0


@njit(inner=True)
def _recompute(some, s, i, j):
    """Set q = K~ alpha from kernel values; return R and where q is least."""
    count, total = _list_active(s), 0.0
    active, signed, h = s.active[:count], np.empty(count), np.zeros(s.q.size)
    for p in range(count):
        signed[p] = s.alpha[active[p]] if active[p] < s.plus else -s.alpha[active[p]]
        total += signed[p]
    add_lines(s.cached, active, signed, h, 0, s.q.size)
    s.q[:] = FAR
    for c, at, y in ((i, 0, 1.0), (j, s.plus, -1.0)):
        for t in range(at, at + some.counts[c]):
            s.q[t] = y * (h[t] + total) + s.alpha[t] * s.ridge[t]
    return _settled(s)


@njit(inner=True)
def _fill(some, s, i, j, fill_at, scratch, wanted):
    """Compute the columns of the rows ``wanted``; return how many values are those of rows of different classes."""
    lines, computed = np.empty(wanted.size, np.int64), 0
    for c, at in ((i, 0), (j, s.plus)):
        width, shift, new = some.starts[c + 1] - some.starts[c], some.starts[c] - at, 0
        first = some.starts[c] if some.whole else 0
        for t in wanted:
            place = scratch.places[t]
            if (some.whole or (t < s.plus) == (at == 0)) and load_acquire(some.known, place):
                for r in range(width):
                    s.cached[t, at + r] = some.values[place, first + r]
            else:
                lines[new] = t
                new += 1
        if new:
            _compute(some, s, c, at, fill_at, scratch, lines[:new])
        for t in lines[:new]:
            if (t < s.plus) != (at == 0):
                computed += some.counts[c]
                continue
            s.cached[t, t] = some.itself[shift + t]
            for r in range(width):  # another thread may write the same numbers
                some.values[shift + t, r] = s.cached[t, at + r]
            store_release(some.known, shift + t, 1)
    for t in wanted:
        s.slot_of[t] = t
    return computed


@njit(inner=True)
def _compute(some, s, c, at, fill_at, scratch, lines):
    """Write the kernel values of the rows ``lines`` with the rows of class c to the columns ``at`` and later."""
    first, last, which = some.starts[c], some.starts[c + 1], scratch.places[lines]
    rows, own, tiles = some.table.rows, some.table.own, some.table.tiles
    if tiles.numbers.size > 0:
        ends = first // HEIGHT, last // HEIGHT
        call(fill_at, (some.kernel, tiles, which, tiles, *ends, s.cached, first - at, lines))
    else:
        places = scratch.places[at : at + last - first]
        call(fill_at, (some.kernel, rows, own, which, rows, own, places, s.cached, at, lines))


@njit(inner=True)
def _write(some, s, i, j, R, coefficients, bias):
    """Write the machine of a pair."""
    bias[0] = 0.0
    for c, at, column, y in ((i, 0, j - 1, 1.0), (j, s.plus, i, -1.0)):
        for t in range(at, at + some.counts[c]):
            coefficients[some.starts[c] + t - at, column] = y * s.alpha[t] / R
            bias[0] += y * s.alpha[t] / R


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
def _partner(s, count, i, gain):
    """Return the row whose swap with i gains most, -1 where none gains more than ``gain``; and its gain.

    By a scan of all rows, or by a walk through the ``count`` rows with weight where these are few.
    """
    q, q_i, K_ii, twice, best = s.q, s.q[i], s.diagonal[i], 2.0 if i < s.plus else -2.0, np.int64(-1)
    k_i = s.cached[i]
    if count * SCAN_FROM >= q.size:
        of_pair, start = (q, s.active_diagonal, q_i, K_ii), np.int64(0)
        best, gain = partner_scan(k_i, *of_pair, twice, start, s.plus, best, gain)
        return partner_scan(k_i, *of_pair, -twice, s.plus, q.size, best, gain)
    for j in s.active[:count]:
        slope = q[j] - q_i
        if slope > 0.0:
            found = slope * slope / curvature(k_i[j], s.diagonal[j], K_ii, twice if j < s.plus else -twice)
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
def _go_to_vertex(s, i):
    """Give row i all weight; return R and where q is least."""
    s.alpha[:], s.active_diagonal[:] = 0.0, -1.0
    s.alpha[i], s.active_diagonal[i], s.active[0] = 1.0, s.diagonal[i], i
    k, y = s.cached[i], 1.0 if i < s.plus else -1.0
    for t in range(s.q.size):
        if s.diagonal[t] > 0.0:
            s.q[t] = (y if t < s.plus else -y) * (k[t] + 1.0)
    s.q[i] += s.ridge[i]
    return _settled(s)


@njit(each_step=True)
def _steps(s, R, best, constant, slope_of_R, most):
    """Take up to ``most`` steps of swap-2o (`fwsvm.solvers.frank_wolfe.swap_2o`) from a point with this R.

    The goal ends them. Return how many were taken, R, where q is least, and whether they ended because kernel values
    of that row are missed.
    """
    q, alpha, diagonal, plus, count = s.q, s.alpha, s.diagonal, s.plus, _list_active(s)
    for taken in range(most):
        i, slope = best, R - q[best]
        near = not 2.0 * slope > constant + slope_of_R * R
        if near or s.slot_of[i] < 0:
            return taken, R, best, not near
        k_i, bend = s.cached[i], max(R - 2.0 * q[i] + diagonal[i], TINY)
        # a swap has to gain more than a step toward i
        j, gain = _partner(s, count, i, slope * slope / bend)
        scale, k_j, b = 1.0, k_i, 0.0
        if j >= 0:
            slope, bend = q[j] - q[i], (q[j] - q[i]) ** 2 / gain
            step = min(slope / bend, alpha[j])
            count = _take(s, j, step, count)
            k_j, b = s.cached[j], -step if j < plus else step
        else:
            step = min(slope / bend, 1.0)
            scale = 1.0 - step
            if scale == 0.0:
                (R, best), count = _go_to_vertex(s, i), 1
                continue
            for t in range(q.size):
                alpha[t] *= scale
        if not alpha[i] > 0.0:
            s.active[count], s.active_diagonal[i] = i, diagonal[i]
            count += 1
        alpha[i] += step
        q[i] += step * s.ridge[i] / scale  # before the scan, so that it meets every entry as it will be
        a, best, least = step if i < plus else -step, np.int64(0), np.inf
        best, least = update_scan(q, k_i, k_j, scale, a, b, np.int64(0), plus, best, least)
        best, least = update_scan(q, k_i, k_j, scale, -a, -b, plus, q.size, best, least)
        R -= step * (2.0 * slope - step * bend)
        if (taken + 1) % SETTLE_EVERY == 0:
            R = _settled(s)[0]
    return most, R, best, False
