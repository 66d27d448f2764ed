"""One-versus-one: pairs, votes and sums."""

from itertools import combinations

import numpy as np
import pytest

from fwsvm.kernels.rbf import Rbf
from fwsvm.problems.machines import KernelModel, votes
from fwsvm.solvers import Settings, fit
from fwsvm.solvers.subproblems import Subproblems
from tests.solvers.frank_wolfe.running import SIMPLEX

CLASSES = ("b", "a", "d", "c")


@pytest.fixture(scope="module")
def four():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat(np.arange(4), (9, 14, 12, 10)))
    return rng.normal(size=(45, 2)) + 2.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[codes], codes


def settings(method: str = "swap-2o", **given) -> Settings:
    return Settings(**{"method": method, "gamma": 0.5, "C": 5.0, "tolerance": 1e-4, "threads": 1, **given})


def test_pairs_come_in_order_with_the_earlier_class_positive(four):
    _, codes = four
    found = Subproblems(codes, 4, "one-vs-one")
    assert found.sizes.tolist() == [len(pair.rows) for pair in found]
    for (i, j), pair in zip(combinations(range(4), 2), found, strict=True):
        np.testing.assert_array_equal(pair.rows, np.flatnonzero((codes == i) | (codes == j)))
        np.testing.assert_array_equal(pair.positive, codes[pair.rows] == i)


@pytest.mark.parametrize("method", SIMPLEX)
def test_a_result_sums_its_pairs_and_takes_their_worst_gap(four, method):
    X, codes = four
    whole = fit(X, codes, CLASSES, settings(method))
    assert whole.subproblems == 6
    parts = [
        fit(X[rows], (codes[rows] == j).astype(int), (CLASSES[i], CLASSES[j]), settings(method))
        for i, j in combinations(range(4), 2)
        for rows in [np.flatnonzero((codes == i) | (codes == j))]
    ]
    tolerance = sum(part.gap for part in parts)  # a pair's random numbers depend on its place
    for name in ("objective", "primal", "dual"):
        scale = 1.0 if name == "objective" else sum(getattr(part, name) / part.objective for part in parts)
        assert getattr(whole, name) == pytest.approx(
            sum(getattr(p, name) for p in parts), abs=tolerance * scale
        )
    assert whole.certified
    assert whole.relative_gap <= 1e-4
    assert whole.gap <= 1e-4 * whole.objective
    assert whole.support_vectors == len(np.unique(whole.model.support, axis=0)) == whole.model.counts.sum()
    decision = np.column_stack([part.model.decision(X)[:, 0] for part in parts])
    np.testing.assert_allclose(whole.model.decision(X), decision, atol=0.1)
    assert (whole.model.predict(X) == codes).mean() >= 0.8


def test_a_cyclic_vote_goes_to_the_first_class():
    """0 beats 1, 1 beats 2, 2 beats 0: one vote each."""
    assert votes(np.array([[1.0, -1.0, 1.0]]), 3).tolist() == [0]
    assert votes(np.array([[-1.0, 1.0, -1.0]]), 3).tolist() == [0]
    cyclic = KernelModel(
        ("x", "y", "z"),
        Rbf(1.0),
        np.zeros((1, 2)),
        np.array([1, 0, 0]),
        np.zeros((1, 2)),
        np.array([1.0, -1.0, 1.0]),
    )
    assert cyclic.predict(np.random.default_rng(0).normal(size=(5, 2))).tolist() == [0] * 5


def test_a_decision_value_of_zero_votes_for_the_later_class():
    assert votes(np.zeros((1, 1)), 2).tolist() == [1]
    assert votes(np.array([[0.0, 0.0, 0.0]]), 3).tolist() == [2]


def test_most_votes_win_over_large_values():
    assert votes(np.array([[1e-9, 1e-9, 100.0]]), 3).tolist() == [0]


def test_classes_of_one_row_each():
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    result = fit(X, np.arange(3), ("p", "q", "r"), settings())
    assert result.certified
    assert result.model.predict(X).tolist() == [0, 1, 2]
    assert result.support_vectors == 3


def test_a_limit_on_time_leaves_later_pairs_out_and_says_so(four):
    X, codes = four
    result = fit(X, codes, CLASSES, settings(tolerance=1e-13, time_limit=1e-6))
    assert result.status == "time_limit"
    assert "5 of 6 subproblems were not reached" in result.message
    assert result.solved == 1
    assert not result.certified
