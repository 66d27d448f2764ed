"""newton: exact on the active set whatever C is, also where the kernel matrix is all but singular."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwsvm.errors import UsageError
from fwsvm.solvers import Settings, Status, fit
from tests import naive
from tests.solvers.problems import CLASSES, two_classes


def train(X, codes, C, weights=None, **given):
    asked = {"kernel": "rbf", "gamma": 0.3, "threads": 1, **given}
    return fit(X, codes, CLASSES, Settings("newton", C=C, **asked), weights=weights)


@given(st.integers(0, 2**32), st.sampled_from([1e-2, 1.0, 1e3, 1e6]))
def test_the_optimum_is_reached_to_rounding_whatever_the_penalty(seed, C):
    X, codes = two_classes(seed)
    result = train(X, codes, C, tolerance=1e-7)
    assert result.status is Status.CONVERGED
    assert result.certified
    assert result.relative_gap <= 1e-7
    best = naive.least_objective("rbf", X, 1.0 - 2.0 * codes, C, 0.3)
    assert result.objective == pytest.approx(best, rel=1e-6)


def test_the_penalty_has_little_say_in_the_number_of_steps():
    X, codes = two_classes(3, m=300)
    steps = [train(X, codes, C, max_iterations=100_000).steps for C in (1e2, 1e5)]
    pairs = [
        fit(X, codes, CLASSES, Settings("swap-2o", C=C, kernel="rbf", gamma=0.3, threads=1)).steps
        for C in (1e2, 1e5)
    ]
    assert steps[1] / steps[0] < pairs[1] / pairs[0]  # with a thousand times the penalty
    assert steps[1] < pairs[1] / 2


def test_newton_begins_at_the_gap_where_it_is_asked_to():
    X, codes = two_classes(3, m=300)
    steps = [train(X, codes, 1.0, tolerance=1e-6, parameters={"switch": gap}).steps for gap in (0.5, 1e-9)]
    assert steps[0] < steps[1] / 2


def hard_cases():
    X, codes = two_classes(7, m=200)
    twice = np.repeat(X, 2, axis=0)
    yield "opposite labels on the same row", twice, np.arange(400) % 2, 0.3, None
    yield "rows alike but for the ridge", X, codes, 1e-5, None
    yield "rows far from each other", X, codes, 1e3, None
    yield "penalties apart", X, codes, 0.3, 10.0 ** np.random.default_rng(1).uniform(-4, 3, 200)
    yield "two rows", X[:2], np.array([0, 1]), 0.3, None
    yield "two rows alike", np.ones((2, 3)), np.array([0, 1]), 0.3, None


@pytest.mark.parametrize(("C", "tolerance"), [(1.0, 1e-3), (1e3, 1e-6), (1e6, 1e-3)])
@pytest.mark.parametrize("case", list(hard_cases()), ids=lambda case: case[0])
def test_hard_problems_end_certified_at_the_optimum(case, C, tolerance):
    _, X, codes, gamma, weights = case
    found = train(X, codes, C, weights, gamma=gamma, tolerance=tolerance)
    assert found.certified, found.message
    penalties = C if weights is None else C * weights
    best = naive.least_objective("rbf", X, 1.0 - 2.0 * codes, penalties, gamma)
    assert found.objective == pytest.approx(best, rel=2 * tolerance)


def test_what_newton_cannot_do_is_said():
    X, codes = two_classes(0)
    with pytest.raises(UsageError, match="search of newton must be full, not 'sampled'"):
        train(X, codes, 1.0, search="sampled")
    many = np.random.default_rng(0).normal(size=(1200, 4))
    with pytest.raises(UsageError, match=r"newton has .* active rows and needs .* cache_mib allows 1;"):
        train(many, np.arange(1200) % 2, 1e3, cache_mib=1)


def test_a_limit_of_iterations_ends_newtons_part_too():
    X, codes = two_classes(3, m=300)
    begun = train(X, codes, 1e4, tolerance=1.0).iterations
    result = train(X, codes, 1e4, max_iterations=begun + 1)
    assert result.status in {Status.MAX_ITERATIONS, Status.CONVERGED}
    assert result.iterations <= begun + 1
    assert result.gap_kind == "exact"
