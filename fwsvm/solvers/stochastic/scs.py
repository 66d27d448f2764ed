"""scs: the stochastic conjugate subgradient method on a growing sample (004 Algorithms 1 and 2).

Each step is tested on rows T_k drawn without regard to the sample S_k (Algorithm 1 step 4). Products with the rows of
T_k follow the method's steps as those with the rows of S_k do, at the same cost a row
(`fwsvm.solvers.stochastic.descent`). T_k is either rows that grow as S_k does, by a random stream of their own, or the
rows that S_{k+1} is about to add, whose products S_{k+1} then takes over. T_k is independent of S_k in both. Rows that
grow have passed tests of earlier steps, but nothing was fitted to them.
"""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.kernels.kernel import own_terms_and_values
from fwsvm.kernels.rows import as_rows
from fwsvm.kernels.values import sums_of_tables, table
from fwsvm.problems.binary import Binary
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.stochastic.descent import ALPHA, DIRECTION, DescentRun, Metric

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
    metric : rkhs, or euclid, which reads "subgradient in alpha" to the letter and needs far more iterations
    growth : linear, first rows and then more a time; or theory, first (radius / delta_k)^4 (Theorem 3.3)
    test : next, T_k is the rows that S_{k+1} is about to add, whose kernel values it needs anyway; or kept, T_k has as
        many rows as S_k, as in the paper, and grows as it does, which doubles the kernel values. Once S_k has all
        rows, next tests nothing: f_k is f
    last : carried, -d_{k-1} becomes a combination of subgradients over the grown sample; or kept, as in the paper, and
        it fits rows of which the next sample has many more, so that T_k refuses step after step
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
    eta2 : |d_k| must exceed eta2 lambda delta_k; 1e-3, far below what a step of length delta_k would need
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

    def start(self, problem: Binary, resolved: Resolved) -> "ScsRun":
        """Return the run on a two-class problem."""
        return ScsRun(self, problem, resolved)

    def check(self) -> None:
        """Refuse parameters with which the method makes no sense, with `UsageError`."""
        good = 0 < self.least_radius < self.radius <= self.greatest_radius and self.factor > 1
        good = good and 0 < self.eta1 < 1 and self.eta2 > 0 and self.doubt >= 0 and self.enough > 0
        good = good and min(self.first, self.more, self.largest, self.patience) >= 1
        if not (good and 0 <= self.rate <= 1 and 0 < self.growing <= 1):
            raise UsageError(
                "scs needs 0 < least_radius < radius <= greatest_radius, factor > 1, 0 < eta1 < 1, eta2 > 0, doubt >= "
                "0, first, more, largest and patience >= 1, 0 <= rate <= 1, 0 < growing <= 1, and enough > 0"
            )

    def added_rows(self, rows: int) -> int:
        """Return how many rows S_{k+1} has more than S_k, which has so many, if it grows linearly."""
        return max(self.more, int(np.ceil(self.rate * rows)))


class ScsRun(DescentRun):
    """A `Solver`: one iteration of Algorithm 1 a step.

    S_k is the first ``size`` rows of ``order``. T_k is the next ones, or begins after the ``most`` that S_k may have.
    """

    steps = failures = 0
    objective = 1.0  # f_T at the incumbent, on the last test sample

    def __init__(self, rule: Scs, problem: Binary, resolved: Resolved) -> None:
        super().__init__(rule, problem, resolved)
        rule.check()
        m = self.m
        most = self.most = min(m, rule.largest, max(ALWAYS_ENOUGH, int(min(rule.enough / self.lam, m))))
        self.is_next = rule.test is Test.NEXT
        drawn = min(m, most + rule.added_rows(most)) if self.is_next else most
        order = np.random.default_rng((*problem.stream, SAMPLING)).choice(m, drawn, replace=False)
        if not self.is_next:
            tested = np.random.default_rng((*problem.stream, TESTING)).choice(m, most, replace=False)
            order = np.concatenate([order, tested])
        X: Any = problem.X
        rows = as_rows(X[order], self.dtype)
        self.order = order
        self.tested = slice(0, 0 if self.is_next else most)
        own, self.selves = own_terms_and_values(resolved.kernel, rows)
        self.table = table(rows, own)
        self.m1 = rule.growing * rule.m1
        self.m2 = rule.growing * rule.m2
        self.ball = rule.radius * self.unit

    # ---------------------------------------------------------------- Algorithm 1

    def step(self) -> bool:
        """Do one iteration; return False where the method stops."""
        rule = self.rule
        self._draw()
        full = len(self.w) == self.most
        if full:
            self.m1 = rule.m1
            self.m2 = rule.m2
        else:
            self.ahead = 0.0  # new rows tell more about the incumbent than another subgradient nearby
        vanishes = self.propose()
        smallest = rule.least_radius * self.unit
        at_smallest = self.ball <= smallest
        self.iterations += 1
        self.stuck = self.failures >= rule.patience
        ends = (vanishes and at_smallest) or self.stuck
        if full and (ends or (self.goal > 0.0 and self.gap_closed())):
            return False
        if self._succeeds():
            self.move()
            self.ball = min(rule.factor * self.ball, rule.greatest_radius * self.unit)
            self.steps += 1
            self.failures = 0
        else:
            self.failures += full and at_smallest
            self.ball = max(self.ball / rule.factor, smallest)
        return True

    def _next_size(self) -> int:
        """Return how many rows S_k is to have."""
        rule, n, size = self.rule, len(self.w), self.rule.first
        if n and rule.growth is Growth.LINEAR:
            size = n + rule.added_rows(n)
        elif n:
            narrowed = rule.radius * self.unit / self.ball
            size = int(np.ceil(min(rule.first * narrowed**4, self.most)))
        return min(max(size, n), self.most)

    def _draw(self) -> None:
        """Draw s_{k-1}, so that S_k has the size that the growth rule says, and T_k."""
        old, size, rule = len(self.w), self._next_size(), self.rule
        if size == old:
            return
        added, first, count = slice(old, size), self.most, size
        if self.is_next:  # what was tested comes into the sample
            added, first, count = slice(old, old), size, rule.added_rows(size)
        tested = slice(first, min(first + count, len(self.order)))
        more = slice(self.tested.stop, tested.stop)
        self.tested = tested
        used = np.flatnonzero(self.vectors[:, :old].any(axis=0))
        products = [self._sums_at(rows, used, self.vectors[:, used]) for rows in (added, more)]
        self.grow(self.problem.y[self.order[old:size]], *products)
        if old and rule.last is Last.CARRIED and not self.euclid:
            self.carry(old)

    def _sums_at(self, rows: slice, which: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_j weights[o, j] k(x_which[j], x_t) at some rows t of the table, shape (outputs, t)."""
        self.kernel_evaluations += len(which) * (rows.stop - rows.start)
        return sums_of_tables(
            self.resolved.kernel,
            self.table,
            which,
            weights.T,
            self.table,
            rows.start,
            rows.stop,
            self.resolved.threads,
        ).T

    def products(self, which: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the sums of kernel values at the rows of S_k, then at those of T_k."""
        parts = slice(0, len(self.w)), self.tested
        return np.concatenate([self._sums_at(rows, which, weights[None])[0] for rows in parts])

    def _succeeds(self) -> bool:
        """Test the candidate on T_k, whose rows are drawn without regard to S_k."""
        rule = self.rule
        least = rule.eta2 * self.lam * self.ball
        if self.euclid:  # d is Q c, which kernel values below 1 make shorter
            least *= min(1.0, self.selves[: len(self.w)].max())
        if self.t == 0.0 or np.sqrt(self.length2) <= least:
            return False
        before, after, error = self._on_test_sample()
        confirmed = before - after + rule.doubt * error >= rule.eta1 * (self.value - self.value_after)
        self.objective = after if confirmed else before
        return confirmed

    def _on_test_sample(self) -> tuple[float, float, float]:
        """Return f_T at the incumbent and at the candidate, and the standard error of the difference.

        Where S_k has all rows and none are next, f_k, without an error.
        """
        w = self.problem.y[self.order[self.tested]]
        if not len(w):
            return self.value, self.value_after, 0.0
        at, along = self.vectors[[ALPHA, DIRECTION], -len(w) :]
        losses = np.maximum(0.0, 1.0 - w * [at, at + self.t * along])
        error = np.subtract(*losses).std() / np.sqrt(max(1, len(w) - 1))
        before, after = 0.5 * self.lam * np.array([self.square, self.square_after]) + losses.mean(axis=1)
        return float(before), float(after), error

    @property
    def counters(self) -> Counters:
        """What was done so far; a step is a successful iteration."""
        return Counters(self.iterations, self.steps, self.kernel_evaluations)
