"""The rows, the column cache, and the state of a run on a pair of classes, set up in compiled code.

What is set up is what `fwsvm.kernels.column_cache` and `fwsvm.solvers.frank_wolfe.gradient.storage` set up for a run.
"""

import numpy as np

from fwsvm.kernels.column_cache import FEWEST, ColumnCache
from fwsvm.kernels.dense_tiles import HEIGHT, MOST, DenseTiles, pack_range
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.call_by_address import call
from fwsvm.numerics.compile import njit
from fwsvm.solvers.frank_wolfe.engine import settle
from fwsvm.solvers.frank_wolfe.state import GOING, SimplexState


@njit(inner=True)
def pair_columns(laid, a, b, fill_at, memory, single):
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
        laid.kernel, rows, own, itself, single, DenseTiles(numbers, terms, left_block, rows.features), all_rows,
        memory[: slots * n].reshape(slots, n), slot_of, row_of, np.zeros(3, np.int64),
        np.zeros(1, np.uint64), 1, fill_at,
    )  # fmt: skip


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
        like.search, plus, ridge, diagonal, np.zeros(n), np.zeros(n), np.zeros(n, np.int32), place, active_diagonal,
        np.zeros_like(like.now), like.random, columns.cached, columns.slot_of, like.values, like.core, like.drawn,
        like.team,
    )  # fmt: skip


@njit(inner=True)
def start_at_two(s, columns, fetch_at):
    """Stand between the first rows of the two classes, with q by their kernel columns."""
    now, wanted = s.now[0], np.empty(2, np.int32)
    wanted[0], wanted[1] = 0, s.plus
    call(fetch_at, (columns, wanted, s.alpha, np.int64(-1), np.int64(0)))
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
