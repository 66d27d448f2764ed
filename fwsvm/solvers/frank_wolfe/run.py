"""A run of a simplex method on one two-class problem: from the starting point to the certificate.

It is one file because all that follows a check of the gap changes the same state.
"""

import functools
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import (
    EVALUATIONS,
    MISSES,
    ColumnCache,
    ColumnStore,
    stored_cache,
)
from fwsvm.kernels.distances import precision
from fwsvm.kernels.rows import in_precision
from fwsvm.kernels.source import row_source
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.numerics.random import stream
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import sums_by_columns
from fwsvm.settings import BALANCED, COMPUTED, KEPT, UNIFORM
from fwsvm.solvers.frank_wolfe.cvm import CVM, first_inner
from fwsvm.solvers.frank_wolfe.engine import advance, plain
from fwsvm.solvers.frank_wolfe.gradient import GAP_ROUNDING, fetch_columns
from fwsvm.solvers.frank_wolfe.iterate import AllRows, SimplexIterate
from fwsvm.solvers.frank_wolfe.sampled import (
    drawn_soon,
    has_room,
    hold_best,
    matrix_of,
    places_for,
    room_for,
    tracking_pays,
)
from fwsvm.solvers.frank_wolfe.scans import CACHE_LINE, do_tasks, team_running, thread_team
from fwsvm.solvers.frank_wolfe.start import POINTS, path_start, starting_point
from fwsvm.solvers.frank_wolfe.state import (
    CANDIDATES_MISS,
    COLUMN_MISS,
    CONTROL,
    GOING,
    NO_VIOLATOR,
    Sample,
    SimplexStart,
    SimplexState,
    stopping_line,
)
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome, WarmStart
from fwsvm.solvers.tuning import CHECK_COST, MARGIN
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
    columns : ColumnStore, optional

    Attributes
    ----------
    rows : Rows of float64, the class +1 first
    plus : int, how many these are
    columns : ColumnCache
    state : SimplexState
    """

    def __init__(
        self,
        problem: Binary,
        rule: Any,
        resolved: Resolved,
        warm_start: WarmStart | None,
        columns: ColumnStore | None,
    ) -> None:
        self.rule, self.resolved, self.sampled = plain(rule), resolved, resolved.search == "sampled"
        self.deferred = resolved.deferred
        self.order = order = np.argsort(-problem.y, kind="stable")
        self.rows = row_source(problem.X).take(order)
        self.plus = int((problem.y > 0).sum())
        here = problem._replace(X=self.rows, y=problem.y[order], penalties=problem.penalties[order])
        self.all_rows = AllRows(here, resolved)
        self.now = np.zeros(1, CONTROL)[0]
        self.drawn = np.zeros(WIDE, np.int32)
        self.stream = problem.stream
        alpha = None if warm_start is None else warm_start.weights[order]
        self.computed = self._is_computed(POINTS if alpha is None else int(np.count_nonzero(alpha)))
        self.columns = self._cache(precision(resolved.kernel, self.rows), columns)
        self._counted = self.columns.counts.copy()  # what other runs did
        self.level = max(resolved.protocol.first_level or 0.0, resolved.tolerance)
        # kernel values that are worth a call; published methods compute no more than steps ask for
        self.block = 0
        self.outcome: Outcome | None = None  # of the present point, once computed,
        self.exact: np.ndarray | None = None  # and its gradient
        self.last = np.inf  # what a certificate that misses the tolerance has to be below
        if isinstance(rule, CVM):
            self.now["inner"] = first_inner(rule, resolved)
        if alpha is None:
            alpha = starting_point(
                self.columns, self.all_rows, problem.stream, balanced=resolved.protocol.balanced_start
            )
        if isinstance(warm_start, SimplexStart) and warm_start.kernel == resolved.kernel:
            b, f = (each[order] for each in path_start(warm_start, 1.0 / problem.penalties))
            alpha = np.maximum(b, 0.0)
            q = f + self._sums(alpha - b)
        else:
            q = self.all_rows.gradient(alpha) if self.computed else self._sums(alpha)
        self.stand_at(alpha, q)
        self.set_goal()

    @functools.cached_property
    def random(self) -> np.ndarray:
        """The random numbers of sampled search."""
        return stream(*self.stream)

    # ---------------------------------------------------------------- where the run stands

    def _is_computed(self, active: int) -> bool:
        """Return whether q of candidates is to be computed anew each time where so many rows are active.

        The kernel matrix of the active rows, with room for more, has to fit in the cache.
        """
        matrix_bytes = 8 * (2 * room_for(active)) ** 2
        wanted = self.sampled and self.resolved.protocol.gradient != KEPT
        return wanted and matrix_bytes <= self.resolved.cache_bytes

    def stand_at(self, alpha: np.ndarray, q: np.ndarray, K: np.ndarray | None = None) -> None:
        """Make alpha, with q = K~ alpha, the point of the run, both (m,) in the order of its own rows.

        K are the kernel values of the rows with weight, where they are at hand and wanted (`Sample.computed`).
        """
        every, columns, plus, m, support = (
            self.all_rows,
            self.columns,
            self.plus,
            len(q),
            np.flatnonzero(alpha),
        )
        ridge, diagonal, cached, slot_of = every.ridge, every.diagonal, columns.cached, columns.slot_of
        row = place_of = np.arange(m, dtype=np.int32)
        if self.computed:
            row, place_of, plus = places_for(support, plus, m)
            ridge, diagonal, slot_of = ridge[row], diagonal[row], np.arange(len(row), dtype=np.int32)
            cached = np.zeros((len(row), len(row)), cached.dtype)
            places = place_of[support]
            cached[np.ix_(places, places)] = matrix_of(columns, support) if K is None else K
        n, count, places = len(row), len(support), place_of[support]
        active, place, active_diagonal = np.zeros(n, np.int32), np.full(n, -1, np.int32), np.full(n, -1.0)
        active[:count], place[places], active_diagonal[places] = places, np.arange(count), diagonal[places]
        weights, slopes = np.zeros((2, n))
        weights[places] = alpha[support]
        slopes[places] = q[support]
        now, self.outcome, self.exact = self.now, None, None
        now["active"], now["plus"], now["found"] = count, np.count_nonzero(support < self.plus), 0
        sample: Sample | tuple[()] = ()
        if self.sampled:
            protocol = self.resolved.protocol
            # only CVM never steps toward a row of the active set: it has solved that
            chosen = protocol.candidates if isinstance(self.rule, CVM) else UNIFORM
            sample = Sample(
                protocol.retries,
                chosen != UNIFORM,
                chosen == BALANCED,
                self.computed,
                self.plus,
                row,
                place_of,
                self.drawn,
                self.random,
            )
        if not self.computed:
            slopes[:] = q
            now["best"] = q.argmin()
        team = thread_team(0 if self.computed else n, self.resolved.threads)
        self.state = SimplexState(
            plus,
            ridge,
            diagonal,
            weights,
            slopes,
            active,
            place,
            active_diagonal,
            now,
            cached,
            slot_of,
            team,
            sample,
        )
        if (
            len(team.words) > CACHE_LINE
        ):  # compile what the other threads run: no loop runs yet, so it returns
            do_tasks(self.state, 0)
        advance(self.rule, self.state, 0)

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

    def alpha(self) -> np.ndarray:
        """Return the weights (m,) of the rows of this run."""
        s = self.state
        alpha = np.zeros(len(self.order))
        active = s.active[: s.now["active"]]
        alpha[s.sample.row[active] if self.computed else active] = s.alpha[active]
        return alpha

    # ---------------------------------------------------------------- kernel values

    def _cache(self, dtype: Any, store: ColumnStore | None = None) -> ColumnCache:
        """Return a column cache; for full search that of earlier runs, where there is one in the column store."""
        resolved = self.resolved
        rows = in_precision(self.rows, dtype)
        budget = 0 if self.computed else resolved.cache_bytes
        kept = {} if self.sampled or store is None else store
        return stored_cache(kept, self.stream[-1], resolved.kernel, rows, budget, resolved.threads)

    def _sums(self, alpha: np.ndarray) -> np.ndarray:
        """Return q = K~ alpha (m,), summed in float64 from the columns of the rows with weight."""
        y = self.all_rows.y
        ridge = self.all_rows.ridge
        return y * sums_by_columns(self.columns, y * alpha, self.columns.threads) + alpha * ridge

    def _renew(self, dtype: Any) -> None:
        """Begin a new column cache."""
        self._counted -= self.columns.counts
        self.columns = self._cache(dtype)

    def _look_at_candidates(self) -> None:
        """Compute the candidates' kernel values, or keep q at all rows from here on if that is cheaper."""
        s, alpha, room = self.state, self.alpha(), has_room(self.state)
        support = np.flatnonzero(alpha)
        pays = self.resolved.protocol.gradient != COMPUTED and tracking_pays(s, self.resolved.cache_bytes)
        if pays or not (room or self._is_computed(len(support))):
            self.computed = False
            self._renew(s.cached.dtype)
            self.stand_at(alpha, self.all_rows.gradient(alpha))
            self.columns.counts[EVALUATIONS] += len(alpha) * len(support)
            s.now["stop"] = GOING
            return
        if not room:
            places = s.sample.place_of[support]
            q = np.zeros(len(alpha))
            q[support] = s.q[places]
            self.stand_at(alpha, q, s.cached[np.ix_(places, places)])
        hold_best(self.state, self.columns, self.all_rows)

    # ---------------------------------------------------------------- goals

    def set_goal(self) -> None:
        """Let the loop stop at the level's gap, or a little below where rounded columns are to pass a check."""
        checked = not self.sampled and self.resolved.final_gap and self.state.cached.dtype == np.float32
        aim = 1.0 - MARGIN if checked else 1.0
        constant, slope = stopping_line(self.resolved.stop, self.level, self.all_rows.widest)
        now = self.now
        now["stop_constant"] = aim * constant
        now["stop_slope"] = aim * slope

    def within(self) -> bool:
        """Whether the gap last seen, exact under full search but for rounded columns, is that of the goal."""
        return self._gap() <= self.all_rows.goal(self.now["R"])

    def _gap(self) -> float:
        now = self.now
        return float(now["gap"] if self.sampled else 2.0 * (now["R"] - self.state.q[now["best"]]))

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` steps, computing kernel values as they are wanted."""
        self.outcome = self.exact = None  # another point is about to be taken
        taken = 0
        now = self.now
        while True:
            with team_running(self.state):
                taken += advance(self.rule, self.state, steps - taken)
            if now["stop"] == COLUMN_MISS:  # a row that is drawn rarely needs no column ahead of time
                ahead = not self.sampled or drawn_soon(len(self.order))
                fetch_columns(self.state, self.columns, self.block, ahead=ahead)
            elif now["stop"] == CANDIDATES_MISS:
                self._look_at_candidates()
            else:
                return taken

    def check_stop(self) -> Status | None:
        """Check the gap at which the compiled loop stopped, and say how the run ended, or go on."""
        now = self.now
        stop = now["stop"]
        now["stop"] = GOING
        if self.level > self.resolved.tolerance:
            self.level = max(self.level / 2.0, self.resolved.tolerance)
            self.set_goal()
            return None
        if stop == NO_VIOLATOR and (self.resolved.protocol.published or not self.resolved.final_gap):
            return Status.SAMPLED_STOP
        if stop == NO_VIOLATOR and not self.computed and self._take_violator(self.state.q):
            return None
        return self.check_gap()

    def iterate(self, **more: Any) -> SimplexIterate:
        """Return alpha, R, the gap last seen (exact under full search) and the support size.

        ``more`` are facts of the method that has this run, for `SimplexStart`.
        """
        now = self.now
        alpha = self.in_order(self.alpha())
        start = WarmStart(alpha)
        if not self.computed:
            q = self.state.q if self.exact is None else self.exact
            ridge = self.in_order(self.all_rows.ridge)
            start = SimplexStart(alpha, self.resolved.kernel, self.in_order(q), ridge, **more)
        return SimplexIterate(
            iterations=int(now["iterations"]),
            objective=float(now["R"]),
            gap=self._gap(),
            support_vectors=int(now["active"]),
            gap_kind="sampled" if self.sampled else "none",
            outcome=self.outcome,
            warm_start=start,
            alpha=alpha,
        )

    @property
    def counters(self) -> Counters:
        """What was done so far."""
        now = self.now
        counts = self.columns.counts - self._counted
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
        now = self.now
        row = q.argmin()
        if 2.0 * (now["R"] - q[row]) <= max(
            self.all_rows.goal(now["R"]), GAP_ROUNDING * now["R"], now["noise"]
        ):
            return False
        self.drawn[:] = row
        now["draws"] = 1
        if self.computed:
            self._look_at_candidates()
        return True

    def confirm(self) -> None:
        """Let the next check of the gap be one from scratch, though it was deferred."""
        self.deferred = False

    def check_gap(self) -> Status | None:
        """Recompute the gap from scratch in float64, unless that is deferred; None to go on from the q found."""
        if not self.resolved.final_gap:
            return Status.SAMPLED_STOP if self.within() else Status.STALLED
        if self.deferred and not self.sampled and self.within():
            return Status.CONVERGED
        alpha = self.alpha()
        q = self.all_rows.gradient(alpha)
        found = self.all_rows.outcome(alpha, q)
        helped = (found.objective if self.sampled else found.gap) < self.last
        self.last = found.objective if self.sampled else 0.5 * found.gap
        if found.within or not (helped or self.columns.cached.dtype == np.float32):
            self.outcome = found
            self.exact = q
            return Status.CONVERGED if found.within else Status.STALLED
        if not helped:
            self._renew(np.float64)
            self.last = np.inf
        self.stand_at(alpha, q)
        self.set_goal()
        self.now["looked"] += CHECK_COST * len(q) * self.now["active"]
        if self.sampled:
            self._take_violator(q)
        return None
