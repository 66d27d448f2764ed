"""How much of the gradient q = K~ alpha a run keeps: what the engine asks of a storage mode, and q over all rows.

`Full` keeps q over all m rows; a step reads one or two kernel columns, and the gap is exact. `Sampled` and `Tracked`
are in `fwsvm.solvers.frank_wolfe.sampled`. Kernel values are computed outside the compiled loop, which comes back with
``now.stop`` when it misses some; so it is compiled once for all kernels.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.column_cache import USED, ColumnCache, compute
from fwsvm.kernels.sparse_tiles import NARROW, WIDE
from fwsvm.numerics.compile import generic, njit
from fwsvm.solvers.frank_wolfe.scans import (
    TINY,
    partner_scan,
    shared_partner_scan,
    shared_update_scan,
    update_scan,
)
from fwsvm.solvers.frank_wolfe.state import GOING, REACHED, SimplexState
from fwsvm.solvers.tuning import SCAN_FROM, SMALLEST_BLOCK

GAP_ROUNDING = 4.0 * np.finfo(np.float64).eps  # relative gaps below this are rounding


@generic(each_step=True)
def select(search, s):
    """Set ``now.vertex`` and ``now.gap``, or ``now.stop``."""


@generic(each_step=True)
def update(search, s, move):
    """Update q for a move: q <- scale q + gain K~_i - loss K~_j. Both rows are in the active set."""


@generic(each_step=True)
def cache_index(search, s, t):
    """Return the place in a cached column of the kernel value with row t."""


@generic(each_step=True)
def on_add(search, s, i):
    """Store the column of row i, which was added to the end of the active set."""


@generic(each_step=True)
def on_drop(search, s, j, place):
    """Remove row j from the storage; the last row of the active set has taken its place."""


@generic(each_step=True)
def partner(search, s, i):
    """Return the active j whose swap with i promises most, -1 if there is none."""


@generic
def block_size(search, columns):
    """Return how many columns to compute at once."""


@njit(each_step=True)
def goal(s):
    """Return the largest gap at which the run may stop: its rule's, but no less than rounding leaves of a gap of 0."""
    now = s.now[0]
    return max(now.stop_constant + now.stop_slope * now.R, GAP_ROUNDING * now.R, now.noise)


@njit(each_step=True)
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
    for j in s.active[: s.now[0].active]:
        slope = q[j] - q_i
        if slope > 0.0:
            k = 2.0 * (k_i[cache_index(s.search, s, j)] + 1.0)
            curvature = K_ii + s.diagonal[j] - (k if (i < plus) == (j < plus) else -k)
            gain = slope * slope / max(curvature, TINY)
            if gain > most or (gain == most and j < partner):
                partner, most = np.int64(j), gain
    return partner


class Full(NamedTuple):
    """Look at every row."""


@select.implements(Full)
def _select_from_all(search, s):
    now = s.now[0]
    now.iterations += 1
    now.vertex = now.best
    now.gap = 2.0 * (now.R - s.q[now.best])
    if now.gap <= goal(s):
        now.stop = REACHED


@cache_index.implements(Full)
def index_in_all(search, s, t):
    """Return t: columns are over all rows."""
    return t


@on_add.implements(Full)
def on_add_all(search, s, i):
    """Nothing: the columns are those of the column cache."""


@on_drop.implements(Full)
def on_drop_all(search, s, j, place):
    """Nothing."""


@update.implements(Full)
def update_all(search, s, move):
    """Update q over all rows, and note where it is least."""
    q, plus = s.q, s.plus
    i, j, a, b = signed(s, move)
    k_i, k_j = s.cached[s.slot_of[i]], s.cached[s.slot_of[j]]
    if move.scale != 0.0:  # the ridge's share goes first, so that the pass meets every entry as it will be
        q[i] += move.gain * s.ridge[i] / move.scale
        q[j] -= move.loss * s.ridge[j] / move.scale
    if s.team.claimed.size > 0:
        best = shared_update_scan(s, i, j, move.scale, a, b)
    else:
        best, least = update_scan(q, k_i, k_j, move.scale, a, b, np.int64(0), plus, np.int64(0), np.inf)
        best, least = update_scan(q, k_i, k_j, move.scale, -a, -b, plus, q.size, best, least)
    if move.scale == 0.0:
        q[i] += s.ridge[i]
        best = 0
        for t in range(q.size):  # numba compiles its argmin once for each kind of caller
            if q[t] < q[best]:
                best = t
    s.now[0].best = best


@partner.implements(Full)
def partner_in_all(search, s, i):
    """Return the best partner of i by a scan of all rows, or by a walk through the active set where that is small."""
    k_i, q, q_i, K_ii, plus = s.cached[s.slot_of[i]], s.q, s.q[i], s.diagonal[i], s.plus
    if s.now[0].active * SCAN_FROM < q.size:
        return partner_among_active(s, i)
    alike = 2.0 if i < plus else -2.0
    if s.team.claimed.size > 0:
        return shared_partner_scan(s, i, alike)
    first, none = np.int64(0), np.int64(-1)
    best, most = partner_scan(k_i, q, s.active_diagonal, q_i, K_ii, alike, first, plus, none, 0.0)
    return partner_scan(k_i, q, s.active_diagonal, q_i, K_ii, -alike, plus, q.size, best, most)[0]


@block_size.implements(Full)
def _size_of_all(search, columns):
    return cheapest(columns)


@njit(inner=True)
def cheapest(columns):
    """Return the block size of least cost a column: 64, but eight for dense rows, where each costs the same."""
    if columns.counts[USED] < columns.row_of.size and columns.tiles.numbers.size == 0:
        return WIDE
    return max(NARROW, min(WIDE, SMALLEST_BLOCK // columns.slot_of.size))


@njit(inner=True)
def prefetch_set(s, columns):
    """Return the missed row, and others whose columns are not cached.

    Of a vertex these are the rows of lowest q < R, likely next vertices; of a row with weight, whose column a run that
    starts warm has not computed yet, those with weight and the highest q > R, likely next partners.
    """
    q, alpha, slot_of, R, wanted = s.q, s.alpha, s.slot_of, s.now[0].R, s.now[0].wanted
    rows = np.empty(max(1, min(block_size(s.search, columns), columns.row_of.size // 2)), np.int32)
    rows[0], count, worst = wanted, 1, 1
    new = columns.counts[USED] < columns.row_of.size  # no column was evicted
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
    return rows[:count]


def fetch_columns(s: SimplexState, columns: ColumnCache, block: np.ndarray) -> None:
    """Compute a block of columns, the missed one among them, that was left by `run_until_miss` (`Full`, `Tracked`)."""
    compute(columns, block[block >= 0], s.alpha, int(s.now[0]["vertex"]))
    s.now["stop"] = GOING
