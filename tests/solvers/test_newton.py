"""newton: exact on the active set whatever C is, also where the kernel matrix is all but singular."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwsvm.errors import UsageError
from fwsvm.kernels.column_cache import column_cache
from fwsvm.problems.binary import Binary
from fwsvm.solvers import Settings, Status, fit
from fwsvm.solvers.frank_wolfe.iterate import AllRows
from fwsvm.solvers.newton.low_rank import LowRank
from fwsvm.solvers.resolve import resolve
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
    best = naive.least_objective("rbf", X, 1.0 - 2.0 * codes, C, 0.3)
    assert result.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("C", [64.0, 1e5])
def test_a_smooth_problem_takes_few_steps_whatever_the_penalty(C):
    X, codes = two_classes(5, m=1200, apart=0.1)
    found = train(X, codes, C, gamma=0.05, tolerance=1e-5)
    assert found.certified
    assert found.steps < 40
    best = naive.least_objective("rbf", X, 1.0 - 2.0 * codes, C, 0.05)
    assert found.objective == pytest.approx(best, rel=1e-4)


def test_a_machine_of_low_rank_solves_the_systems_of_its_kernel():
    X, codes = two_classes(0, m=200)
    random = np.random.default_rng(0)
    problem = Binary(X, 1.0 - 2.0 * codes, random.uniform(0.5, 2.0, 200), (0, 0))
    rows = AllRows(problem, resolve(Settings("newton", kernel="rbf", gamma=0.02, threads=1), X))
    low = LowRank(column_cache(rows.resolved.kernel, rows.source.take(np.arange(200)), 1 << 20), rows)
    while low.grow(random):
        pass
    K = low.map.T @ low.map
    np.testing.assert_allclose(K, naive.gram("rbf", X, X, 0.02) + 1.0, atol=1e-3)
    for share in (0.7, 0.5):
        some = np.flatnonzero(random.random(200) < share)
        low.enclose(some)
        right = random.normal(size=len(some))
        system = K[np.ix_(some, some)] + np.diag(rows.ridge[some])
        np.testing.assert_allclose(system @ low.solve(right), right, atol=1e-6)


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
