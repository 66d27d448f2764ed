"""scs: the stochastic conjugate subgradient method on a growing sample (004 Algorithms 1 and 2)."""

from enum import Enum
from typing import NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.problems.binary import Binary
from fwsvm.solvers.memory import Size, samples
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.stochastic.acceptance import GrowingTest, ResampledTest
from fwsvm.solvers.stochastic.descent import Descent, gap_closed
from fwsvm.solvers.stochastic.direction import TwoVectors
from fwsvm.solvers.stochastic.iterate import StochasticIterate, precision
from fwsvm.solvers.stochastic.line_search import checked_constants
from fwsvm.solvers.stochastic.run import StochasticRun, begin, memory_needed, rows_drawn
from fwsvm.solvers.stochastic.sample import Sample, random_order
from fwsvm.solvers.stochastic.state import Metric, coefficients, empty_state, pad, radius_unit
from fwsvm.solvers.stochastic.sums import RecomputedSums
from fwsvm.status import Status

SAMPLING, TESTING = 1, 2  # streams of random numbers: T_k is independent of S_k


class Growth(Enum):
    """How large the sample of iteration k is."""

    LINEAR = "linear"
    THEORY = "theory"


class Test(Enum):
    """Whether the rows that a step is tested on are drawn anew each time."""

    KEPT = "kept"
    FRESH = "fresh"


@register(
    "scs",
    family="stochastic",
    paper="004 Algorithms 1 and 2",
    tolerance="relative: (f - D) / f on the sample, once it is at its largest, which may be all rows; "
    "eps: the length of d, with the ball at its smallest",
)
class Scs(NamedTuple):
    """Wolfe's direction and line search on a sample that grows, each step tested on an independent sample.

    Problem: min lambda/2 alpha' Q alpha + mean hinge, no bias. Radii are in units of sqrt(2 / lambda), the
    distance from 0 within which every minimiser lies since f(0) = 1; so no constant depends on lambda. The
    paper gives none.

    Parameters
    ----------
    metric : rkhs, or euclid, which reads "subgradient in alpha" to the letter
    growth : linear, first + more (k - 1) rows; or theory, first (radius / delta_k)^4 (Theorem 3.3)
    test : kept, T_k grows as S_k does, at the cost of its new rows; or fresh, all of T_k is new each time
    first : rows of S_1; 1000, as the co-author's program has for another problem
    more : rows an iteration adds; 500: with 250 more iterations are spent on samples too small for what is left to
        learn (tried on synthetic:gaussians of 12 features)
    largest : rows at most; 20,000: up to so many rows the sample may become all of them, and the gap is exact
    radius : delta_0; 0.1
    least_radius : delta_min; 0.01: every halving below costs a success to win back, once the sample has grown
    greatest_radius : delta_max; 1, the ball that holds the minimiser
    factor : gamma, by which a success widens and a failure narrows the ball; 2
    eta1 : the part of the decrease on S_k that T_k must confirm; 0.1
    eta2 : |d_k| must exceed eta2 lambda delta_k; 1e-3, far below what a step of length delta_k would need
    patience : unsuccessful iterations with the sample and the ball at their ends, after which the run stops; 10: a
        line search that finds no step still yields a subgradient, and a few of these turn the direction
    m1, m2 : of the line search, see wolfe; 0.1 and 0.4
    n : steps below 1/n of the longest count as none; 1000: another sample helps more than another subgradient
    """

    metric: Metric = Metric.RKHS
    growth: Growth = Growth.LINEAR
    test: Test = Test.KEPT
    first: int = 1000
    more: int = 500
    largest: int = 20_000
    radius: float = 0.1
    least_radius: float = 0.01
    greatest_radius: float = 1.0
    factor: float = 2.0
    eta1: float = 0.1
    eta2: float = 1e-3
    patience: int = 10
    m1: float = 0.1
    m2: float = 0.4
    n: float = 1000.0


class ScsRun(StochasticRun):
    """A `Solver`: one iteration of Algorithm 1 a step."""

    def __init__(self, rule: Scs, problem: Binary, resolved: Resolved) -> None:
        super().__init__(problem, resolved)
        _check(rule)
        self.rule = rule
        most = self.most = min(self.m, rule.largest)
        self.state = empty_state(most, self.lam, euclid=rule.metric is Metric.EUCLID)
        self.samples = [
            Sample(
                problem, resolved.kernel, self.dtype, random_order(self.m, most, (*problem.stream, number))
            )
            for number in ((SAMPLING, TESTING) if rule.test is Test.KEPT else (SAMPLING,))
        ]
        self.sample = self.samples[0]
        tracked_test = GrowingTest(self.samples[1], most) if rule.test is Test.KEPT else None
        random = np.random.default_rng((*problem.stream, TESTING))
        self.test = tracked_test or ResampledTest(problem, self.sample, random, resolved.threads)
        self.sums = RecomputedSums(resolved.kernel, self.samples, resolved.threads)
        self.descent = Descent(
            TwoVectors(), checked_constants(rule), self.state, self.sums, self.eps, tracked_test
        )
        self.unit = radius_unit(self.lam, rule.metric)
        self.state.now["ball"] = rule.radius * self.unit
        self.iterations = self.steps = self.failures = 0
        self.objective = 1.0  # f_T at the incumbent

    # ---------------------------------------------------------------- Algorithm 1

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` iterations."""
        for k in range(steps):
            if not self._iterate():
                return k
        return steps

    def _iterate(self) -> bool:
        """Do one iteration; return False where the method stops."""
        now, rule = self.state.now[0], self.rule
        self._grow()
        full = len(self.sample) == self.most
        if not full:
            now["ahead"] = 0.0  # new rows tell more about the incumbent than another subgradient nearby
        vanishes = self.descent.propose()
        self.iterations += 1
        if full and self._at_end(vanishes):
            return False
        if self._succeeds():
            self.descent.move()
            now["ball"] = min(rule.factor * now["ball"], rule.greatest_radius * self.unit)
            self.steps += 1
            self.failures = 0
        else:
            self.failures += full and self._smallest_ball()
            now["ball"] = max(now["ball"] / rule.factor, rule.least_radius * self.unit)
        return True

    def _grow(self) -> None:
        """Draw s_{k-1}, so that S_k has the size that the growth rule says."""
        rule, k = self.rule, self.iterations
        if rule.growth is Growth.LINEAR:
            size = rule.first + rule.more * k
        else:
            ratio = rule.radius * self.unit / float(self.state.now["ball"][0])
            size = int(np.ceil(min(rule.first * ratio**4, self.most)))
        old, size = len(self.sample), min(max(size, len(self.sample)), self.most)
        if size > old:
            for sample in self.samples:
                sample.draw(size)
            self.sums.grown()
            used, weights = coefficients(self.state)
            products = [np.zeros((4, size - old)) for _ in self.samples]
            self.sums.add(used, weights, products, old)
            pad(self.state, self.sample.w[old:size], products[0])
            if self.descent.tracked_test:
                self.descent.tracked_test.pad(old, products[1])

    def _succeeds(self) -> bool:
        """Test the candidate on T_k, as many rows as S_k has, drawn without regard to it."""
        now, rule = self.state.now[0], self.rule
        if now["step"] == 0.0 or np.sqrt(now["length2"]) <= rule.eta2 * self.lam * now["ball"]:
            return False
        before, after = self._on_test_sample()
        confirmed = before - after >= rule.eta1 * (now["value"] - now["value_after"])
        self.objective = after if confirmed else before
        return bool(confirmed)

    def _on_test_sample(self) -> tuple[float, float]:
        """Return f_T at the incumbent and at the candidate."""
        s, now, n = self.state, self.state.now[0], len(self.sample)
        t, linear, square = float(now["step"]), float(s.alpha[:n] @ s.Q_d[:n]), float(now["square"])
        grown = square + 2.0 * t * linear + t * t * float(now["curvature"]) / self.lam
        before, after = self.test.losses(s)
        return 0.5 * self.lam * square + before, 0.5 * self.lam * grown + after

    # ---------------------------------------------------------------- the end

    def _smallest_ball(self) -> bool:
        return bool(self.state.now["ball"][0] <= self.rule.least_radius * self.unit)

    def _at_end(self, vanishes: bool) -> bool:
        """Say whether the method has done what it can with the largest sample."""
        if self.resolved.stop == "relative" and gap_closed(self.state, self.goal):
            return True
        return bool(vanishes and self._smallest_ball()) or self.failures >= self.rule.patience

    def check_stop(self) -> Status | None:
        """Hold the gap on the sample against the one from scratch, where the sample is everything."""
        if len(self.sample) < self.m or self.resolved.stop == "eps" or not self.resolved.final_gap:
            return Status.SAMPLED_STOP
        stands = self.gap_holds()
        if stands is None and self.failures < self.rule.patience:
            return None
        return Status.CONVERGED if stands else Status.STALLED

    def iterate(self) -> StochasticIterate:
        """Return alpha over the sample, the objective on the last test sample, and the bound that the sample gives."""
        s, now, n = self.state, self.state.now[0], len(self.sample)
        hinge = np.maximum(0.0, 1.0 - s.w[:n] * s.Q_alpha[:n])
        error = float(hinge.std()) / np.sqrt(max(1, n)) * np.sqrt(1.0 - n / self.m) if n else np.nan
        lower = float(now["lower"])
        return StochasticIterate(
            iterations=self.iterations, objective=self.objective, gap=self.objective - lower,
            support_vectors=int(np.count_nonzero(s.alpha)), outcome=self.outcome_at(self.iterations),
            rows=self.sample.order[:n], alpha=s.alpha[:n].copy(), u=s.best_u[:n].copy(), square=float(now["square"]),
            lower=lower, lower_error=error,
        )  # fmt: skip

    @property
    def counters(self) -> Counters:
        """What was done so far; a step is a successful iteration."""
        evaluations = self.sums.kernel_evaluations + self.test.kernel_evaluations
        return Counters(self.iterations, self.steps, evaluations)


def _check(rule: Scs) -> None:
    if not 0 < rule.least_radius < rule.radius <= rule.greatest_radius:
        raise UsageError("scs needs 0 < least_radius < radius <= greatest_radius")
    if not (rule.factor > 1 and 0 < rule.eta1 < 1 and rule.eta2 > 0):
        raise UsageError("scs needs factor > 1, eta1 between 0 and 1, and eta2 > 0")
    if min(rule.first, rule.largest, rule.patience) < 1 or rule.more < 0:
        raise UsageError("scs needs first, largest and patience of at least 1, and more of at least 0")


@begin.register
def _(rule: Scs, problem: Binary, resolved: Resolved) -> ScsRun:
    return ScsRun(rule, problem, resolved)


@rows_drawn.register
def _(rule: Scs, resolved: Resolved, m: int, stream: tuple[int, ...]) -> np.ndarray:
    if rule.test is Test.FRESH:
        return rows_drawn.dispatch(object)(rule, resolved, m, stream)
    most = min(m, rule.largest)
    return np.union1d(random_order(m, most, (*stream, SAMPLING)), random_order(m, most, (*stream, TESTING)))


@memory_needed.register
def _(rule: Scs, size: Size, resolved: Resolved) -> int:
    count = 2 if rule.test is Test.KEPT else 1
    return samples(
        size, min(size.rows, rule.largest), count, np.dtype(precision(resolved)).itemsize, resolved.threads
    )
