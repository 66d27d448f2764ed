"""The gradient q = K~ alpha at the rows that a run holds, their active set, and the kernel columns that steps read.

Kernel values are computed outside the compiled loop, which comes back with ``now.stop`` when it misses some; so it is
compiled once for all kernels.
"""

import numpy as np

from fwsvm.kernels.column_cache import USED, ColumnCache, compute
from fwsvm.kernels.sparse_tiles import NARROW, WIDE
from fwsvm.numerics.compile import njit_inline, njit_lean, njit_step, overload
from fwsvm.numerics.simd import maximum
from fwsvm.solvers.frank_wolfe.scans import UPDATE, scan
from fwsvm.solvers.frank_wolfe.state import GOING, SimplexState
from fwsvm.solvers.tuning import SMALLEST_BLOCK

GAP_ROUNDING = 4.0 * np.finfo(np.float64).eps  # relative gaps below this are rounding
LEAST_SCALE = 2.0**-900  # in place of 0, where a step ends at a vertex: no number times it is left in a sum


@njit_inline
def goal(s):
    """Return the largest gap at which the run may stop: its rule's, but no less than rounding leaves of a gap of 0."""
    now = s.now
    return maximum(maximum(now.stop_constant + now.stop_slope * now.R, GAP_ROUNDING * now.R), now.noise)


@njit_step
def update(s, move):
    """Update q for a move: q <- scale q + gain K~_i - loss K~_j, and note where it is least.

    Both rows are in the active set.
    """
    i = move.i if move.i >= 0 else move.j
    j = move.j if move.j >= 0 else i
    scale = maximum(move.scale, LEAST_SCALE)
    # the ridge's share goes first, so that the pass meets every entry as it will be
    s.q[i] += move.gain * s.ridge[i] / scale
    s.q[j] -= move.loss * s.ridge[j] / scale
    a = move.gain if i < s.plus else -move.gain
    b = -move.loss if j < s.plus else move.loss
    s.now.best = scan(s, UPDATE, i, j, scale, a, b)


@njit_inline
def add_row(s, i):
    """Add row i at the end of the active set."""
    now = s.now
    s.place[i] = now.active
    s.active[now.active] = i
    s.active_diagonal[i] = s.diagonal[i]
    now.active += 1
    now.plus += i < s.plus


@njit_inline
def drop_row(s, j):
    """Remove row j from the active set; the last row takes its place."""
    now = s.now
    place = s.place[j]
    last = s.active[now.active - 1]
    s.active[place] = last
    s.place[last] = place
    s.place[j] = -1
    s.active_diagonal[j] = -1.0
    s.alpha[j] = 0.0
    now.active -= 1
    now.plus -= j < s.plus


def least_cost(m: int) -> int:
    """Return how many columns of m rows to compute at once where each costs as much alone."""
    return max(NARROW, min(WIDE, SMALLEST_BLOCK // m))


overload(least_cost)(lambda *_: least_cost)  # a wrapper for Python would take longer to compile


@njit_lean(nogil=False)  # microseconds, as releasing the interpreter lock would cost
def prefetch_set(q, alpha, slot_of, R, wanted, new, rows):
    """Put the missed row ``wanted``, and others whose columns are not cached, into ``rows``; return how many.

    Of a vertex these are the rows of lowest q < R, likely next vertices; of a row with weight, whose column a run that
    starts warm has not computed yet, those with weight and the highest q > R, likely next partners. ``new`` says that
    no column was evicted yet.
    """
    rows[0], count, worst = wanted, 1, 1
    sign, floor = (-1.0, 0.0) if new and alpha[wanted] > 0.0 else (1.0, -1.0)
    bound = sign * R
    for t in range(q.size):
        if sign * q[t] < bound and slot_of[t] < 0 and t != wanted and alpha[t] > floor and rows.size > 1:
            if count < rows.size:
                worst = count
                count += 1
            rows[worst] = t
            if count == rows.size:
                worst = 1
                bound = sign * q[rows[1]]
                for c in range(2, count):
                    value = sign * q[rows[c]]
                    if value > bound:
                        worst = c
                        bound = value
    return count


def fetch_columns(s: SimplexState, columns: ColumnCache, block: int, *, ahead: bool) -> None:
    """Compute a block of columns, the missed one among them, or that one alone.

    ``block`` is how many kernel values take as long as a call from Python. Far from the end the guess which rows will
    be wanted is poor, so the columns grow by no more than a third for it.
    """
    now, used, m = s.now, columns.counts[USED], len(columns.slot_of)
    new = used < len(columns.row_of)
    alone = len(columns.table.tiles.numbers) > 0 or not new
    size = (max(least_cost(m), min(WIDE, block // m, used // 3)) if alone else WIDE) if ahead else 1
    rows = np.empty(max(1, min(size, len(columns.row_of) // 2)), np.int32)
    count = prefetch_set(s.q, s.alpha, s.slot_of, now["R"], now["wanted"], new, rows)
    compute(columns, rows[:count], s.alpha, now["vertex"])
    now["stop"] = GOING
