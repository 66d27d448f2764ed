"""How much of the gradient q = K~ alpha a run keeps: what the engine asks of a storage mode, and q over all rows.

`Full` keeps q over all m rows; a step reads one or two kernel columns, and the gap is exact. `Sampled` and `Tracked`
are in `fwsvm.solvers.frank_wolfe.sampled`. Kernel values are computed outside the compiled loop, which comes back with
``now.stop`` when it misses some; so it is compiled once for all kernels.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.column_cache import USED, ColumnCache, compute
from fwsvm.kernels.sparse_tiles import NARROW, WIDE
from fwsvm.numerics.compile import generic, njit, overload
from fwsvm.numerics.simd import maximum
from fwsvm.solvers.frank_wolfe.scans import PARTNER, TINY, UPDATE, scan
from fwsvm.solvers.frank_wolfe.state import GOING, REACHED, SimplexState
from fwsvm.solvers.tuning import SCAN_FROM, SMALLEST_BLOCK

GAP_ROUNDING = 4.0 * np.finfo(np.float64).eps  # relative gaps below this are rounding


def _row_number(search, s, t):
    return t


@generic(default=_row_number, each_step=True)
def cache_index(search, s, t):
    """Return the place in a cached column of the kernel value with row t: t, as columns are over all rows."""


@njit(inline="always")
def goal(s):
    """Return the largest gap at which the run may stop: its rule's, but no less than rounding leaves of a gap of 0."""
    now = s.now[0]
    return maximum(maximum(now.stop_constant + now.stop_slope * now.R, GAP_ROUNDING * now.R), now.noise)


@njit(inline="always")
def signed(s, move):
    """Return the rows i and j of a move (twice the same where it has one), y_i gain and -y_j loss."""
    i = move.i if move.i >= 0 else move.j
    j = move.j if move.j >= 0 else i
    return i, j, move.gain if i < s.plus else -move.gain, -move.loss if j < s.plus else move.loss


@njit(each_step=True)
def partner_among_active(s, i):
    """Return the best partner of i by a walk through the active set."""
    k_i, q, q_i, K_ii, plus = s.cached[s.slot_of[i]], s.q, s.q[i], s.diagonal[i], s.plus
    partner, most = np.int64(-1), 0.0
    for p in range(s.now[0].active):
        j = s.active[p]
        slope = q[j] - q_i
        if slope > 0.0:
            k = 2.0 * (k_i[cache_index(s.search, s, j)] + 1.0)
            curvature = K_ii + s.diagonal[j] - (k if (i < plus) == (j < plus) else -k)
            gain = slope * slope / maximum(curvature, TINY)
            if gain > most or (gain == most and j < partner):
                partner, most = np.int64(j), gain
    return partner


class Full(NamedTuple):
    """Look at every row."""


@generic(each_step=True)
def select(search, s):
    """Set ``now.vertex`` and ``now.gap``, or ``now.stop``."""


@select.implements(Full)
def _select_from_all(search, s):
    now = s.now[0]
    now.iterations += 1
    now.vertex = now.best
    now.gap = 2.0 * (now.R - s.q[now.best])
    if now.gap <= goal(s):
        now.stop = REACHED


def _update_all(search, s, move):
    q = s.q
    i, j, a, b = signed(s, move)
    if move.scale != 0.0:  # the ridge's share goes first, so that the pass meets every entry as it will be
        q[i] += move.gain * s.ridge[i] / move.scale
        q[j] -= move.loss * s.ridge[j] / move.scale
    best = scan(s, UPDATE, i, j, move.scale, a, b)
    if move.scale == 0.0:
        q[i] += s.ridge[i]
        best = 0
        for t in range(q.size):  # numba compiles its argmin once for each kind of caller
            if q[t] < q[best]:
                best = t
    s.now[0].best = best


@generic(default=_update_all, each_step=True)
def update(search, s, move):
    """Update q for a move: q <- scale q + gain K~_i - loss K~_j, and note where it is least.

    Both rows are in the active set.
    """


def _partner_in_all(search, s, i):
    if s.now[0].active * SCAN_FROM < s.q.size:
        return partner_among_active(s, i)
    return scan(s, PARTNER, i, i, 1.0, 2.0 if i < s.plus else -2.0, 0.0)


@generic(default=_partner_in_all, each_step=True)
def partner(search, s, i):
    """Return the active j whose swap with i promises most, -1 if there is none.

    By a scan of all rows, or by a walk through the active set where that is small.
    """


@njit(inline="always")
def add_row(s, i):
    """Add row i at the end of the active set."""
    now = s.now[0]
    s.place[i] = now.active
    s.active[now.active] = i
    s.active_diagonal[i] = s.diagonal[i]
    now.active += 1


@njit(inline="always")
def drop_row(s, j):
    """Remove row j from the active set; the last row takes its place."""
    now = s.now[0]
    place, last = s.place[j], s.active[now.active - 1]
    s.active[place] = last
    s.place[last] = place
    s.place[j] = -1
    s.active_diagonal[j] = -1.0
    s.alpha[j] = 0.0
    now.active -= 1
    now.drops += 1


def _enter(search, s, i):
    add_row(s, i)


@generic(default=_enter, each_step=True)
def enter(search, s, i):
    """Add row i to the active set, and its column to the storage."""


def _leave(search, s, j):
    drop_row(s, j)


@generic(default=_leave, each_step=True)
def leave(search, s, j):
    """Remove row j from the active set, and its column from the storage."""


def least_cost(m: int, alone: bool) -> int:
    """Return how many columns of m rows to compute at once where each costs as much ``alone``, or not."""
    return max(NARROW, min(WIDE, SMALLEST_BLOCK // m)) if alone else WIDE


overload(least_cost)(lambda *_: least_cost)  # a wrapper for Python would take longer to compile


@njit(nogil=False)  # microseconds, as releasing the interpreter lock would cost
def prefetch_set(q, alpha, slot_of, R, wanted, new, rows):
    """Put the missed row ``wanted``, and others whose columns are not cached, into ``rows``; return how many.

    Of a vertex these are the rows of lowest q < R, likely next vertices; of a row with weight, whose column a run that
    starts warm has not computed yet, those with weight and the highest q > R, likely next partners. ``new`` says that
    no column was evicted yet.
    """
    rows[0], count, worst = wanted, 1, 1
    sign, floor = (-1.0, 0.0) if new and alpha[wanted] > 0.0 else (1.0, -1.0)
    for t in range(q.size):
        value = sign * q[t]
        if rows.size > 1 and value < sign * R and slot_of[t] < 0 and t != wanted and alpha[t] > floor:
            if count < rows.size:
                rows[count] = t
                count += 1
            elif value < sign * q[rows[worst]]:
                rows[worst] = t
            else:
                continue
            if count == rows.size:
                worst = 1
                for c in range(2, count):
                    if sign * q[rows[c]] > sign * q[rows[worst]]:
                        worst = c
    return count


def fetch_columns(s: SimplexState, columns: ColumnCache, block: int, *, ahead: bool) -> None:
    """Compute a block of columns, the missed one among them, or that one alone (`Full`, `Tracked`).

    ``block`` is how many kernel values take as long as a call from Python.
    """
    now, new, m = s.now[0], bool(columns.counts[USED] < len(columns.row_of)), len(columns.slot_of)
    alone = len(columns.tiles.numbers) > 0 or not new
    size = max(least_cost(m, alone), min(WIDE, block // m)) if ahead else 1
    rows = np.empty(max(1, min(size, len(columns.row_of) // 2)), np.int32)
    count = prefetch_set(s.q, s.alpha, s.slot_of, float(now["R"]), int(now["wanted"]), new, rows)
    compute(columns, rows[:count], s.alpha, int(now["vertex"]))
    now["stop"] = GOING
