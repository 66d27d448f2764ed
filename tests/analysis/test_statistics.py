"""The tests against examples published by others, and against slow definitions."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from fwsvm.analysis.statistics import critical_difference, friedman, holm, wilcoxon

# Demsar, JMLR 7 (2006), Table 2: accuracy of C4.5 with m = 0 and with m tuned, on 14 data sets
C45 = [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.940, 0.619, 0.972, 0.957]
C45_M = [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978]


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_wilcoxon_is_the_permutation_distribution_with_zeros_and_ties(differences: list[int]) -> None:
    d = np.array(differences, dtype=float)
    ranks = rankdata(np.abs(d))[d != 0]
    observed = ranks[d[d != 0] > 0].sum()
    sums = np.array([ranks @ signs for signs in itertools.product([0, 1], repeat=len(ranks))])
    test = wilcoxon(d, np.zeros_like(d))
    assert min(observed, ranks.sum() - observed) == test.W
    assert (test.p_less, test.p_greater) == pytest.approx(
        ((sums <= observed).mean(), (sums >= observed).mean()), abs=1e-14
    )
    assert test.p("two-sided") == min(1, 2 * min(test.p_less, test.p_greater))
    mirrored = wilcoxon(np.zeros_like(d), d)
    assert (mirrored.p_less, mirrored.W) == (test.p_greater, test.W)


def test_wilcoxon_against_scipy_and_demsars_example() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=20), rng.normal(0.4, size=20)
    for alternative in ("less", "greater", "two-sided"):
        theirs = scipy.stats.wilcoxon(x, y, alternative=alternative, method="exact")
        assert wilcoxon(x, y).p(alternative) == pytest.approx(theirs.pvalue, rel=1e-12)
    # Demsar splits the two zeros and gets T = 12; Pratt drops their ranks, 1.5 from either side
    test = wilcoxon(C45, C45_M)
    assert (test.n, test.zeros, test.W) == (14, 2, 10.5)
    # fifteen rises, fifteen falls and forty zeros are no evidence: scipy issue 10223 once gave 0.0154
    assert wilcoxon([1] * 15 + [0] * 40 + [-1] * 15, [0] * 70).p("two-sided") == 1.0


def test_floating_point_noise_makes_neither_zeros_nor_ties() -> None:
    assert 80.01 - 80 != 80.57 - 80.56
    tied = wilcoxon([80.01, 80.57, 5], [80, 80.56, 1])
    assert tied.p_greater == wilcoxon([3, 3, 5], [2, 2, 1]).p_greater
    assert wilcoxon([0.1 + 0.2, 1], [0.3, 0]).zeros == 1


def test_friedmans_examples() -> None:
    catalysts = np.array([[84.5, 78.4, 83.1], [82.8, 79.1, 79.9], [79.1, 78.0, 77.8], [80.2, 76.0, 77.9]])
    trees = np.array([[6, 4, 3, 3], [4, 3, 3, 2], [4, 2, 1, 1], [2, 1, 2, 1]]).T
    test, theirs = friedman(catalysts, largest_first=True), scipy.stats.friedmanchisquare(*catalysts.T)
    assert (test.chi2, test.p_chi2) == pytest.approx((theirs.statistic, theirs.pvalue))
    test = friedman(trees, largest_first=False)
    assert test.chi2 == pytest.approx(9.525)
    assert pytest.approx((test.n - 1) * test.chi2 / (test.n * (test.k - 1) - test.chi2)) == test.F
    agreed, tied = (friedman([line] * 5, largest_first=False) for line in ([1, 2, 3], [1, 1, 1]))
    assert (agreed.F, agreed.p_F) == (math.inf, 0.0)
    assert (tied.chi2, tied.p_F) == (0, 1)


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_critical_difference_against_demsars_table(k: int, q: float) -> None:
    expected = q * np.sqrt(k * (k + 1) / (6 * 14))
    assert critical_difference(14, k, 0.05) == pytest.approx(expected, abs=1e-3)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1, 1])
    assert holm([]).size == 0
