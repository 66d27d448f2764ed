"""Rows that are empty, equal, tiny or huge; starts and tolerances at the edge: an answer or a refusal."""

import numpy as np
import pytest
from scipy import sparse

from fwsvm.errors import UsageError
from fwsvm.solvers import Settings
from fwsvm.solvers.c_path import CPath
from fwsvm.solvers.dual_coordinate.engine import advance
from fwsvm.status import Status
from tests.solvers.certified import machine, outcome
from tests.solvers.dual_coordinate.running import METHODS, run_until_miss, solve, start, text_like

both = pytest.mark.parametrize("method", METHODS)
losses = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


@both
@losses
def test_rows_without_features_are_at_their_optimum_and_cost_c(method, loss):
    X, y = text_like(21)
    more = sparse.csr_array(sparse.vstack([X, sparse.csr_array((5, X.shape[1]))]))
    a = solve(method, X, y, 2.0, loss=loss, tolerance=1e-8)
    b = solve(method, more, np.append(y, [1, 1, -1, 1, -1]), 2.0, loss=loss, tolerance=1e-8)
    assert outcome(b).objective == pytest.approx(outcome(a).objective + 5 * 2.0, rel=1e-7)
    np.testing.assert_array_equal(b.iterate().alpha[-5:], 2.0 if loss == "hinge" else 4.0)
    assert b.iterate().support_vectors == np.count_nonzero(b.iterate().alpha)


@both
@losses
def test_nothing_but_empty_rows(method, loss):
    for stop in ("relative", "eps"):
        run = solve(method, sparse.csr_array((4, 3)), np.array([1.0, -1, 1, 1]), 3.0, loss=loss, stop=stop)
        found = outcome(run)
        assert (found.objective, found.dual, found.gap) == (12.0, 12.0, 0.0)
        assert not machine(run).weights.any()


@both
def test_stored_zeros_are_no_features(method):
    X = sparse.csr_array(
        (np.array([0.0, 1.0, -1.0]), np.array([0, 0, 0]), np.array([0, 1, 2, 3])), shape=(3, 1)
    )
    run = solve(method, X, np.array([1.0, 1.0, -1.0]), 0.25, tolerance=1e-9)
    np.testing.assert_array_equal(run.iterate().alpha, 0.25)


@both
def test_a_column_given_twice_in_a_row_counts_as_the_sum(method):
    X = sparse.csr_array(
        (np.array([1.0, 2.0, -1.0, 1.0, 0.5]), np.array([0, 0, 1, 1, 0]), np.array([0, 3, 5])), (2, 2)
    )
    y = np.array([1.0, -1.0])
    a, b = solve(method, X, y, 1.0, tolerance=1e-9), solve(method, X.toarray(), y, 1.0, tolerance=1e-9)
    np.testing.assert_array_equal(a.iterate().alpha, b.iterate().alpha)


@both
@losses
def test_a_row_twice_is_a_row_with_twice_the_penalty(method, loss):
    X, y = text_like(22)
    twice = sparse.csr_array(sparse.vstack([X, X]))
    a = outcome(solve(method, twice, np.tile(y, 2), 1.0, loss=loss, tolerance=1e-7))
    b = outcome(solve(method, X, y, np.full(len(y), 2.0), loss=loss, tolerance=1e-7))
    assert a.objective == pytest.approx(b.objective, rel=1e-6)


@both
def test_each_row_has_its_own_penalty(method):
    X, y = text_like(23)
    C = np.random.default_rng(0).uniform(0.1, 10.0, len(y))
    run = solve(method, X, y, C, tolerance=1e-7)
    assert (run.iterate().alpha <= C).all()
    t = np.maximum(0, 1 - y * (X @ machine(run).weights))
    w = machine(run).weights
    assert 0.5 * w @ w + C @ t == pytest.approx(outcome(run).objective, rel=1e-12)


@both
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-20, 1.0, 1e20, 1e150])
def test_one_feature_of_any_size_that_can_be_squared(method, scale):
    """With one feature the optimum is known: min w^2 / 2 + C sum max(0, 1 - y x w)."""
    x, C = np.array([1.0, 2.0, 3.0]) * scale, 5.0
    run = solve(method, x[:, None], np.ones(3), C, tolerance=1e-9)
    w = min(1.0 / scale, C * x.sum()) if scale <= 1e-20 else None
    found = outcome(run)
    if w is not None:  # too short to reach any margin: alpha = C everywhere
        np.testing.assert_array_equal(run.iterate().alpha, C)
        assert machine(run).weights[0] == pytest.approx(w, rel=1e-12)
    else:  # the margin of the shortest row is met: w = 1 / x_1
        assert machine(run).weights[0] == pytest.approx(1.0 / scale, rel=1e-6)
    assert found.relative_gap <= 1e-9


@pytest.mark.parametrize("wrong", [{"p_min": 0.0}, {"p_min": 2.0}, {"p_max": 0.5}, {"c": -0.2}])
def test_constants_of_avsf_that_make_no_sense_are_refused(wrong):
    with pytest.raises(UsageError, match="p_min"):
        start("avsf", *text_like(20), **wrong)


def test_constants_of_avsf_that_are_no_numbers_are_refused():
    with pytest.raises(UsageError, match=r"parameter c of avsf .*nan"):
        start("avsf", *text_like(20), c=np.nan)


@both
def test_values_too_large_to_be_squared_are_refused(method):
    with pytest.raises(UsageError, match=r"row 2 .*scale the data"):
        start(method, np.array([[1.0], [1e300]]), np.array([1.0, -1.0]))


@both
@losses
def test_dense_and_sparse_rows_and_64_bit_row_pointers_are_the_same_problem(method, loss):
    X, y = text_like(24)
    wide = sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    runs = [solve(method, rows, y, 1.0, loss=loss) for rows in (X, X.toarray(), wide)]
    for other in runs[1:]:
        np.testing.assert_array_equal(other.iterate().alpha, runs[0].iterate().alpha)


@both
def test_the_rows_given_are_left_as_they_are(method):
    X, y = text_like(25)
    before = [a.copy() for a in (X.data, X.indices, X.indptr, y)]
    solve(method, X, y, 10.0)
    for array, old in zip((X.data, X.indices, X.indptr, y), before, strict=True):
        np.testing.assert_array_equal(array, old)


@both
@losses
def test_a_warm_start_ends_at_the_same_optimum(method, loss):
    X, y = text_like(26, m=200, n=80)
    cold = solve(method, X, y, 12.0, loss=loss, tolerance=1e-6)
    from_near = start(
        method,
        X,
        y,
        12.0,
        loss=loss,
        tolerance=1e-6,
        alpha=solve(method, X, y, 1.0, loss=loss).iterate().alpha,
    )
    assert run_until_miss(from_near) is Status.CONVERGED
    a, b = outcome(cold), outcome(from_near)
    assert b.objective == pytest.approx(a.objective, rel=2e-6)
    from_there = start(method, X, y, 12.0, loss=loss, tolerance=1e-6, alpha=cold.iterate().alpha)
    assert run_until_miss(from_there) is Status.CONVERGED
    assert from_there.counters.iterations == 0


@both
def test_training_hands_over_where_it_ended(method):
    X, y = text_like(26)
    path = CPath(X, (y < 0).astype(int), ("1", "-1"))
    (_, first), (_, again) = path.certify([path.train(Settings(method=method, C=5.0)) for _ in range(2)])
    assert first.iterations > 0
    assert again.iterations == 0
    assert again.certified


@both
def test_a_warm_start_is_clipped_to_the_box(method):
    X, y = text_like(27)
    run = start(method, X, y, 0.5, alpha=np.linspace(-1, 2, len(y)))
    alpha = run.state.coordinates["alpha"]
    assert alpha.min() == 0.0
    assert alpha.max() == 0.5


@both
def test_a_tolerance_beyond_double_precision_stalls_instead_of_running_on(method):
    X, y = text_like(28)
    run = start(method, X, y, 1.0, tolerance=1e-300)
    assert run_until_miss(run) in {
        Status.STALLED,
        Status.CONVERGED,
    }  # converged only if the gap is exactly zero
    assert outcome(run).relative_gap < 1e-11  # violations below 1e-12 are left


@both
def test_the_stopping_rules_mean_what_they_say(method):
    X, y = text_like(29)
    assert outcome(solve(method, X, y, 10.0, tolerance=1e-2)).relative_gap <= 1e-2
    assert outcome(solve(method, X, y, 10.0, stop="gap", tolerance=1e-2)).gap <= 1e-2
    assert solve(method, X, y, 10.0, tolerance=1.0).counters.iterations == 0  # w = 0 has that gap
    unchecked = start(method, X, y, 10.0, final_gap=False)
    assert run_until_miss(unchecked) is Status.SAMPLED_STOP  # nothing was recomputed, so nothing is claimed
    found = outcome(unchecked, exact=False)
    assert found.gap_kind == "none"
    assert found.relative_gap <= 1.1e-3


@both
def test_rows_that_may_not_be_written_are_compiled_for_once_and_give_the_same_bits(method):
    X, y = text_like(30)
    first = solve(method, X, y, 1.0)
    signatures = len(advance.signatures)
    for array in (X.data, X.indices, X.indptr, y):
        array.flags.writeable = False
    np.testing.assert_array_equal(solve(method, X, y, 1.0).iterate().alpha, first.iterate().alpha)
    assert len(advance.signatures) == signatures
