"""A run of a linear method on one two-class problem, and what its iterates are worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm.kernels.rows import as_they_lie
from fwsvm.numerics.random import stream
from fwsvm.problems.binary import Binary, Hyperplane
from fwsvm.problems.box_qp import (
    BoxCertificate,
    Loss,
    box_qp,
    certificate,
    dual,
    weights_of,
)
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


def certify(candidates: Sequence[Candidate], *, exact: bool) -> list[Certified]:
    """Return what iterates are worth, and their machines; see `fwsvm.solvers.registry.Family`."""
    return [
        Certified(
            (at.outcome if exact else None) or tracked(at), Hyperplane(at.w[:-1].copy(), float(at.w[-1]))
        )
        for _, _, at in candidates
    ]


MAPPED_BLOCK = 1 << 23  # values of the rows of a mapped file that are visited together


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

    misses = 0

    def __init__(self, problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None) -> None:
        self.rule = rule
        self.resolved = resolved
        first_epsilon = rule.first_epsilon()
        qp = self.qp = box_qp(as_they_lie(problem.X), problem.y, problem.penalties, rule.loss, rule.bias)
        self.penalties = problem.penalties
        m, tolerance, by_own_rule = len(qp.points), resolved.tolerance, resolved.stop == "eps"
        begin = {
            "tolerance": tolerance,
            "relative": resolved.stop == "relative",
            "by_own_rule": by_own_rule,
            "epsilon": tolerance if by_own_rule else first_epsilon,
            "least_before": -np.inf,
            "most_before": np.inf,
            "dual_surveyed": np.nan,
            "least_gap": np.inf,
            "reach": np.inf,
            "size": m,
            "can_stop": 1,
            "block": MAPPED_BLOCK * m // qp.values.size if is_mapped(qp.values) else 0,
        }
        now = np.zeros(1, CONTROL)[0]
        for name, value in begin.items():
            now[name] = value
        coordinates = np.zeros(m, COORDINATE)
        self.state = LinearState(
            qp,
            coordinates,
            np.ones(m),
            np.zeros(qp.features + 1),
            np.arange(m, dtype=np.uint32),
            now,
            stream(*problem.stream),
        )
        if warm_start is not None:
            coordinates["alpha"] = np.clip(warm_start.weights[qp.rows], 0.0, qp.points["upper"])
        self.found: tuple[np.ndarray, BoxCertificate] | None = None  # w and certificate at the present point
        self._begin_again()

    def _begin_again(self) -> None:
        """Survey all rows at w recomputed from alpha, from where the run continues."""
        s = self.state
        now = self.state.now
        s.w[:] = weights_of(self.qp, self._alpha)
        s.coordinates["slack"] = -1.0
        now["dual"] = dual(self.qp, self._alpha, s.w)
        now["doing"] = SURVEYING
        now["at"] = 0
        now["optimism"] = now["gap"] = now["decrease"] = 0.0
        self.advance(
            len(self.qp.points)
        )  # the survey: whole, for a trace asks for one step at a time at first

    @property
    def _alpha(self) -> np.ndarray:
        return np.ascontiguousarray(self.state.coordinates["alpha"])

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Visit up to ``steps`` rows."""
        self.found = None
        return advance(self.rule, self.state, steps)

    def check_stop(self) -> Status | None:
        """Check the gap at which the compiled loop stopped from scratch; say how the run ended, or go on."""
        now = self.state.now
        stop = now["stop"]
        now["stop"] = GOING
        if not self.resolved.final_gap:
            return Status.STALLED if stop == STALLED else Status.SAMPLED_STOP
        if self._outcome_of(self._from_scratch()[1]).within:
            return Status.CONVERGED
        if stop == OWN_RULE:
            return Status.SAMPLED_STOP
        self.misses += 1
        if stop == STALLED or self.misses == MAX_MISSES:
            return Status.STALLED
        self._begin_again()
        return None

    def iterate(self) -> LinearIterate:
        """Return alpha, and P, gap and support size from scratch."""
        w, found = self._from_scratch()
        alpha = self.penalties * (1.0 if self.rule.loss is Loss.HINGE else 2.0)  # where rows have no feature
        alpha[self.qp.rows] = self.state.coordinates["alpha"]
        return LinearIterate(
            iterations=int(self.state.now["iterations"]),
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
        return Counters(int(self.state.now["iterations"]), int(self.state.now["steps"]))

    def _from_scratch(self) -> tuple[np.ndarray, BoxCertificate]:
        """Return w and the certificate of the present alpha, computed once.

        Where the gap ends the run, w is the best multiple of sum y_i alpha_i x_i; the published rules leave it alone.
        """
        if self.found is None:
            self.found = certificate(self.qp, self._alpha, scaled=self.resolved.stop != "eps")
        return self.found

    def _outcome_of(self, c: BoxCertificate) -> Outcome:
        """Return the outcome of a certificate by the run's stopping rule, which must hold whatever rounding does."""
        tolerance, stop, measured = self.resolved.tolerance, self.resolved.stop, c.gap + c.rounding
        goal = tolerance * c.primal if stop == "relative" else tolerance
        if stop == "eps":
            measured = self.rule.violation(c.least, c.most) + c.gradient_rounding
            goal = np.nextafter(tolerance, 0.0)  # below, not at it
        return proven(c.primal, c.gap, c.primal, c.dual, measured=measured, goal=goal)
