"""A run of a linear method on one two-class problem: from alpha = 0, or a warm start, to the certificate."""

import time
from typing import Any, NamedTuple

import numpy as np

from fwsvm._mapped import let_go
from fwsvm.kernels.rows import as_they_lie
from fwsvm.numerics.random import stream
from fwsvm.problems.binary import Binary
from fwsvm.problems.box_certificate import BoxCertificate, certificate
from fwsvm.problems.box_qp import Loss, box_qp, weights_of_parts
from fwsvm.solvers.dual_coordinate.blocks import rows_of_a_block
from fwsvm.solvers.dual_coordinate.engine import advance
from fwsvm.solvers.dual_coordinate.iterate import LinearIterate, from_scratch, outcome_of
from fwsvm.solvers.dual_coordinate.state import (
    CONTROL,
    COORDINATE,
    GOING,
    OWN_RULE,
    STALLED,
    SURVEYING,
    LinearState,
)
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome
from fwsvm.solvers.tuning import MAX_MISSES, WATCH_SHARE
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status


class CheckedPoint(NamedTuple):
    """What was computed from scratch at an earlier point: w and the certificate."""

    iterations: int
    w: np.ndarray
    certificate: BoxCertificate


class LinearRun:
    """A `Solver` of a linear method.

    When the compiled loop returns because its gap is small enough, w and the gap are recomputed from alpha; if the gap
    misses the tolerance, the run continues from that w.

    Parameters
    ----------
    problem : Binary
    rule : AVSF or Liblinear
    resolved : Resolved
    warm_start : WarmStart, optional
        The run starts there, clipped to the box, and else from zero.

    Raises
    ------
    UsageError
        Rows too large in value for double precision; constants of the method that make no sense.
    """

    def __init__(
        self, problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None
    ) -> None:
        self.rule, self.resolved = rule, resolved
        rule.check()
        self.qp = box_qp(as_they_lie(problem.X), problem.y, problem.penalties, rule.loss, rule.bias)
        self.penalties, self.since = problem.penalties, 0  # rows visited since mapped ones were let go of
        self.state = self._state(stream(*problem.stream))
        if warm_start is not None:
            self._start_from(warm_start.weights)
        self._set_goal()
        self.found: CheckedPoint | None = None  # the last certificate
        self.found_at = self.found_seconds = 0.0
        self.misses = 0

    def _state(self, random: np.ndarray) -> LinearState:
        """Return the state at alpha = 0 and w = 0, as after a survey."""
        qp = self.qp
        m = len(qp.points)
        coordinates, now = np.zeros(m, COORDINATE), np.zeros(1, CONTROL)
        coordinates["slack"] = -1.0
        coordinates["shortfall"] = self.penalties[qp.rows]
        now["gap"] = coordinates["shortfall"].sum()
        now["optimism"] = 2.0 * now["gap"]
        now["dual"], now["dual_surveyed"], now["least_gap"] = qp.constant, np.nan, np.inf
        now["theta"], now["least_before"], now["most_before"] = 1.0, -np.inf, np.inf
        now["reach"] = np.inf
        now["doing"], now["at"], now["size"], now["can_stop"] = SURVEYING, m, m, 1
        w, order = np.zeros(qp.features + 1), np.arange(m, dtype=np.uint32)
        self.block = rows_of_a_block(qp, self.resolved.cache_bytes)
        now["block"] = self.block
        preferences = np.ones(m if not self.block or getattr(self.rule, "has_preferences", True) else 1)
        return LinearState(qp, coordinates, preferences, w, order, now, random)

    def _start_from(self, alpha: np.ndarray) -> None:
        s, upper = self.state, self.qp.points["upper"]
        s.coordinates["alpha"] = np.clip(alpha[self.qp.rows], 0.0, upper)
        self._refresh(weights_of_parts(self.qp, self._alpha))

    def _refresh(self, w: np.ndarray) -> None:
        """Continue from w = weights_of_parts(qp, alpha), with a survey first."""
        now = self.state.now
        self.state.w[:] = w
        self.state.coordinates["slack"] = -1.0
        now["dual"] = certificate(self.qp, self._alpha, w).dual
        now["doing"], now["at"], now["optimism"], now["gap"] = SURVEYING, 0, 0.0, 0.0
        now["theta"], now["decrease"] = 1.0, 0.0

    def _set_goal(self) -> None:
        now, tolerance = self.state.now, self.resolved.tolerance
        now["epsilon"] = tolerance if self.resolved.stop == "eps" else self.rule.first_epsilon
        now["by_own_rule"] = self.resolved.stop == "eps"
        if self.resolved.stop == "gap":
            now["stop_constant"] = tolerance
        elif tolerance < 1.0:  # P = D + gap, so gap <= tolerance P says:
            now["stop_slope"] = tolerance / (1.0 - tolerance)
        else:
            now["stop_constant"] = np.inf

    @property
    def _alpha(self) -> np.ndarray:
        return np.ascontiguousarray(self.state.coordinates["alpha"])

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Visit up to ``steps`` rows."""
        if not self.block:
            return int(advance(self.rule, self.state, steps))
        visited = 0
        while visited < steps:
            wanted = min(steps - visited, self.block - self.since)
            taken = int(advance(self.rule, self.state, wanted))
            visited, self.since = visited + taken, self.since + taken
            if self.since >= self.block:
                self.since = 0
                for array in (self.qp.values, self.qp.columns):
                    if array is not None:
                        let_go(array)
            if taken < wanted:
                break
        return visited

    def check_stop(self) -> Status | None:
        """Check the gap at which the compiled loop stopped from scratch; say how the run ended, or go on."""
        now = self.state.now
        stop, now["stop"] = int(now["stop"][0]), GOING
        if not self.resolved.final_gap:
            return Status.STALLED if stop == STALLED else Status.SAMPLED_STOP
        if self._outcome_of(self._from_scratch()).within:
            return Status.CONVERGED
        if stop == OWN_RULE:
            return Status.SAMPLED_STOP
        self.misses += 1
        if stop == STALLED or self.misses == MAX_MISSES:
            return Status.STALLED
        self._refresh(weights_of_parts(self.qp, self._alpha))
        return None

    def iterate(self) -> LinearIterate:
        """Return alpha, and P, gap and support size from scratch.

        Where computing P and the gap takes long, they may be those of a little before: they are then computed only now
        and then, so that being watched does not slow the run down.
        """
        now, found = self.state.now[0], self.found
        waited = time.perf_counter() - self.found_at
        if found is None or waited * WATCH_SHARE >= self.found_seconds:
            found = self._from_scratch()
        is_here = self.resolved.final_gap and found.iterations == now["iterations"]
        alpha = self.penalties * (1.0 if self.rule.loss is Loss.HINGE else 2.0)  # where rows have no feature
        alpha[self.qp.rows] = self.state.coordinates["alpha"]
        kept_gap = float(self.state.coordinates["shortfall"].sum() - now["decrease"])
        return LinearIterate(
            iterations=found.iterations,
            objective=found.certificate.primal,
            gap=found.certificate.gap,
            support_vectors=int(np.count_nonzero(alpha)),
            outcome=self._outcome_of(found) if is_here else None,
            warm_start=WarmStart(alpha),
            alpha=alpha,
            w=found.w if is_here else self.state.w * now["theta"],
            kept_objective=float(now["dual"]) + kept_gap,
            kept_gap=kept_gap,
        )

    @property
    def counters(self) -> Counters:
        """Rows visited, and update steps as the paper counts them."""
        return Counters(int(self.state.now["iterations"][0]), int(self.state.now["steps"][0]))

    def _from_scratch(self) -> "CheckedPoint":
        """Return w and the certificate of the present alpha, computed once."""
        iterations = int(self.state.now["iterations"][0])
        if self.found is None or self.found.iterations != iterations:
            started = time.perf_counter()
            self.found = CheckedPoint(iterations, *from_scratch(self.qp, self._alpha, self.resolved.stop))
            self.found_at = time.perf_counter()
            self.found_seconds = self.found_at - started
        return self.found

    def _outcome_of(self, found: "CheckedPoint") -> Outcome:
        return outcome_of(found.certificate, self.resolved, empty=not len(self.qp.rows))
