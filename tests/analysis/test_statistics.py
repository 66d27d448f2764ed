"""The tests against examples published by others, and against slow definitions."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from fwsvm.analysis.statistics import friedman, holm, nemenyi, wilcoxon
from fwsvm.analysis.statistics.friedman import chi2_of_ranks, iman_davenport
from fwsvm.errors import UsageError

# Demsar, JMLR 7 (2006), Table 2: accuracy of C4.5 with m = 0 and with m tuned, on 14 data sets
C45 = [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.940, 0.619, 0.972, 0.957]
C45_M = [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978]


def by_enumeration(differences: np.ndarray) -> tuple[float, float, float]:
    """Return P(W+ <= observed), P(W+ >= observed) and W+ by going through every assignment of signs."""
    ranks = rankdata(np.abs(differences))[differences != 0]
    observed = ranks[differences[differences != 0] > 0].sum()
    sums = [
        sum(r for r, up in zip(ranks, signs, strict=True) if up)
        for signs in itertools.product([False, True], repeat=len(ranks))
    ]
    return float(np.mean(np.array(sums) <= observed)), float(np.mean(np.array(sums) >= observed)), observed


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10))
def test_wilcoxon_is_the_permutation_distribution_with_zeros_and_ties(differences: list[int]) -> None:
    d = np.array(differences, dtype=float)
    less, greater, positive = by_enumeration(d)
    test = wilcoxon(d, np.zeros_like(d))
    assert test.rank_sum_positive == positive
    assert test.p_less == pytest.approx(less, abs=1e-14)
    assert test.p_greater == pytest.approx(greater, abs=1e-14)
    assert test.p_two_sided == pytest.approx(min(1, 2 * min(less, greater)), abs=1e-14)


@settings(deadline=None)
@given(st.permutations(range(9)), st.lists(st.integers(-50, 50), min_size=9, max_size=9))
def test_wilcoxon_does_not_depend_on_the_order_and_mirrors_when_the_sides_are_exchanged(
    order, values
) -> None:
    x, y = np.array(values, dtype=float), np.arange(9.0)
    plain, shuffled, mirrored = wilcoxon(x, y), wilcoxon(x[list(order)], y[list(order)]), wilcoxon(y, x)
    assert plain == shuffled
    assert (plain.p_less, plain.p_greater, plain.W) == (mirrored.p_greater, mirrored.p_less, mirrored.W)


def test_wilcoxon_without_ties_is_scipys_exact_test() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=20), rng.normal(0.4, size=20)
    for alternative, ours in (("less", "p_less"), ("greater", "p_greater"), ("two-sided", "p_two_sided")):
        theirs = scipy.stats.wilcoxon(x, y, alternative=alternative, method="exact")
        assert getattr(wilcoxon(x, y), ours) == pytest.approx(theirs.pvalue, rel=1e-12)


def test_demsars_example_with_pratts_zeros() -> None:
    """Demsar splits the two zeros and gets T = 12; Pratt drops their ranks, 1.5 from either side: 10.5."""
    test = wilcoxon(C45, C45_M)
    assert (test.n, test.zeros) == (14, 2)
    assert (test.W, test.rank_sum_positive, test.rank_sum_negative) == (10.5, 10.5, 91.5)
    assert wilcoxon(C45, C45_M, zeros="wilcox").W == 6.5
    assert test.p_two_sided < 0.05


def test_floating_point_noise_makes_neither_zeros_nor_ties() -> None:
    """80.01 - 80 and 80.57 - 80.56 differ in the last bit; 0.1 + 0.2 is not 0.3."""
    assert 80.01 - 80 != 80.57 - 80.56
    tied = wilcoxon([80.01, 80.57, 5], [80, 80.56, 1])
    assert tied.p_greater == wilcoxon([3, 3, 5], [2, 2, 1]).p_greater
    assert wilcoxon([0.1 + 0.2, 1], [0.3, 0]).zeros == 1


def test_scipys_pratt_regression_case() -> None:
    """Fifteen rises, fifteen falls and forty zeros are no evidence: scipy issue 10223 once gave 0.0154."""
    test = wilcoxon([1] * 15 + [0] * 40 + [-1] * 15, [0] * 70)
    assert (test.W, test.p_two_sided) == (832.5, 1.0)


@pytest.mark.parametrize(
    ("x", "y"),
    [([1, 2], [1]), ([np.nan], [1]), ([[1]], [[2]])],
    ids=["lengths", "not a number", "two-dimensional"],
)
def test_wilcoxon_refuses_what_is_not_two_lists_of_numbers(x, y) -> None:
    with pytest.raises(UsageError):
        wilcoxon(x, y)


# The book examples in critdd's tests: calcscience, chapter 12
CATALYSTS = np.array([[84.5, 78.4, 83.1], [82.8, 79.1, 79.9], [79.1, 78.0, 77.8], [80.2, 76.0, 77.9]])
TREES = np.array([[6, 4, 3, 3], [4, 3, 3, 2], [4, 2, 1, 1], [2, 1, 2, 1]]).T


def test_friedmans_book_examples_without_and_with_the_correction_for_ties() -> None:
    assert friedman(CATALYSTS, largest_first=True).chi2 == pytest.approx(6.5)
    assert friedman(CATALYSTS.T, largest_first=True).chi2 == pytest.approx(7.4)
    trees = friedman(TREES, largest_first=False)
    assert trees.chi2 == pytest.approx(9.525)
    theirs = scipy.stats.friedmanchisquare(*TREES.T)
    assert (trees.chi2_tie, trees.p_chi2_tie) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_friedman_and_iman_davenport_on_demsars_mean_ranks() -> None:
    """Mean ranks 3.143, 2.000, 2.893, 1.964 on 14 data sets give chi2 9.28 and F 3.69 (Demsar, 3.2.2)."""
    chi2 = chi2_of_ranks(np.array([3.143, 2.000, 2.893, 1.964]), 14)
    F, p = iman_davenport(chi2, 14, 4)
    assert (chi2, F) == pytest.approx((9.28, 3.69), abs=0.01)
    assert 0.01 < p < 0.05  # its critical value at 0.05 is 2.85


def test_friedman_when_every_data_set_agrees() -> None:
    result = friedman([[1, 2, 3]] * 5, largest_first=False)
    assert (result.F, result.p_F) == (float("inf"), 0.0)
    tied = friedman([[1, 1, 1]] * 5, largest_first=False)
    assert (tied.chi2, tied.chi2_tie, tied.p_F) == (0, 0, 1)


@settings(deadline=None)
@given(st.permutations(range(6)), st.permutations(range(3)))
def test_friedman_does_not_depend_on_the_order_of_data_sets_or_methods(rows, columns) -> None:
    values = np.random.default_rng(1).normal(size=(6, 3))
    plain = friedman(values, largest_first=True)
    shuffled = friedman(values[np.ix_(list(rows), list(columns))], largest_first=True)
    assert shuffled.chi2 == pytest.approx(plain.chi2)
    assert shuffled.mean_ranks == pytest.approx(plain.mean_ranks[list(columns)])


def test_nemenyi_against_rstatix() -> None:
    """The example of rstatix pull request 265, itself checked against PMCMRplus."""
    scores = np.array([[4, 6, 3, 5, 4, 5], [7, 8, 6, 7, 9, 6], [6, 9, 7, 8, 8, 9]]).T
    result = nemenyi(scores, largest_first=False)
    differences = np.abs(np.subtract.outer(result.mean_ranks, result.mean_ranks)) * np.sqrt(6)
    assert (differences[0, 1], differences[0, 2], differences[1, 2]) == pytest.approx(
        (3.27, 4.08, 0.816), abs=5e-3
    )
    assert result.groups() == [(0, 1), (1, 2)]


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_critical_difference_against_demsars_table(k: int, q: float) -> None:
    """Demsar, Table 5a: q_0.05; the critical difference of k methods on 14 data sets follows."""
    values = np.random.default_rng(0).normal(size=(14, k))
    expected = q * np.sqrt(k * (k + 1) / (6 * 14))
    assert nemenyi(values, largest_first=True).critical_difference == pytest.approx(expected, abs=1e-3)


def test_nemenyi_tells_all_apart_or_none() -> None:
    assert nemenyi([[1, 2]] * 30, largest_first=False).groups() == []
    assert nemenyi([[1, 2, 3], [3, 2, 1]], largest_first=False).groups() == [(0, 1, 2)]


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1, 1])


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_lies_between_the_p_values_and_bonferroni(p: list[float]) -> None:
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= np.minimum(1, np.array(p) * len(p)) + 1e-15).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
