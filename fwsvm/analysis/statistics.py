"""Non-parametric tests for several methods on several data sets, as Demsar (JMLR 7, 2006) recommends them.

Every result says in ``convention`` how zeros, ties and tails were treated, because published p-values differ more by
that than by data.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, fdtrc
from scipy.stats import rankdata, studentized_range, tiecorrect

#: Values are rounded to this many decimals of the largest one: 83.52 - 83.52 in floating point must be a zero,
#: and 0.03 from two different subtractions must be a tie.
DECIMALS = 12
FRIEDMAN = (
    "mid-ranks for ties, rank 1 is best; chi2 = 12N/(k(k+1)) [sum R_j^2 - k(k+1)^2/4] without, "
    "chi2_tie with the correction for ties; F = (N-1) chi2 / (N(k-1) - chi2) on (k-1, (k-1)(N-1)) degrees "
    "of freedom (Iman and Davenport); p-values are the right tail"
)
NEMENYI = (
    "CD = q_alpha sqrt(k(k+1)/(6N)) with q_alpha the studentized range (infinite degrees of freedom) over "
    "sqrt(2); mean ranks of mid-ranks, no correction for ties"
)
WILCOXON = (
    "exact permutation distribution, mid-ranks for ties, zeros ranked, then dropped (Pratt), "
    f"differences rounded to 1e-{DECIMALS} of the largest value"
)


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """Result of the signed-rank test of x against y.

    ``p_less`` is for the alternative "x is smaller than y", ``p_greater`` for "x is larger".
    """

    n: int
    zeros: int
    rank_sum_positive: float
    rank_sum_negative: float
    p_less: float
    p_greater: float

    @property
    def W(self) -> float:  # noqa: N802 - the statistic's name
        """Return the smaller rank sum, as tables print it."""
        return min(self.rank_sum_positive, self.rank_sum_negative)

    def p(self, alternative: str) -> float:
        """Return the p-value for ``less``, ``greater`` or ``two-sided``."""
        two_sided = min(1.0, 2 * min(self.p_less, self.p_greater))
        return {"less": self.p_less, "greater": self.p_greater, "two-sided": two_sided}[alternative]


def signed_rank_distribution(doubled_ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return P(2 W+ = s), s = 0..sum, when every rank has either sign with probability 1/2.

    One convolution per rank; the ranks are doubled so that mid-ranks are integers. All terms are
    non-negative multiples of a power of 1/2, so up to n = 53 the result is exact to the last bit.
    """
    distribution = np.ones(1)
    for rank in doubled_ranks:
        grown = np.zeros(distribution.size + int(rank))
        grown[: distribution.size] += distribution / 2
        grown[int(rank) :] += distribution / 2
        distribution = grown
    return distribution


def wilcoxon(x: ArrayLike, y: ArrayLike) -> Wilcoxon:
    """Test whether paired finite x and y (shape ``(n,)``) differ in location.

    Zero differences are ranked with the others, and then their ranks are dropped (Pratt 1959, the default of the R
    package that Frandi et al. used). Ties get mid-ranks. The p-values come from the permutation distribution given
    these ranks: exact, no normal approximation.
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    largest = float(np.abs([first, second]).max(initial=0)) or 1.0
    d = np.round((first - second) / largest, DECIMALS)
    n_zeros = int((d == 0).sum())
    ranks = rankdata(np.abs(d)) if d.size else np.zeros(0)
    positive, negative = float(ranks[d > 0].sum()), float(ranks[d < 0].sum())
    distribution = signed_rank_distribution(np.rint(2 * ranks[d != 0]).astype(np.int64))
    p_less, p_greater = (  # the distribution is symmetric
        float(min(1.0, distribution[: round(2 * ranks_of_one) + 1].sum()))
        for ranks_of_one in (positive, negative)
    )
    return Wilcoxon(int(first.size), n_zeros, positive, negative, p_less, p_greater)


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's chi2 and Iman-Davenport's F, each without and with the correction for ties; mean ranks, 1 is best."""

    n: int
    k: int
    mean_ranks: NDArray[np.float64]
    chi2: float
    p_chi2: float
    F: float
    p_F: float  # noqa: N815
    chi2_tie: float
    p_chi2_tie: float
    F_tie: float
    p_F_tie: float  # noqa: N815


def rank_rows(values: ArrayLike, *, largest_first: bool) -> NDArray[np.float64]:
    """Rank each row of finite ``values`` (shape ``(N, k)``), 1 for the best, mid-ranks for ties."""
    table = np.asarray(values, dtype=np.float64)
    largest = np.abs(table).max(axis=1, keepdims=True)
    table = np.round(table / np.where(largest > 0, largest, 1), DECIMALS)
    ranks: NDArray[np.float64] = rankdata(-table if largest_first else table, axis=1)
    return ranks


def friedman(values: ArrayLike, *, largest_first: bool) -> Friedman:
    """Test whether all k methods perform alike on N data sets; ``values`` has shape ``(N, k)``, both 2 or more."""
    ranks = rank_rows(values, largest_first=largest_first)
    n, k = ranks.shape
    mean_ranks = ranks.mean(axis=0)
    chi2 = 12 * n / (k * (k + 1)) * (float((mean_ranks**2).sum()) - k * (k + 1) ** 2 / 4)
    correction = float(np.mean([tiecorrect(row) for row in ranks]))
    chi2_tie = chi2 / correction if correction > 0 else 0.0  # all values tied: no difference
    plain, tie = ((one, float(chdtrc(k - 1, one)), *_iman_davenport(one, n, k)) for one in (chi2, chi2_tie))
    return Friedman(n, k, mean_ranks, *plain, *tie)


def _iman_davenport(chi2: float, n: int, k: int) -> tuple[float, float]:
    """Return Iman and Davenport's F of a chi2 and its right tail; F is infinite if all rankings agree."""
    rest = n * (k - 1) - chi2
    if rest <= 1e-9 * n:
        return math.inf, 0.0
    F = (n - 1) * chi2 / rest
    return F, float(fdtrc(k - 1, (k - 1) * (n - 1), F))


def critical_difference(n: int, k: int, alpha: float) -> float:
    """Return Nemenyi's critical difference of the mean ranks of k methods on n data sets."""
    unit = math.sqrt(k * (k + 1) / (12 * n))  # the studentized range's scale: CD's with the sqrt(2) taken in
    return float(studentized_range.ppf(1 - alpha, k, np.inf)) * unit


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values (shape ``(m,)``) adjusted by Holm's step-down rule (1979).

    Rejecting those at most alpha keeps the probability of any false rejection at most alpha. The i-th
    smallest of m is multiplied by m - i + 1, made non-decreasing and clipped at 1.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, steps)
    return adjusted
