"""swap-2o on small pairs of classes, one after another, in compiled code.

A pair is solved by the scans of `fwsvm.solvers.frank_wolfe.scans`, as a run of its own would be, without the half of a
millisecond that a run spends in the interpreter. Its kernel rows come from the kernel matrix of all rows, in float64,
where there is one; else they are computed in float32 as they are wanted. At the end q is summed anew, from kernel
values in float64: that is the certificate. For several penalties a pair is solved for one after another, from where it
ended for the one before, with the same kernel rows.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT, MOST, DenseTiles, add_sums, fill_dense, pack_range
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import WIDE, add_sparse_sums, clear, fill_range, no_left_block, scatter
from fwsvm.numerics.compile import njit
from fwsvm.numerics.machine import address_of, call, compare_exchange
from fwsvm.numerics.simd import WIDTH
from fwsvm.problems.simplex_qp import write_certificate
from fwsvm.solvers.frank_wolfe.gradient import least_cost, prefetch_set
from fwsvm.solvers.frank_wolfe.scans import TINY, partner_scan, update_scan
from fwsvm.solvers.tuning import FIRST_SWAPS, MARGIN, NEWTON_OVERHEAD, PAIR_CHECKS, SETTLE_EVERY

FAR = 1e300  # q where there is no row: never the least, and no part of a sum


class PairRows(NamedTuple):
    """Rows grouped by class: those of a pair of classes are two ranges.

    Attributes
    ----------
    kernel : the kernel
    starts : ndarray of int, shape (K + 1,), where the rows of each class start; a class may have none here
    pairs : ndarray of int, shape (pairs, 2), the classes i < j of each pair
    weights : ndarray of float64, shape (m,), which multiply C
    rows : Rows of float64
    own, itself : ndarray of float64, shape (m,), own terms and k(x, x)
    single, own_single : the rows, and their own terms, in float32
    matrix : ndarray of float64, shape (m + 16, m), the kernel values between eight rows of zeros, which scans may read,
        and eight more; (0, 0) where values are computed as wanted
    dense : bool, whether they are then computed from dense tiles
    value_rounding : float, what kernel values are off by (`fwsvm.kernels.sums.product_rounding`)
    constant, slope : float
        The largest gap at which a pair has converged is constant + slope R.
    """

    kernel: Any
    starts: np.ndarray
    pairs: np.ndarray
    weights: np.ndarray
    rows: Rows
    own: np.ndarray
    itself: np.ndarray
    single: Rows
    own_single: np.ndarray
    matrix: np.ndarray
    dense: bool
    value_rounding: float
    constant: float
    slope: float


class Solutions(NamedTuple):
    """What the pairs of K classes with m rows came to for each of S penalties.

    Attributes
    ----------
    coefficients : ndarray, shape (S, m, K - 1), of the machines, laid out as in `fwsvm.problems.machines.KernelModel`
    biases : ndarray, shape (S, pairs)
    certificates : ndarray, shape (S, pairs, 5): objective, gap, primal, dual, and rounding of the gap, from scratch
    steps, evaluations : ndarray of int, shape (S, pairs)
    """

    coefficients: np.ndarray
    biases: np.ndarray
    certificates: np.ndarray
    steps: np.ndarray
    evaluations: np.ndarray


class Pair(NamedTuple):
    """A pair of classes and where it stands: arrays (n,) of float64 unless said otherwise.

    Each class has a range of a multiple of `WIDTH` places, the class +1 first, so that scans have no rest. Places
    without a row have no weight and q = `FAR`.

    Attributes
    ----------
    where : ndarray of int32, its rows among all
    plus : int, where the range of the class -1 starts
    ranges : pairs of int, the places of the rows of the two classes
    rows : int, rows of both classes
    ridge, diagonal : 1 / C_i and K~_ii
    alpha, q : the weights, and K~ alpha
    active_diagonal : K~_ii of rows with weight, -1 of the others
    values : ndarray, the numbers of a matrix of kernel values: of the pair, or of all rows
    width : int, of that matrix
    shifts : pair of int, the place in a row of that matrix less the place in the pair, for each class
    slot_of : ndarray of int32, the row of that matrix which has the values of a row, -1 where they are not at hand
    tiles : DenseTiles of float32, the rows, where kernel rows are computed from these
    """

    where: np.ndarray
    plus: int
    ranges: tuple[tuple[int, int], tuple[int, int]]
    rows: int
    ridge: np.ndarray
    diagonal: np.ndarray
    alpha: np.ndarray
    q: np.ndarray
    active_diagonal: np.ndarray
    values: np.ndarray
    width: int
    shifts: Any
    slot_of: np.ndarray
    tiles: DenseTiles


def fill_address(some: PairRows) -> int:
    """Return where the machine code stands that computes kernel rows (`fwsvm.numerics.machine`), 0 where none is."""
    if some.matrix.size:
        return 0
    rows, own, out = some.single, some.own_single, np.empty((0, 0), np.float32)
    lines, which = np.empty(0, np.int64), np.empty(0, np.int32)
    if some.dense:
        tiles = DenseTiles(rows.values, own, rows.features)
        return address_of(fill_dense, some.kernel, tiles, which, lines, 0, 0, out, own)
    left_block = no_left_block(rows)
    return address_of(fill_range, some.kernel, left_block, WIDE, 0, rows, own, which, 0, 0, out, lines)


@njit
def solve_pairs(some, penalties, numbers, claimed, fill_at, memory, left_block, exact_block, solutions):
    """Solve those of the pairs ``numbers`` that no other thread has claimed, and write what they came to.

    Parameters
    ----------
    some : PairRows
    penalties : ndarray of float64, shape (S,), the values of C
    numbers : ndarray of int
    claimed : ndarray of int64, shape (pairs,), 1 where a pair is some thread's
    fill_at : int, see `fill_address`
    memory : ndarray (n,), the numbers of the matrix, or float32, for the kernel rows of the largest pair
    left_block, exact_block : LeftBlock of float32 and of float64, for sparse rows
    solutions : Solutions
    """
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        i, j = some.pairs[number]
        s = _pair(some, i, j, memory)
        first_two = np.empty(2, np.int32)
        first_two[0], first_two[1] = 0, s.plus
        exact = some.matrix.size > 0
        computed = 0 if exact else _fill(some, s, left_block, fill_at, first_two)
        s.alpha[0] = s.alpha[s.plus] = 0.5
        share = 1.0 if exact else 1.0 - MARGIN
        constant, line = share * some.constant, share * some.slope
        alphas, done = np.empty((penalties.size, s.q.size)), 0
        for k in range(penalties.size):
            if k:
                _unsettle(s)
            _set_penalty(some, s, penalties[k])
            R, best = _settled(s) if k else _recompute(s)
            steps, checks, most = 0, 0, max(int(FIRST_SWAPS * s.rows), NEWTON_OVERHEAD)
            while True:
                taken, R, best, missed = _steps(s, constant, line, R, best, most - steps)
                steps += taken
                if missed:
                    computed += _fill(some, s, left_block, fill_at, _wanted(some, s, R, best))
                    continue
                if exact:  # else the sums in float64 at the end are the check
                    R, best = _recompute(s)
                checks += 1
                reached = 2.0 * (R - s.q[best]) <= constant + line * R
                if reached or steps >= most or checks == PAIR_CHECKS:
                    break
            solutions.steps[k, number], solutions.evaluations[k, number] = steps, computed
            computed, done, alphas[k] = 0, k + 1, s.alpha
            if exact:
                _write(some, s, R, i, j, k, number, solutions)
            if not reached:  # another method goes on, for this penalty and those after it
                break
        if not exact:
            h = np.zeros((done, s.q.size))
            _add_exactly(some, s, alphas, exact_block, h)
            for k in range(done):
                s.alpha[:], s.q[:] = alphas[k], h[k]
                _set_penalty(some, s, penalties[k])
                _write(some, s, _settled(s)[0], i, j, k, number, solutions)


@njit(inner=True)
def _write(some, s, R, i, j, k, number, solutions):
    """Write the machine and the certificate of a pair for the k-th penalty."""
    bias = 0.0
    for first, last in s.ranges:
        for t in range(first, last):
            coefficient = (s.alpha[t] if t < s.plus else -s.alpha[t]) / R
            solutions.coefficients[k, s.where[t], j - 1 if t < s.plus else i] = coefficient
            bias += coefficient
    solutions.biases[k, number], found = bias, solutions.certificates[k, number]
    write_certificate(s.alpha, s.q, s.ridge, s.diagonal, some.value_rounding, found)


@njit(inner=True)
def _set_penalty(some, s, penalty):
    """Set what depends on C."""
    for first, last in s.ranges:
        for t in range(first, last):
            s.ridge[t] = 1.0 / (penalty * some.weights[s.where[t]])
            s.diagonal[t] = some.itself[s.where[t]] + 1.0 + s.ridge[t]
            s.active_diagonal[t] = s.diagonal[t] if s.alpha[t] > 0.0 else -1.0


@njit(inner=True)
def _pair(some, i, j, memory):
    """Return the pair of the classes i and j, which stands nowhere yet."""
    first, second = some.starts[i], some.starts[j]
    ones, others = some.starts[i + 1] - first, some.starts[j + 1] - second
    plus = (ones + WIDTH - 1) // WIDTH * WIDTH
    n, ranges = plus + (others + WIDTH - 1) // WIDTH * WIDTH, ((0, ones), (plus, plus + others))
    where, slot_of = np.empty(n, np.int32), np.empty(n, np.int32)
    exact = some.matrix.size > 0
    for t in range(n):
        where[t] = first + min(t, ones - 1) if t < plus else second + min(t - plus, others - 1)
        slot_of[t] = where[t] + WIDTH if exact else -1
    height = (n + HEIGHT - 1) // HEIGHT * HEIGHT if some.dense else 0
    numbers, own = np.zeros(height * some.rows.features, np.float32), np.zeros(height, np.float32)
    tiles = _packed(some.single, some.own_single, where, ranges, numbers, own)
    vectors = np.ones((5, n))
    ridge, diagonal, alpha, q, active_diagonal = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    for t in range(n):
        alpha[t], active_diagonal[t] = 0.0, -1.0
    return Pair(
        where,
        plus,
        ranges,
        ones + others,
        ridge,
        diagonal,
        alpha,
        q,
        active_diagonal,
        memory,
        some.matrix.shape[1] if exact else n,
        (first, second - plus) if exact else (np.int64(0), np.int64(0)),
        slot_of,
        tiles,
    )


@njit(inner=True)
def _packed(rows, terms, where, ranges, numbers, own):
    """Return the rows of a pair in tiles, in ``numbers`` and ``own``, which are zero; none where these are empty."""
    if own.size > 0:
        for first, last in ranges:
            row = where[first]
            pack_range(rows, row, row + last - first, row - first, numbers)
            for t in range(first, last):
                own[t] = terms[where[t]]
    return DenseTiles(numbers, own, rows.features)


@njit(inner=True)
def _wanted(some, s, R, missed):
    """Return the row whose kernel row is missed, and those that are likely to be wanted next."""
    rows = np.empty(least_cost(s.rows, some.dense), np.int32)
    return rows[: prefetch_set(s.q, s.alpha, s.slot_of, R, missed, True, rows)]


@njit(inner=True)
def _fill(some, s, left_block, fill_at, wanted):
    """Have the kernel rows ``wanted`` of a pair at hand; return how many kernel values were computed."""
    n, lines = s.q.size, np.empty(wanted.size, np.int64)
    out = s.values[: n * n].reshape(n, n)
    for c in range(wanted.size):
        lines[c] = wanted[c]
    if some.dense:
        scratch = np.empty(MOST * (s.tiles.features + 1 + HEIGHT) + HEIGHT, np.float32)
        end = s.tiles.own.size // HEIGHT
        call(fill_at, (some.kernel, s.tiles, wanted, lines, np.int64(0), end, out, scratch))
    else:
        which, rows, own = np.empty(wanted.size, np.int32), some.single, some.own_single
        for c in range(wanted.size):
            which[c] = s.where[wanted[c]]
        used, first, last = scatter(left_block, rows, own, which, WIDE), np.int64(0), np.int64(n)
        call(
            fill_at, (some.kernel, left_block, WIDE, which.size, rows, own, s.where, first, last, out, lines)
        )
        clear(left_block, used)
    for t in lines:
        out[t, t], s.slot_of[t] = some.itself[s.where[t]], t
    return wanted.size * s.rows


@njit(inline="always")  # arrays that are returned to a caller that counts references
def _lines(s, t):
    """Return the kernel values of a row with those of the class +1, and with those of -1, by place in the pair."""
    start = s.slot_of[t] * s.width
    return s.values[start + s.shifts[0] :], s.values[start + s.shifts[1] :]


@njit(inner=True)
def _recompute(s):
    """Set q = K~ alpha from kernel rows; return R and where q is least."""
    q = s.q
    for t in range(q.size):
        q[t] = 0.0
    for j in range(q.size):
        if s.alpha[j] > 0.0:
            (k, other), weight = _lines(s, j), s.alpha[j] if j < s.plus else -s.alpha[j]
            for t in range(s.plus):
                q[t] += weight * (k[t] + 1.0)
            for t in range(s.plus, q.size):
                q[t] += weight * (other[t] + 1.0)
    return _settled(s)


@njit(inner=True)
def _settled(s):
    """Make q of K alpha with signs, which it holds; return R and where q is least."""
    q, R, best = s.q, 0.0, 0
    for first, last in s.ranges:
        for t in range(first, last):
            q[t] = (q[t] if t < s.plus else -q[t]) + s.alpha[t] * s.ridge[t]
            R += s.alpha[t] * q[t]
            if q[t] < q[best]:
                best = t
    q[s.ranges[0][1] : s.plus] = FAR
    q[s.ranges[1][1] :] = FAR
    return R, best


@njit(inner=True)
def _unsettle(s):
    """Make q of K alpha with signs again."""
    for t in range(s.q.size):
        rest = s.q[t] - s.alpha[t] * s.ridge[t]
        s.q[t] = rest if t < s.plus else -rest


@njit(inner=True)
def _add_sparse(some, s, which, weights, left_block, h):
    """Add sum_c weights[k, c] k(x_which[c], .) to h (S, n) for sparse rows."""
    rows = some.rows
    for start, end in s.ranges:
        first, size = s.where[start], end - start
        part = Rows(rows.values, rows.columns, rows.starts[first : first + size + 1], rows.features)
        own, out = some.own[first : first + size], np.zeros((h.shape[0], size))
        for at in range(0, which.size, WIDE):
            some_weights = weights[:, at : at + WIDE].copy()
            sources = np.empty(some_weights.shape[1], np.int64)
            for c in range(sources.size):
                sources[c] = s.where[which[at + c]]
            add_sparse_sums(
                some.kernel, left_block, rows, some.own, sources, some_weights, part, own, 0, size, out
            )
        for k in range(h.shape[0]):
            for t in range(size):
                h[k, start + t] += out[k, t]


@njit(inner=True)
def _add_exactly(some, s, alphas, left_block, h):
    """Add y_j alpha_j (k(x_j, .) + 1) over the rows j, in float64, to h (S, n), for S of the weights ``alphas``."""
    n, S, rows, count = s.q.size, h.shape[0], some.rows, 0
    which, lines = np.empty(n, np.int64), np.zeros((S, n))
    for t in range(n):
        used = False
        for k in range(S):
            lines[k, count] = alphas[k, t] if t < s.plus else -alphas[k, t]
            used |= alphas[k, t] > 0.0
        if used:
            which[count] = t
            count += 1
    weights = lines[:, :count].copy()
    if some.dense:
        numbers, own = np.zeros(s.tiles.own.size * rows.features), np.zeros(s.tiles.own.size)
        tiles = _packed(rows, some.own, s.where, s.ranges, numbers, own)
        scratch = np.empty(MOST * (rows.features + 1 + HEIGHT) + HEIGHT)
        add_sums(some.kernel, tiles, which[:count], weights, tiles, 0, n, 0, h, scratch)
    else:
        _add_sparse(some, s, which[:count], weights, left_block, h)
    for k in range(S):
        total = 0.0
        for c in range(count):
            total += weights[k, c]
        for t in range(n):
            h[k, t] += total


@njit(each_step=True)
def _steps(s, constant, line, R, best, most):
    """Take up to ``most`` steps of swap-2o (`fwsvm.solvers.frank_wolfe.swap_2o`) from a point with this R.

    A gap up to constant + line R ends them. Return how many were taken, R, where q is least, and whether they ended
    because the kernel row of that is missed.
    """
    q, alpha, diagonal, ridge, plus, n = s.q, s.alpha, s.diagonal, s.ridge, s.plus, s.q.size
    for taken in range(most):
        i, slope = best, R - q[best]
        near = not 2.0 * slope > constant + line * R
        if near or s.slot_of[i] < 0:
            return taken, R, best, not near
        (k_i, l_i), sign = _lines(s, i), 1.0 if i < plus else -1.0
        curvature = max(R - 2.0 * q[i] + diagonal[i], TINY)
        j, gain = np.int64(-1), slope * slope / curvature  # of a step toward i: a swap has to gain more
        j, gain = partner_scan(
            k_i, q, s.active_diagonal, q[i], diagonal[i], 2.0 * sign, np.int64(0), plus, j, gain
        )
        j, gain = partner_scan(l_i, q, s.active_diagonal, q[i], diagonal[i], -2.0 * sign, plus, n, j, gain)
        scale, k_j, l_j, b = 1.0, k_i, l_i, 0.0
        if j >= 0:
            slope, curvature = q[j] - q[i], (q[j] - q[i]) ** 2 / gain
            step = min(slope / curvature, alpha[j])
            alpha[j] -= step
            q[j] -= step * ridge[j]
            (k_j, l_j), b = _lines(s, j), -step if j < plus else step
            if not alpha[j] > 0.0:
                alpha[j], s.active_diagonal[j] = 0.0, -1.0
        else:
            step = min(slope / curvature, 1.0)
            scale = 1.0 - step
            for t in range(n):
                alpha[t] *= scale
        alpha[i] += step
        s.active_diagonal[i] = diagonal[i]
        if scale > 0.0:  # the ridge's share goes first, so that the scan meets every entry as it will be
            q[i] += step * ridge[i] / scale
        a, best, least = sign * step, np.int64(0), np.inf
        best, least = update_scan(q, k_i, k_j, scale, a, b, np.int64(0), plus, best, least)
        best, least = update_scan(q, l_i, l_j, scale, -a, -b, plus, n, best, least)
        if scale == 0.0:  # the vertex i itself
            for t in range(n):
                s.active_diagonal[t] = diagonal[t] if t == i else -1.0
            R, best = _recompute(s)
        else:
            R -= step * (2.0 * slope - step * curvature)
        if (taken + 1) % SETTLE_EVERY == 0:
            R = 0.0
            for t in range(n):
                R += alpha[t] * q[t]
    return most, R, best, False
