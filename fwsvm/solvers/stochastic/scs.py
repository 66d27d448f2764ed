"""scs: its parameters, and how many rows its samples have (004 Algorithms 1 and 2, whose loop is `scs_run`)."""

from enum import Enum
from typing import NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.solvers.memory import Size, samples
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.stochastic.iterate import precision
from fwsvm.solvers.stochastic.run import memory_needed
from fwsvm.solvers.stochastic.sample import random_order
from fwsvm.solvers.stochastic.state import Metric

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


@memory_needed.register
def _(rule: Scs, size: Size, resolved: Resolved) -> int:
    most = rule.most_rows(size.rows, resolved.lambda_)
    tested = {Test.NEXT: rule.added_rows(most), Test.KEPT: most, Test.FRESH: 0}[rule.test]
    itemsize = np.dtype(precision(resolved)).itemsize
    return samples(size, most, min(tested, size.rows), itemsize, resolved.threads)
