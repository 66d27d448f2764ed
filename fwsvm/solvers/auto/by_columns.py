"""swap-2o on pairs of classes, in compiled code.

Each pair is set up and solved by the steps of `fwsvm.solvers.frank_wolfe.engine` over a column cache of its own, as a
run of its own would be, without the half of a millisecond that a run spends in the interpreter. For several penalties
it is solved for one after another, from where it ended for the one before, while its columns are in the processor's
caches. Certificates come afterwards (`fwsvm.solvers.auto.pair_certificates`).

Where most rows have weight for the first penalty, kernel matrices are computed whole. The values among the rows of one
class stand in the matrices of all its pairs: they are computed once. Of the values between two classes half is the
mirror image of the other, so that a pair takes a quarter of what its columns take.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, FEWEST, USED, ColumnCache, claim_slots
from fwsvm.kernels.dense_tiles import HEIGHT, MOST, DenseTiles, fill_dense, pack_left_block, pack_range
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import NARROW, WIDE, clear, fill_range, scatter
from fwsvm.numerics.compile import njit
from fwsvm.numerics.machine import address_of, call, compare_exchange
from fwsvm.solvers.auto.grouped_rows import most_steps
from fwsvm.solvers.frank_wolfe.engine import settle
from fwsvm.solvers.frank_wolfe.gradient import least_cost, prefetch_set
from fwsvm.solvers.frank_wolfe.state import COLUMN_MISS, GOING, SimplexState
from fwsvm.solvers.tuning import MARGIN, MIRRORED_TOGETHER


class Addresses(NamedTuple):
    """Where the machine code stands (`fwsvm.numerics.machine`) of steps, and of what fills columns."""

    advance: int
    fill: int


def fill_address(columns: ColumnCache, *, dense: bool) -> int:
    """Return where the code stands that fills such columns, from tiles of dense rows or from sparse ones."""
    kernel, rows, own, _, left_block, tiles, all_rows, cached, *_ = columns
    nothing = np.empty(0, np.int64)
    if dense:
        return address_of(fill_dense, kernel, tiles, own, 0, 0, cached, nothing)
    return address_of(fill_range, kernel, left_block, WIDE, 0, rows, own, all_rows, 0, 0, cached, nothing)


@njit
def solve_by_columns(
    laid, penalties, numbers, claimed, goal, rule, like, addresses, matrices, memory, left_block, solutions
):
    """Solve those of the pairs ``numbers`` that no other thread has claimed, and write the weights.

    Parameters
    ----------
    laid : LaidOutRows
    penalties : ndarray of float64, shape (S,), the values of C
    numbers : ndarray of int
    claimed : ndarray of int64, shape (pairs,), 1 where a pair is some thread's
    goal : Goal
    rule : the method's rule
    like : SimplexState, of another problem: what a pair does not need for itself is taken from it
    addresses : Addresses
    matrices : ClassMatrices, for pairs that begin with all columns
    memory : ndarray of float32, for kernel columns
    left_block : LeftBlock of float32, for sparse rows
    solutions : Solutions
        The coefficients become the weights with the signs of the classes, until a certificate divides them by R.
    """
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        i, j = laid.pairs[number]
        a, b = (laid.starts[i], laid.starts[i + 1]), (laid.starts[j], laid.starts[j + 1])
        columns = pair_columns(laid, a, b, memory, left_block)
        s = pair_state(laid, penalties[0], a, b, columns, like)
        now, n = s.now[0], s.q.size
        if matrices.starts.size > 0:
            fill_pair(columns, s.plus, i, j, matrices, addresses.fill)
            start_at_all(s)
        else:
            start_at_two(s, columns, addresses.fill)
        now.stop_constant, now.stop_slope = (1.0 - MARGIN) * goal.constant, (1.0 - MARGIN) * goal.slope
        most, steps, evaluations = most_steps(goal, n), 0, 0
        for k in range(penalties.size):
            if k > 0:
                change_penalty(s, laid, penalties[k], a, b)
            _solve(addresses, rule, s, columns, most)
            solutions.reached[k, number] = now.stop != GOING
            solutions.steps[k, number] = now.steps - steps
            solutions.evaluations[k, number] = columns.counts[EVALUATIONS] - evaluations
            steps, evaluations = now.steps, columns.counts[EVALUATIONS]
            for t in range(n):
                if t < s.plus:
                    solutions.coefficients[k, a[0] + t, j - 1] = s.alpha[t]
                else:
                    solutions.coefficients[k, b[0] + t - s.plus, i] = -s.alpha[t]
            if now.stop == GOING:  # another method goes on, for this penalty and those after it
                break


@njit(inner=True)
def _solve(addresses, rule, s, columns, steps):
    """Take up to ``steps`` steps, computing the columns that they miss."""
    now, m = s.now[0], s.q.size
    taken = call(addresses.advance, (rule, s, steps))
    while now.stop == COLUMN_MISS:
        slots, new = columns.row_of.size, columns.counts[USED] < columns.row_of.size
        size = min(least_cost(m, columns.tiles.numbers.size > 0 or not new), slots // 2)
        rows = np.empty(max(1, size), np.int32)
        wanted = rows[: prefetch_set(s.q, s.alpha, s.slot_of, now.R, now.wanted, new, rows)]
        _compute(addresses.fill, columns, wanted, s.alpha, now.vertex, np.int64(0))
        now.stop = GOING
        taken += call(addresses.advance, (rule, s, steps - taken))


@njit(inner=True)
def _compute(fill_at, columns, wanted, priority, keep, first):
    """Do `fwsvm.kernels.column_cache.compute` from the row ``first`` on.

    Dense rows are met in tiles: some entries before ``first`` may be written, too.
    """
    row_of, slot_of, cached = columns.row_of, columns.slot_of, columns.cached
    lines = np.empty(wanted.size, np.int64)
    claim_slots(row_of, slot_of, columns.counts, columns.random, priority, keep, wanted, lines)
    kernel, tiles, left_block, rows = columns.kernel, columns.tiles, columns.left_block, columns.rows
    own = columns.own
    if tiles.numbers.size > 0:
        left_own, to = pack_left_block(tiles, wanted, lines)
        last = tiles.own.size // HEIGHT
        call(fill_at, (kernel, tiles, left_own, first // HEIGHT, last, cached, to))
    else:
        width = NARROW if wanted.size <= NARROW else WIDE
        used = scatter(left_block, rows, own, wanted, width)
        every, m = columns.all_rows, slot_of.size
        call(fill_at, (kernel, left_block, width, wanted.size, rows, own, every, first, m, cached, lines))
        clear(left_block, used)
    for c in range(wanted.size):
        cached[lines[c], wanted[c]] = columns.itself[wanted[c]]


@njit(inner=True)
def pair_columns(laid, a, b, memory, single):
    """Return an empty column cache over the rows of two ranges."""
    rows, n = pair_rows(laid.single, a, b), a[1] - a[0] + b[1] - b[0]
    own, itself = np.empty(n, np.float32), np.empty(n)
    all_rows, slot_of = np.empty(n, np.int32), np.empty(n, np.int32)
    for t in range(n):
        row = a[0] + t if t < a[1] - a[0] else b[0] + t - a[1] + a[0]
        own[t], itself[t] = laid.own_single[row], laid.itself[row]
        all_rows[t], slot_of[t] = t, -1
    slots = max(min(n, FEWEST), min(n, memory.size // n))
    row_of = np.empty(slots, np.int32)
    for slot in range(slots):
        row_of[slot] = -1
    dense = laid.tiles.numbers.size > 0
    height = (n + HEIGHT - 1) // HEIGHT * HEIGHT if dense else 0
    numbers, terms = np.zeros(height * rows.features, np.float32), np.zeros(height, np.float32)
    if dense:
        pack_range(rows, 0, n, 0, numbers)
        for t in range(n):
            terms[t] = own[t]
    left_block = np.empty(MOST * rows.features if dense else 0, np.float32)
    return ColumnCache(
        laid.kernel,
        rows,
        own,
        itself,
        single,
        DenseTiles(numbers, terms, left_block, rows.features),
        all_rows,
        memory[: slots * n].reshape(slots, n),
        slot_of,
        row_of,
        np.zeros(3, np.int64),
        np.zeros(1, np.uint64),
        1,
    )


@njit(inner=True)
def pair_rows(rows, a, b):
    """Return copies of the rows of two ranges."""
    first, second = rows.starts[a[0]], rows.starts[b[0]]
    stored_a, stored_b = rows.starts[a[1]] - first, rows.starts[b[1]] - second
    n, plus = a[1] - a[0] + b[1] - b[0], a[1] - a[0]
    starts = np.empty(n + 1, np.int64)
    values, columns = np.empty(stored_a + stored_b, np.float32), np.empty(stored_a + stored_b, np.int32)
    for t in range(plus):
        starts[t] = rows.starts[a[0] + t] - first
    for t in range(n - plus + 1):
        starts[plus + t] = rows.starts[b[0] + t] - second + stored_a
    for p in range(stored_a):
        values[p], columns[p] = rows.values[first + p], rows.columns[first + p]
    for p in range(stored_b):
        values[stored_a + p], columns[stored_a + p] = rows.values[second + p], rows.columns[second + p]
    return Rows(values, columns, starts, rows.features)


@njit(inner=True)
def pair_state(laid, penalty, a, b, columns, like):
    """Return the state of a run that stands nowhere yet."""
    n, plus = columns.slot_of.size, a[1] - a[0]
    ridge, diagonal, active_diagonal = np.empty(n), np.empty(n), np.empty(n)
    place = np.empty(n, np.int32)
    for t in range(n):
        ridge[t] = 1.0 / (penalty * laid.weights[a[0] + t if t < plus else b[0] + t - plus])
        diagonal[t] = columns.itself[t] + 1.0 + ridge[t]
        active_diagonal[t], place[t] = -1.0, -1
    return SimplexState(
        like.search,
        plus,
        ridge,
        diagonal,
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, np.int32),
        place,
        active_diagonal,
        np.zeros_like(like.now),
        like.random,
        columns.cached,
        columns.slot_of,
        like.values,
        like.core,
        like.drawn,
        like.team,
    )


@njit(inner=True)
def start_at_two(s, columns, fill_at):
    """Stand between the first rows of the two classes, with q by their kernel columns."""
    now, wanted = s.now[0], np.empty(2, np.int32)
    wanted[0], wanted[1] = 0, s.plus
    _compute(fill_at, columns, wanted, s.alpha, np.int64(-1), np.int64(0))
    for c in range(2):
        t = wanted[c]
        s.alpha[t], s.active[c], s.place[t], s.active_diagonal[t] = 0.5, t, c, s.diagonal[t]
    now.active, now.found = 2, 0
    k_a, k_b = s.cached[s.slot_of[0]], s.cached[s.slot_of[s.plus]]
    for t in range(s.q.size):
        both = 0.5 * (np.float64(k_a[t]) - np.float64(k_b[t]))
        s.q[t] = (both if t < s.plus else -both) + s.alpha[t] * s.ridge[t]
    settle_and_find_best(s)


@njit(inner=True)
def settle_and_find_best(s):
    """Settle the point, and find the row of the least q."""
    settle(s.alpha, s.q, s.diagonal, s.active, s.now)
    now = s.now[0]
    now.best = 0
    for t in range(s.q.size):
        if s.q[t] < s.q[now.best]:
            now.best = t


@njit(inner=True)
def change_penalty(s, laid, penalty, a, b):
    """Let the run go on from its weights for another penalty."""
    now = s.now[0]
    for t in range(s.q.size):
        ridge = 1.0 / (penalty * laid.weights[a[0] + t if t < s.plus else b[0] + t - s.plus])
        more = ridge - s.ridge[t]
        s.ridge[t] = ridge
        s.diagonal[t] += more
        s.q[t] += s.alpha[t] * more
        if s.place[t] >= 0:
            s.active_diagonal[t] = s.diagonal[t]
    now.found, now.stop = 0, GOING
    settle_and_find_best(s)


class ClassMatrices(NamedTuple):
    """The kernel values among the rows of each class; none where pairs compute columns as they are wanted.

    Attributes
    ----------
    values : ndarray of float32, the matrices one after another
    starts : ndarray of int64, shape (K,), where each begins
    """

    values: np.ndarray
    starts: np.ndarray


def no_class_matrices() -> ClassMatrices:
    """Return what lets pairs compute columns as they are wanted."""
    return ClassMatrices(np.empty(0, np.float32), np.empty(0, np.int64))


def empty_class_matrices(sizes: np.ndarray) -> ClassMatrices:
    """Return room for the kernel values of classes of so many rows (K,)."""
    ends = np.cumsum(sizes.astype(np.int64) ** 2)
    return ClassMatrices(np.empty(ends[-1], np.float32), np.concatenate([[0], ends[:-1]]))


@njit
def fill_class_matrices(laid, claimed, addresses, left_block, matrices):
    """Compute the matrices of those classes that no other thread has claimed; see `solve_by_columns`."""
    for c in range(matrices.starts.size):
        if not compare_exchange(claimed, c, 0, 1):
            continue
        rows = laid.starts[c], laid.starts[c + 1]
        n = rows[1] - rows[0]
        if n > 0:
            values = matrices.values[matrices.starts[c] : matrices.starts[c] + n * n]
            columns = pair_columns(laid, rows, (rows[1], rows[1]), addresses.fill, values, left_block)
            _fetch(columns, n, 0, addresses.fill)


@njit(inner=True)
def _fetch(columns, count, first, fill_at):
    """Compute the columns of the first rows, in the order of the rows, from the row ``first`` on."""
    none = np.zeros(columns.slot_of.size)
    for at in range(0, count, WIDE):
        wanted = np.empty(min(WIDE, count - at), np.int32)
        for c in range(wanted.size):
            wanted[c] = at + c
        _compute(fill_at, columns, wanted, none, np.int64(-1), np.int64(first))


@njit(inner=True)
def fill_pair(columns, plus, i, j, matrices, fill_at):
    """Compute all columns of the pair of the classes i and j, of which the first has ``plus`` rows."""
    n, cached = columns.slot_of.size, columns.cached
    _fetch(columns, plus, plus, fill_at)
    of_i, of_j, minus = matrices.starts[i], matrices.starts[j], n - plus
    for t in range(plus):
        line = cached[t]
        for p in range(plus):
            line[p] = matrices.values[of_i + t * plus + p]
    for t in range(minus):
        line = cached[plus + t]
        for p in range(minus):
            line[plus + p] = matrices.values[of_j + t * minus + p]
    for first in range(0, plus, MIRRORED_TOGETHER):
        last = min(first + MIRRORED_TOGETHER, plus)
        for t in range(plus, n):
            line = cached[t]
            for p in range(first, last):
                line[p] = cached[p, t]
    for t in range(n):
        columns.slot_of[t] = columns.row_of[t] = t
    columns.counts[EVALUATIONS] = plus * minus


@njit(inner=True)
def start_at_all(s):
    """Stand at all rows: in each class in the ratio of the penalties, between the classes where R is least.

    That is the optimum as C goes to 0, but for the share of the classes.
    """
    now, plus, n = s.now[0], s.plus, s.q.size
    total, of_class = np.zeros(2), np.zeros((2, n))
    for t in range(n):
        total[0 if t < plus else 1] += 1.0 / s.ridge[t]
    for t in range(n):
        c = 0 if t < plus else 1
        s.alpha[t] = 1.0 / (s.ridge[t] * total[c])
        sums, weight, k = of_class[c], s.alpha[t], s.cached[t]
        for p in range(n):
            sums[p] += weight * (k[p] + 1.0)
    inner = np.zeros(3)  # products of the two points by K~: of the first, of the second, of both
    for t in range(n):
        own = s.alpha[t] * s.alpha[t] * s.ridge[t]
        if t < plus:
            inner[0] += s.alpha[t] * of_class[0, t] + own
            inner[2] -= s.alpha[t] * of_class[1, t]
        else:
            inner[1] += s.alpha[t] * of_class[1, t] + own
    share = (inner[1] - inner[2]) / (inner[0] + inner[1] - 2.0 * inner[2])
    if not 0.0 < share < 1.0:  # kernel values that are no inner products
        share = 0.5
    for t in range(n):
        s.alpha[t] *= share if t < plus else 1.0 - share
        h = share * of_class[0, t] - (1.0 - share) * of_class[1, t]
        s.q[t] = (h if t < plus else -h) + s.alpha[t] * s.ridge[t]
        s.active[t], s.place[t], s.active_diagonal[t] = t, t, s.diagonal[t]
    now.active, now.found = n, 0
    settle_and_find_best(s)
