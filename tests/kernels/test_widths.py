"""The default widths against distances computed pair by pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist

from fwsvm.kernels.kernel import family
from fwsvm.kernels.widths import gamma_of, mean_absolute_distance, mean_squared_distance, sigma2_of


def default_gamma(kernel: str, X: np.ndarray, rule: str = "paper") -> float:
    width = family(kernel).width(rule)[1]
    return width.gamma(width.spread(X))


def data(seed: int, m: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.round(3.0 * rng.normal(size=(m, n)) * (rng.random((m, n)) < rng.random()), 1)


@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(1, 6))
@settings(deadline=None, max_examples=60)
def test_mean_distances_are_those_of_all_pairs(seed, m, n):
    X = data(seed, m, n)
    for form in (X, sparse.csr_array(X)):
        assert mean_squared_distance(form) == pytest.approx(
            pdist(X, "sqeuclidean").mean(), rel=1e-9, abs=1e-9
        )
        assert mean_absolute_distance(form) == pytest.approx(pdist(X, "cityblock").mean(), rel=1e-9, abs=1e-9)


def test_the_spread_of_dense_rows_far_from_zero_is_not_lost():
    X = data(1, 30, 3)
    assert mean_squared_distance(X + 1e6) == pytest.approx(mean_squared_distance(X), rel=1e-8)


def test_stored_zeros_are_zeros():
    X = sparse.csr_array(
        (np.array([0.0, 2.0, 0.0]), np.array([0, 0, 0]), np.array([0, 1, 2, 3, 3])), shape=(4, 1)
    )
    assert mean_absolute_distance(X) == pytest.approx(pdist(X.toarray(), "cityblock").mean())


def test_the_rules_of_width():
    X = data(2, 50, 4)
    D = pdist(X, "sqeuclidean").mean()
    assert default_gamma("rbf", X) == pytest.approx(1 / (2 * D))
    assert default_gamma("rbf", X, "inverse-distance") == pytest.approx(1 / D)
    assert default_gamma("rbf", X, "libcvm") == pytest.approx(2 / D)
    assert default_gamma("quadratic", X) == default_gamma("poly", X) == pytest.approx(1 / D)
    assert default_gamma("laplacian", X) == pytest.approx(1 / pdist(X, "cityblock").mean())


def test_libcvm_looks_at_every_so_manieth_row_of_many():
    X = np.random.default_rng(3).normal(size=(10_001, 2))
    assert default_gamma("rbf", X, "libcvm") == pytest.approx(2 / mean_squared_distance(X[::3]))
    assert default_gamma("rbf", X, "paper") == pytest.approx(1 / (2 * mean_squared_distance(X)))


def test_gamma_and_sigma2_are_each_other():
    assert sigma2_of(gamma_of(3.7)) == pytest.approx(3.7, rel=1e-15)
    assert gamma_of(2.0) == 0.25


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_rows_without_spread_have_a_width_all_the_same(kernel):
    assert default_gamma(kernel, np.ones((5, 3))) == 1.0
    assert default_gamma(kernel, np.ones((1, 3))) == 1.0
