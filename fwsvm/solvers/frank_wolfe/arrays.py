"""Allocation of a run's arrays: its column cache and its state, and their growth."""

from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache, column_cache
from fwsvm.kernels.rows import Rows, in_precision
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.numerics.random import stream
from fwsvm.problems.simplex_qp import SimplexQP
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.search import OWN_LINES, Full, Sampled, Tracked, drawn_soon
from fwsvm.solvers.frank_wolfe.state import CONTROL, State
from fwsvm.solvers.frank_wolfe.thread_team import thread_team
from fwsvm.solvers.memory import for_columns
from fwsvm.solvers.resolve import Resolved

FIRST_ROOM = 256  # active rows that `Sampled` has room for at first
READING = (
    1 / 16
)  # what it costs to update an entry of q from a column at hand, in kernel values of candidates
ALONE = 8  # what one costs in a column computed alone, not 64 at once, in the same
EXACT = 4  # and one of a check in double precision

Search = Full | Sampled | Tracked


def full_columns(resolved: Resolved, rows: Rows, dtype: Any, shared: SharedColumns | None) -> ColumnCache:
    """Return the column cache for full search: that of earlier runs, where there is one in the store.

    Raises
    ------
    UsageError
        Less memory is available than the cache may come to take.
    """
    rows = in_precision(rows, dtype)
    for_columns(resolved, rows.height, dtype, held=shared.nbytes if shared is not None else 0)
    if shared is None:
        return column_cache(resolved.kernel, rows, resolved.cache_bytes, resolved.threads)
    return shared.cache(resolved.kernel, rows, resolved.cache_bytes, resolved.threads)


def sampled_columns(resolved: Resolved, rows: Rows, dtype: Any, *, tracked: bool) -> ColumnCache:
    """Return the store for sampled search, which keeps columns over all rows only where q is kept there, too."""
    budget = resolved.cache_bytes if tracked else 0
    return column_cache(resolved.kernel, in_precision(rows, dtype), budget, resolved.threads)


def state_of(qp: SimplexQP, search: Search, seed: tuple[int, ...], resolved: Resolved) -> State:
    """Return a state with no point yet; columns are those of the problem but for `Sampled`, which has lines."""
    cache_bytes, threads = resolved.cache_bytes, resolved.threads + resolved.lent
    m, dtype, columns = len(qp.ridge), qp.columns.cached.dtype, qp.columns
    own_lines = isinstance(search, Sampled)
    room = min(m, FIRST_ROOM) if own_lines else 1
    return State(
        search=search,
        plus=qp.plus,
        ridge=qp.ridge,
        diagonal=qp.diagonal,
        alpha=np.zeros(m),
        q=np.zeros(m),
        active=np.zeros(m, np.int32),
        place=np.full(m, -1, np.int32),
        active_diagonal=np.full(m, -1.0),
        now=np.zeros(1, CONTROL),
        random=stream(*seed),
        cached=np.empty((_lines(room, dtype, cache_bytes), room), dtype) if own_lines else columns.cached,
        slot_of=np.full(m, -1, np.int32) if own_lines else columns.slot_of,
        values=np.empty((WIDE, room), dtype),
        drawn=np.zeros(WIDE, np.int32),
        team=thread_team(0 if own_lines else m, threads),
    )


def _lines(room: int, dtype: Any, cache_bytes: int) -> int:
    """Return how many lines of that many kernel values fit in the budget, beside those that are lent."""
    return OWN_LINES + min(room, cache_bytes // (room * np.dtype(dtype).itemsize))


def with_room(s: State, cache_bytes: int) -> State:
    """Return the state with room for the kernel values of one more active row (`Sampled`)."""
    needed, before = int(s.now["active"][0]) + 1, s.values.shape[1]
    if needed <= before:
        return s
    room = max(2 * before, needed)
    lines = _lines(room, s.cached.dtype, cache_bytes)
    cached = np.empty((lines, room), s.cached.dtype)
    cached[: len(s.cached), :before] = s.cached[:lines]
    s.slot_of[s.slot_of >= lines] = -1
    return s._replace(values=np.empty((WIDE, room), s.values.dtype), cached=cached)


def tracking_pays(s: State, cache_bytes: int) -> bool:
    """Whether candidates have cost more kernel values than q over all rows would have from the start.

    That is the gradient once, a column for each active row, and an update of m entries a step.
    """
    now, m = s.now[0], len(s.q)
    fits = 2 * int(now["active"]) * m * s.cached.itemsize <= cache_bytes
    each = 1 if drawn_soon(s.search, m) else ALONE
    a_step = READING if fits else each
    return bool(now["looked"] > m * (2 * each * now["active"] + a_step * now["steps"]))
