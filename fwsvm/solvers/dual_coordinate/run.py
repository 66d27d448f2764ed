"""A run of a linear method on one two-class problem: from alpha = 0, or a warm start, to the certificate."""

import time
from typing import Any

import numpy as np

from fwsvm.kernels.rows import as_rows
from fwsvm.numerics.random import stream
from fwsvm.problems.box_qp import Certificate, Loss, box_qp, certificate, weights_of
from fwsvm.problems.multiple import best_certificate
from fwsvm.solvers import certify
from fwsvm.solvers.dual_coordinate.engine import advance
from fwsvm.solvers.dual_coordinate.state import (
    CONTROL,
    COORDINATE,
    GOING,
    OWN_RULE,
    STALLED,
    SURVEYING,
    State,
)
from fwsvm.solvers.process import Binary, Counters, Hyperplane, Outcome, Point
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status

MAX_MISSES = 3  # of the tolerance by the certificate, after which the run ends
WATCH_SHARE = 0.05  # part of the run's time that points on the way may take to compute


class LinearRun:
    """A `Process` of a linear method.

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
        self.qp = box_qp(as_rows(problem.X), problem.y, problem.penalties, rule.loss, rule.bias)
        self.penalties = problem.penalties
        self.state = self._state(stream(*problem.stream))
        if warm_start is not None:
            self._start_from(warm_start.weights)
        self._set_goal()
        self.found: tuple[int, np.ndarray, Certificate] | None = None  # the last certificate
        self.found_at = self.found_seconds = 0.0
        self.misses = 0

    def _state(self, random: np.ndarray) -> State:
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
        return State(qp, coordinates, np.ones(m), w, order, now, random)

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

    def warm_start(self) -> WarmStart:
        """Return alpha of all rows."""
        every = self.penalties * (1.0 if self.rule.loss is Loss.HINGE else 2.0)  # where rows have no feature
        every[self.qp.rows] = self.state.coordinates["alpha"]
        return WarmStart(every)

    # ---------------------------------------------------------------- the contract of a Process

    def advance(self, steps: int) -> int:
        """Visit up to ``steps`` rows."""
        return int(advance(self.rule, self.state, steps))

    def help(self, me: int) -> None:
        """Return: visits follow one another."""

    def verdict(self) -> Status | None:
        """Check the claim of the compiled loop against the certificate; say how the run ended, or go on."""
        now = self.state.now
        stop, now["stop"] = int(now["stop"][0]), GOING
        if not self.resolved.final_gap:
            return Status.STALLED if stop == STALLED else Status.SAMPLED_STOP
        _, found = self._certificate()
        if self._proven(found).within:
            return Status.CONVERGED
        if stop == OWN_RULE:
            return Status.SAMPLED_STOP
        self.misses += 1
        if stop == STALLED or self.misses == MAX_MISSES:
            return Status.STALLED
        self._refresh(weights_of(self.qp, self._alpha))
        return None

    def _certificate(self) -> tuple[np.ndarray, Certificate]:
        """Return w and the certificate of the present alpha, from scratch.

        Where the gap ends the run, w is the best multiple of sum y_i alpha_i x_i; the published rules leave it alone.
        """
        iterations = int(self.state.now["iterations"][0])
        if self.found is None or self.found[0] != iterations:
            started = time.perf_counter()
            alpha = self._alpha
            w = weights_of(self.qp, alpha)
            if self.resolved.stop == "eps":
                self.found = iterations, w, certificate(self.qp, alpha, w)
            else:
                self.found = iterations, *best_certificate(self.qp, alpha, w)
            self.found_at = time.perf_counter()
            self.found_seconds = self.found_at - started
        return self.found[1:]

    def _proven(self, c: Certificate) -> Outcome:
        """Return the outcome of a certificate by the run's stopping rule, which must hold whatever rounding does."""
        violation = self.rule.violation(c.least, c.most) if len(self.qp.rows) else 0.0
        tolerance, widened = self.resolved.tolerance, c._replace(gap=c.gap + c.rounding.gap)
        measured, goal = {
            "relative": (widened.relative_gap, tolerance),
            "gap": (widened.gap, tolerance),
            "eps": (violation + c.rounding.gradient, np.nextafter(tolerance, 0.0)),  # below, not at it
        }[self.resolved.stop]
        return certify.proven(c.primal, c.gap, c.primal, c.dual, measured=measured, goal=goal)

    def point(self) -> Point:
        """Return P, gap and support size, from scratch.

        Where computing them takes long, the point may be a little older than the run: they are then computed
        only now and then, so that being watched does not slow it down.
        """
        waited = time.perf_counter() - self.found_at
        if self.found is None or waited * WATCH_SHARE >= self.found_seconds:
            self._certificate()
        assert self.found is not None  # noqa: S101  (just computed)
        iterations, _, found = self.found
        return Point(iterations, found.primal, found.gap, self._support())

    def _support(self) -> int:
        idle = len(self.penalties) - len(self.qp.rows)
        return idle + int(np.count_nonzero(self.state.coordinates["alpha"]))

    def counters(self) -> Counters:
        """Return rows visited, and update steps as the paper counts them."""
        return Counters(int(self.state.now["iterations"][0]), int(self.state.now["steps"][0]))

    def outcome(self, *, final_gap: bool) -> Outcome:
        """Return P, D and P - D at the present alpha, from scratch or else as last seen."""
        if final_gap:
            return self._proven(self._certificate()[1])
        gap = float(self.state.coordinates["shortfall"].sum() - self.state.now["decrease"][0])
        return certify.tracked(float(self.state.now["dual"][0]) + gap, gap)

    def machine(self) -> Hyperplane:
        """Return the weights, that of the constant feature as the bias."""
        seen = self.state.w * self.state.now["theta"]
        w = self._certificate()[0] if self.resolved.final_gap else seen
        return Hyperplane(w[:-1].copy(), float(w[-1]))
