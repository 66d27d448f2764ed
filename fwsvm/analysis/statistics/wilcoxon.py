"""Wilcoxon's signed-rank test with its exact permutation distribution, also with zeros and ties."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from fwsvm.errors import UsageError

#: Differences are rounded to this many decimals of the largest value: 83.52 - 83.52 in floating point must be a zero,
#: and 0.03 from two different subtractions must be a tie.
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """Result of the signed-rank test of x against y.

    ``p_less`` is for the alternative "x is smaller than y", ``p_greater`` for "x is larger"; W is the
    smaller of the two rank sums, as tables print it.
    """

    n: int
    zeros: int
    rank_sum_positive: float
    rank_sum_negative: float
    p_less: float
    p_greater: float
    p_two_sided: float
    convention: str

    @property
    def W(self) -> float:  # noqa: N802 - the statistic's name
        """Return the smaller rank sum."""
        return min(self.rank_sum_positive, self.rank_sum_negative)


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


def wilcoxon(x: ArrayLike, y: ArrayLike, *, zeros: str = "pratt") -> Wilcoxon:
    """Test whether paired x and y (shape ``(n,)``) differ in location.

    ``zeros="pratt"`` ranks the zero differences with the others and then drops their ranks (Pratt 1959, the
    default of the R package that paper 003 used); ``"wilcox"`` drops them first. Ties get mid-ranks. The
    p-values come from the permutation distribution given these ranks: exact, no normal approximation.

    Raises UsageError for unequal lengths, values that are not finite, or an unknown rule for zeros.
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise UsageError(
            f"Wilcoxon's test needs two lists of one length, not {first.shape} and {second.shape}"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UsageError("Wilcoxon's test needs finite values; leave out the pairs that lack one")
    if zeros not in {"pratt", "wilcox"}:
        raise UsageError(f"zeros must be pratt or wilcox, not {zeros}")
    largest = float(np.abs([first, second]).max(initial=0)) or 1.0
    d = np.round((first - second) / largest, DECIMALS)
    n_zeros = int((d == 0).sum())
    if zeros == "wilcox":
        d = d[d != 0]
    ranks = rankdata(np.abs(d)) if d.size else np.zeros(0)
    positive, negative = float(ranks[d > 0].sum()), float(ranks[d < 0].sum())
    distribution = signed_rank_distribution(np.rint(2 * ranks[d != 0]).astype(np.int64))
    p_less = float(min(1.0, distribution[: round(2 * positive) + 1].sum()))
    p_greater = float(min(1.0, distribution[: round(2 * negative) + 1].sum()))  # symmetric distribution
    return Wilcoxon(
        n=int(first.size),
        zeros=n_zeros,
        rank_sum_positive=positive,
        rank_sum_negative=negative,
        p_less=p_less,
        p_greater=p_greater,
        p_two_sided=min(1.0, 2 * min(p_less, p_greater)),
        convention=(
            f"exact permutation distribution, mid-ranks for ties, "
            f"zeros {'ranked, then dropped (Pratt)' if zeros == 'pratt' else 'dropped first (Wilcoxon)'}, "
            f"differences rounded to 1e-{DECIMALS} of the largest value"
        ),
    )
