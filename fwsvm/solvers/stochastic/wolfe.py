"""wolfe: the conjugate subgradient method on all rows (004's benchmark; Wolfe 1975)."""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from fwsvm._compile import njit
from fwsvm.errors import UsageError
from fwsvm.solvers.process import Binary, Counters, Point
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import MIB, Resolved
from fwsvm.solvers.status import Status
from fwsvm.solvers.stochastic.descent import closed, propose
from fwsvm.solvers.stochastic.direction import TwoVectors, room_for_bundle
from fwsvm.solvers.stochastic.line_search import Constants
from fwsvm.solvers.stochastic.run import Solution, StochasticRun, begin
from fwsvm.solvers.stochastic.sample import Sample
from fwsvm.solvers.stochastic.state import move, pad, room_for

REACHED, SHORT_GRADIENT, NO_PROGRESS = 1, 2, 3
#: Resets in a row after which neither value nor bound has moved: there is nothing left at this precision.
FRUITLESS_RESETS = 20


class Metric(Enum):
    """In which lengths of subgradients and directions are taken."""

    RKHS = "rkhs"
    EUCLID = "euclid"


class Keep(Enum):
    """Which subgradients make the next direction."""

    TWO = "two"
    FULL = "full"


@register(
    "wolfe",
    family="stochastic",
    paper="004 section 4 (Wolfe 1975)",
    tolerance="relative: (P - D) / P over all rows; eps: the length of a subgradient, after a reset",
)
class Wolfe(NamedTuple):
    """Minus the shortest convex combination of subgradients, and a strong Wolfe line search, on all rows.

    Problem: min lambda/2 alpha' Q alpha + mean hinge, no bias. The kernel matrix of all rows is kept.
    Stops on the gap over all rows or, by `eps`, on a short subgradient after a reset.

    Parameters
    ----------
    metric : rkhs, or euclid, which reads "subgradient in alpha" to the letter and needs far more iterations
    keep : two (004 eq. 5: last direction and new subgradient), or full (all since the last reset)
    size : subgradients that ``full`` holds before it starts again; 50: its inner problem stays the smaller
        part
    m1 : enough decrease, in parts of |d|^2; 0.1 as is usual for Wolfe conditions
    m2 : enough increase of the slope; 0.4, m1 < m2 < 1/2 (004 Algorithm 2)
    n : steps below 1/n of the longest are null steps; 1e6: on all rows nothing but another subgradient can
        help
    """

    metric: Metric = Metric.RKHS
    keep: Keep = Keep.TWO
    size: int = 50
    m1: float = 0.1
    m2: float = 0.4
    n: float = 1e6


def checked_constants(rule: Any) -> Constants:
    """Return the line search's constants; `UsageError` unless 0 < m1 < m2 < 1/2 and n > 1."""
    if not (0 < rule.m1 < rule.m2 < 0.5 and rule.n > 1):
        raise UsageError(
            f"the line search needs 0 < m1 < m2 < 1/2 and n > 1, not {rule.m1}, {rule.m2} and {rule.n}"
        )
    return Constants(rule.m1, rule.m2, rule.n)


@njit
def descend(directions, constants, s, eps, goal, marks, iterations):
    """Iterate; return how many iterations and why it came back (0: all done).

    ``marks`` holds value, bound and number of resets when they last moved. The incumbent moves with every t >
    0. Where the line search finds none, alpha stays and the next subgradient is the one ahead, which no
    longer lets d descend: a null step.
    """
    now = s.now[0]
    for k in range(iterations):
        short = propose(directions, constants, s, eps)
        if closed(s, goal):
            return k, REACHED
        if short:
            return k, SHORT_GRADIENT
        if now.value < marks[0] - 1e-13 * marks[0] or now.lower > marks[1] + 1e-13 * abs(marks[1]):
            marks[0], marks[1], marks[2] = now.value, now.lower, now.resets
        if now.resets - marks[2] >= FRUITLESS_RESETS:
            return k, NO_PROGRESS
        if now.step > 0.0:
            move(s)
    return iterations, 0


class WolfeRun(StochasticRun):
    """The process: all rows, one compiled loop, and the gap recomputed in float64 before it counts."""

    def __init__(self, rule: Wolfe, problem: Binary, resolved: Resolved) -> None:
        super().__init__(problem, resolved)
        needed = self.m * self.m * np.dtype(self.dtype).itemsize
        if needed > resolved.cache_bytes:
            raise UsageError(
                f"wolfe keeps the kernel matrix of all {self.m} rows, {needed // MIB} MiB, but cache-mb is "
                f"{resolved.cache_mib}; raise it, take fewer rows (fwsvm subset), or use scs, which samples"
            )
        self.constants = checked_constants(rule)
        if rule.size < 2:
            raise UsageError(f"a bundle needs a size of at least 2 subgradients, not {rule.size}")
        self.directions = TwoVectors() if rule.keep is Keep.TWO else room_for_bundle(rule.size, self.m)
        self.state = room_for(self.m, self.lam, self.dtype, euclid=rule.metric is Metric.EUCLID)
        self.sample = Sample(problem.X, resolved.kernel, self.dtype, np.arange(self.m), resolved.threads)
        self.sample.grow(self.m, self.state.Q)
        self.state.w[:] = problem.y
        pad(self.state, self.m)
        self.eps = resolved.tolerance if resolved.stop == "eps" else 0.0
        self.goal = 0.0 if resolved.stop == "eps" else resolved.tolerance
        self.marks = np.array([np.inf, -np.inf, 0.0])
        self.iterations, self.why = 0, 0

    def advance(self, steps: int) -> int:
        """Iterate up to ``steps`` times."""
        taken, self.why = descend(
            self.directions, self.constants, self.state, self.eps, self.goal, self.marks, steps
        )
        self.iterations += taken
        return int(taken)

    def verdict(self) -> Status | None:
        """Hold the tracked gap against the one from scratch; where that misses, ask the loop for more."""
        if self.why == NO_PROGRESS:
            return Status.STALLED
        if self.resolved.stop == "eps" or not self.resolved.final_gap:
            return Status.SAMPLED_STOP
        exact = self.certificate(self.solution())
        if exact.gap <= self.resolved.tolerance * exact.primal:
            return Status.CONVERGED
        self.goal *= 0.5
        return None if self.goal > 1e-3 * self.resolved.tolerance else Status.STALLED

    def solution(self) -> Solution:
        """Return alpha over all rows."""
        s, now = self.state, self.state.now[0]
        return Solution(
            np.arange(self.m), s.alpha.copy(), s.best_u.copy(), float(now["square"]), float(now["lower"]), 0.0
        )

    def point(self) -> Point:
        """Return the value and the gap as tracked, over all rows."""
        now = self.state.now[0]
        gap = float(now["value"] - now["lower"])
        return Point(self.iterations, float(now["value"]), gap, int(np.count_nonzero(self.state.alpha)))

    def counters(self) -> Counters:
        """Return what was done; a step is a step length looked at."""
        return Counters(self.iterations, int(self.state.now["trials"][0]), self.sample.kernel_evaluations)


@begin.register
def _(rule: Wolfe, problem: Binary, resolved: Resolved) -> WolfeRun:
    return WolfeRun(rule, problem, resolved)
