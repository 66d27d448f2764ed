"""What must hold after every step of every simplex method, whatever the problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm.solvers import Status
from tests import naive
from tests.solvers.frank_wolfe.running import (
    SIMPLEX,
    TWO_KERNELS,
    Store,
    clouds,
    matrix,
    optimum,
    pieces,
    start,
)

seeds, kernels = st.integers(0, 2**32), st.sampled_from(TWO_KERNELS)
penalties = st.sampled_from([0.05, 1.0, 50.0])
each_method = pytest.mark.parametrize("method", SIMPLEX)
each_search = pytest.mark.parametrize("search", ["full", "sampled", "by-active"])


def at_home(run) -> None:
    """Assert that alpha is in the simplex, and that the active set is its support, exactly."""
    s, count = run.state, int(run.state.now["active"][0])
    assert s.alpha.min() >= 0.0
    assert s.alpha.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(np.sort(s.active[:count]), np.flatnonzero(s.alpha))
    np.testing.assert_array_equal(s.place[s.active[:count]], np.arange(count))
    assert np.count_nonzero(s.place >= 0) == count
    np.testing.assert_array_equal(s.active_diagonal, np.where(s.alpha > 0.0, s.diagonal, -1.0))


@each_method
@each_search
@given(seeds, kernels, penalties, st.integers(1, 9))
@settings(deadline=None, max_examples=12)
def test_feasible_falling_and_tracked(method, search, seed, kernel, C, chunk):
    """By double-precision columns under full search; by single, to their precision, under sampled search."""
    X, y = clouds(seed)
    K = matrix(X, y, C, kernel=kernel)
    exact = search == "full"
    store, error, tolerance = (Store(), 1e-10, 1e-7) if exact else (None, 1e-5, 1e-4)
    run = start(method, X, y, C, kernel=kernel, search=search, store=store, tolerance=tolerance)
    last = np.inf
    for _ in pieces(run, chunk, limit=150):
        at_home(run)
        a, point = run.state.alpha, run.iterate()
        assert point.objective <= last * (1.0 + error / 10)
        last = point.objective
        assert point.support_vectors == np.count_nonzero(a)
        noise = error * (abs(K) @ a).max()  # what rounding of columns can come to
        assert point.objective == pytest.approx(a @ K @ a, rel=error, abs=noise if not exact else 0.0)
        known = a > 0 if run.storage.by_active else np.ones(len(a), dtype=bool)
        np.testing.assert_allclose(run.state.q[known], (K @ a)[known], rtol=0, atol=noise)
        if exact:
            assert point.gap == pytest.approx(naive.gap(K, a), abs=1e-9 * point.objective)
            assert point.gap >= 0.0


@each_method
@given(seeds, kernels, penalties)
@settings(deadline=None, max_examples=10)
def test_the_gap_bounds_the_distance_to_the_optimum_all_along(method, seed, kernel, C):
    X, y = clouds(seed)
    least = optimum(matrix(X, y, C, kernel=kernel))
    run = start(method, X, y, C, kernel=kernel, store=Store(), tolerance=1e-6)
    for _ in pieces(run, 3, limit=90):
        at = run.iterate()
        R, gap = at.objective, at.gap
        assert -1e-9 * R <= R - least <= gap + 1e-9 * R


@each_method
@given(seeds, penalties)
@settings(deadline=None, max_examples=10)
def test_columns_of_single_precision_keep_q_to_single_precision(method, seed, C):
    X, y = clouds(seed)
    K = matrix(X, y, C)
    run = start(method, X, y, C, tolerance=1e-4)
    assert run.state.cached.dtype == np.float32
    for _ in pieces(run, 5, limit=200):
        np.testing.assert_allclose(run.state.q, K @ run.state.alpha, atol=1e-6)
        assert run.iterate().objective == pytest.approx(run.state.alpha @ K @ run.state.alpha, abs=1e-6)


def supports(method: str, seed: int, C: float, **given):
    """Yield support size and number of drops before and after each step of a run."""
    X, y = clouds(seed)
    run = start(method, X, y, C, tolerance=1e-5, **given)
    before = int(run.state.now["active"][0]), 0
    for _ in pieces(run, 1, limit=200):
        after = int(run.state.now["active"][0]), int(run.state.now["drops"][0])
        yield before, after
        before = after


@each_search
@given(seeds, penalties)
@settings(deadline=None, max_examples=10)
def test_fw_never_drops_and_adds_one_at_a_time(search, seed, C):
    for (size, _), (new_size, drops) in supports("fw", seed, C, search=search):
        assert 0 <= new_size - size <= 1
        assert drops == 0


@each_search
@given(seeds, penalties)
@settings(deadline=None, max_examples=10)
def test_mfw_gains_or_loses_one_point_and_counts_its_drops(search, seed, C):
    on_add, first, drops = 0, None, 0
    for (size, before), (new_size, drops) in supports("mfw", seed, C, search=search):
        first = size if first is None else first
        assert (drops - before, new_size - size) in {(0, 0), (0, 1), (1, -1)}
        on_add += new_size > size
    if first is not None:
        assert drops <= on_add + first


@pytest.mark.parametrize("method", ["swap", "swap-2o", "cvm"])
@given(seeds, penalties)
@settings(deadline=None, max_examples=10)
def test_swaps_gain_and_lose_at_most_one_point(method, seed, C):
    for (size, before), (new_size, drops) in supports(method, seed, C):
        assert drops - before in {0, 1}
        assert -1 <= new_size - size <= 1
        assert new_size - size >= before - drops


@given(seeds, kernels, penalties)
@settings(deadline=None, max_examples=10)
def test_after_an_unclipped_step_the_slope_along_it_is_zero(seed, kernel, C):
    """After a Frank-Wolfe step inside (0, 1) q_i = R; after a swap that empties nobody q_i = q_j."""
    X, y = clouds(seed)
    run = start("swap", X, y, C, kernel=kernel, store=Store(), tolerance=1e-5)
    for _ in range(40):
        before, q = run.state.alpha.copy(), run.state.q.copy()
        if run.advance(1) == 0:
            break
        a, i = run.state.alpha, int(q.argmin())
        changed = np.flatnonzero(a != before)
        new, R = run.state.q, run.iterate().objective
        if len(changed) == 2 and a[changed].min() > 0.0 and np.count_nonzero(before) > 2:
            (j,) = changed[changed != i]
            assert new[i] == pytest.approx(new[j], abs=1e-9 * R + 1e-12 * abs(q).max())
        elif len(changed) > 2 and a[i] < 1.0:
            assert new[i] == pytest.approx(R, abs=1e-9 * R + 1e-12 * abs(q).max())


@given(seeds, penalties)
@settings(deadline=None, max_examples=10)
def test_what_cvm_adds_is_new_to_its_core_set(seed, C):
    X, y = clouds(seed)
    K = matrix(X, y, C)
    run = start("cvm", X, y, C, store=Store(), tolerance=1e-6)
    first = run.iterate().support_vectors
    seen = []
    for ended in pieces(run, 5, limit=10_000):
        assert run.iterate().support_vectors <= first + run.counters.iterations
        seen.append(ended)
    assert seen[-1] is Status.CONVERGED
    assert naive.gap(K, run.state.alpha) <= 1e-6 * run.iterate().objective * (1 + 1e-6)
