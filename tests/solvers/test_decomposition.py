"""decomposition: working sets, descent on one, and runs on more rows than a working set has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm.errors import UsageError
from fwsvm.problems.binary import Binary
from fwsvm.solvers import Settings, Status, fit
from fwsvm.solvers.decomposition.inner import descend, filled
from fwsvm.solvers.decomposition.run import DecompositionRun
from fwsvm.solvers.decomposition.working_set import next_working_set
from fwsvm.solvers.resolve import resolve
from fwsvm.solvers.warm_start import WarmStart
from tests import naive

GAMMA = 0.5


def clouds(m=400, seed=0, apart=0.8):
    rng = np.random.default_rng(seed)
    codes = (rng.random(m) < 0.4).astype(np.int64)
    return rng.normal(size=(m, 4)) + apart * (1 - 2 * codes[:, None]), codes


def train(X, codes, size=64, **given):
    asked = {"gamma": GAMMA, "C": 10.0, "threads": 1, **given}
    return fit(X, codes, ("a", "b"), Settings("decomposition", parameters={"size": size}, **asked))


def ran(X, codes, start=None, **given):
    """Return a run on these rows that has ended."""
    chosen = Settings("decomposition", gamma=GAMMA, C=10.0, threads=1, parameters={"size": 64}, **given)
    resolved = resolve(chosen, X)
    problem = Binary(X, 1.0 - 2.0 * codes, np.full(len(X), 10.0), (0, 0))
    run = DecompositionRun(problem, resolved.rule, resolved, start)
    while run.advance(1) or run.check_stop() is None:
        pass
    return run


def optimum(X, codes, C):
    return naive.least_objective("rbf", X, 1.0 - 2.0 * codes, C, GAMMA)


@given(st.integers(1, 200), st.integers(2, 64), st.integers(0, 2**32))
@settings(deadline=None)
def test_a_working_set_holds_the_later_half_of_the_last_and_those_of_most_gain(m, size, seed):
    rng = np.random.default_rng(seed)
    gain, last = rng.random(m), rng.permutation(m)[:size]
    found = next_working_set(gain.copy(), last, size)
    assert len(set(found.tolist())) == len(found) == min(m, size)
    if size < m:
        kept = last[len(last) - size // 2 :]
        assert (found[: len(kept)] == kept).all()
        others = np.setdiff1d(np.arange(m), found)
        assert gain[found[len(kept) :]].min() >= gain[others].max()


@given(st.integers(1, 40), st.sampled_from([np.float32, np.float64]), st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_descent_ends_where_no_entry_gains_and_the_gradient_is_that_of_the_entries(n, dtype, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    matrix = A @ A.T + np.eye(n)
    scale = 1.0 / np.sqrt(np.diag(matrix))
    b, g = filled(np.zeros(n), dtype), filled(np.full(n, -1.0), dtype)
    K = np.zeros((n, len(b)), dtype)
    K[:, :n] = matrix
    steps = descend(K, b, g, filled(scale, dtype), dtype(1e-3), 100_000)
    assert 0 < steps < 100_000
    assert (b >= 0).all()
    assert (b[n:] == 0).all()
    np.testing.assert_allclose(g[:n], matrix @ b[:n] - 1.0, atol=2e-3 if dtype is np.float32 else 1e-9)
    gains = np.where(b[:n] > 0, abs(g[:n]), np.maximum(-g[:n], 0)) * scale
    assert gains.max() <= 1.001e-3 * scale.max()


@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_many_working_sets_come_to_the_optimum(C):
    X, codes = clouds()
    found, best = train(X, codes, C=C, tolerance=1e-5), optimum(X, codes, C)
    assert found.certified
    assert found.iterations > 4
    assert best * (1 - 1e-8) <= found.objective <= best + found.gap


def test_the_size_of_working_sets_does_not_move_the_optimum():
    X, codes = clouds(seed=1)
    found = [train(X, codes, size, tolerance=1e-6) for size in (2, 30, 1000)]
    assert {one.status for one in found} == {Status.CONVERGED}
    least = [one.objective - one.gap for one in found]
    assert max(least) <= min(one.objective for one in found)


def test_a_start_at_the_optimum_of_half_of_the_rows_costs_less_than_none():
    X, codes = clouds(600, seed=2)
    half, cold = ran(X[:300], codes[:300]), ran(X, codes)
    weights = np.concatenate([half.iterate().alpha, np.zeros(300)])
    warm = ran(X, codes, WarmStart(weights))
    assert warm.outcome.within
    assert warm.iterate().objective == pytest.approx(cold.iterate().objective, rel=2e-3)
    assert warm.steps < cold.steps


def test_rows_far_from_the_origin_end_with_values_in_double_precision_and_the_truth():
    X, codes = clouds(200, seed=3)
    assert ran(X + 3e3, codes, tolerance=1e-6).rows.values.dtype == np.float64
    assert ran(X, codes, tolerance=1e-3).rows.values.dtype == np.float32
    found, best = train(X + 3e3, codes, tolerance=1e-6), optimum(X, codes, 10.0)
    assert found.objective + 1e-6 * best >= best >= found.objective - found.gap - 1e-6 * best
    assert found.certified == (found.relative_gap <= 1e-6)


@pytest.mark.parametrize("size", [1, 20_000])
def test_a_working_set_without_a_kept_and_a_new_row_or_too_large_is_refused(size):
    with pytest.raises(UsageError, match="size must be 2 to 16,384"):
        train(*clouds(), size)


def test_of_several_classes_a_time_limit_is_looked_at_after_the_first_working_set():
    X, codes = clouds()
    codes = np.where(X[:, 3] > 0.5, 2, codes)
    asked = Settings(
        "decomposition",
        gamma=GAMMA,
        C=10.0,
        threads=1,
        tolerance=1e-6,
        time_limit=1e-9,
        parameters={"size": 16},
    )
    found = fit(X, codes, ("a", "b", "c"), asked)
    assert found.status is Status.TIME_LIMIT
    assert found.solved == 1
    assert found.iterations == 1
