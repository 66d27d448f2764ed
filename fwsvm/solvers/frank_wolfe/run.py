"""A run of a simplex method on one two-class problem: from the starting point to the certificate.

It is one file because all that follows a check of the gap changes the same state.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS, MISSES, pieces
from fwsvm.kernels.distances import single_error
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows, some_rows
from fwsvm.kernels.sums import weighted_sums
from fwsvm.numerics.compile import njit
from fwsvm.numerics.simd import maximum
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import SimplexCertificate, SimplexQP, certificate, signs
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.cvm import CVM, first_inner
from fwsvm.solvers.frank_wolfe.engine import plain
from fwsvm.solvers.frank_wolfe.gradient import GAP_ROUNDING, Full
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate, outcome_of, sorted_by_class
from fwsvm.solvers.frank_wolfe.sampled import OWN_LINES, Sampled, Tracked, tracking_pays
from fwsvm.solvers.frank_wolfe.scans import TINY
from fwsvm.solvers.frank_wolfe.state import (
    CANDIDATES_MISS,
    GOING,
    NO_PROGRESS,
    NO_VIOLATOR,
    SimplexStart,
    SimplexState,
    largest_gap,
    stopping_line,
)
from fwsvm.solvers.frank_wolfe.storage import GradientStorage
from fwsvm.solvers.protocols import BALANCED, COMPUTED, KEPT, UNIFORM
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome, WarmStart
from fwsvm.solvers.tuning import CHECK_COST, MARGIN, SINGLE_TOLERATED
from fwsvm.solvers.warm_up import is_compiling, once, some_steps, tiny_problem
from fwsvm.status import Status

POINTS = 20
CORE_TOLERANCE = 1e-3  # LIBCVM's, relative to the optimum here
SWAPS = 100_000  # then rounding keeps the pairs apart: kernel values of 1e20, say, whose sums are near 1


def starting_point(
    qp: SimplexQP, rows: Rows, resolved: Resolved, stream: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and positive weights: the optimum over a few rows drawn at random."""
    which = draw(qp, np.random.default_rng(stream), balanced=resolved.protocol.balanced_start)
    if resolved.search == "sampled":
        few = some_rows(rows, which)
        gram = weighted_sums(resolved.kernel, few, np.arange(len(which)), np.eye(len(which)), few)
    else:  # steps will ask for these columns
        columns = qp.columns
        gram = np.concatenate(
            [columns.cached[columns.slot_of[some][:, None], which] for some in pieces(columns, which)]
        )
        gram = gram.astype(np.float64)
    weights = optimum(gram, qp, which)
    return which[weights > 0], weights[weights > 0]


def draw(qp: SimplexQP, random: np.random.Generator, *, balanced: bool) -> np.ndarray:
    """Return distinct rows to start from: uniform (the papers), or class by class in turn (LIBCVM, FW-SVMs)."""
    m = len(qp.ridge)
    if not balanced:
        return random.choice(m, min(POINTS, m), replace=False)
    turns = (random.permutation(qp.plus), qp.plus + random.permutation(m - qp.plus))
    shorter = min(map(len, turns))
    mixed = np.concatenate(
        [np.stack([turn[:shorter] for turn in turns], 1).ravel(), *(turn[shorter:] for turn in turns)]
    )
    return mixed[: min(POINTS, m)]


def optimum(gram: np.ndarray, qp: SimplexQP, which: np.ndarray) -> np.ndarray:
    """Return weights that minimise alpha' K~ alpha over the simplex of the rows ``which``.

    ``gram`` holds their kernel values. Pairs are chosen by the second-order rule until no pair differs by
    more than `CORE_TOLERANCE` times the objective, or `SWAPS` are done: any point may be started from.
    """
    y = signs(qp)[which]
    K = np.outer(y, y) * (gram + 1.0) + np.diag(qp.ridge[which])
    alpha = np.full(len(which), 1.0 / len(which))
    _improve_pairs(K, alpha, K @ alpha)
    return alpha


@njit(nogil=False)  # microseconds, see `fwsvm.kernels.dense_tiles.pack_left_block`
def _improve_pairs(K, alpha, q):
    """Swap weight between pairs until they agree; a weight that is used up becomes exactly zero."""
    # by loops: what numba makes of arithmetic with whole arrays takes a second to compile
    for _ in range(SWAPS):
        i, R = 0, 0.0
        for j in range(q.size):
            R += alpha[j] * q[j]
            if q[j] < q[i]:
                i = j
        partner, most, widest = -1, 0.0, 0.0
        for j in range(q.size):
            slope = q[j] - q[i]
            if alpha[j] > 0.0 and slope > 0.0:
                gain = slope * slope / maximum(K[i, i] - 2.0 * K[i, j] + K[j, j], TINY)
                widest = maximum(widest, slope)
                if gain > most:
                    partner, most = j, gain
        if not widest > CORE_TOLERANCE * R:  # also where kernel values are no numbers
            return
        j = partner
        step = (q[j] - q[i]) / maximum(K[i, i] - 2.0 * K[i, j] + K[j, j], TINY)
        if step >= alpha[j]:
            step = alpha[j]
            alpha[j] = 0.0
        else:
            alpha[j] -= step
        alpha[i] += step
        for t in range(q.size):
            q[t] += step * (K[i, t] - K[j, t])


UNIT_ROUNDOFF = 2.0**-24  # of single precision
NOTHING = SimplexCertificate(np.inf, np.inf, np.inf, 0.0)


class SimplexRun:
    """A `Solver`: a gradient storage, a goal, and what to do when the compiled loop comes back.

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
        self.sampled = resolved.search == "sampled"
        self.order, rows = sorted_by_class(problem)
        plus, penalties = int(np.count_nonzero(problem.y > 0)), problem.penalties[self.order]
        # a tiny problem stands for others, most of which have columns in single precision
        double = not is_compiling() and (
            single_error(resolved.kernel, own_terms(resolved.kernel, rows)) > SINGLE_TOLERATED
        )
        compile_seconds = _compile(self.rule, resolved, tracked=False, double=True) if double else 0.0
        self.storage = GradientStorage(
            self.rule,
            resolved,
            rows,
            plus,
            penalties,
            problem.stream,
            _sampling(rule, resolved) if self.sampled else Full(),
            np.float64 if double else np.float32,
            columns,
        )
        self.storage.compile_seconds += compile_seconds
        self.widest = float(self.qp.diagonal.max())
        self.level = max(resolved.protocol.first_level or 0.0, resolved.tolerance)
        self.switch = 0.0  # relative gap at which another method is to take over
        self.outcome: Outcome | None = None  # of the present point, once computed,
        self.exact: np.ndarray | None = None  # and its gradient
        self.last = NOTHING  # the last certificate that missed the tolerance
        if warm_start is None:
            support, weights = starting_point(self.qp, rows, resolved, problem.stream)
        else:
            weights = warm_start.weights[self.order]
            support = np.flatnonzero(weights)
            weights = weights[support]
        if isinstance(rule, CVM):
            self.state.now["inner"] = first_inner(rule, resolved)
        gradient = None
        if isinstance(warm_start, SimplexStart) and warm_start.kernel == resolved.kernel:
            gradient = warm_start.gradient_at(1.0 / problem.penalties)[self.order]
        self.storage.start_at(support, weights, gradient)
        if self.sampled and resolved.protocol.gradient == KEPT:
            self._compile_and_track()
        self.set_goal()

    @property
    def state(self) -> SimplexState:
        """The point, its gradient, and the kernel values at hand."""
        return self.storage.state

    @property
    def qp(self) -> SimplexQP:
        """The problem, and its column cache."""
        return self.storage.qp

    # ---------------------------------------------------------------- where the run stands

    def stand_at(self, alpha: np.ndarray, q: np.ndarray) -> None:
        """Make alpha, with q = K~ alpha, the point of the run, both (m,) in the order of its own rows."""
        self._leave_point()
        self.storage.stand_at(alpha, q)

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
            taken += self.storage.steps(steps - taken)
            if now["stop"] != CANDIDATES_MISS:
                return taken
            if self._track_if_it_pays():
                now["stop"] = GOING
            else:
                self.storage.fetch_candidates()

    def check_stop(self) -> Status | None:
        """Check the gap at which the compiled loop stopped, and say how the run ended, or go on."""
        now = self.state.now[0]
        stop, now["stop"] = int(now["stop"]), GOING
        if self.storage.by_active:
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
        now, counts = self.state.now[0], self.storage.counts
        requests = 0 if self.sampled else 2 * int(now["steps"])
        return Counters(
            int(now["iterations"]),
            int(now["steps"]),
            int(counts[EVALUATIONS]),
            requests,
            int(counts[MISSES]),
            self.storage.compile_seconds,
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
        storage, now = self.storage, self.state.now[0]
        self.exact = q = storage.gradient()
        found = certificate(self.qp.ridge, self.qp.diagonal, self.state.alpha, q, storage.value_rounding)
        self.outcome = outcome_of(found, self.resolved, self.widest)
        if self.outcome.within:
            return Status.CONVERGED
        helped = found.objective < self.last.objective if self.sampled else found.gap < 0.5 * self.last.gap
        self.last = found
        if not helped:
            if self.qp.columns.cached.dtype == np.float64:
                return Status.STALLED
            tracked = isinstance(self.state.search, Tracked)
            storage.compile_seconds += _compile(self.rule, self.resolved, tracked=tracked, double=True)
            self.double()
        if not storage.by_active:
            storage.refresh(q)
        if not self.sampled:
            return None
        if storage.by_active:
            active = self.state.active[: now["active"]]
            storage.refresh(q[active], active)
            now["looked"] += CHECK_COST * len(q) * len(active)
        self._take_violator(q)
        return None

    def _track_if_it_pays(self) -> bool:
        """Keep q over all rows from here on if that would have been cheaper from the start; return whether."""
        if self.resolved.protocol.gradient == COMPUTED or not tracking_pays(
            self.state, self.storage.resolved.cache_bytes
        ):
            return False
        self._compile_and_track()
        return True

    def _compile_and_track(self) -> None:
        double = bool(self.state.cached.dtype == np.float64)
        self.storage.compile_seconds += _compile(self.rule, self.resolved, tracked=True, double=double)
        self.track()

    def track(self) -> None:
        """Go on with q over all rows (`Sampled`)."""
        self.storage.renew(Tracked(*self.state.search), self.state.cached.dtype)
        self.storage.refresh(self.storage.gradient())
        self.qp.columns.counts[EVALUATIONS] += len(self.state.q) * int(self.state.now["active"][0])

    def double(self) -> None:
        """Go on with columns in double precision."""
        self.storage.renew(self.state.search, np.float64)
        self.storage.fetch_active()
        self.set_goal()
        self.last = NOTHING


def _sampling(rule: Any, resolved: Resolved) -> Sampled:
    """Return how a run of this method looks for the ascent vertex among some rows."""
    protocol = resolved.protocol
    # Only CVM never steps toward a row of the active set: it has solved that.
    chosen = protocol.candidates if isinstance(rule, CVM) else UNIFORM
    return Sampled(retries=protocol.retries, outside=chosen != UNIFORM, in_turn=chosen == BALANCED)


def _compile(rule: Any, resolved: Resolved, *, tracked: bool, double: bool) -> float:
    """Take some steps on a tiny problem in a form that runs may come to; return the seconds, 0 if done before."""
    kinds = (type(rule), type(resolved.kernel), resolved.search, tracked, double)
    at_first = replace(resolved, protocol=replace(resolved.protocol, gradient=COMPUTED))

    def work() -> None:
        tiny = SimplexRun(tiny_problem(), rule, at_first)
        if tracked:
            tiny.track()
        if double:
            tiny.double()
            starting_point(tiny.qp, tiny.storage.rows, at_first, (0,))  # of runs that are so from the start
        some_steps(tiny)

    return once(kinds, work)
