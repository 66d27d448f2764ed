"""swap-2o on pairs of classes, from the rows to the certificate in compiled code.

Each pair is set up, solved by the steps of `fwsvm.solvers.frank_wolfe.engine` over a column cache of its own, and
afterwards certified in float64, as a run of its own would be, without the half of a millisecond that a run spends in
the interpreter. What is set up is what `fwsvm.kernels.column_cache` and `fwsvm.solvers.frank_wolfe.gradient.storage`
set up for a run.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, FEWEST, ColumnCache
from fwsvm.kernels.dense_sums import add_sums
from fwsvm.kernels.dense_tiles import HEIGHT, MOST, DenseTiles, pack_range
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import WIDE, clear, scatter
from fwsvm.kernels.sums import add_range
from fwsvm.numerics.atomics import compare_exchange
from fwsvm.numerics.call_by_address import call
from fwsvm.numerics.compile import njit
from fwsvm.solvers.auto.solutions import most_steps, write_certificate
from fwsvm.solvers.frank_wolfe.engine import settle
from fwsvm.solvers.frank_wolfe.run_until_miss import run_until_miss
from fwsvm.solvers.frank_wolfe.state import GOING, SimplexState
from fwsvm.solvers.tuning import MARGIN


class Addresses(NamedTuple):
    """Where the machine code stands (`fwsvm.numerics.call_by_address`) of steps, of columns, and of what fills them."""

    advance: int
    fetch: int
    fill: int


@njit
def solve_by_columns(laid, numbers, claimed, goal, rule, like, addresses, memory, left_block, solutions):
    """Solve those of the pairs ``numbers`` that no other thread has claimed, and write the weights.

    Parameters
    ----------
    laid : LaidOutRows
    numbers : ndarray of int
    claimed : ndarray of int64, shape (pairs,), 1 where a pair is some thread's
    goal : Goal
    rule : the method's rule
    like : SimplexState, of another problem: what a pair does not need for itself is taken from it
    addresses : Addresses
    memory : ndarray of float32, for kernel columns
    left_block : LeftBlock of float32, for sparse rows
    solutions : Solutions
        The coefficients become the weights with the signs of the classes, until `certify_by_columns` divides them by R.
    """
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        i, j = laid.pairs[number]
        a, b = (laid.starts[i], laid.starts[i + 1]), (laid.starts[j], laid.starts[j + 1])
        columns = _pair_columns(laid, a, b, addresses.fill, memory, left_block)
        s = _pair_state(laid, a, b, columns, like)
        now, n = s.now[0], s.q.size
        _start(s, columns, addresses.fetch)
        now.stop_constant, now.stop_slope = (1.0 - MARGIN) * goal.constant, (1.0 - MARGIN) * goal.slope
        most = most_steps(goal, n)
        run_until_miss(addresses.advance, addresses.fetch, rule, s, columns, most)
        solutions.reached[number] = now.stop != GOING
        solutions.steps[number], solutions.evaluations[number] = now.steps, columns.counts[EVALUATIONS]
        for t in range(n):
            if t < s.plus:
                solutions.coefficients[a[0] + t, j - 1] = s.alpha[t]
            else:
                solutions.coefficients[b[0] + t - s.plus, i] = -s.alpha[t]


@njit(inner=True)
def _pair_columns(laid, a, b, fill_at, memory, single):
    """Return an empty column cache over the rows of two ranges."""
    rows, n = _pair_rows(laid.single, a, b), a[1] - a[0] + b[1] - b[0]
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
        laid.kernel, rows, own, itself, single, DenseTiles(numbers, terms, left_block, rows.features), all_rows,
        memory[: slots * n].reshape(slots, n), slot_of, row_of, np.zeros(3, np.int64),
        np.zeros(1, np.uint64), 1, fill_at,
    )  # fmt: skip


@njit(inner=True)
def _pair_rows(rows, a, b):
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
def _pair_state(laid, a, b, columns, like):
    """Return the state of a run that stands nowhere yet."""
    n, plus = columns.slot_of.size, a[1] - a[0]
    ridge, diagonal, active_diagonal = np.empty(n), np.empty(n), np.empty(n)
    place = np.empty(n, np.int32)
    for t in range(n):
        ridge[t] = 1.0 / laid.penalties[a[0] + t if t < plus else b[0] + t - plus]
        diagonal[t] = columns.itself[t] + 1.0 + ridge[t]
        active_diagonal[t], place[t] = -1.0, -1
    return SimplexState(
        like.search, plus, ridge, diagonal, np.zeros(n), np.zeros(n), np.zeros(n, np.int32), place, active_diagonal,
        np.zeros_like(like.now), like.random, columns.cached, columns.slot_of, like.values, like.core, like.drawn,
        like.team,
    )  # fmt: skip


@njit(inner=True)
def _start(s, columns, fetch_at):
    """Stand between the first rows of the two classes, with q by their kernel columns."""
    now, wanted = s.now[0], np.empty(2, np.int32)
    wanted[0], wanted[1] = 0, s.plus
    call(fetch_at, (columns, wanted, s.alpha, np.int64(-1)))
    for c in range(2):
        t = wanted[c]
        s.alpha[t], s.active[c], s.place[t], s.active_diagonal[t] = 0.5, t, c, s.diagonal[t]
    now.active, now.found = 2, 0
    k_a, k_b = s.cached[s.slot_of[0]], s.cached[s.slot_of[s.plus]]
    for t in range(s.q.size):
        both = 0.5 * (np.float64(k_a[t]) - np.float64(k_b[t]))
        s.q[t] = (both if t < s.plus else -both) + s.alpha[t] * s.ridge[t]
    settle(s.alpha, s.q, s.diagonal, s.active, s.now)
    for t in range(s.q.size):
        if s.q[t] < s.q[now.best]:
            now.best = t


@njit
def certify_by_columns(laid, numbers, claimed, left_block, sums, solutions):
    """Certify those of the pairs ``numbers`` that no other thread has claimed, from scratch in float64.

    ``left_block`` is for sparse rows, ``sums`` (1, places) for kernel values at all rows; else as `solve_by_columns`.
    """
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        i, j = laid.pairs[number]
        a, b = (laid.starts[i], laid.starts[i + 1]), (laid.starts[j], laid.starts[j + 1])
        plus, n = a[1] - a[0], a[1] - a[0] + b[1] - b[0]
        alpha, q, ridge, diagonal = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        for t in range(n):
            row = a[0] + t if t < plus else b[0] + t - plus
            alpha[t] = abs(solutions.coefficients[row, j - 1 if t < plus else i])
            ridge[t] = 1.0 / laid.penalties[row]
            diagonal[t] = laid.itself[row] + 1.0 + ridge[t]
        _gradient(laid, i, j, alpha, ridge, left_block, sums, q)
        R, bias = write_certificate(alpha, q, ridge, diagonal, solutions.certificates[number]), 0.0
        for t in range(n):
            row, column = (a[0] + t, j - 1) if t < plus else (b[0] + t - plus, i)
            solutions.coefficients[row, column] /= R
            bias += solutions.coefficients[row, column]
        solutions.biases[number] = bias


@njit(inner=True)
def _gradient(laid, i, j, alpha, ridge, left_block, sums, q):
    """Set q = K~ alpha in float64, for the pair of the classes i and j."""
    dense = laid.tiles.numbers.size > 0
    a, b = (laid.starts[i], laid.starts[i + 1]), (laid.starts[j], laid.starts[j + 1])
    plus, n, count, total = a[1] - a[0], q.size, 0, 0.0
    first = laid.tile_starts[i] if dense else a[0]
    second = laid.tile_starts[j] if dense else b[0]
    which, weights = np.empty(n, np.int64), np.empty((1, n))
    for t in range(n):
        place = first + t if t < plus else second + t - plus
        sums[0, place] = 0.0
        if alpha[t] > 0.0:
            which[count], weights[0, count] = place, alpha[t] if t < plus else -alpha[t]
            total += weights[0, count]
            count += 1
    if dense:
        tiles, which = laid.tiles, which[:count]
        add_sums(laid.kernel, tiles, which, weights, tiles, first, first + plus, 0, sums)
        add_sums(laid.kernel, tiles, which, weights, tiles, second, second + n - plus, 0, sums)
    else:
        lines, out = np.empty((1, WIDE)), sums.reshape(-1, 1)
        for at in range(0, count, WIDE):
            some = which[at : min(at + WIDE, count)]
            for c in range(WIDE):
                lines[0, c] = weights[0, at + c] if c < some.size else 0.0
            used = scatter(left_block, laid.double, laid.own_double, some, WIDE)
            for part in (a, b):
                add_range(laid.kernel, left_block, laid.double, laid.own_double, lines, part[0], part[1], out)
            clear(left_block, used)
    for t in range(n):
        h = sums[0, first + t if t < plus else second + t - plus] + total
        q[t] = (h if t < plus else -h) + alpha[t] * ridge[t]
