"""auto: what it chooses, that the result says so, and that many pairs solved together are as good as each alone."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from fwsvm.solvers import Settings, Status, fit
from fwsvm.solvers.c_path import CPath
from tests import naive

GAMMA = 0.4
CHUNKED = 4200  # rows of a pair that is solved in chunks


def classes_of(seed, sizes, features=3):
    """Return rows in no order around a centre for each class, and their class numbers."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(sizes), features))[codes] * 2 + rng.normal(size=(len(codes), features)), codes


def train(X, codes, method="auto", weights=None, watch=None, **given):
    asked = {"gamma": GAMMA, "C": 10.0, "threads": 1, **given}
    names = [str(k) for k in range(codes.max() + 1)]
    return fit(X, codes, names, Settings(method, **asked), weights=weights, watch=watch)


def optimum(X, codes, C, kernel="rbf"):
    """Return the sum of the optima of all pairs."""
    total = 0.0
    for i, j in combinations(range(codes.max() + 1), 2):
        rows = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[rows] == i, 1.0, -1.0)
        total += naive.least_objective(kernel, X[rows], y, C, GAMMA)
    return total


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian", "quadratic"])
def test_many_small_pairs_come_to_the_sum_of_their_optima(kernel, form):
    own = {"kernel": kernel, "gamma": None if kernel == "linear" else GAMMA}
    for seed, (C, sizes) in enumerate([(1e-2, (2, 1, 3, 5, 12)), (1.0, (9, 4, 12, 1)), (1e3, (30, 20, 7))]):
        X, codes = classes_of(seed, sizes)
        found = train(form(X), codes, C=C, tolerance=1e-5, **own)
        best = optimum(X, codes, C, kernel)
        assert found.certified
        assert found.solved == found.subproblems == len(sizes) * (len(sizes) - 1) // 2
        assert best * (1 - 1e-8) <= found.objective <= (best + found.gap) * (1 + 1e-8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_pairs_of_hundreds_of_rows_meet_swap_2o_on_a_path(form):
    X, codes = classes_of(2, [800, 700, 600])
    X[np.random.default_rng(0).random(X.shape) < 0.8] *= form is np.asarray
    penalties = [Settings("auto", gamma=GAMMA, C=C, threads=1, cache_mib=64) for C in (0.1, 10.0)]
    path = CPath(form(X), codes, ("0", "1", "2"), penalties)
    runs = [path.train(number) for number in range(2)]
    for settings, found in zip(penalties, path.certify(runs), strict=True):
        alone = train(form(X), codes, "swap-2o", C=settings.C)
        assert found.certified
        assert abs(found.objective - alone.objective) <= max(found.gap, alone.gap)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_products_that_an_earlier_path_left_change_no_bit(form):
    X, codes = classes_of(3, [30] * 3, features=70)

    def objectives(rows, **given):
        given = {"gamma": 0.01, **given}
        asked = [Settings("auto", C=C, threads=1, **given) for C in (0.1, 10.0)]
        path = CPath(form(rows), codes, ("0", "1", "2"), asked)
        return [found.objective for found in path.certify([path.train(number) for number in range(2)])]

    alone = objectives(X)
    for rows, before in [(X, {"gamma": 0.1}), (X, {"kernel": "laplacian"}), (2 * X, {}), (X[::-1], {})]:
        assert objectives(rows, **before) != alone
        assert objectives(X) == alone


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_decisions_with_weights_of_rows_and_classes_are_those_of_swap_2o(form):
    X, codes = classes_of(1, [30] * 5)
    X = form(X * (np.random.default_rng(0).random(X.shape) < (1.0 if form is np.asarray else 0.2)))
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(codes))
    given = {"weights": weights, "class_weight": "balanced", "tolerance": 1e-8}
    auto, swaps = (train(X, codes, method, **given) for method in ("auto", "swap-2o"))
    assert auto.certified
    assert auto.objective == pytest.approx(swaps.objective, rel=2e-8)
    assert auto.model.decision(X) == pytest.approx(swaps.model.decision(X), abs=1e-3)
    np.testing.assert_array_equal(auto.model.counts, swaps.model.counts)


def test_threads_change_no_bit():
    X, codes = classes_of(3, [20] * 7)
    one, five = train(X, codes), train(X, codes, threads=5)
    assert one.objective == five.objective
    np.testing.assert_array_equal(one.model.coefficients, five.model.coefficients)


def test_a_limit_or_an_interrupt_keeps_the_pairs_that_were_solved():
    X, codes = classes_of(5, [70] + [60] * 7)
    cut = train(X, codes, time_limit=1e-9, tolerance=1e-13, C=1e6)
    assert cut.status is Status.TIME_LIMIT
    assert cut.solved == 1  # the clock is looked at after the first pair
    np.testing.assert_array_equal(cut.model.biases[1:7], 1.0)  # the others decide for the class of more rows

    some = train(X, codes, "swap-2o", time_limit=1e-9)
    assert 0 < some.solved < some.subproblems
    assert (some.status, some.gap_kind, some.certified) == (Status.TIME_LIMIT, "none", False)
    assert np.isnan([some.gap, some.relative_gap, some.primal, some.dual]).all()

    def interrupt(_progress):
        raise KeyboardInterrupt

    stopped = train(X, codes, tolerance=1e-12, C=1e6, watch=interrupt)
    assert stopped.status in {Status.INTERRUPTED, Status.CONVERGED, Status.STALLED}
    for found in (cut, stopped):
        assert not (found.certified and found.solved < found.subproblems)
        assert np.isfinite(found.model.decision(X)).all()


def test_the_choice_follows_from_the_problem_and_is_said():
    X, codes = classes_of(6, [CHUNKED // 2] * 2)
    assert train(X, codes).chosen == "chunking"
    assert train(X[:500], codes[:500]).chosen in {"swap-2o", "newton"}
    assert train(X[:500], codes[:500], search="sampled").chosen == "swap-2o"
    paper = [
        train(X[:500], codes[:500], method, protocol="paper").objective for method in ("auto", "swap-2o")
    ]
    assert paper[0] == paper[1]


def test_a_large_class_among_small_ones_is_solved_as_well():
    X, codes = classes_of(8, [CHUNKED, 60, 40], features=6)
    for form in (np.asarray, sparse.csr_array):
        found = train(form(X), codes)
        assert found.certified
        assert "chunking" in found.chosen
        assert found.solved == 3
        apart = [
            train(X[rows], np.searchsorted([i, j], codes[rows]), "swap-2o")
            for i, j in combinations(range(3), 2)
            for rows in [np.flatnonzero((codes == i) | (codes == j))]
        ]
        assert found.objective == pytest.approx(sum(pair.objective for pair in apart), rel=2e-3)


def test_small_pairs_take_steps_of_newton_at_large_penalties():
    X, codes = classes_of(9, [120, 100, 80])
    found, alone = train(X, codes, C=1e4), train(X, codes, "swap-2o", C=1e4)
    assert found.certified
    assert found.steps < alone.steps
    assert found.objective == pytest.approx(alone.objective, rel=2e-3)


def test_where_a_factor_does_not_fit_it_goes_on_with_swaps():
    X = np.random.default_rng(0).normal(size=(600, 4))
    found = train(X, np.arange(600) % 2, C=1e3, cache_mib=1)
    assert found.certified
    assert found.chosen == "swap-2o"


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_few_rows_of_two_classes_need_no_run_of_their_own_without_a_trace(form):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 300)
    X = form(rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.6) + codes[:, None])
    given = Settings("auto", C=10.0, tolerance=1e-7), {"weights": rng.uniform(0.5, 2.0, 300)}
    few = fit(X, codes, ("1", "-1"), given[0], **given[1], traced=False)
    run = fit(X, codes, ("1", "-1"), given[0], **given[1])
    assert few.certified
    assert (few.trace, few.subproblems) == ((), 1)
    assert few.objective == pytest.approx(run.objective, rel=2e-7)
    assert few.model.decision(X) == pytest.approx(run.model.decision(X), abs=1e-3)
