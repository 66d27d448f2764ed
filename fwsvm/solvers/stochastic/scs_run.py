"""The loop of scs: the stochastic conjugate subgradient method on a growing sample (004 Algorithms 1 and 2)."""

import numpy as np

from fwsvm.kernels.kernel import self_values
from fwsvm.problems.binary import Binary
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.stochastic.acceptance import ResampledTest, TrackedTest
from fwsvm.solvers.stochastic.descent import Descent, gap_closed
from fwsvm.solvers.stochastic.direction import TwoVectors
from fwsvm.solvers.stochastic.iterate import StochasticIterate
from fwsvm.solvers.stochastic.line_search import checked_constants
from fwsvm.solvers.stochastic.run import StochasticRun, begin, repeated
from fwsvm.solvers.stochastic.sample import Sample
from fwsvm.solvers.stochastic.scs import TESTING, Last, Scs, Test
from fwsvm.solvers.stochastic.state import Metric, coefficients, empty_state, pad, radius_unit
from fwsvm.solvers.stochastic.sums import RecomputedSums
from fwsvm.status import Status


class ScsRun(StochasticRun):
    """A `Solver`: one iteration of Algorithm 1 a step."""

    def __init__(self, rule: Scs, problem: Binary, resolved: Resolved) -> None:
        super().__init__(problem, resolved)
        rule.check()
        self.rule = rule
        most = self.most = rule.most_rows(self.m, self.lam)
        self.state = empty_state(most, self.lam, euclid=rule.metric is Metric.EUCLID)
        self.order, *testing = rule.orders(self.m, self.lam, problem.stream)
        self.sample = self._sample_of(self.order)
        self.sums = RecomputedSums(resolved.kernel, [self.sample], resolved.threads)
        self.constants = checked_constants(rule)
        narrow = self.constants._replace(m1=rule.growing * rule.m1, m2=rule.growing * rule.m2)
        self.descent = Descent(TwoVectors(), narrow, self.state, self.sums, self.eps)
        self.test: TrackedTest | ResampledTest
        if rule.test is Test.FRESH:
            random = np.random.default_rng((*problem.stream, TESTING))
            self.test = ResampledTest(problem, self.sample, random, resolved.threads)
        else:
            self._test_on(self._sample_of(testing[0] if testing else self.order[:0]))
        self.unit = radius_unit(self.lam, rule.metric)
        self.state.now["ball"] = rule.radius * self.unit
        self.largest_value = 0.0  # k(x, x) of the rows of S_k, for Euclidean lengths
        self.iterations = self.steps = self.failures = 0
        self.objective = 1.0  # f_T at the incumbent

    # ---------------------------------------------------------------- Algorithm 1

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` iterations."""
        return repeated(self._iterate, steps)

    def _iterate(self) -> bool:
        """Do one iteration; return False where the method stops."""
        now, rule = self.state.now[0], self.rule
        self._grow()
        full = len(self.sample) == self.most
        if full:
            self.descent.constants = self.constants
        else:
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
        """Draw s_{k-1}, so that S_k has the size that the growth rule says, and T_k."""
        old = len(self.sample)
        narrowed = self.rule.radius * self.unit / float(self.state.now["ball"][0])
        size = self.rule.next_rows(old, narrowed, self.most)
        if size == old:
            return
        self.sample.draw(size)
        if self.state.euclid:
            values = self_values(self.resolved.kernel, self.sample.store.rows)
            self.largest_value = float(values.max(initial=0.0))
        tested = self.descent.tracked_test
        known, first = np.zeros((4, 0)), 0
        if self.rule.test is Test.NEXT and tested:
            known = tested.products(min(len(tested.sample), size - old))
            end = min(size + self.rule.added_rows(size), len(self.order))
            tested = self._test_on(self._sample_of(self.order[size:end]))
            tested.sample.draw(end - size)
        elif tested:
            first = len(tested.sample)
            tested.sample.draw(size)
        self.sums.grown()
        used, weights = coefficients(self.state)
        rest = self.sums.at_rows_from(0, used, weights, old + known.shape[1])
        pad(self.state, self.sample.w[old:size], np.hstack([known, rest]))
        if tested:
            tested.pad(first, self.sums.at_rows_from(1, used, weights, first))
        if old and self.rule.last is Last.CARRIED and not self.state.euclid:
            self.descent.carry(old)

    @property
    def shrinks(self) -> float:
        """The factor of eta2 lambda delta_k: Euclidean lengths are of Q c, which kernel values below 1 make shorter."""
        return min(1.0, self.largest_value) if self.state.euclid else 1.0

    def _sample_of(self, order: np.ndarray) -> Sample:
        return Sample(self.problem, self.resolved.kernel, self.dtype, order)

    def _test_on(self, sample: Sample) -> TrackedTest:
        """Let T_k be drawn from the rows of that sample."""
        self.sums.replace(1, sample)
        self.test = self.descent.tracked_test = TrackedTest(sample, len(sample.order))
        return self.test

    def _succeeds(self) -> bool:
        """Test the candidate on T_k, whose rows are drawn without regard to S_k."""
        now, rule = self.state.now[0], self.rule
        least = rule.eta2 * self.lam * now["ball"] * self.shrinks
        if now["step"] == 0.0 or np.sqrt(now["length2"]) <= least:
            return False
        before, after, error = self._on_test_sample()
        confirmed = before - after + rule.doubt * error >= rule.eta1 * (now["value"] - now["value_after"])
        self.objective = after if confirmed else before
        return bool(confirmed)

    def _on_test_sample(self) -> tuple[float, float, float]:
        """Return f_T at the incumbent and at the candidate, and the standard error of the difference.

        Where S_k has all rows and none are next, f_k, without an error.
        """
        s, now, n = self.state, self.state.now[0], len(self.sample)
        if self.rule.test is Test.NEXT and n == self.m:
            return float(now["value"]), float(now["value_after"]), 0.0
        t, linear, square = float(now["step"]), float(s.alpha[:n] @ s.Q_d[:n]), float(now["square"])
        grown = square + 2.0 * t * linear + t * t * float(now["curvature"]) / self.lam
        before, after, error = self.test.losses(s)
        return 0.5 * self.lam * square + before, 0.5 * self.lam * grown + after, error

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
        return Counters(self.iterations, self.steps, evaluations, compile_seconds=self.compile_seconds)


begin.register(Scs, ScsRun)
