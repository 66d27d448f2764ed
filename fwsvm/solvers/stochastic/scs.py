"""scs: the stochastic conjugate subgradient method on a growing sample (004 Algorithms 1 and 2).

Each step is tested on rows T_k drawn without regard to the sample S_k (Algorithm 1 step 4). `ResampledTest` draws as
many rows as S_k has anew in each iteration, which costs |S_k|^2 kernel values. Else products with the rows of T_k
follow the method's steps as those with the rows of S_k do, at the same cost a row (`fwsvm.solvers.stochastic.state`):
either rows that grow as S_k does, by a random stream of their own, or the rows that S_{k+1} is about to add, whose
products S_{k+1} then takes over. T_k is independent of S_k in all three. Rows that grow have passed tests of earlier
steps, but nothing was fitted to them.
"""

from enum import Enum
from typing import NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.kernels.kernel import self_values
from fwsvm.kernels.sums import weighted_sums
from fwsvm.numerics.compile import njit
from fwsvm.problems.binary import Binary
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.stochastic.descent import Descent, checked_constants, gap_closed
from fwsvm.solvers.stochastic.run import StochasticIterate, StochasticRun, begin, repeated
from fwsvm.solvers.stochastic.sample import RecomputedSums, Sample, picked_rows, random_order
from fwsvm.solvers.stochastic.state import (
    Metric,
    StochasticState,
    coefficients,
    empty_state,
    move,
    pad,
    pad_test,
    radius_unit,
    test_products,
)
from fwsvm.status import Status

ALWAYS_ENOUGH = 20_000  # rows that a sample may have whatever lambda is: a run of a second
SAMPLING, TESTING = 1, 2  # streams of random numbers: T_k is independent of S_k


class Growth(Enum):
    """How large the sample of iteration k is."""

    LINEAR = "linear"
    THEORY = "theory"


class Test(Enum):
    """Which rows a step is tested on."""

    NEXT = "next"
    KEPT = "kept"
    FRESH = "fresh"


class Last(Enum):
    """What becomes of the last direction when the sample grows."""

    CARRIED = "carried"
    KEPT = "kept"


@register(
    "scs",
    family="stochastic",
    paper="Zhang and Sen (2024), Algorithms 1 and 2",
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
    growth : linear, first rows and then more a time; or theory, first (radius / delta_k)^4 (Theorem 3.3)
    test : next, T_k is the rows that S_{k+1} is about to add, whose kernel values it needs anyway; kept, T_k has as
        many rows as S_k, as in the paper, and grows as it does, which doubles the kernel values; or fresh, and all of
        T_k is new each time. Once S_k has all rows, next tests nothing: f_k is f
    last : carried, -d_{k-1} becomes a combination of subgradients over the grown sample; or kept, as in the paper, and
        it fits rows of which the next sample has many more, so that T_k refuses step after step. With euclid it is kept
    first : rows of S_1; 1000, as the co-author's program has for another problem
    more : rows an iteration adds at least; 250
    rate : rows an iteration adds at least, as a part of S_k; 0.05, so that T_k is never too few to tell small steps
    largest : rows at most; 100,000
    enough : rows at most for each 1 / lambda, but 20,000 anyway; 10: what a sample's minimiser is above the optimum
        falls as 1 / (lambda rows), so a larger lambda needs fewer. Where all rows are no more, the gap is exact
    radius : delta_0; 0.1
    least_radius : delta_min; 0.01: every halving below costs a success to win back, once the sample has grown
    greatest_radius : delta_max; 1, the ball that holds the minimiser
    factor : gamma, by which a success widens and a failure narrows the ball; 2
    eta1 : the part of the decrease on S_k that T_k must confirm; 0.1
    doubt : standard errors of the decrease on T_k that count for the step; 1: with none, as in the paper, chance
        refuses half of the good steps where T_k is small
    eta2 : |d_k| must exceed eta2 lambda delta_k; 1e-3, far below what a step of length delta_k would need. With euclid
        it is times the largest k(x, x) of S_k, where that is below 1
    patience : unsuccessful iterations with the sample and the ball at their ends, after which the run stops; 10: a
        line search that finds no step still yields a subgradient, and a few of these turn the direction
    m1, m2 : of the line search, see wolfe; 0.1 and 0.4
    growing : factor of m1 and m2 while the sample grows; 0.25: conjugate directions want the end of a line nearly
        found, but once the sample stays as it is such a search stalls at kinks
    n : steps below 1/n of the longest count as none; 1000: another sample helps more than another subgradient
    """

    metric: Metric = Metric.RKHS
    growth: Growth = Growth.LINEAR
    test: Test = Test.NEXT
    last: Last = Last.CARRIED
    first: int = 1000
    more: int = 250
    rate: float = 0.05
    largest: int = 100_000
    enough: float = 10.0
    radius: float = 0.1
    least_radius: float = 0.01
    greatest_radius: float = 1.0
    factor: float = 2.0
    eta1: float = 0.1
    doubt: float = 1.0
    eta2: float = 1e-3
    patience: int = 10
    m1: float = 0.1
    m2: float = 0.4
    growing: float = 0.25
    n: float = 1000.0

    def most_rows(self, m: int, lam: float) -> int:
        """Return how many of m rows S_k may come to have."""
        return min(m, self.largest, max(ALWAYS_ENOUGH, int(min(self.enough / lam, m))))

    def added_rows(self, rows: int) -> int:
        """Return how many rows S_{k+1} has more than S_k, which has so many, if it grows linearly."""
        return max(self.more, int(np.ceil(self.rate * rows)))

    def next_rows(self, old: int, narrowed: float, most: int) -> int:
        """Return how many rows S_k is to have, of at most ``most``; S_{k-1} has ``old``.

        ``narrowed`` is delta_0 / delta_k.
        """
        if not old:
            size = self.first
        elif self.growth is Growth.LINEAR:
            size = old + self.added_rows(old)
        else:
            size = int(np.ceil(min(self.first * narrowed**4, most)))
        return min(max(size, old), most)

    def orders(self, m: int, lam: float, stream: tuple[int, ...]) -> list[np.ndarray]:
        """Return the rows that S_k, and T_k where it is kept, may come to have, as they are drawn."""
        most = self.most_rows(m, lam)
        if self.test is Test.NEXT:
            return [random_order(m, min(m, most + self.added_rows(most)), (*stream, SAMPLING))]
        streams = (SAMPLING, TESTING) if self.test is Test.KEPT else (SAMPLING,)
        return [random_order(m, most, (*stream, number)) for number in streams]

    def check(self) -> None:
        """Refuse parameters with which the method makes no sense, with `UsageError`."""
        if not 0 < self.least_radius < self.radius <= self.greatest_radius:
            raise UsageError("scs needs 0 < least_radius < radius <= greatest_radius")
        if not (self.factor > 1 and 0 < self.eta1 < 1 and self.eta2 > 0 and self.doubt >= 0):
            raise UsageError("scs needs factor > 1, eta1 between 0 and 1, eta2 > 0, and doubt of at least 0")
        if min(self.first, self.more, self.largest, self.patience) < 1 or not 0 <= self.rate <= 1:
            raise UsageError(
                "scs needs first, more, largest and patience of at least 1, and rate from 0 to 1"
            )
        if not 0 < self.growing <= 1:
            raise UsageError("scs needs growing above 0 and at most 1")
        if not self.enough > 0:
            raise UsageError("scs needs a positive number for enough")


class ResampledTest:
    """A test sample T_k drawn anew in each iteration, without replacement."""

    def __init__(self, problem: Binary, sample: Sample, random: np.random.Generator, threads: int) -> None:
        self.problem, self.sample, self.random, self.threads = problem, sample, random, threads
        self.kernel_evaluations = 0

    def losses(self, state: StochasticState) -> tuple[float, float, float]:
        """Return the mean hinge loss over T_k at the incumbent and at the candidate, and their difference's error."""
        sample, n = self.sample, len(self.sample)
        rows = self.random.choice(len(self.problem.y), n, replace=False, shuffle=False)
        sources = np.column_stack([state.alpha[:n], state.d[:n]])
        others = picked_rows(self.problem.X, rows, sample.dtype)
        self.kernel_evaluations += n * n
        kernel, own_rows = sample.store.kernel, sample.store.rows
        both = weighted_sums(kernel, own_rows, np.arange(n), sources, others, self.threads).T.copy()
        return mean_losses(self.problem.y[rows], both[0], both[1], float(state.now["step"][0]))


def kept_losses(state: StochasticState, w: np.ndarray) -> tuple[float, float, float]:
    """Return the same over a test sample with labels ``w`` whose products are kept."""
    part = slice(len(state.w), len(state.w) + len(w))
    return mean_losses(w, state.Q_alpha[part], state.Q_d[part], float(state.now["step"][0]))


@njit
def mean_losses(w, at, ahead, step):
    """Return the mean hinge losses of outputs ``at`` and of at + step ahead, (n,), and their difference's error.

    It is the standard error of a mean over n rows drawn at random; 0 for fewer than two.
    """
    n, before, after, squares = w.size, 0.0, 0.0, 0.0
    for i in range(n):
        loss = max(0.0, 1.0 - w[i] * at[i])
        then = max(0.0, 1.0 - w[i] * (at[i] + step * ahead[i]))
        before += loss
        after += then
        squares += (loss - then) ** 2
    fall = (before - after) / n
    variance = max(0.0, squares / n - fall * fall)
    return before / n, after / n, np.sqrt(variance / (n - 1)) if n > 1 else 0.0


class ScsRun(StochasticRun):
    """A `Solver`: one iteration of Algorithm 1 a step."""

    def __init__(self, rule: Scs, problem: Binary, resolved: Resolved) -> None:
        super().__init__(problem, resolved)
        rule.check()
        self.rule = rule
        most = self.most = rule.most_rows(self.m, self.lam)
        self.order, *testing = rule.orders(self.m, self.lam, problem.stream)
        euclid, room = rule.metric is Metric.EUCLID, rule.added_rows(most) if rule.test is Test.NEXT else most
        self.state = empty_state(most, self.lam, euclid=euclid, tested=0 if rule.test is Test.FRESH else room)
        self.sample = self._sample_of(self.order)
        self.sums = RecomputedSums(resolved.kernel, [self.sample], resolved.threads)
        self.constants = checked_constants(rule)
        narrow = self.constants._replace(m1=rule.growing * rule.m1, m2=rule.growing * rule.m2)
        self.descent = Descent(None, narrow, self.state, self.sums, self.eps)
        random = np.random.default_rng((*problem.stream, TESTING))
        self.resampled = ResampledTest(problem, self.sample, random, resolved.threads)
        self.tested = self._sample_of(testing[0] if testing else self.order[:0])
        if rule.test is not Test.FRESH:
            self.sums.replace(1, self.tested)
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
            move(self.state)
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
        known, first = np.zeros((4, 0)), len(self.tested)
        if self.rule.test is Test.NEXT:
            known, first = test_products(self.state, min(first, size - old)), 0
            end = min(size + self.rule.added_rows(size), len(self.order))
            self.tested = self._sample_of(self.order[size:end])
            self.sums.replace(1, self.tested)
            self.tested.draw(end - size)
        elif self.rule.test is Test.KEPT:
            self.tested.draw(size)
        self.sums.grown()
        used, weights = coefficients(self.state)
        rest = self.sums.at_rows_from(0, used, weights, old + known.shape[1])
        pad(self.state, self.sample.w[old:size], np.hstack([known, rest]))
        if self.rule.test is not Test.FRESH:
            pad_test(self.state, first, self.sums.at_rows_from(1, used, weights, first))
        if old and self.rule.last is Last.CARRIED and not self.state.euclid:
            self.descent.carry(old)

    @property
    def shrinks(self) -> float:
        """The factor of eta2 lambda delta_k: Euclidean lengths are of Q c, which kernel values below 1 make shorter."""
        return min(1.0, self.largest_value) if self.state.euclid else 1.0

    def _sample_of(self, order: np.ndarray) -> Sample:
        return Sample(self.problem, self.resolved.kernel, self.dtype, order)

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
        if self.rule.test is Test.FRESH:
            before, after, error = self.resampled.losses(s)
        else:
            before, after, error = kept_losses(s, self.tested.w[: len(self.tested)])
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
            iterations=self.iterations,
            objective=self.objective,
            gap=self.objective - lower,
            support_vectors=int(np.count_nonzero(s.alpha)),
            outcome=self.outcome_at(self.iterations),
            rows=self.sample.order[:n],
            alpha=s.alpha[:n].copy(),
            u=s.best_u[:n].copy(),
            square=float(now["square"]),
            lower=lower,
            lower_error=error,
        )

    @property
    def counters(self) -> Counters:
        """What was done so far; a step is a successful iteration."""
        evaluations = self.sums.kernel_evaluations + self.resampled.kernel_evaluations
        return Counters(self.iterations, self.steps, evaluations, compile_seconds=self.compile_seconds)


begin.register(Scs, ScsRun)
