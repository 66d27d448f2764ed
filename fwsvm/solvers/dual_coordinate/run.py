"""A run of a linear method on one two-class problem, and what its iterates are worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwsvm.kernels.rows import as_they_lie
from fwsvm.numerics.random import stream
from fwsvm.problems.binary import Binary, Hyperplane
from fwsvm.problems.box_qp import BoxCertificate, Loss, best_certificate, box_qp, certificate, weights_of
from fwsvm.solvers.certify import Candidate, Certified, proven, tracked
from fwsvm.solvers.dual_coordinate.engine import (
    CONTROL,
    COORDINATE,
    GOING,
    OWN_RULE,
    STALLED,
    SURVEYING,
    LinearState,
    advance,
    rows_of_a_block,
)
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Iterate, Outcome, WarmStart
from fwsvm.solvers.tuning import MAX_MISSES
from fwsvm.status import Status


@dataclass(frozen=True, kw_only=True)
class LinearIterate(Iterate):
    """An iterate of a linear method, whose ``outcome`` is known.

    Attributes
    ----------
    w : ndarray of float64, shape (n + 1,), the weights, that of the constant feature last
    """

    w: np.ndarray


def certify(candidates: Sequence[Candidate[LinearIterate]], *, exact: bool) -> list[Certified]:
    """Return what iterates are worth, and their machines; see `fwsvm.solvers.registry.Family`."""
    return [
        Certified(
            (at.outcome if exact else None) or tracked(at), Hyperplane(at.w[:-1].copy(), float(at.w[-1]))
        )
        for _, _, at in candidates
    ]


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
        self.penalties = problem.penalties
        self.state = self._state(stream(*problem.stream))
        if warm_start is not None:
            self._start_from(warm_start.weights)
        self._set_goal()
        self.found: tuple[int, np.ndarray, BoxCertificate] | None = (
            None  # an iteration, and w and certificate there
        )
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
        now["least_before"], now["most_before"] = -np.inf, np.inf
        now["reach"] = np.inf
        now["doing"], now["at"], now["size"], now["can_stop"] = SURVEYING, m, m, 1
        w, order = np.zeros(qp.features + 1), np.arange(m, dtype=np.uint32)
        now["block"] = rows_of_a_block(qp, self.resolved.cache_bytes)
        return LinearState(qp, coordinates, np.ones(m), w, order, now, random)

    def _start_from(self, alpha: np.ndarray) -> None:
        s, upper = self.state, self.qp.points["upper"]
        s.coordinates["alpha"] = np.clip(alpha[self.qp.rows], 0.0, upper)
        self._refresh(weights_of(self.qp, self._alpha))

    def _refresh(self, w: np.ndarray) -> None:
        """Continue from w = weights_of(qp, alpha), with a survey first."""
        now = self.state.now
        self.state.w[:] = w
        self.state.coordinates["slack"] = -1.0
        now["dual"] = certificate(self.qp, self._alpha, w).dual
        now["doing"], now["at"], now["optimism"], now["gap"] = SURVEYING, 0, 0.0, 0.0
        now["decrease"] = 0.0

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
        return int(advance(self.rule, self.state, steps))

    def check_stop(self) -> Status | None:
        """Check the gap at which the compiled loop stopped from scratch; say how the run ended, or go on."""
        now = self.state.now
        stop, now["stop"] = int(now["stop"][0]), GOING
        if not self.resolved.final_gap:
            return Status.STALLED if stop == STALLED else Status.SAMPLED_STOP
        if self._outcome_of(self._from_scratch()[1]).within:
            return Status.CONVERGED
        if stop == OWN_RULE:
            return Status.SAMPLED_STOP
        self.misses += 1
        if stop == STALLED or self.misses == MAX_MISSES:
            return Status.STALLED
        self._refresh(weights_of(self.qp, self._alpha))
        return None

    def iterate(self) -> LinearIterate:
        """Return alpha, and P, gap and support size from scratch."""
        w, found = self._from_scratch()
        alpha = self.penalties * (1.0 if self.rule.loss is Loss.HINGE else 2.0)  # where rows have no feature
        alpha[self.qp.rows] = self.state.coordinates["alpha"]
        return LinearIterate(
            iterations=int(self.state.now["iterations"][0]),
            objective=found.primal,
            gap=found.gap,
            support_vectors=int(np.count_nonzero(alpha)),
            outcome=self._outcome_of(found),
            warm_start=WarmStart(alpha),
            w=w,
        )

    @property
    def counters(self) -> Counters:
        """Rows visited, and update steps as the paper counts them."""
        return Counters(int(self.state.now["iterations"][0]), int(self.state.now["steps"][0]))

    def _from_scratch(self) -> tuple[np.ndarray, BoxCertificate]:
        """Return w and the certificate of the present alpha, computed once.

        Where the gap ends the run, w is the best multiple of sum y_i alpha_i x_i; the published rules leave it alone.
        """
        iterations = int(self.state.now["iterations"][0])
        if self.found is None or self.found[0] != iterations:
            w = weights_of(self.qp, self._alpha)
            if self.resolved.stop == "eps":
                self.found = iterations, w, certificate(self.qp, self._alpha, w)
            else:
                self.found = iterations, *best_certificate(self.qp, self._alpha, w)
        return self.found[1:]

    def _outcome_of(self, c: BoxCertificate) -> Outcome:
        """Return the outcome of a certificate by the run's stopping rule, which must hold whatever rounding does."""
        violation = self.rule.violation(c.least, c.most) if len(self.qp.rows) else 0.0
        tolerance, widened = self.resolved.tolerance, c._replace(gap=c.gap + c.rounding.gap)
        measured, goal = {
            "relative": (widened.relative_gap, tolerance),
            "gap": (widened.gap, tolerance),
            "eps": (violation + c.rounding.gradient, np.nextafter(tolerance, 0.0)),  # below, not at it
        }[self.resolved.stop]
        return proven(c.primal, c.gap, c.primal, c.dual, measured=measured, goal=goal)
