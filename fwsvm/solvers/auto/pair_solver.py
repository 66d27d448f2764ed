"""swap-2o on small pairs of classes, one after another, in compiled code.

A pair is solved by the steps of `fwsvm.solvers.frank_wolfe.engine`, as a run of its own would be, without the half of a
millisecond that a run spends in the interpreter. Its kernel rows are in float64, computed as they are wanted. Where
the matrix of all rows fits in memory, the values of a row with a class are computed once for all pairs. At the end q is
summed from kernel rows anew: that is the certificate. For several penalties a pair is solved for one after another,
from where it ended for the one before, with the same kernel rows.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT, MOST, DenseTiles, fill_dense, pack_range
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import WIDE, clear, empty_left_block, fill_range, scatter
from fwsvm.numerics.compile import njit
from fwsvm.numerics.machine import address_of, call, compare_exchange
from fwsvm.problems.simplex_qp import write_certificate
from fwsvm.solvers.frank_wolfe.engine import advance, settle
from fwsvm.solvers.frank_wolfe.gradient import least_cost, prefetch_set
from fwsvm.solvers.frank_wolfe.state import COLUMN_MISS, GOING, REACHED, SimplexState
from fwsvm.solvers.tuning import FIRST_SWAPS, NEWTON_OVERHEAD, PAIR_CHECKS


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
    dense : bool, whether kernel values are computed from dense tiles
    every : ndarray of int32, shape (m,), 0 ... m - 1
    tiles : DenseTiles, the rows, each class from a tile of its own on
    places : ndarray of int, shape (K,), the column of the first row of each class in the matrix, and its row in tiles
    matrix : ndarray of float64, shape (m, columns), room for kernel values, or (0, 0) where that does not fit in memory
    known : ndarray of bool, shape (m, K), whether the values of a row with a class are in the matrix
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
    dense: bool
    every: np.ndarray
    tiles: DenseTiles
    places: np.ndarray
    matrix: np.ndarray
    known: np.ndarray
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


class Blocks(NamedTuple):
    """Where the kernel values of a pair are, or are to be.

    Attributes
    ----------
    matrix, known, tiles, which : as in `PairRows`, or of the pair alone
    lines, columns, classes : pairs of int
        Where the first row of each class is in the matrix, where in tiles, and its column of ``known``.
    """

    matrix: np.ndarray
    known: np.ndarray
    tiles: DenseTiles
    which: np.ndarray
    lines: tuple[Any, Any]
    columns: tuple[Any, Any]
    classes: tuple[Any, Any]


class Addresses(NamedTuple):
    """Where the machine code stands (`fwsvm.numerics.machine`) of steps, and of what computes kernel rows."""

    advance: int
    fill: int


def addresses(some: PairRows, rule: Any, like: SimplexState) -> Addresses:
    """Return the addresses for these rows and a rule; ``like`` is a state of the kind that pairs have."""
    _, _, _, _, rows, own, *_ = some
    lines, which, out = np.empty(0, np.int64), np.empty(0, np.int32), like.cached
    if some.dense:
        tiles = DenseTiles(rows.values, own, rows.features)
        fill = address_of(fill_dense, some.kernel, tiles, which, lines, 0, 0, out, own)
    else:
        left_block = empty_left_block(rows)
        fill = address_of(fill_range, some.kernel, left_block, WIDE, 0, rows, own, which, 0, 0, out, lines)
    return Addresses(address_of(advance, rule, like, 0), fill)


@njit
def solve_pairs(some, penalties, numbers, claimed, rule, like, code, memory, left_block, solutions):
    """Solve those of the pairs ``numbers`` that no other thread has claimed, and write what they came to.

    Parameters
    ----------
    some : PairRows
    penalties : ndarray of float64, shape (S,), the values of C
    numbers : ndarray of int
    claimed : ndarray of int64, shape (pairs,), 1 where a pair is some thread's
    rule : the method's rule
    like : SimplexState, of another problem: what a pair does not need for itself is taken from it
    code : Addresses
    memory : ndarray of float64, for the kernel rows of the largest pair
    left_block : LeftBlock, for sparse rows
    solutions : Solutions
    """
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        i, j = some.pairs[number]
        first, second, plus = some.starts[i], some.starts[j], some.starts[i + 1] - some.starts[i]
        where = np.empty(plus + some.starts[j + 1] - second, np.int32)
        for t in range(where.size):
            where[t] = first + t if t < plus else second + t - plus
        s, blocks = _state(some, where, plus, memory, like), _blocks(some, where, plus, i, j)
        now, first_two = s.now[0], plus * np.arange(2)
        evaluations = _fill(some, s, where, blocks, left_block, code, first_two)
        for c in range(2):  # stand between the first rows of the two classes
            s.alpha[first_two[c]], s.active[c], s.place[first_two[c]] = 0.5, first_two[c], c
        now.active = 2
        for k in range(penalties.size):
            for t in range(where.size):
                s.ridge[t] = 1.0 / (penalties[k] * some.weights[where[t]])
                s.diagonal[t] = some.itself[where[t]] + 1.0 + s.ridge[t]
                if s.place[t] >= 0:
                    s.active_diagonal[t] = s.diagonal[t]
            steps, R = now.steps, _recompute(s)
            most = steps + max(np.int64(FIRST_SWAPS * where.size), NEWTON_OVERHEAD)
            now.stop_constant, now.stop_slope, checks, ended = some.constant, some.slope, 0, REACHED
            while ended == REACHED and checks < PAIR_CHECKS:
                call(code.advance, (rule, s, most - now.steps))
                ended, now.stop = now.stop, GOING
                if ended == COLUMN_MISS:
                    evaluations += _fill(some, s, where, blocks, left_block, code, _missed(s, some))
                    ended = REACHED
                    continue
                R, now.found, checks = _recompute(s), 0, checks + 1
                if 2.0 * (R - s.q[now.best]) <= some.constant + some.slope * R:
                    break
            solutions.steps[k, number], solutions.evaluations[k, number] = now.steps - steps, evaluations
            evaluations, bias = 0, 0.0
            for t in range(where.size):
                coefficient = (s.alpha[t] if t < plus else -s.alpha[t]) / R
                solutions.coefficients[k, where[t], j - 1 if t < plus else i] = coefficient
                bias += coefficient
            solutions.biases[k, number], found = bias, solutions.certificates[k, number]
            write_certificate(s.alpha, s.q, s.ridge, s.diagonal, some.value_rounding, found)
            if (
                found[1] > some.constant + some.slope * R
            ):  # another method goes on, for this penalty and those after it
                break


@njit(inner=True)
def _state(some, where, plus, memory, like):
    """Return the state of a run on the rows ``where``, which stands nowhere yet."""
    n = where.size
    place, slot_of, active_diagonal = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
    for t in range(n):
        place[t], slot_of[t], active_diagonal[t] = -1, -1, -1.0
    return SimplexState(
        like.search,
        plus,
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, np.int32),
        place,
        active_diagonal,
        np.zeros_like(like.now),
        like.random,
        memory[: n * n].reshape(n, n),
        slot_of,
        like.values,
        like.core,
        like.drawn,
        like.team,
    )


@njit(inner=True)
def _blocks(some, where, plus, i, j):
    """Return where the kernel values of the pair of the classes i and j are, or are to be."""
    first, second, n = where[0], where[plus], where.size
    if some.matrix.size > 0:
        columns, classes = (some.places[i], some.places[j]), (i, j)
        return Blocks(
            some.matrix,
            some.known,
            some.tiles,
            some.every,
            (np.int64(first), np.int64(second)),
            columns,
            classes,
        )
    features = some.rows.features if some.dense else 0
    start = (plus + HEIGHT - 1) // HEIGHT * HEIGHT if some.dense else plus
    width = start + (n - plus + HEIGHT - 1) // HEIGHT * HEIGHT if some.dense else n
    numbers, own = np.zeros(width * features), np.zeros(width)
    if some.dense:
        pack_range(some.rows, first, first + plus, first, numbers)
        pack_range(some.rows, second, second + n - plus, second - start, numbers)
        for t in range(n):
            own[t if t < plus else start + t - plus] = some.own[where[t]]
    tiles = DenseTiles(numbers, own, features)
    known, ends = np.zeros((n, 2), np.bool_), (np.int64(0), np.int64(1))
    return Blocks(np.empty((n, width)), known, tiles, where, (np.int64(0), plus), (np.int64(0), start), ends)


@njit(inner=True)
def _missed(s, some):
    """Return the row whose kernel row is wanted, and those that are likely to be wanted next."""
    rows = np.empty(least_cost(s.q.size, some.dense), np.int32)
    count = prefetch_set(s.q, s.alpha, s.slot_of, s.now[0].R, s.now[0].wanted, True, rows)
    return rows[:count].astype(np.int64)


@njit(inner=True)
def _fill(some, s, where, blocks, left_block, code, wanted):
    """Have the kernel rows ``wanted`` of a pair at hand; return how many kernel values were computed."""
    n, plus, computed = where.size, s.plus, 0
    lines, which, numbers = (
        np.empty(wanted.size, np.int64),
        np.empty(wanted.size, np.int32),
        wanted.astype(np.int32),
    )
    for c in range(2):  # the values with each of the two classes, those that are not known
        count, size, column = 0, plus if c == 0 else n - plus, blocks.columns[c]
        for t in wanted:
            side = 0 if t < plus else 1
            line = blocks.lines[side] + t - side * plus
            if not blocks.known[line, blocks.classes[c]]:
                lines[count], which[count] = line, where[t]
                numbers[count] = blocks.columns[side] + t - side * plus
                count += 1
        if count == 0:
            continue
        computed += count * size
        if some.dense:
            start, end = column // HEIGHT, (column + size + HEIGHT - 1) // HEIGHT
            scratch = np.empty(MOST * (some.rows.features + 1 + HEIGHT) + HEIGHT)
            tiles, rows, to = blocks.tiles, numbers[:count], lines[:count]
            call(code.fill, (some.kernel, tiles, rows, to, start, end, blocks.matrix, scratch))
        else:
            used, end = scatter(left_block, some.rows, some.own, which[:count], WIDE), column + size
            kernel, rows, own, to = some.kernel, some.rows, some.own, lines[:count]
            call(
                code.fill,
                (kernel, left_block, WIDE, count, rows, own, blocks.which, column, end, blocks.matrix, to),
            )
            clear(left_block, used)
        for line in lines[:count]:  # not before: other threads read them, too
            blocks.known[line, blocks.classes[c]] = True
    for t in wanted:
        side = 0 if t < plus else 1
        values, k = blocks.matrix[blocks.lines[side] + t - side * plus], s.cached[t]
        for p in range(plus):
            k[p] = values[blocks.columns[0] + p]
        for p in range(n - plus):
            k[plus + p] = values[blocks.columns[1] + p]
        k[t], s.slot_of[t] = some.itself[where[t]], t
    return computed


@njit(inner=True)
def _recompute(s):
    """Set q = K~ alpha from the kernel rows of the active rows, and settle; return R."""
    now, q = s.now[0], s.q
    for t in range(q.size):
        q[t] = 0.0
    for p in range(now.active):
        j = s.active[p]
        k, weight = s.cached[j], s.alpha[j] if j < s.plus else -s.alpha[j]
        for t in range(q.size):
            q[t] += weight * (k[t] + 1.0)
    now.best = 0
    for t in range(q.size):
        q[t] = (q[t] if t < s.plus else -q[t]) + s.alpha[t] * s.ridge[t]
        if q[t] < q[now.best]:
            now.best = t
    settle(s.alpha, q, s.diagonal, s.active, s.now)
    return now.R
