"""Friedman's test for k methods on N data sets, with Iman and Davenport's F."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, fdtrc
from scipy.stats import rankdata, tiecorrect

from fwsvm.analysis.statistics.wilcoxon import DECIMALS
from fwsvm.errors import UsageError

CONVENTION = (
    "mid-ranks for ties, rank 1 is best; chi2 = 12N/(k(k+1)) [sum R_j^2 - k(k+1)^2/4] without, "
    "chi2_tie with the correction for ties; F = (N-1) chi2 / (N(k-1) - chi2) on (k-1, (k-1)(N-1)) degrees "
    "of freedom (Iman and Davenport); p-values are the right tail"
)


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's chi2 and Iman-Davenport's F, each without and with the correction for ties."""

    n: int
    k: int
    mean_ranks: NDArray[np.float64]  # (k,), 1 is best
    chi2: float
    p_chi2: float
    F: float
    p_F: float  # noqa: N815
    chi2_tie: float
    p_chi2_tie: float
    F_tie: float
    p_F_tie: float  # noqa: N815
    convention: str = CONVENTION


def rank_rows(values: ArrayLike, *, largest_first: bool) -> NDArray[np.float64]:
    """Rank each row of ``values`` (shape ``(N, k)``), 1 for the best, mid-ranks for ties."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or table.shape[0] < 2:
        raise UsageError(f"ranking needs at least two data sets and two methods, not shape {table.shape}")
    if not np.isfinite(table).all():
        raise UsageError("ranking needs finite values; leave out the data sets that lack one")
    largest = np.abs(table).max(axis=1, keepdims=True)
    table = np.round(table / np.where(largest > 0, largest, 1), DECIMALS)
    ranks: NDArray[np.float64] = rankdata(-table if largest_first else table, axis=1)
    return ranks


def friedman(values: ArrayLike, *, largest_first: bool) -> Friedman:
    """Test whether all k methods perform alike on N data sets; ``values`` has shape ``(N, k)``.

    Demsar 2006, section 3.2.2. Raises UsageError for fewer than two rows or columns or missing values.
    """
    ranks = rank_rows(values, largest_first=largest_first)
    n, k = ranks.shape
    mean_ranks = ranks.mean(axis=0)
    chi2 = chi2_of_ranks(mean_ranks, n)
    correction = float(np.mean([tiecorrect(row) for row in ranks]))
    chi2_tie = chi2 / correction if correction > 0 else 0.0  # all values tied: no difference
    F, p_F = iman_davenport(chi2, n, k)
    F_tie, p_F_tie = iman_davenport(chi2_tie, n, k)
    return Friedman(
        n=n,
        k=k,
        mean_ranks=mean_ranks,
        chi2=chi2,
        p_chi2=float(chdtrc(k - 1, chi2)),
        F=F,
        p_F=p_F,
        chi2_tie=chi2_tie,
        p_chi2_tie=float(chdtrc(k - 1, chi2_tie)),
        F_tie=F_tie,
        p_F_tie=p_F_tie,
    )


def chi2_of_ranks(mean_ranks: NDArray[np.float64], n: int) -> float:
    """Return Friedman's chi2, not corrected for ties, of k mean ranks over n data sets."""
    k = mean_ranks.size
    return 12 * n / (k * (k + 1)) * (float((mean_ranks**2).sum()) - k * (k + 1) ** 2 / 4)


def iman_davenport(chi2: float, n: int, k: int) -> tuple[float, float]:
    """Return Iman and Davenport's F of a chi2 and its right tail; F is infinite if all rankings agree."""
    rest = n * (k - 1) - chi2
    if rest <= 1e-9 * n:
        return float("inf"), 0.0
    F = (n - 1) * chi2 / rest
    return F, float(fdtrc(k - 1, (k - 1) * (n - 1), F))
