"""Gradient and column cache of a simplex run: how q is stored, in which precision, and how misses are served.

q is kept over all rows or over the active set, with kernel columns in single or double precision. A run may change its
storage and go on from the same point.
"""

import time
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache, column_cache
from fwsvm.kernels.rows import Rows, in_precision
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.kernels.sums import value_rounding
from fwsvm.numerics.random import stream
from fwsvm.problems.simplex_qp import SimplexQP, gradient, gradient_by_columns, simplex_qp
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.engine import advance, settle
from fwsvm.solvers.frank_wolfe.gradient import Full, fetch_columns
from fwsvm.solvers.frank_wolfe.sampled import (
    Sampled,
    Tracked,
    fetch_active_columns,
    fetch_candidates,
    lines_within,
    with_room,
)
from fwsvm.solvers.frank_wolfe.scans import do_tasks, team_running, thread_team
from fwsvm.solvers.frank_wolfe.state import COLUMN_MISS, CONTROL, SimplexState
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.tuning import FIRST_ROOM

Search = Full | Sampled | Tracked


class GradientStorage:
    """q, the column cache and the state of a simplex run, which has one.

    Parameters
    ----------
    rule : the method's rule
    resolved : Resolved
    rows : Rows of float64, the class +1 first
    plus : int, the number of rows of that class
    penalties : ndarray, shape (m,)
    stream : tuple of int
        The run's random numbers.
    search : Full or Sampled
    dtype : float32 or float64, of columns
    shared : SharedColumns, optional
        Columns that earlier runs have computed.

    Attributes
    ----------
    qp : SimplexQP, with the column cache
    state : SimplexState
    compile_seconds : float
    """

    def __init__(
        self,
        rule: Any,
        resolved: Resolved,
        rows: Rows,
        plus: int,
        penalties: np.ndarray,
        stream: tuple[int, ...],
        search: Search,
        dtype: type,
        shared: SharedColumns | None,
    ) -> None:
        self.rule, self.resolved, self.rows, self.stream = rule, resolved, rows, stream
        self.shared = shared
        cache = self._cache(search, dtype, shared)
        self._counted = cache.counts.copy()  # what other runs did
        self.qp: SimplexQP = simplex_qp(cache, plus, penalties)
        self.compile_seconds = 0.0
        self.state: SimplexState = state_of(self.qp, search, stream, resolved)
        self._have_compiled()

    def start_at(self, support: np.ndarray, weights: np.ndarray, gradient: np.ndarray | None) -> None:
        """Begin at weights of the rows ``support``, and at q (m,) there where it is known."""
        s = self.state
        s.alpha[support] = weights
        s.active[: len(support)] = support
        s.place[support] = np.arange(len(support))
        s.active_diagonal[support] = s.diagonal[support]
        s.now["active"] = len(support)
        if self.by_active:
            self.refresh(self.gradient(support), support)
        else:
            self.refresh(gradient_by_columns(self.qp, s.alpha) if gradient is None else gradient)
        self.fetch_active()

    def stand_at(self, alpha: np.ndarray, q: np.ndarray) -> None:
        """Make alpha, with q = K~ alpha at all rows, the point of the run."""
        support, s = np.flatnonzero(alpha), self.state
        active, place = np.zeros_like(s.active), np.full_like(s.place, -1)
        active[: len(support)], place[support] = support, np.arange(len(support))
        active_diagonal = np.where(alpha > 0.0, s.diagonal, -1.0)
        now = s.now.copy()
        now["active"], now["R"], now["best"], now["found"] = len(support), alpha @ q, q.argmin(), 0
        # a thread that was late for the last team has no part in the new one
        team = thread_team(len(q), self.resolved.threads)
        self.state = s._replace(
            alpha=alpha, q=q, active=active, place=place, active_diagonal=active_diagonal, now=now, team=team
        )

    @property
    def by_active(self) -> bool:
        """Whether q and kernel values are kept for the active set alone."""
        return isinstance(self.state.search, Sampled)

    @property
    def counts(self) -> np.ndarray:
        """What the column caches of this run did for it, as `ColumnCache.counts`."""
        return self.qp.columns.counts - self._counted

    def steps(self, steps: int) -> int:
        """Take up to ``steps`` steps, computing columns that they miss; return how many."""
        now, taken = self.state.now[0], 0
        while True:
            with team_running(self.state):
                taken += int(advance(self.rule, self.state, steps - taken))
            if now["stop"] != COLUMN_MISS:
                return taken
            if self.by_active:
                fetch_active_columns(self._room(), self.qp.columns)
            else:
                fetch_columns(self.state, self.qp.columns)

    def fetch_candidates(self) -> None:
        """Compute the kernel values of the candidates with the active set (`Sampled`)."""
        fetch_candidates(self._room(), self.qp.columns)

    def fetch_active(self) -> None:
        """Compute the columns of the first active rows, which a swap reads (`Sampled`)."""
        if self.by_active:
            self.state.now["wanted"] = self.state.active[0]
            fetch_active_columns(self._room(), self.qp.columns)

    def _room(self) -> SimplexState:
        self.state = with_room(self.state, self.resolved.cache_bytes)
        return self.state

    def gradient(self, where: np.ndarray | None = None) -> np.ndarray:
        """Return q = K~ alpha from scratch in float64, at all rows or at the rows ``where``."""
        return gradient(self.qp, self.rows, self.state.alpha, self.resolved.threads, where)

    @property
    def value_rounding(self) -> float:
        """What the kernel values in `gradient` are off by."""
        return value_rounding(self.resolved.kernel, self.rows)

    def refresh(self, q: np.ndarray, where: np.ndarray | None = None) -> None:
        """Replace q, or its entries ``where``, by numbers computed from scratch."""
        s = self.state
        if where is None:
            s.q[:] = q
            s.now["best"] = q.argmin()
        else:
            s.q[where] = q
        settle(s.alpha, s.q, s.diagonal, s.active, s.now)

    def _cache(self, search: Search, dtype: Any, shared: SharedColumns | None = None) -> ColumnCache:
        if isinstance(search, Full):
            return full_columns(self.resolved, self.rows, dtype, shared)
        # sampled search has columns over all rows only where q is kept there, too
        budget = self.resolved.cache_bytes if isinstance(search, Tracked) else 0
        rows = in_precision(self.rows, dtype)
        return column_cache(self.resolved.kernel, rows, budget, self.resolved.threads)

    def renew(self, search: Search, dtype: Any) -> None:
        """Go on from the same point with a new column cache."""
        if self.shared is not None:
            self.shared.let_go()
        self._counted -= self.qp.columns.counts
        self.qp = self.qp._replace(columns=self._cache(search, dtype))
        same = ("alpha", "q", "active", "place", "active_diagonal", "now", "random", "drawn")
        fresh = state_of(self.qp, search, self.stream, self.resolved)
        self.state = fresh._replace(**{name: getattr(self.state, name) for name in same})
        self._have_compiled()

    def _have_compiled(self) -> None:
        """Compile what the other threads run."""
        s = self.state
        if len(s.team.claimed):  # no loop runs yet: the call compiles and returns
            started = time.perf_counter()
            do_tasks(s, 0)
            self.compile_seconds += time.perf_counter() - started


def full_columns(resolved: Resolved, rows: Rows, dtype: Any, shared: SharedColumns | None) -> ColumnCache:
    """Return the column cache for full search: that of earlier runs, where there is one in the column store."""
    rows = in_precision(rows, dtype)
    if shared is None:
        return column_cache(resolved.kernel, rows, resolved.cache_bytes, resolved.threads)
    return shared.cache(resolved.kernel, rows, resolved.cache_bytes, resolved.threads)


def state_of(qp: SimplexQP, search: Search, seed: tuple[int, ...], resolved: Resolved) -> SimplexState:
    """Return a state with no point yet; columns are those of the problem but for `Sampled`, which has lines."""
    m, dtype, columns = len(qp.ridge), qp.columns.cached.dtype, qp.columns
    own_lines = isinstance(search, Sampled)
    room = min(m, FIRST_ROOM) if own_lines else 1
    return SimplexState(
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
        cached=np.empty((lines_within(room, dtype, resolved.cache_bytes), room), dtype)
        if own_lines
        else columns.cached,
        slot_of=np.full(m, -1, np.int32) if own_lines else columns.slot_of,
        values=np.empty((WIDE, room), dtype),
        core=np.empty((3, room)),
        drawn=np.zeros(WIDE, np.int32),
        team=thread_team(0 if own_lines else m, resolved.threads),
    )
