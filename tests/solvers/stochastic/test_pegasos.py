"""pegasos against a few lines of numpy, and against itself in the primal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm.errors import UsageError
from fwsvm.solvers.stochastic.iterate import square_of
from fwsvm.solvers.tuning import POOL_ROWS
from tests.solvers.certified import outcome
from tests.solvers.stochastic.problems import drawn, finished, gram, objective, optimum, started


def row_stream(p, count):
    """Return the rows that a process of this problem and seed draws, in order."""
    random = np.random.default_rng(p.problem.stream)
    pool = p.block * max(1, POOL_ROWS // p.block)
    return np.concatenate([random.integers(p.m, size=pool) for _ in range(-(-count // pool))])[:count]


def naive(Q, y, lam, ids, batch, *, projection, averaging):
    """Return the coefficients by Figure 1 of the paper, dense."""
    w, total = np.zeros(len(y)), np.zeros(len(y))
    T = len(ids) // batch
    for t in range(1, T + 1):
        rows = ids[(t - 1) * batch : t * batch]
        violators = rows[y[rows] * (Q[rows] @ w) < 1]
        w = (1 - 1 / t) * w
        np.add.at(w, violators, y[violators] / (lam * t * batch))
        if projection:
            w = w * min(1.0, 1.0 / np.sqrt(lam * (w @ Q @ w)))
        total += w
    return total / T if averaging else w


@settings(max_examples=30, deadline=None)
@given(
    batch=st.sampled_from([1, 3, 20, 64, 70, 130]),
    projection=st.booleans(),
    averaging=st.booleans(),
    steps=st.integers(1, 150),
    cut=st.integers(1, 150),
)
def test_it_takes_the_papers_steps_whatever_the_blocks(batch, projection, averaging, steps, cut):
    X, y = drawn(60)
    lam = 0.05
    parameters = {"batch": batch, "projection": projection, "averaging": averaging}
    p = started("pegasos", X, y, lambda_=lam, tolerance=1e-6, parameters=parameters)
    Q = gram(X, p.resolved.kernel.gamma)
    first = min(cut, steps)
    p.advance(first)
    if steps > first:
        p.advance(steps - first)
    expected = naive(
        Q, y, lam, row_stream(p, steps * batch), batch, projection=projection, averaging=averaging
    )
    found = p.iterate()
    alpha = np.zeros(len(y))
    alpha[found.rows] = found.alpha
    np.testing.assert_allclose(alpha, expected, rtol=1e-9, atol=1e-12)
    square = square_of(p.problem, p.resolved, found) if averaging else found.square
    assert square == pytest.approx(alpha @ Q @ alpha, rel=1e-9)
    if projection:
        assert square <= 1 / lam * (1 + 1e-9)
    if not projection:
        assert p.state.counts.sum() <= steps * batch
        assert (p.state.counts == np.round(p.state.counts)).all()


def test_a_linear_kernel_runs_as_the_primal_does():
    X, y = drawn(80)
    lam, T = 0.02, 500
    p = started("pegasos", X, y, lambda_=lam, kernel="linear", tolerance=1e-6)
    p.advance(T)
    w = np.zeros(X.shape[1])
    for t, i in enumerate(row_stream(p, T), 1):
        violates = y[i] * (X[i] @ w) < 1
        w = (1 - 1 / t) * w + violates * y[i] * X[i] / (lam * t)
    found = p.iterate()
    np.testing.assert_allclose(X[found.rows].T @ found.alpha, w, rtol=1e-9)


def test_it_comes_near_the_optimum():
    X, y = drawn(200)
    lam = 0.05
    p = started("pegasos", X, y, lambda_=lam, parameters={"averaging": True})
    p.advance(20_000)
    found = outcome(p)
    bound = optimum(gram(X), y, lam)
    assert bound * (1 - 1e-6) <= found.objective <= 1.01 * bound
    assert found.gap_kind == "exact"
    assert found.dual <= bound * (1 + 2e-3)
    assert found.gap == pytest.approx(found.objective - found.dual)


def test_the_objective_met_on_the_way_is_the_objective():
    X, y = drawn(500)
    p = started("pegasos", X, y, lambda_=0.05, parameters={"batch": 16})
    p.advance(3000)
    found = p.iterate()
    alpha = np.zeros(500)
    alpha[found.rows] = found.alpha
    assert p.iterate().objective == pytest.approx(objective(gram(X), y, 0.05, alpha), abs=0.05)
    assert np.isnan(p.iterate().gap)


def test_it_never_stops_by_itself():
    X, y = drawn(50)
    status, _ = finished(started("pegasos", X, y), most=1000)
    assert status is None
    with pytest.raises(UsageError, match="stop of pegasos must be relative, not 'eps'"):
        started("pegasos", X, y, stop="eps")


@pytest.mark.parametrize("averaging", [False, True])
@pytest.mark.parametrize("lam", [1e-4, 1e-7])
def test_projections_of_a_small_lambda_lose_nothing(lam, averaging):
    """Their product over all steps is beyond double precision; the first steps are 1/lambda long."""
    X, y = drawn(60)
    parameters = {"batch": 1, "projection": True, "averaging": averaging}
    p = started("pegasos", X, y, lambda_=lam, tolerance=1e-6, parameters=parameters)
    steps = 2000
    p.advance(steps)
    Q, found = gram(X, p.resolved.kernel.gamma), p.iterate()
    expected = naive(Q, y, lam, row_stream(p, steps), 1, projection=True, averaging=averaging)
    alpha = np.zeros(len(y))
    alpha[found.rows] = found.alpha
    np.testing.assert_allclose(alpha, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
