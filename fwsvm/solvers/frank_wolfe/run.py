"""A run of a simplex method on one two-class problem: from the starting point to the certificate.

It is one file because all that follows a check of the gap changes the same state.
"""

from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, MISSES, ColumnCache, column_cache
from fwsvm.kernels.distances import single_error
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import in_precision
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.kernels.sums import value_rounding
from fwsvm.numerics.random import stream
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import (
    SimplexCertificate,
    SimplexQP,
    certificate,
    gradient,
    gradient_by_columns,
    simplex_qp,
)
from fwsvm.settings import BALANCED, COMPUTED, KEPT, UNIFORM
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.cvm import CVM, first_inner
from fwsvm.solvers.frank_wolfe.engine import advance, plain, settle
from fwsvm.solvers.frank_wolfe.gradient import GAP_ROUNDING, Full, fetch_columns
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate, outcome_of, sorted_by_class
from fwsvm.solvers.frank_wolfe.sampled import (
    OWN_LINES,
    Sampled,
    Tracked,
    drawn_soon,
    fetch_active_columns,
    fetch_candidates,
    lines_within,
    tracking_pays,
    with_room,
)
from fwsvm.solvers.frank_wolfe.scans import do_tasks, team_running, thread_team
from fwsvm.solvers.frank_wolfe.start import path_start, starting_point
from fwsvm.solvers.frank_wolfe.state import (
    CANDIDATES_MISS,
    COLUMN_MISS,
    CONTROL,
    GOING,
    NO_PROGRESS,
    NO_VIOLATOR,
    ROUNDED,
    SimplexStart,
    SimplexState,
    largest_gap,
    stopping_line,
)
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome, WarmStart
from fwsvm.solvers.tuning import CHECK_COST, FIRST_ROOM, MARGIN, SINGLE_TOLERATED
from fwsvm.status import Status

UNIT_ROUNDOFF = 2.0**-24  # of single precision
NOTHING = SimplexCertificate(np.inf, np.inf, np.inf, 0.0)
Search = Full | Sampled | Tracked


class SimplexRun:
    """A `Solver`: a point, its gradient, a column cache, a goal, and what to do when the compiled loop comes back.

    Kernel columns are float32 and q is float64. Where the loop says it is done, q is recomputed in float64 from
    scratch. If the gap then misses the tolerance the run goes on from that q: as in iterative refinement, the error
    of float32 columns enters only through the steps since. Where that stops helping, columns become float64.

    Sampled search begins with q on the active set alone and goes on with all of q (`Tracked`) as soon as that would
    have been cheaper from the start.

    Parameters
    ----------
    problem : Binary
    rule : the method's rule
    resolved : Resolved
    warm_start : WarmStart, optional
        With the gradient of a run with the same kernel where it is a `SimplexStart`.
    columns : SharedColumns, optional

    Attributes
    ----------
    rows : Rows of float64, the class +1 first
    qp : SimplexQP, with the column cache
    state : SimplexState
    """

    def __init__(
        self,
        problem: Binary,
        rule: Any,
        resolved: Resolved,
        warm_start: WarmStart | None = None,
        columns: SharedColumns | None = None,
    ) -> None:
        self.rule, self.resolved, self.stream = plain(rule), resolved, problem.stream
        self.sampled, self.shared = resolved.search == "sampled", columns
        self.order, self.rows = sorted_by_class(problem)
        search: Search = _sampling(rule, resolved) if self.sampled else Full()
        error = single_error(resolved.kernel, own_terms(resolved.kernel, self.rows))
        dtype = np.float64 if error > SINGLE_TOLERATED else np.float32
        cache = self._cache(search, dtype, columns)
        self._counted = cache.counts.copy()  # what other runs did
        self.qp: SimplexQP = simplex_qp(
            cache, int(np.count_nonzero(problem.y > 0)), problem.penalties[self.order]
        )
        self.state: SimplexState = state_of(self.qp, search, self.stream, resolved)
        self._compile_team()
        self.widest = float(self.qp.diagonal.max())
        self.level = max(resolved.protocol.first_level or 0.0, resolved.tolerance)
        self.block = (
            0  # kernel values that are worth a call; published methods compute no more than steps ask for
        )
        self.switch = 0.0  # relative gap at which another method is to take over
        self.outcome: Outcome | None = None  # of the present point, once computed,
        self.exact: np.ndarray | None = None  # and its gradient
        self.last = NOTHING  # the last certificate that missed the tolerance
        if isinstance(rule, CVM):
            self.state.now["inner"] = first_inner(rule, resolved)
        self.error = ROUNDED  # of q, in parts of R, before float32 columns add theirs
        if warm_start is None:
            self._start_at(*starting_point(self.qp, self.rows, resolved, self.stream), None)
        else:
            weights, q = warm_start.weights[self.order], None
            if isinstance(warm_start, SimplexStart) and warm_start.kernel == resolved.kernel:
                weights, q, self.error = path_start(warm_start, self.qp, self.order)
            support = np.flatnonzero(weights)
            self._start_at(support, weights[support], q)
        if self.sampled and resolved.protocol.gradient == KEPT:
            self.track()
        self.set_goal()

    # ---------------------------------------------------------------- where the run stands

    def _start_at(self, support: np.ndarray, weights: np.ndarray, q: np.ndarray | None) -> None:
        """Begin at weights of the rows ``support``, and at q (m,) there where it is known."""
        s = self.state
        s.alpha[support] = weights
        s.active[: len(support)] = support
        s.place[support] = np.arange(len(support))
        s.active_diagonal[support] = s.diagonal[support]
        s.now["active"] = len(support)
        if self.by_active:
            self._refresh(self._gradient(support), support)
        else:
            self._refresh(gradient_by_columns(self.qp, s.alpha) if q is None else q)
        self._fetch_active()

    def stand_at(self, alpha: np.ndarray, q: np.ndarray) -> None:
        """Make alpha, with q = K~ alpha, the point of the run, both (m,) in the order of its own rows."""
        self._leave_point()
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

    def count_step(self) -> None:
        """Count a step that another method takes from here."""
        self._leave_point()
        now = self.state.now[0]
        now["iterations"] += 1
        now["steps"] += 1

    def in_order(self, values: np.ndarray) -> np.ndarray:
        """Return values (m,) of the rows of this run in the order of the problem's rows."""
        ordered = np.empty_like(values)
        ordered[self.order] = values
        return ordered

    @property
    def by_active(self) -> bool:
        """Whether q and kernel values are kept for the active set alone."""
        return isinstance(self.state.search, Sampled)

    def _gradient(self, where: np.ndarray | None = None) -> np.ndarray:
        """Return q = K~ alpha from scratch in float64, at all rows or at the rows ``where``."""
        return gradient(self.qp, self.rows, self.state.alpha, self.resolved.threads, where)

    def _refresh(self, q: np.ndarray, where: np.ndarray | None = None) -> None:
        """Replace q, or its entries ``where``, by numbers computed from scratch."""
        s = self.state
        if where is None:
            s.q[:] = q
            s.now["best"] = q.argmin()
        else:
            s.q[where] = q
        settle(s.alpha, s.q, s.diagonal, s.active, s.now)

    # ---------------------------------------------------------------- kernel values

    def _cache(self, search: Search, dtype: Any, shared: SharedColumns | None = None) -> ColumnCache:
        """Return a column cache; for full search that of earlier runs, where there is one in the column store."""
        kernel, threads, rows = self.resolved.kernel, self.resolved.threads, in_precision(self.rows, dtype)
        if isinstance(search, Full) and shared is not None:
            return shared.cache(kernel, rows, self.resolved.cache_bytes, threads)
        # sampled search has columns over all rows only where q is kept there, too
        return column_cache(
            kernel, rows, 0 if isinstance(search, Sampled) else self.resolved.cache_bytes, threads
        )

    def _renew(self, search: Search, dtype: Any) -> None:
        """Go on from the same point with a new column cache."""
        self._counted -= self.qp.columns.counts
        self.qp = self.qp._replace(columns=self._cache(search, dtype))
        same = ("alpha", "q", "active", "place", "active_diagonal", "now", "random", "drawn")
        fresh = state_of(self.qp, search, self.stream, self.resolved)
        self.state = fresh._replace(**{name: getattr(self.state, name) for name in same})
        self._compile_team()

    def _compile_team(self) -> None:
        """Compile what the other threads run."""
        if len(self.state.team.claimed):  # no loop runs yet: the call compiles and returns
            do_tasks(self.state, 0)

    def _fetch_active(self) -> None:
        """Compute the columns of the first active rows, which a swap reads (`Sampled`)."""
        if self.by_active:
            self.state.now["wanted"] = self.state.active[0]
            fetch_active_columns(self._room(), self.qp.columns)

    def _room(self) -> SimplexState:
        self.state = with_room(self.state, self.resolved.cache_bytes)
        return self.state

    # ---------------------------------------------------------------- goals

    def set_goal(self) -> None:
        """Let the loop stop at the level's gap, or a little below where rounded columns are to pass a check.

        Or at the gap where another method takes over (``switch``), if that comes first.
        """
        checked = not self.sampled and self.resolved.final_gap and self.state.cached.dtype == np.float32
        aim = 1.0 - MARGIN if checked else 1.0
        constant, slope = stopping_line(self.resolved.stop, self.level, self.widest)
        now = self.state.now[0]
        now["stop_constant"], now["stop_slope"] = aim * constant, aim * slope
        if self.switch and self.switch * now["R"] > now["stop_slope"] * now["R"] + now["stop_constant"]:
            now["stop_constant"], now["stop_slope"] = 0.0, self.switch

    def goal(self, R: float) -> float:
        """Return the largest gap at which the run has converged."""
        return largest_gap(self.resolved.stop, self.resolved.tolerance, self.widest, R)

    def within(self) -> bool:
        """Whether the gap last seen, exact under full search but for rounded columns, is that of the goal."""
        return self._gap() <= self.goal(float(self.state.now["R"][0]))

    def _gap(self) -> float:
        now = self.state.now[0]
        return float(now["gap"] if self.sampled else 2.0 * (now["R"] - self.state.q[now["best"]]))

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` steps, computing kernel values as they are wanted."""
        self._leave_point()
        taken, now = 0, self.state.now[0]
        while True:
            with team_running(self.state):
                taken += int(advance(self.rule, self.state, steps - taken))
            if now["stop"] == COLUMN_MISS and self.by_active:
                fetch_active_columns(self._room(), self.qp.columns)
            elif now["stop"] == COLUMN_MISS:
                search = self.state.search  # a row that is drawn rarely needs no column ahead of time
                ahead = isinstance(search, Full) or drawn_soon(search, len(self.state.q))
                fetch_columns(self.state, self.qp.columns, self.block, ahead=ahead)
            elif now["stop"] != CANDIDATES_MISS:
                return taken
            elif self._track_if_it_pays():
                now["stop"] = GOING
            else:
                fetch_candidates(self._room(), self.qp.columns)

    def check_stop(self) -> Status | None:
        """Check the gap at which the compiled loop stopped, and say how the run ended, or go on."""
        now = self.state.now[0]
        stop, now["stop"] = int(now["stop"]), GOING
        if self.by_active:
            # a vertex held for a move that was not made: its line will be another's
            self.state.slot_of[self.state.slot_of < OWN_LINES] = -1
        if self.level > self.resolved.tolerance:
            self.level = max(self.level / 2.0, self.resolved.tolerance)
            self.set_goal()
            return None
        if not self.resolved.final_gap:
            return Status.STALLED if stop == NO_PROGRESS else Status.SAMPLED_STOP
        if self.sampled and stop == NO_VIOLATOR and self.resolved.protocol.published:
            return Status.SAMPLED_STOP
        if (
            stop == NO_VIOLATOR
            and isinstance(self.state.search, Tracked)
            and self._take_violator(self.state.q)
        ):
            return None
        return self.check_gap()

    def iterate(self) -> SimplexIterate:
        """Return alpha, R, the gap last seen (exact under full search) and the support size."""
        now, alpha = self.state.now[0], self.in_order(self.state.alpha)
        return SimplexIterate(
            iterations=int(now["iterations"]),
            objective=float(now["R"]),
            gap=self._gap(),
            support_vectors=int(now["active"]),
            gap_kind="sampled" if self.sampled else "none",
            outcome=self.outcome,
            warm_start=WarmStart(alpha),
            alpha=alpha,
        )

    @property
    def counters(self) -> Counters:
        """What was done so far."""
        now, counts = self.state.now[0], self.qp.columns.counts - self._counted
        requests = 0 if self.sampled else 2 * int(now["steps"])
        return Counters(
            int(now["iterations"]),
            int(now["steps"]),
            int(counts[EVALUATIONS]),
            requests,
            int(counts[MISSES]),
        )

    # ---------------------------------------------------------------- checks of the gap

    def _take_violator(self, q: np.ndarray) -> bool:
        """Let the next step be about the row of least q if that violates the goal; return whether it does."""
        now, vertex = self.state.now[0], int(q.argmin())
        if 2.0 * (now["R"] - q[vertex]) <= max(self.goal(now["R"]), GAP_ROUNDING * now["R"], now["noise"]):
            return False
        self.state.q[vertex] = q[vertex]
        now["vertex"], now["found"] = vertex, 1
        return True

    def _leave_point(self) -> None:
        """Forget what is known of the present point: another is about to be taken."""
        self.outcome, self.exact = None, None

    def _may_defer(self) -> bool:
        """Whether rounding is at most `Resolved.deferred` of the goal: the next run starts from the q it gave."""
        alpha, goal = self.state.alpha, self.goal(float(self.state.now["R"][0]))
        rounding = UNIT_ROUNDOFF * self.widest * float(np.sqrt(alpha @ alpha))
        return not self.sampled and self.within() and rounding <= self.resolved.deferred * goal

    def check_gap(self) -> Status | None:
        """Recompute the gap from scratch in float64, unless that is deferred; None to go on from the q found."""
        if self.resolved.deferred and self._may_defer():
            return Status.CONVERGED
        now, rounding = self.state.now[0], value_rounding(self.resolved.kernel, self.rows)
        self.exact = q = self._gradient()
        found = certificate(self.qp.ridge, self.qp.diagonal, self.state.alpha, q, rounding)
        self.outcome = outcome_of(found, self.resolved, self.widest)
        if self.outcome.within:
            return Status.CONVERGED
        helped = found.objective < self.last.objective if self.sampled else found.gap < 0.5 * self.last.gap
        self.last = found
        if not helped:
            if self.qp.columns.cached.dtype == np.float64:
                return Status.STALLED
            self.double()
        if self.by_active:
            active = self.state.active[: now["active"]]
            self._refresh(q[active], active)
            now["looked"] += CHECK_COST * len(q) * len(active)
        else:
            self._refresh(q)
        if self.sampled:
            self._take_violator(q)
        return None

    def _track_if_it_pays(self) -> bool:
        """Keep q over all rows from here on if that would have been cheaper from the start; return whether."""
        if self.resolved.protocol.gradient == COMPUTED or not tracking_pays(
            self.state, self.resolved.cache_bytes
        ):
            return False
        self.track()
        return True

    def track(self) -> None:
        """Go on with q over all rows (`Sampled`)."""
        self._renew(Tracked(*self.state.search), self.state.cached.dtype)
        self._refresh(self._gradient())
        self.qp.columns.counts[EVALUATIONS] += len(self.state.q) * int(self.state.now["active"][0])

    def double(self) -> None:
        """Go on with columns in double precision."""
        self._renew(self.state.search, np.float64)
        self._fetch_active()
        self.set_goal()
        self.last = NOTHING


def _sampling(rule: Any, resolved: Resolved) -> Sampled:
    """Return how a run of this method looks for the ascent vertex among some rows."""
    protocol = resolved.protocol
    # Only CVM never steps toward a row of the active set: it has solved that.
    chosen = protocol.candidates if isinstance(rule, CVM) else UNIFORM
    return Sampled(retries=protocol.retries, outside=chosen != UNIFORM, in_turn=chosen == BALANCED)


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
