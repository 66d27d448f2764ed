"""Each method's moves, one by one, against the papers' algorithms in plain numpy."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.solvers.frank_wolfe.running import TWO_KERNELS, Store, clouds, matrix, start

seeds, kernels = st.integers(0, 2**32), st.sampled_from(TWO_KERNELS)
penalties = st.sampled_from([0.05, 1.0, 50.0])
CLIPPED = {"compare": "clipped"}
RULES = {
    **{name: (name, {}, step) for name, step in naive.STEPS.items()},
    "swap clipped": ("swap", CLIPPED, partial(naive.swap, clipped=True)),
    "swap-2o clipped": ("swap-2o", CLIPPED, partial(naive.swap_2o, clipped=True)),
}


@pytest.mark.parametrize("rule", RULES)
@given(seeds, kernels, penalties)
@settings(deadline=None, max_examples=15)
def test_moves_are_the_papers(rule, seed, kernel, C):
    method, parameters, step = RULES[rule]
    X, y = clouds(seed)
    K = matrix(X, y, C, kernel=kernel)
    run = start(method, X, y, C, kernel=kernel, store=Store(), parameters=parameters, tolerance=1e-6)
    for _ in range(25):
        before, q = run.state.alpha.copy(), run.state.q.copy()
        if run.advance(1) == 0:
            break
        np.testing.assert_allclose(run.state.alpha, step(K, before, q), rtol=1e-7, atol=1e-9)


@given(seeds, kernels, penalties)
@settings(deadline=None, max_examples=15)
def test_moves_of_cvm_stay_in_the_core_set_until_it_is_solved(seed, kernel, C):
    X, y = clouds(seed)
    K = matrix(X, y, C, kernel=kernel)
    run = start("cvm", X, y, C, kernel=kernel, store=Store(), tolerance=1e-6)
    for _ in range(25):
        before, q, inner = run.state.alpha.copy(), run.state.q.copy(), float(run.state.now["inner"][0])
        if run.advance(1) == 0:
            break
        lowest = np.sort(q[before > 0])
        if lowest[0] == lowest[1]:  # as a swap may leave them, to the last bit: either may be next
            continue
        np.testing.assert_allclose(run.state.alpha, naive.cvm(K, before, q, inner), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("method", ["fw", "mfw", "swap", "swap-2o"])
def test_a_step_beyond_the_vertex_ends_there(method):
    """The line search alone would go 1.2 times the way to the first row: unnormalised kernels need the clip."""
    X, y, C = np.array([[0.5], [3.0], [-20.0]]), np.array([1.0, 1.0, -1.0]), 1e12
    K, at_second = matrix(X, y, C, kernel="linear"), np.array([0.0, 1.0, 0.0])
    q, R = K @ at_second, K[1, 1]
    assert (R - q[0]) / (R - 2 * q[0] + K[0, 0]) == pytest.approx(1.2)
    assert q.argmin() == 0
    run = start(method, X, y, C, kernel="linear", store=Store(), weights=at_second)
    assert run.advance(1) == 1
    np.testing.assert_array_equal(run.state.alpha, [1.0, 0.0, 0.0])
    assert run.iterate().support_vectors == 1
    assert run.iterate().objective == pytest.approx(K[0, 0], rel=1e-14)
    np.testing.assert_allclose(run.state.q, K[0], rtol=1e-14)


def test_a_swap_and_a_clipped_swap_decide_differently_somewhere():
    """The two readings of 000's comparison are two methods: their paths part on some problem."""
    parted = 0
    for seed in range(20):
        X, y = clouds(seed)
        paths = [start("swap", X, y, 50.0, store=Store(), parameters=p) for p in ({}, CLIPPED)]
        for run in paths:
            run.advance(40)
        parted += not np.array_equal(paths[0].state.alpha, paths[1].state.alpha)
    assert parted > 0
