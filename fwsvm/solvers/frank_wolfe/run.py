"""A run of a simplex method on one two-class problem: from the starting point to the certificate.

It is one file because all that follows a check of the gap changes the same state.
"""

from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, MISSES, ColumnCache, column_cache
from fwsvm.kernels.distances import value_error
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import in_precision
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.numerics.random import stream
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import SimplexQP, gradient_by_columns, simplex_qp
from fwsvm.settings import BALANCED, COMPUTED, KEPT, UNIFORM
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.cvm import CVM, first_inner
from fwsvm.solvers.frank_wolfe.engine import advance, plain
from fwsvm.solvers.frank_wolfe.gradient import GAP_ROUNDING, fetch_columns
from fwsvm.solvers.frank_wolfe.iterate import AllRows, SimplexIterate, sorted_by_class
from fwsvm.solvers.frank_wolfe.sampled import (
    drawn_soon,
    fetch_candidates,
    has_room,
    matrix_fits,
    matrix_of,
    places_for,
    tracking_pays,
)
from fwsvm.solvers.frank_wolfe.scans import CACHE_LINE, do_tasks, team_running, thread_team
from fwsvm.solvers.frank_wolfe.start import POINTS, path_start, starting_point
from fwsvm.solvers.frank_wolfe.state import (
    CANDIDATES_MISS,
    COLUMN_MISS,
    CONTROL,
    GOING,
    NO_PROGRESS,
    NO_VIOLATOR,
    FullSearch,
    Sample,
    Search,
    SimplexStart,
    SimplexState,
    stopping_line,
)
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome, WarmStart
from fwsvm.solvers.tuning import CHECK_COST, MARGIN, SINGLE_TOLERATED
from fwsvm.status import Status


class SimplexRun:
    """A `Solver`: a point, its gradient, a column cache, a goal, and what to do when the compiled loop comes back.

    Kernel columns are float32 and q is float64. Where the loop says it is done, q is recomputed in float64 from
    scratch. If the gap then misses the tolerance the run goes on from that q: as in iterative refinement, the error
    of float32 columns enters only through the steps since. Where that stops helping, columns become float64.

    Sampled search begins with q at the active rows alone and goes on with q at all rows as soon as that would have
    been cheaper from the start, or where their kernel matrix does not fit in the cache.

    Parameters
    ----------
    problem : Binary
    rule : the method's rule
    resolved : Resolved
    warm_start : WarmStart, optional
        With the ends of earlier runs with the same kernel where it is a `SimplexStart`.
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
        self.rule, self.resolved, self.sampled = plain(rule), resolved, resolved.search == "sampled"
        self.order, self.rows, sorted_problem = sorted_by_class(problem)
        self.all_rows = AllRows(sorted_problem, resolved)
        self.now, self.drawn = np.zeros(1, CONTROL), np.zeros(WIDE, np.int32)
        self.random = stream(*problem.stream)
        alpha = None if warm_start is None else warm_start.weights[self.order]
        search = self._search(POINTS if alpha is None else int(np.count_nonzero(alpha)))
        error = value_error(resolved.kernel, own_terms(resolved.kernel, self.rows), dtype=np.float32)
        cache = self._cache(search, np.float64 if error > SINGLE_TOLERATED else np.float32, columns)
        self._counted = cache.counts.copy()  # what other runs did
        self.qp: SimplexQP = simplex_qp(cache, int((problem.y > 0).sum()), sorted_problem.penalties)
        self.level = max(resolved.protocol.first_level or 0.0, resolved.tolerance)
        # kernel values that are worth a call; published methods compute no more than steps ask for
        self.block = 0
        self.switch = 0.0  # relative gap at which another method is to take over
        self.outcome: Outcome | None = None  # of the present point, once computed,
        self.exact: np.ndarray | None = None  # and its gradient
        self.last = np.inf  # what a certificate that misses the tolerance has to be below
        if isinstance(rule, CVM):
            self.now["inner"] = first_inner(rule, resolved)
        if alpha is None:
            alpha = starting_point(self.qp, resolved, problem.stream)
        elif isinstance(warm_start, SimplexStart) and warm_start.kernel == resolved.kernel:
            alpha = path_start(warm_start, 1.0 / problem.penalties)[self.order]
        support = np.flatnonzero(alpha)
        self.state: SimplexState = self._state(search, support, alpha[support])
        if search.computed:
            self._refresh(self.all_rows.gradient(self.alpha())[support], support)
        else:
            self._refresh(gradient_by_columns(self.qp, alpha))
        self.set_goal()

    # ---------------------------------------------------------------- where the run stands

    def _search(self, active: int) -> Search:
        """Return how the run looks for the ascent vertex where so many rows are active."""
        if not self.sampled:
            return FullSearch()
        protocol = self.resolved.protocol
        # Only CVM never steps toward a row of the active set: it has solved that.
        chosen = protocol.candidates if isinstance(self.rule, CVM) else UNIFORM
        computed = protocol.gradient != KEPT and matrix_fits(active, self.resolved.cache_bytes)
        return Search(protocol.retries, chosen != UNIFORM, chosen == BALANCED, computed)

    def _state(
        self, search: Search, support: np.ndarray, weights: np.ndarray, K: np.ndarray | None = None
    ) -> SimplexState:
        """Return the state at weights of the rows ``support``, of kernel matrix K, whose q is not yet known."""
        qp, m, computed = self.qp, len(self.order), search.computed
        row = place_of = np.arange(m, dtype=np.int32)
        plus, ridge, diagonal, cached, slot_of = (
            qp.plus,
            qp.ridge,
            qp.diagonal,
            qp.columns.cached,
            qp.columns.slot_of,
        )
        if computed:
            row, place_of, plus = places_for(qp, support)
            ridge, diagonal, slot_of = ridge[row], diagonal[row], np.arange(len(row), dtype=np.int32)
            cached = np.zeros((len(row), len(row)), cached.dtype)
            places = place_of[support]
            cached[np.ix_(places, places)] = matrix_of(qp.columns, support) if K is None else K
        n, count, places = len(row), len(support), place_of[support]
        alpha, active, place = np.zeros(n), np.zeros(n, np.int32), np.full(n, -1, np.int32)
        alpha[places], active[:count], place[places] = weights, places, np.arange(count)
        self.now["active"], self.now["plus"] = count, np.count_nonzero(support < qp.plus)
        active_diagonal = np.where(place < 0, -1.0, diagonal)
        point = alpha, np.zeros(n), active, place, active_diagonal, self.now
        team = thread_team(0 if computed else n, self.resolved.threads)
        sample: Sample | tuple[()] = ()
        if self.sampled:
            values = np.empty((WIDE, n if computed else 1), cached.dtype)
            sample = Sample(qp.plus, qp.ridge, qp.diagonal, row, place_of, self.drawn, values, self.random)
        state = SimplexState(search, plus, ridge, diagonal, *point, cached, slot_of, team, sample)
        if (
            len(team.words) > CACHE_LINE
        ):  # compile what the other threads run: no loop runs yet, so it returns
            do_tasks(state, 0)
        return state

    def stand_at(self, alpha: np.ndarray, q: np.ndarray) -> None:
        """Make alpha, with q = K~ alpha, the point of the run, both (m,) in the order of its own rows."""
        self.outcome = self.exact = None
        support = np.flatnonzero(alpha)
        self.state, self.now["found"] = self._state(self.state.search, support, alpha[support]), 0
        self._refresh(q)

    def count_step(self) -> None:
        """Count a step that another method takes from here."""
        self.outcome = self.exact = None
        self.now["iterations"] += 1
        self.now["steps"] += 1

    def in_order(self, values: np.ndarray) -> np.ndarray:
        """Return values (m,) of the rows of this run in the order of the problem's rows."""
        ordered = np.empty_like(values)
        ordered[self.order] = values
        return ordered

    def _support(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the active rows, by number among those of the run, and their weights."""
        s = self.state
        active = s.active[: int(s.now["active"][0])]
        return s.sample.row[active] if self.sampled else active, s.alpha[active]

    def alpha(self) -> np.ndarray:
        """Return the weights (m,) of the rows of this run."""
        alpha = np.zeros(len(self.order))
        support, weights = self._support()
        alpha[support] = weights
        return alpha

    def _refresh(self, q: np.ndarray, where: np.ndarray | None = None) -> None:
        """Replace q, or its entries at the rows ``where``, by numbers computed from scratch."""
        s = self.state
        if where is None:
            s.q[:] = q
            s.now["best"] = q.argmin()
        else:
            s.q[s.sample.place_of[where]] = q
        advance(self.rule, s, 0)

    # ---------------------------------------------------------------- kernel values

    def _cache(self, search: Search, dtype: Any, shared: SharedColumns | None = None) -> ColumnCache:
        """Return a column cache; for full search that of earlier runs, where there is one in the column store."""
        kernel, threads, rows = self.resolved.kernel, self.resolved.threads, in_precision(self.rows, dtype)
        if not self.sampled and shared is not None:
            return shared.cache(kernel, rows, self.resolved.cache_bytes, threads)
        return column_cache(kernel, rows, 0 if search.computed else self.resolved.cache_bytes, threads)

    def _renew(self, search: Search, dtype: Any) -> None:
        """Go on from the same point with a new column cache; q is not known there."""
        self._counted -= self.qp.columns.counts
        self.qp = self.qp._replace(columns=self._cache(search, dtype))
        self.state = self._state(search, *self._support())

    def _look_at_candidates(self) -> None:
        """Compute the candidates' kernel values, or keep q at all rows from here on if that is cheaper."""
        s = self.state
        active = s.active[: int(s.now["active"][0])]
        search, room = self._search(len(active)), has_room(s)
        pays = self.resolved.protocol.gradient != COMPUTED and tracking_pays(s, self.resolved.cache_bytes)
        if pays or not (room or search.computed):
            self._renew(search._replace(computed=False), s.cached.dtype)
            self._refresh(self.all_rows.gradient(self.alpha()))
            self.qp.columns.counts[EVALUATIONS] += len(self.order) * len(active)
            s.now["stop"] = GOING
            return
        if not room:
            K = s.cached[np.ix_(active, active)]
            self.state = self._state(search, s.sample.row[active], s.alpha[active], K)
            self.state.q[self.state.active[: len(active)]] = s.q[active]
        fetch_candidates(self.state, self.qp.columns)

    # ---------------------------------------------------------------- goals

    def set_goal(self) -> None:
        """Let the loop stop at the level's gap, or a little below where rounded columns are to pass a check.

        Or at the gap where another method takes over (``switch``), if that comes first.
        """
        checked = not self.sampled and self.resolved.final_gap and self.state.cached.dtype == np.float32
        aim = 1.0 - MARGIN if checked else 1.0
        constant, slope = stopping_line(self.resolved.stop, self.level, self.all_rows.widest)
        now = self.now[0]
        now["stop_constant"], now["stop_slope"] = aim * constant, aim * slope
        if self.switch and self.switch * now["R"] > now["stop_slope"] * now["R"] + now["stop_constant"]:
            now["stop_constant"], now["stop_slope"] = 0.0, self.switch

    def within(self) -> bool:
        """Whether the gap last seen, exact under full search but for rounded columns, is that of the goal."""
        return self._gap() <= self.all_rows.goal(float(self.now["R"][0]))

    def _gap(self) -> float:
        now = self.now[0]
        return float(now["gap"] if self.sampled else 2.0 * (now["R"] - self.state.q[now["best"]]))

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` steps, computing kernel values as they are wanted."""
        self.outcome = self.exact = None  # another point is about to be taken
        taken, now = 0, self.now[0]
        while True:
            with team_running(self.state):
                taken += int(advance(self.rule, self.state, steps - taken))
            if now["stop"] == COLUMN_MISS:  # a row that is drawn rarely needs no column ahead of time
                ahead = not self.sampled or drawn_soon(len(self.order))
                fetch_columns(self.state, self.qp.columns, self.block, ahead=ahead)
            elif now["stop"] == CANDIDATES_MISS:
                self._look_at_candidates()
            else:
                return taken

    def check_stop(self) -> Status | None:
        """Check the gap at which the compiled loop stopped, and say how the run ended, or go on."""
        now = self.now[0]
        stop, now["stop"] = int(now["stop"]), GOING
        if self.level > self.resolved.tolerance:
            self.level = max(self.level / 2.0, self.resolved.tolerance)
            self.set_goal()
            return None
        if not self.resolved.final_gap:
            return Status.STALLED if stop == NO_PROGRESS else Status.SAMPLED_STOP
        if stop == NO_VIOLATOR and self.resolved.protocol.published:
            return Status.SAMPLED_STOP
        if stop == NO_VIOLATOR and not self.state.search.computed and self._take_violator(self.state.q):
            return None
        return self.check_gap()

    def iterate(self) -> SimplexIterate:
        """Return alpha, R, the gap last seen (exact under full search) and the support size."""
        now, alpha = self.now[0], self.in_order(self.alpha())
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
        now, counts = self.now[0], self.qp.columns.counts - self._counted
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
        """Make the row of least q (m,) the candidate if that violates the goal; return whether it does."""
        now, row = self.now[0], int(q.argmin())
        if 2.0 * (now["R"] - q[row]) <= max(
            self.all_rows.goal(now["R"]), GAP_ROUNDING * now["R"], now["noise"]
        ):
            return False
        self.drawn[:], now["draws"] = row, 1
        if self.state.search.computed:
            self._look_at_candidates()
        return True

    def check_gap(self) -> Status | None:
        """Recompute the gap from scratch in float64, unless that is deferred; None to go on from the q found."""
        if self.resolved.deferred and not self.sampled and self.within():
            return Status.CONVERGED
        alpha = self.alpha()
        self.exact = q = self.all_rows.gradient(alpha)
        self.outcome = found = self.all_rows.outcome(alpha, q)
        if found.within:
            return Status.CONVERGED
        helped = (found.objective if self.sampled else found.gap) < self.last
        self.last = found.objective if self.sampled else 0.5 * found.gap
        if not helped:
            if self.qp.columns.cached.dtype == np.float64:
                return Status.STALLED
            self._renew(self.state.search, np.float64)
            self.set_goal()
            self.last = np.inf
        if self.state.search.computed:
            support, _ = self._support()
            self._refresh(q[support], support)
            self.now["looked"] += CHECK_COST * len(q) * len(support)
        else:
            self._refresh(q)
        if self.sampled:
            self._take_violator(q)
        return None
