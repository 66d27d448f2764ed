"""Non-parametric tests for several methods on several data sets, as Demsar (JMLR 7, 2006) recommends them.

The constants say, for notes below tables, how zeros, ties and tails are treated: published p-values differ more by that
than by data.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, fdtrc
from scipy.stats import rankdata, studentized_range

#: Values are rounded to this many decimals of the largest one: 83.52 - 83.52 in floating point must be a zero,
#: and 0.03 from two different subtractions must be a tie.
DECIMALS = 12
FRIEDMAN = (
    "mid-ranks for ties, rank 1 is best; chi2 = 12N/(k(k+1)) [sum R_j^2 - k(k+1)^2/4] without correction for ties; "
    "F = (N-1) chi2 / (N(k-1) - chi2) on (k-1, (k-1)(N-1)) degrees of freedom (Iman and Davenport); p-values are the "
    "right tail"
)
NEMENYI = (
    "CD = q_alpha sqrt(k(k+1)/(6N)) with q_alpha the studentized range (infinite degrees of freedom) over "
    "sqrt(2); mean ranks of mid-ranks, no correction for ties"
)
WILCOXON = (
    "exact permutation distribution, mid-ranks for ties, zeros ranked, then dropped (Pratt), "
    f"differences rounded to 1e-{DECIMALS} of the largest value"
)


class Wilcoxon(NamedTuple):
    """Result of the signed-rank test of x against y, of which ``W`` is the smaller rank sum.

    ``p_less`` is for the alternative "x is smaller than y", ``p_greater`` for "x is larger".
    """

    n: int
    zeros: int
    W: float
    p_less: float
    p_greater: float

    def p(self, alternative: str) -> float:
        """Return the p-value for ``less``, ``greater`` or ``two-sided``."""
        two_sided = min(1.0, 2 * min(self.p_less, self.p_greater))
        return {"less": self.p_less, "greater": self.p_greater, "two-sided": two_sided}[alternative]


def wilcoxon(x: ArrayLike, y: ArrayLike) -> Wilcoxon:
    """Test whether paired finite x and y (shape ``(n,)``) differ in location.

    Zero differences are ranked with the others, and then their ranks are dropped (Pratt 1959, the default of the R
    package that Frandi et al. used). Ties get mid-ranks. The p-values come from the permutation distribution given
    these ranks: exact, no normal approximation.
    """
    first = np.asarray(x, dtype=np.float64)
    second = np.asarray(y, dtype=np.float64)
    largest = float(np.abs([first, second]).max(initial=0)) or 1.0
    d = np.round((first - second) / largest, DECIMALS)
    doubled = np.rint(2 * rankdata(np.abs(d))).astype(np.int64)  # mid-ranks as whole numbers
    distribution = np.ones(1)  # P(2 W+ = s), s = 0, 1, ...: exact to the last bit up to n = 53
    for rank in doubled[d != 0]:  # which has either sign with probability 1/2
        distribution = np.convolve(distribution, np.r_[0.5, np.zeros(rank - 1), 0.5])
    sums = doubled[d > 0].sum(), doubled[d < 0].sum()
    p_less, p_greater = (min(1.0, float(distribution[: each + 1].sum())) for each in sums)  # it is symmetric
    return Wilcoxon(d.size, int((d == 0).sum()), float(min(sums)) / 2, p_less, p_greater)


class Friedman(NamedTuple):
    """Friedman's chi2 and Iman-Davenport's F for k methods on n data sets; mean ranks, 1 is best.

    F is infinite, and says nothing, if all data sets rank the methods alike.
    """

    n: int
    k: int
    mean_ranks: NDArray[np.float64]
    chi2: float
    p_chi2: float
    F: float
    p_F: float  # noqa: N815


def friedman(values: ArrayLike, *, largest_first: bool) -> Friedman:
    """Test whether all k methods perform alike on N data sets; finite ``values`` have shape ``(N, k)``, both 2 or more.

    Rank 1 is the best; ties have mid-ranks.
    """
    table = np.asarray(values, dtype=np.float64)
    n, k = table.shape
    largest = np.abs(table).max(axis=1, keepdims=True)
    rounded = np.round(table / np.where(largest > 0, largest, 1), DECIMALS)
    mean_ranks = rankdata(-rounded if largest_first else rounded, axis=1).mean(axis=0)
    chi2 = 12 * n / (k * (k + 1)) * (float((mean_ranks**2).sum()) - k * (k + 1) ** 2 / 4)
    rest = n * (k - 1) - chi2
    F = math.inf if rest <= 1e-9 * n else (n - 1) * chi2 / rest
    p_values = chdtrc(k - 1, chi2), fdtrc(k - 1, (k - 1) * (n - 1), F)
    return Friedman(n, k, mean_ranks, chi2, float(p_values[0]), F, float(p_values[1]))


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
    return np.minimum(1.0, steps)[np.argsort(order)]
