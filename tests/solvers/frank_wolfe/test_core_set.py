"""CVM's steps inside its core set under sampled search, many at once, against plain numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm.solvers.tuning import SETTLE_EVERY
from fwsvm.status import Status
from tests import naive
from tests.solvers.frank_wolfe.running import KERNELS, clouds, matrix, optimum, pieces, start

seeds, penalties = st.integers(0, 2**32), st.sampled_from([0.05, 1.0, 50.0])


@pytest.mark.parametrize("kernel", ["rbf", "quadratic"])
@given(seeds, penalties, st.integers(2, 6))
@settings(deadline=None, max_examples=25)
def test_steps_taken_at_once_are_those_of_the_second_order_rule(kernel, seed, C, together):
    X, y = clouds(seed)
    K = matrix(X, y, C, kernel=kernel)
    run = start("cvm", X, y, C, kernel=kernel, search="by-active", parameters={"inner": 1e-9})
    # R is settled after so many steps: the engine makes the last of them, all before are taken on copies
    run.state.now["steps"] = SETTLE_EVERY - together
    a, q = run.state.alpha.copy(), K @ run.state.alpha
    taken = run.advance(1)
    for _ in range(int(run.state.now["steps"][0]) - SETTLE_EVERY + together):
        in_core = np.sort(q[a > 0])
        if in_core[1] - in_core[0] < 1e-6 * in_core[-1] or taken == 0:
            return  # either row may be next
        a = naive.cvm(K, a, q, 1e-9)
        q = K @ a
    np.testing.assert_allclose(run.state.alpha, a, atol=2e-5)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@given(seeds, penalties)
@settings(deadline=None, max_examples=10)
def test_the_core_set_is_solved_where_a_run_ends(kernel, seed, C):
    X, y = clouds(seed)
    K = matrix(X, y, C, kernel=kernel)
    rounding = 2e-5 * float(np.abs(K).max())  # of kernel values in single precision
    run = start("cvm", X, y, C, kernel=kernel, search="by-active", parameters={"inner": 1e-4}, tolerance=1e-3)
    for _ in pieces(run, 7, limit=400_000):
        a, core = run.state.alpha, np.flatnonzero(run.state.place >= 0)
        assert a.sum() == pytest.approx(1.0, abs=1e-9)
        assert (a >= 0).all()
        np.testing.assert_allclose(run.state.q[core], (K @ a)[core], atol=rounding)
    assert run.check_stop() is Status.CONVERGED
    within = float(run.state.now["inner"][0]) + rounding
    assert np.ptp((K @ a)[core]) <= within
    assert a @ K @ a - optimum(K[np.ix_(core, core)]) <= 2.0 * within


def test_what_memory_held_before_has_no_part_in_a_step():
    """Lines that no row has yet are not set: they may hold anything, as what is no number."""
    X, y = clouds(3)
    paths = []
    for left_over in (0.0, np.nan):
        run = start("cvm", X, y, search="by-active", parameters={"inner": 1e-7})
        run.state.cached[:2] = left_over
        run.state.core[:] = left_over
        run.advance(1)
        paths.append(run.state.alpha.copy())
    assert np.isfinite(paths[0]).all()
    np.testing.assert_array_equal(*paths)
