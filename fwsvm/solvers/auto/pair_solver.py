"""swap-2o and newton on small pairs of classes, one after another, in compiled code.

A pair is solved by the scans of `fwsvm.solvers.frank_wolfe.scans`, and for large C by Newton's steps, as a run of its
own would be, without the half of a millisecond that a run spends in the interpreter. For several penalties a pair is
solved for one after another, from where it ended for the one before, with the same kernel values. At the end q is
summed anew from these values: that is the certificate.

Kernel values are float64. For sparse rows, and along a path, all sums over features are known before. Else values of
dense rows are computed as they are wanted, and those of a row with its own class serve all pairs.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT, MOST, DenseTiles, fill_dense
from fwsvm.kernels.kernel import value
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.numerics.cholesky import solve_ones
from fwsvm.numerics.compile import njit, njit_inlined_step, njit_inner, njit_step
from fwsvm.numerics.machine import load_acquire, store_release
from fwsvm.numerics.simd import broadcast, load, store
from fwsvm.problems.simplex_qp import add_lines, write_certificate
from fwsvm.solvers.frank_wolfe.gradient import least_cost, prefetch_set
from fwsvm.solvers.frank_wolfe.scans import TINY, partner_scan, update_scan
from fwsvm.solvers.tuning import FEW_WRONG, FIRST_SWAPS, LARGEST_FACTOR, PAIR_CHECKS, PAIR_FACTOR_RATE

FAR = 1e300  # q where there is no row: never the least, and no part of a sum
AHEAD = 4  # blocks of `least_cost` at a time for several penalties, which want more rows sooner or later
OTHER = -2.0  # less a kernel value k of rows of different classes it is y_i y_j (k + 1) - 1
WHOLE = 1.0 - 2.0**-40  # the longest step toward a row: one of 1 would leave all weight on it


class PairRows(NamedTuple):
    """Rows grouped by class, each class from a multiple of `HEIGHT` places on, with empty rows up to the next.

    Attributes
    ----------
    kernel : the kernel, of the sums in ``values`` where all are known
    starts : ndarray of int, shape (K + 1,), the place where each class starts
    pairs : ndarray of int, shape (pairs, 2), the classes i < j of each pair
    row : ndarray of int, shape (places,), the number of the row at each place
    ridges, diagonals : ndarray of float64, shape (S, places), 1 / C_i and K~_ii for each of S penalties
        Places without a row have 1 and 0.
    itself : ndarray of float64, shape (places,), k(x, x)
    own : ndarray of float64, shape (places,), the rows' own terms
    tiles : DenseTiles of float64, the rows, if ``values`` are of their own classes
    values : ndarray of float64, shape (places, places), or (places, places of the widest class)
        Sums over features of rows with all rows, or kernel values of rows with their own class.
    known : ndarray of int64, shape (places,), how many values of a row ``values`` has, of rows of its own class
    value_rounding : float, what kernel values are off by (`fwsvm.kernels.values.rounding_of_sums`)
    constant, slope : float
        The largest gap at which a pair has converged is constant + slope R.
    """

    kernel: Any
    starts: np.ndarray
    pairs: np.ndarray
    row: np.ndarray
    ridges: np.ndarray
    diagonals: np.ndarray
    itself: np.ndarray
    own: np.ndarray
    tiles: DenseTiles
    values: np.ndarray
    known: np.ndarray
    value_rounding: float
    constant: float
    slope: float


class Pair(NamedTuple):
    """A pair of classes i < j and where it stands: arrays (n,) of float64 unless said otherwise.

    The rows of class i come first. A place without a row has no weight, and q = `FAR`.

    Attributes
    ----------
    i, j : int
    plus : int, where the rows of class j start
    ridge, diagonal : 1 / C_i and K~_ii
    alpha, q : the weights, and K~ alpha
    active_diagonal : K~_ii of rows with weight, -1 of the others
    place : ndarray of int32, the places of the rows in `PairRows`
    slot_of : ndarray of int32, the line of a row's column, its own number, or -1
    cached : ndarray, shape (n, n), columns of K~ without the ridge, less 1
    computed : ndarray of int64, shape (1,), the values of rows of different classes computed for the present penalty
    """

    i: int
    j: int
    plus: int
    ridge: np.ndarray
    diagonal: np.ndarray
    alpha: np.ndarray
    q: np.ndarray
    active_diagonal: np.ndarray
    place: np.ndarray
    slot_of: np.ndarray
    cached: np.ndarray
    computed: np.ndarray


class Solutions(NamedTuple):
    """What the pairs of K classes of m rows came to for each of S penalties.

    Attributes
    ----------
    coefficients : ndarray, shape (S, m, K - 1), of the machines, laid out as in `fwsvm.problems.machines.KernelModel`
    biases : ndarray, shape (S, pairs)
    certificates : ndarray, shape (S, pairs, 5): objective, gap, primal, dual, and rounding of the gap, from scratch
    steps, evaluations : ndarray of int, shape (S, pairs)
        Steps, and kernel values of rows of different classes that were computed.
    """

    coefficients: np.ndarray
    biases: np.ndarray
    certificates: np.ndarray
    steps: np.ndarray
    evaluations: np.ndarray


@njit
def solve_pairs(some, numbers, columns, solutions):
    """Solve the pairs ``numbers``, and write what they came to.

    Parameters
    ----------
    some : PairRows
    numbers : ndarray of int
    columns : ndarray of float64, shape (n * n,), memory of this thread for the columns of the largest pair
    solutions : Solutions
    """
    for number in numbers:
        i, j = some.pairs[number]
        s = _begun(some, i, j, columns)
        n, penalties = s.q.size, some.ridges.shape[0]
        block = least_cost(2 * n)
        wanted = np.empty(min(WIDE, AHEAD * block) if penalties > 1 else block, np.int32)
        wanted[0], wanted[1] = 0, s.plus
        _fill(some, s, wanted[:2])
        for k in range(penalties):
            R, best = _set_penalty(some, s, k)
            if k == 0:
                R, best = _recompute(s)
            steps, look, checks, reached = 0, 0, 0, False
            while checks < PAIR_CHECKS and not reached:
                if not 2.0 * (R - s.q[best]) > some.constant + some.slope * R:
                    R, best = _recompute(s)
                    reached = 2.0 * (R - s.q[best]) <= some.constant + some.slope * R
                    checks += 1
                elif steps >= look:
                    active = np.count_nonzero(s.alpha)
                    look = max(FIRST_SWAPS * active, active**3 // (PAIR_FACTOR_RATE * n))
                    if steps >= look:
                        if active > LARGEST_FACTOR:
                            break
                        if s.ridge[0] < 1.0:  # for smaller C, steps of swap-2o reach the goal
                            steps += _newton(some, s, wanted)
                            R, best = _recompute(s)
                        look, checks = steps + steps // 2, checks + 1
                elif s.slot_of[best] < 0:
                    _fill(some, s, wanted[: prefetch_set(s.q, s.alpha, s.slot_of, R, best, True, wanted)])
                else:
                    R, best = _step(s, R, best)
                    steps += 1
            solutions.steps[k, number], solutions.evaluations[k, number] = steps, s.computed[0]
            s.computed[0] = 0
            solutions.biases[k, number] = _write(some, s, R, solutions.coefficients[k])
            found = solutions.certificates[k, number]
            write_certificate(s.alpha, s.q, s.ridge, s.diagonal, some.value_rounding, found)
            if not reached:  # another method goes on, for this penalty and those after it
                break


@njit_inner
def _begun(some, i, j, columns):
    """Return the pair of the classes i and j, with half of the weight on the first row of each."""
    first, second = some.starts[i], some.starts[j]
    plus = some.starts[i + 1] - first
    n = plus + some.starts[j + 1] - second
    vectors, numbers = np.zeros((5, n)), np.empty((2, n), np.int32)
    ridge, diagonal, alpha, q, active_diagonal = vectors
    place, slot_of = numbers
    for t in range(n):
        p = first + t if t < plus else second + t - plus
        place[t], slot_of[t], active_diagonal[t] = p, -1, -1.0
    alpha[0] = alpha[plus] = 0.5
    point = ridge, diagonal, alpha, q, active_diagonal
    return Pair(i, j, plus, *point, place, slot_of, columns[: n * n].reshape(n, n), np.zeros(1, np.int64))


@njit_inner
def _fill(some, s, wanted):
    """Compute the columns of the rows ``wanted``."""
    whole, lines = some.tiles.own.size == 0, np.empty(wanted.size, np.int64)
    for c, at in ((s.i, 0), (s.j, s.plus)):
        first, width, new = some.starts[c], some.starts[c + 1] - some.starts[c], 0
        base = first if whole else 0
        for t in wanted:
            own, p = (t < s.plus) == (at == 0), s.place[t]
            if whole or (own and load_acquire(some.known, p)):
                source, out = some.values[p], s.cached[t]
                for r in range(0, width, 8):
                    k = load(source, base + r)
                    if whole:
                        k = value(some.kernel, k, load(some.own, base + r), broadcast(some.own[p]))
                    store(out, at + r, k if own else broadcast(OTHER) - k)
            else:
                lines[new] = t
                new += 1
        if new:
            _compute(some, s, lines[:new], first, width, at)
    for t in wanted:
        s.slot_of[t], s.cached[t, t] = t, some.itself[s.place[t]]


@njit_inner
def _compute(some, s, lines, first, width, at):
    """Compute kernel values of rows with those of a class; share those of its own rows, count those of the others."""
    rows = some.kernel, some.tiles, s.place[lines], some.tiles
    to = s.cached.reshape(-1), s.q.size, first - at, lines
    left = np.empty(MOST * (some.tiles.features + 1 + HEIGHT), s.cached.dtype)
    fill_dense(*rows, first // HEIGHT, (first + width) // HEIGHT, *to, left)
    for t in lines:
        p, computed, own = s.place[t], s.cached[t], (t < s.plus) == (at == 0)
        shared = some.values[p]
        for r in range(0, width, 8):
            k = load(computed, at + r)
            if own:
                store(shared, r, k)  # another thread may write the same numbers
            else:
                store(computed, at + r, broadcast(OTHER) - k)
        if own:
            store_release(some.known, p, width)
        else:
            s.computed[0] += width


@njit_inner
def _set_penalty(some, s, k):
    """Set what depends on C, of q the ridge's part; return R and where q is least."""
    for t in range(s.q.size):
        ridge, s.diagonal[t] = some.ridges[k, s.place[t]], some.diagonals[k, s.place[t]]
        s.q[t] += s.alpha[t] * (ridge - s.ridge[t])
        s.ridge[t] = ridge
        if s.alpha[t] > 0.0:
            s.active_diagonal[t] = s.diagonal[t]
    return _objective(s)


@njit_inner
def _write(some, s, R, coefficients):
    """Write the coefficients of a pair's machine; return its bias."""
    bias = 0.0
    for t in range(s.q.size):
        if s.alpha[t] > 0.0:
            weight, column = (s.alpha[t] / R, s.j - 1) if t < s.plus else (-s.alpha[t] / R, s.i)
            coefficients[some.row[s.place[t]], column] = weight
            bias += weight
    return bias


@njit_inner
def _newton(some, s, wanted):
    """Take Newton's steps (`fwsvm.solvers.newton`) from the rows with weight on, all the way; return how many.

    alpha moves where few rows are wrong at the end; q is to be computed anew.
    """
    steps, wrong, active = 0, 0, s.alpha > 0.0
    lines = np.flatnonzero(active)
    while steps < PAIR_CHECKS and 2 * wrong <= lines.size:
        for t in lines:
            if s.slot_of[t] < 0:
                wanted[0] = t
                _fill(some, s, wanted[:1])
        x = solve_ones(s.cached, s.ridge, lines)
        s.q[:] = x.sum()
        add_lines(s.cached, lines, x, s.q, 0, s.q.size)
        has_loss = (s.q < 1.0) & (s.diagonal > 0.0)
        steps, wrong, active = steps + 1, int(np.count_nonzero(has_loss != active)), has_loss
        if wrong <= FEW_WRONG * lines.size:
            s.alpha[:] = 0.0
            s.alpha[lines] = np.maximum(x, 0.0)
            s.alpha[:] /= s.alpha.sum()
            break
        lines = np.flatnonzero(active)
    return steps


@njit_inner
def _recompute(s):
    """Set q = K~ alpha from kernel values, and what is known of rows with weight; return R and where q is least."""
    n, count, total = s.q.size, 0, 0.0
    lines, weights = np.empty(n, np.int64), np.empty(n)
    for t in range(n):
        s.q[t], s.active_diagonal[t] = 0.0 if s.diagonal[t] > 0.0 else FAR, -1.0
        if s.alpha[t] > 0.0:
            s.active_diagonal[t] = s.diagonal[t]
            lines[count], weights[count] = t, s.alpha[t]
            count, total = count + 1, total + s.alpha[t]
    add_lines(s.cached, lines[:count], weights[:count], s.q, 0, n)
    for t in range(n):
        s.q[t] += total + s.alpha[t] * s.ridge[t]
    return _objective(s)


@njit_step
def _objective(s):
    """Return R, and where q is least."""
    R, best = 0.0, 0
    for t in range(s.q.size):
        R += s.alpha[t] * s.q[t]
        if s.q[t] < s.q[best]:
            best = t
    return R, best


@njit_inlined_step
def _step(s, R, i):
    """Take a step of swap-2o (`fwsvm.solvers.frank_wolfe.swap_2o`) to row i, where q is least.

    Return R, and where q is least.
    """
    q, alpha, k_i, first, last = s.q, s.alpha, s.cached[i], np.int64(0), s.q.size
    slope, bend = R - q[i], max(R - 2.0 * q[i] + s.diagonal[i], TINY)
    pair = q, s.active_diagonal, q[i], s.diagonal[i], 2.0, first, last
    j, gain = partner_scan(k_i, *pair, np.int64(-1), slope * slope / bend)
    scale, k_j, b = 1.0, k_i, 0.0
    if j >= 0:
        slope, bend = q[j] - q[i], (q[j] - q[i]) ** 2 / gain
        step = min(slope / bend, alpha[j])
        k_j, b = s.cached[j], -step
        alpha[j] -= step
        q[j] -= step * s.ridge[j]
        if not alpha[j] > 0.0:
            alpha[j], s.active_diagonal[j] = 0.0, -1.0
    else:
        step = min(slope / bend, WHOLE)
        scale = 1.0 - step
        for t in range(last):
            alpha[t] *= scale
    alpha[i] += step
    s.active_diagonal[i] = s.diagonal[i]
    q[i] += step * s.ridge[i] / scale  # before the scan, so that it meets every entry as it will be
    best, _ = update_scan(q, k_i, k_j, scale, step, b, first, last, first, np.inf)
    return R - step * (2.0 * slope - step * bend), best
