"""Nemenyi's comparison of all pairs of methods by their mean ranks, and the critical difference."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import studentized_range

from fwsvm.analysis.statistics.friedman import rank_rows

CONVENTION = (
    "CD = q_alpha sqrt(k(k+1)/(6N)) with q_alpha the studentized range (infinite degrees of freedom) over "
    "sqrt(2); mean ranks of mid-ranks, no correction for ties"
)


@dataclass(frozen=True, slots=True)
class Nemenyi:
    """Mean ranks ``(k,)`` and the critical difference at ``alpha``."""

    n: int
    alpha: float
    mean_ranks: NDArray[np.float64]
    critical_difference: float
    convention: str = CONVENTION

    def groups(self) -> list[tuple[int, ...]]:
        """Return the maximal runs of methods, best first, within one critical difference."""
        order = np.argsort(self.mean_ranks, kind="stable")
        found: list[tuple[int, ...]] = []
        reached = -1
        for start in range(order.size):
            within = (
                self.mean_ranks[order] - self.mean_ranks[order[start]] <= self.critical_difference + 1e-12
            )
            stop = int(np.flatnonzero(within).max())
            if stop > start and stop > reached:
                found.append(tuple(int(i) for i in order[start : stop + 1]))
            reached = max(reached, stop)
        return found


def nemenyi(values: ArrayLike, *, largest_first: bool, alpha: float = 0.05) -> Nemenyi:
    """Compare all pairs of k methods on N data sets; ``values`` has shape ``(N, k)`` (Demsar 2006, 3.2.2)."""
    ranks = rank_rows(values, largest_first=largest_first)
    n, k = ranks.shape
    mean_ranks = ranks.mean(axis=0)
    unit = math.sqrt(k * (k + 1) / (12 * n))  # the studentized range's scale: CD's with the sqrt(2) taken in
    return Nemenyi(
        n=n,
        alpha=alpha,
        mean_ranks=mean_ranks,
        critical_difference=float(studentized_range.ppf(1 - alpha, k, np.inf)) * unit,
    )
