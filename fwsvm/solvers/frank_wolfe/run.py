"""A run of a simplex method on one two-class problem: from the starting point to the certificate."""

from enum import IntEnum
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, MISSES, get_columns
from fwsvm.kernels.rows import some_rows
from fwsvm.kernels.sums import weighted_sums
from fwsvm.problems.simplex_qp import Certificate, certificate, simplex_qp
from fwsvm.solvers import certify
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.arrays import EXACT, state_of, tracking_pays
from fwsvm.solvers.frank_wolfe.gradient_storage import GradientStorage
from fwsvm.solvers.frank_wolfe.outcomes import by_class, machine_of, outcome_of
from fwsvm.solvers.frank_wolfe.search import OWN_LINES, ROUNDING, Full, Sampled, Tracked
from fwsvm.solvers.frank_wolfe.starting_point import draw, optimum
from fwsvm.solvers.frank_wolfe.state import CANDIDATES_MISS, GOING, NO_VIOLATOR
from fwsvm.solvers.frank_wolfe.stopping import FIRST_LEVEL, MARGIN, largest_gap, stopping_line
from fwsvm.solvers.frank_wolfe.thread_team import help_team
from fwsvm.solvers.process import Binary, Counters, Expansion, Outcome, Point
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.solvers.warm_up import once, some_steps, tiny_problem
from fwsvm.status import Status

UNIT_ROUNDOFF = 2.0**-24  # of single precision
NOTHING = Certificate(np.inf, np.inf, np.inf, 0.0)


class SimplexRun(GradientStorage):
    """A `Process`: state, goal, and what to do when the compiled loop comes back.

    Kernel columns are float32 and q is float64. Where the loop says it is done, q is recomputed in float64 from
    scratch. If the gap then misses the tolerance the run goes on from that q: as in iterative refinement, the error
    of float32 columns enters only through the steps since. Where that stops helping, columns become float64.

    Sampled search begins with q on the active set alone and goes on with all of q (`Tracked`) as soon as that would
    have been cheaper from the start.
    """

    def __init__(
        self, problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None,
        columns: SharedColumns | None = None,
    ) -> None:  # fmt: skip
        self.rule, self.resolved, self.stream = _plain(rule), resolved, problem.stream
        self.sampled = resolved.search == "sampled"
        self.order, self.rows = by_class(problem)
        search = Sampled() if self.sampled else Full()
        cache = self._columns(search, np.float32, columns)
        self.counted = cache.counts.copy()  # what other runs did
        self.qp = simplex_qp(cache, int(np.count_nonzero(problem.y > 0)), problem.penalties[self.order])
        self.widest = float(self.qp.diagonal.max())
        self.deferred = (
            False  # whether the certificate of the present point is left to be computed with others
        )
        self.level = FIRST_LEVEL if resolved.protocol == "libcvm" else resolved.tolerance
        self.compile_seconds = 0.0
        self.certificate: Certificate | None = None  # of the present point, once computed,
        self.exact: np.ndarray | None = None  # and its gradient
        self.last = NOTHING  # the last certificate that missed the tolerance
        self.state = state_of(self.qp, search, self.stream, resolved)
        self._have_compiled()
        if warm_start is None:
            self._start_from(*self._starting_point())
        else:
            weights = warm_start.weights[self.order]
            support = np.flatnonzero(weights)
            self._start_from(support, weights[support])
        self._set_goal()

    # ---------------------------------------------------------------- the starting point

    def _starting_point(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and weights: the optimum over a few rows drawn at random."""
        random = np.random.default_rng(self.stream)
        which, columns = draw(self.qp, random, balanced=self.resolved.protocol == "libcvm"), self.qp.columns
        if self.sampled:
            few = some_rows(self.rows, which)
            gram = weighted_sums(self.resolved.kernel, few, np.arange(len(which)), np.eye(len(which)), few)
        else:  # steps will ask for these columns
            cached, lines = get_columns(columns, which, self.state.alpha)
            gram = cached[lines[:, None], which].astype(np.float64)
        weights = optimum(gram, self.qp, which)
        return which[weights > 0], weights[weights > 0]

    def _start_from(self, support: np.ndarray, weights: np.ndarray) -> None:
        s, now = self.state, self.state.now[0]
        s.alpha[support] = weights
        s.active[: len(support)] = support
        s.place[support] = np.arange(len(support))
        s.active_diagonal[support] = s.diagonal[support]
        now["active"] = len(support)
        now["inner"] = getattr(self.rule, "inner", 0.0)
        if self.sampled:
            self._refresh(self._gradient(support), support)
        else:
            self._refresh(self._first_gradient())
        self._fetch_columns()

    def _set_goal(self) -> None:
        """Let the loop stop at the level's gap, or a little below where rounded columns are to pass a check."""
        checked = not self.sampled and self.resolved.final_gap and self.state.cached.dtype == np.float32
        aim = 1.0 - MARGIN if checked else 1.0
        constant, slope = stopping_line(self.resolved.stop, self.level, self.widest)
        now = self.state.now[0]
        now["stop_constant"], now["stop_slope"] = aim * constant, aim * slope

    def _goal(self, R: float) -> float:
        """Return the largest gap at which the run has converged."""
        return largest_gap(self.resolved.stop, self.resolved.tolerance, self.widest, R)

    def _within(self) -> bool:
        """Whether the gap last seen, exact under full search but for rounded columns, is that of the goal."""
        R, gap = SimplexRun.point(self)[1:3]
        return gap <= self._goal(R)

    # ---------------------------------------------------------------- the contract of a Process

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` steps, computing kernel values as they are wanted."""
        self._leave_point()
        taken, now = 0, self.state.now[0]
        while True:
            taken += self._steps(steps - taken)
            if now["stop"] != CANDIDATES_MISS:
                return taken
            if self._track_if_it_pays():
                now["stop"] = GOING
            else:
                self._provide_candidates()

    def help(self, me: int) -> None:
        """Take shares of the passes over all rows while `advance` runs."""
        help_team(self.state, me)

    def verdict(self) -> Status | None:
        """Check the claim of the compiled loop, and say how the run ended, or go on."""
        now = self.state.now[0]
        stop, now["stop"] = int(now["stop"]), GOING
        if self.by_active:
            # a vertex held for a move that was not made: its line will be another's
            self.state.slot_of[self.state.slot_of < OWN_LINES] = -1
        if self.level > self.resolved.tolerance:
            self.level = max(self.level / 2.0, self.resolved.tolerance)
            self._set_goal()
            return None
        if (
            self.sampled
            and stop == NO_VIOLATOR
            and (self.resolved.protocol != "default" or not self.resolved.final_gap)
        ):
            return Status.SAMPLED_STOP
        if not self.resolved.final_gap:
            return Status.SAMPLED_STOP
        if (
            stop == NO_VIOLATOR
            and isinstance(self.state.search, Tracked)
            and self._take_violator(self.state.q)
        ):
            return None
        return self._check()

    def _take_violator(self, q: np.ndarray) -> bool:
        """Let the next step be about the row of least q if that violates the goal; return whether it does."""
        now, vertex = self.state.now[0], int(q.argmin())
        if 2.0 * (now["R"] - q[vertex]) <= max(self._goal(now["R"]), ROUNDING * now["R"], now["noise"]):
            return False
        self.state.q[vertex] = q[vertex]
        now["vertex"], now["found"] = vertex, 1
        return True

    def _leave_point(self) -> None:
        """Forget what is known of the present point: a step is about to be taken."""
        self.certificate, self.exact, self.deferred = None, None, False

    def _may_defer(self) -> bool:
        """Whether rounded kernel values are no matter beside the goal: the next run starts from the q they gave."""
        alpha = self.state.alpha
        rounding = UNIT_ROUNDOFF * self.widest * float(np.sqrt(alpha @ alpha))
        return not self.sampled and self._within() and rounding <= self._goal(float(self.state.now["R"][0]))

    def _check(self) -> Status | None:
        if self.resolved.deferred and self._may_defer():
            self.deferred = True
            return Status.CONVERGED
        found, now = self._certified(), self.state.now[0]
        q = self.exact
        assert q is not None  # noqa: S101  (known with the certificate)
        if outcome_of(found, self._goal(found.objective)).within:
            return Status.CONVERGED
        helped = found.objective < self.last.objective if self.sampled else found.gap < 0.5 * self.last.gap
        self.last = found
        if not helped:
            if self.qp.columns.cached.dtype == np.float64:
                return Status.STALLED
            tracked = isinstance(self.state.search, Tracked)
            self.compile_seconds += _compile(self.rule, self.resolved, tracked=tracked, double=True)
            self.double()
        if not self.by_active:
            self._refresh(q)
        if not self.sampled:
            return None
        if self.by_active:
            active = self.state.active[: now["active"]]
            self._refresh(q[active], active)
            now["looked"] += EXACT * len(q) * len(active)
        self._take_violator(q)
        return None

    def _certified(self) -> Certificate:
        """Return the certificate of the present point, from scratch in float64 once."""
        if self.certificate is None:
            self.exact = self._gradient()
            self.certificate = certificate(self.qp.ridge, self.state.alpha, self.exact)
        return self.certificate

    def _track_if_it_pays(self) -> bool:
        """Keep q over all rows from here on if that would have been cheaper from the start; return whether."""
        if not tracking_pays(self.state, self.resolved.cache_bytes):
            return False
        double = bool(self.state.cached.dtype == np.float64)
        self.compile_seconds += _compile(self.rule, self.resolved, tracked=True, double=double)
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
        self._fetch_columns()
        self._set_goal()
        self.last = NOTHING

    def point(self) -> Point:
        """Return iterations, R, the gap last seen (exact under full search) and the support size."""
        now = self.state.now[0]
        gap = now["gap"] if self.sampled else 2.0 * (now["R"] - self.state.q[now["best"]])
        return Point(int(now["iterations"]), float(now["R"]), float(gap), int(now["active"]))

    def counters(self) -> Counters:
        """Return what was done so far."""
        now, counts = self.state.now[0], self.qp.columns.counts - self.counted
        wanted = 0 if self.sampled else 2 * int(now["steps"])
        return Counters(
            int(now["iterations"]), int(now["steps"]), int(counts[EVALUATIONS]), wanted, int(counts[MISSES]),
            self.compile_seconds,
        )  # fmt: skip

    def outcome(self, *, final_gap: bool) -> Outcome:
        """Return the certificate of the present point, from scratch in float64 unless it is deferred."""
        if self.deferred or not final_gap:
            point = self.point()
            kind = "sampled" if self.sampled else "none"
            return certify.tracked(point.objective, point.gap, kind)
        found = self._certified()
        return outcome_of(found, self._goal(found.objective))

    def warm_start(self) -> WarmStart:
        """Return alpha in the order of the problem's rows."""
        return WarmStart(self._in_order(self.state.alpha))

    def _in_order(self, values: np.ndarray) -> np.ndarray:
        """Return values (m,) of the rows of this run in the order of the problem's rows."""
        ordered = np.empty_like(values)
        ordered[self.order] = values
        return ordered

    def machine(self) -> Expansion:
        """Return the standard-form machine (w, b) / R over the rows with positive weight."""
        exact = self.certificate.objective if self.certificate is not None else float(self.state.now["R"][0])
        return machine_of(self.qp, self.order, self.state.alpha, exact)


def _compile(rule: Any, resolved: Resolved, *, tracked: bool, double: bool) -> float:
    """Take some steps on a tiny problem in a form that runs may come to; return the seconds, 0 if done before."""
    kinds = (type(rule), type(resolved.kernel), resolved.search, tracked, double)

    def work() -> None:
        tiny = SimplexRun(tiny_problem(), rule, resolved)
        if tracked:
            tiny.track()
        if double:
            tiny.double()
        some_steps(tiny)

    return once(kinds, work)


def _plain(rule: Any) -> Any:
    """Return the rule with plain numbers for members of an IntEnum, which would slow every call of compiled code."""
    return rule._replace(**{k: int(v) for k, v in rule._asdict().items() if isinstance(v, IntEnum)})
