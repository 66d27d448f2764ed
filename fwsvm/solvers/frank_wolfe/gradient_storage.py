"""Gradient and column cache of a simplex run: how q is stored, in which precision, and how misses are served.

q is kept over all rows or over the active set, with kernel columns in single or double precision. A run may change its
storage and go on from the same point.
"""

import time
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache, fetch_in_thread
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.call_by_address import address_of
from fwsvm.problems.simplex_qp import SimplexQP, gradient, gradient_by_columns
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.arrays import Search, full_columns, sampled_columns, state_of, with_room
from fwsvm.solvers.frank_wolfe.engine import advance, settle
from fwsvm.solvers.frank_wolfe.fetch import fetch_active_columns, fetch_candidates, fetch_columns
from fwsvm.solvers.frank_wolfe.run_until_miss import run_until_miss
from fwsvm.solvers.frank_wolfe.search import Full, Sampled, Tracked
from fwsvm.solvers.frank_wolfe.state import COLUMN_MISS, State
from fwsvm.solvers.frank_wolfe.thread_team import do_tasks, team_running
from fwsvm.solvers.resolve import Resolved


class GradientStorage:
    """Gradient and cache storage of a `SimplexRun`.

    Attributes
    ----------
    rule : the method's rule
    resolved : Resolved
    stream : tuple of int
        The run's random numbers; the last is the number of its subproblem.
    rows : Rows of float64, the class +1 first
    qp : SimplexQP, with the columns kept
    state : State
    counted : ndarray, what the columns' counters were before the run
    compile_seconds : float
    """

    rule: Any
    resolved: Resolved
    stream: tuple[int, ...]
    rows: Rows
    qp: SimplexQP
    state: State
    counted: np.ndarray
    compile_seconds: float

    @property
    def by_active(self) -> bool:
        """Whether q and kernel values are kept for the active set alone."""
        return isinstance(self.state.search, Sampled)

    def _steps(self, steps: int) -> int:
        """Take up to ``steps`` steps, computing columns that they miss; return how many."""
        now, taken = self.state.now[0], 0
        while True:
            with team_running(self.state, self.resolved.threads):
                taken += self._stretch(steps - taken)
            if now["stop"] != COLUMN_MISS:
                return taken
            if self.by_active:
                fetch_active_columns(self._room(), self.qp.columns)
            else:
                fetch_columns(self.state, self.qp.columns)

    def _provide_candidates(self) -> None:
        """Compute the kernel values of the candidates with the active set."""
        fetch_candidates(self._room(), self.qp.columns)

    def _stretch(self, steps: int) -> int:
        """Take steps until compiled code returns."""
        if self.by_active:
            return int(advance(self.rule, self.state, steps))
        return int(run_until_miss(*self.at, self.rule, self.state, self.qp.columns, steps))

    def _room(self) -> State:
        self.state = with_room(self.state, self.resolved.cache_bytes)
        return self.state

    def _fetch_columns(self) -> None:
        """Compute the columns of the first active rows, which a swap reads (`Sampled`)."""
        now = self.state.now[0]
        if self.by_active:
            now["wanted"] = self.state.active[0]
            fetch_active_columns(self._room(), self.qp.columns)

    def _gradient(self, where: np.ndarray | None = None) -> np.ndarray:
        return gradient(self.qp, self.rows, self.state.alpha, self.resolved.threads, where)

    def _first_gradient(self) -> np.ndarray:
        """Return q at the starting point, at all rows."""
        return gradient_by_columns(self.qp, self.state.alpha)

    def _refresh(self, q: np.ndarray, where: np.ndarray | None = None) -> None:
        """Replace q, or its entries ``where``, by numbers computed from scratch."""
        s = self.state
        if where is None:
            s.q[:] = q
            s.now["best"] = q.argmin()
        else:
            s.q[where] = q
        settle(s.alpha, s.q, s.diagonal, s.active, s.now)

    def _columns(self, search: Search, dtype: Any, shared: SharedColumns | None = None) -> ColumnCache:
        if isinstance(search, Full):
            return full_columns(self.resolved, self.rows, dtype, shared)
        return sampled_columns(self.resolved, self.rows, dtype, tracked=isinstance(search, Tracked))

    def _renew(self, search: Search, dtype: Any) -> None:
        """Go on from the same point with a new column cache."""
        self.counted -= self.qp.columns.counts
        self.qp = self.qp._replace(columns=self._columns(search, dtype))
        same = ("alpha", "q", "active", "place", "active_diagonal", "now", "random", "drawn")
        fresh = state_of(self.qp, search, self.stream, self.resolved)
        self.state = fresh._replace(**{name: getattr(self.state, name) for name in same})
        self._have_compiled()

    def _have_compiled(self) -> None:
        """Compile what this state needs: `do_tasks`, and what `run_until_miss` calls by address."""
        s, columns = self.state, self.qp.columns
        if len(s.team.claimed):  # no loop runs yet: the call compiles and returns
            started = time.perf_counter()
            do_tasks(s, 0, 0, 0)
            self.compile_seconds += time.perf_counter() - started
        if not self.by_active:
            self.at = (
                address_of(advance, self.rule, s, 0),
                address_of(fetch_in_thread, columns, columns.all_rows, s.alpha, 0),
            )
