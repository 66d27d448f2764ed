"""Pairs of classes solved for one penalty after another in compiled code: each is what a run of its own proves."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.solvers import Settings, Status
from fwsvm.solvers.auto import one_matrix, own_columns, small_pairs
from fwsvm.solvers.c_path import CPath
from tests import naive

GAMMA = 0.4
PENALTIES = (0.01, 0.1, 1.0, 10.0, 1000.0)


@pytest.fixture(params=["one matrix", "columns as they are wanted", "matrices of classes"])
def way(request, monkeypatch):
    """Solve small pairs in each of the three ways, whatever the rows."""
    monkeypatch.setattr(
        small_pairs, "ONE_MATRIX_ROWS", small_pairs.ONE_MATRIX_ROWS if request.param == "one matrix" else 0
    )
    monkeypatch.setattr(
        own_columns, "WHOLE_MATRIX_SHARE", -1.0 if request.param == "matrices of classes" else 2.0
    )
    return request.param


def classes_of(seed, sizes, features=3):
    """Return rows in no order around a centre for each class, and their class numbers."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(sizes), features))[codes] * 2 + rng.normal(size=(len(codes), features)), codes


def path_of(X, codes, weights=None, class_weight=None):
    names = [str(k) for k in range(codes.max() + 1)]
    return CPath(X, codes, names, weights=weights, class_weight=class_weight)


def asked(C, method="auto", **given):
    return Settings(method, **{"C": C, "gamma": GAMMA, "threads": 1, **given})


def together(path, penalties=PENALTIES, watch=None, **given):
    runs = path.train_together([asked(C, **given) for C in penalties], watch)
    assert runs is not None
    return [result for _, result in path.certify(runs)]


def optimum(X, codes, C, kernel="rbf"):
    """Return the sum of the optima of all pairs."""
    total = 0.0
    for i, j in combinations(range(codes.max() + 1), 2):
        which = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[which] == i, 1.0, -1.0)
        matrix = naive.extended(naive.gram(kernel, X[which], X[which], GAMMA), y, C)
        best = naive.simplex_optimum(matrix)
        total += float(best @ matrix @ best)
    return total


@given(
    st.integers(0, 2**32), st.lists(st.integers(1, 12), min_size=3, max_size=5),
    st.sampled_from(["rbf", "linear", "laplacian"]), st.booleans(), st.sampled_from([1, 2]),
)  # fmt: skip
# a Frank-Wolfe step with all of the weight, to a vertex that had some: it kept that, and the weights' sum was above 1
@example(seed=1506, sizes=[2, 1, 3, 5, 12], kernel="linear", stored=False, threads=1)
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("way")
def test_each_penalty_comes_to_the_sum_of_its_pairs_optima(seed, sizes, kernel, stored, threads):
    X, codes = classes_of(seed, sizes)
    own = {"kernel": kernel, "gamma": None if kernel == "linear" else GAMMA}
    rows = sparse.csr_array(X) if stored else X
    found = together(path_of(rows, codes), tolerance=1e-6, threads=threads, **own)
    for C, result in zip(PENALTIES, found, strict=True):
        best = optimum(X, codes, C, kernel)
        assert result.certified
        assert result.solved == len(sizes) * (len(sizes) - 1) // 2
        assert best * (1 - 1e-8) <= result.objective <= (best + result.gap) * (1 + 1e-8)


@pytest.mark.parametrize("threads", [1, 2])
def test_certificates_of_some_classes_at_a_time_are_those_of_all(monkeypatch, threads):
    monkeypatch.setattr(small_pairs, "ONE_MATRIX_ROWS", 0)
    X, codes = classes_of(3, [9, 4, 12, 1])
    whole = together(path_of(X, codes), threads=threads)
    monkeypatch.setattr(own_columns, "UNINTERRUPTED", 100)
    parts = together(path_of(X, codes), threads=threads)
    assert [each.gap for each in parts] == [each.gap for each in whole]
    assert [each.objective for each in parts] == [each.objective for each in whole]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("stored", [False, True])
def test_machines_are_those_of_a_run_for_each_penalty(stored):
    # classes of more rows than a block of columns has, and of fewer
    X, codes = classes_of(1, [2 * WIDE + 5, WIDE, 7, 30])
    X = sparse.csr_array(X) if stored else X
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(codes))
    path = path_of(X, codes, weights, "balanced")
    found = together(path, tolerance=1e-8, class_weight="balanced")
    for C, result in zip(PENALTIES, found, strict=True):
        alone = path_of(X, codes, weights, "balanced")
        ((_, own),) = alone.certify(
            [alone.train(asked(C, "swap-2o", tolerance=1e-8, class_weight="balanced"))]
        )
        assert result.objective == pytest.approx(own.objective, rel=1e-7)
        assert result.model.decision(X) == pytest.approx(own.model.decision(X), abs=2e-3)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(threads):
    X, codes = classes_of(3, [20] * 7)
    for one, other in zip(
        together(path_of(X, codes)), together(path_of(X, codes), threads=threads), strict=True
    ):
        assert one.objective == other.objective
        assert (one.model.coefficients == other.model.coefficients).all()


def test_pairs_that_take_too_many_steps_go_on_as_runs_of_their_own(monkeypatch, way):
    X, codes = classes_of(4, [40] * 4)
    monkeypatch.setattr(one_matrix, "ONE_MATRIX_STEPS", 1)
    monkeypatch.setattr(own_columns, "FIRST_SWAPS", 0.2)
    monkeypatch.setattr(own_columns, "NEWTON_OVERHEAD", 0)
    found, before = together(path_of(X, codes)), [optimum(X, codes, C) for C in PENALTIES]
    for result, best in zip(found, before, strict=True):
        assert result.certified
        assert result.solved == 6
        assert best * (1 - 1e-8) <= result.objective <= (best + result.gap) * (1 + 1e-8)
    assert any("newton" in result.chosen for result in found), way


@pytest.mark.usefixtures("way")
def test_a_refuted_pair_goes_on_as_a_run_of_its_own(monkeypatch):
    X, codes = classes_of(6, [25] * 3)
    monkeypatch.setattr("fwsvm.solvers.auto.by_columns.MARGIN", 0.0)
    monkeypatch.setattr(small_pairs.certify, "within_goals", lambda _, goals: np.zeros(len(goals), bool))
    for C, result in zip(PENALTIES, together(path_of(X, codes)), strict=True):
        assert result.certified
        assert optimum(X, codes, C) * (1 - 1e-8) <= result.objective
        assert result.relative_gap <= 1e-3


@pytest.mark.usefixtures("way")
def test_an_interrupt_leaves_the_path_as_it_was(monkeypatch):
    X, codes = classes_of(5, [10] * 6)
    monkeypatch.setattr(small_pairs, "PAIRS_SHARE", 500)
    path = path_of(X, codes)

    def impatient(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        together(path, watch=impatient)
    assert path.is_cold
    assert all(result.status is Status.CONVERGED for result in together(path))


def test_what_is_not_all_small_pairs_is_left_to_runs_one_after_another():
    X, codes = classes_of(7, [20] * 3)
    two = codes < 2
    several = [asked(C) for C in PENALTIES]
    assert path_of(X[two], codes[two]).train_together(several) is None
    assert path_of(X, codes).train_together(several[:1]) is None
    assert path_of(X, codes).train_together([asked(C, "swap-2o") for C in PENALTIES]) is None
    assert path_of(X, codes).train_together([asked(C, time_limit=60.0) for C in PENALTIES]) is None
    path = path_of(X, codes)
    path.train(asked(1.0, "swap-2o"))
    assert path.train_together(several) is None


@pytest.mark.usefixtures("way")
def test_seconds_and_counts_of_a_path_are_shared_out():
    X, codes = classes_of(8, [30] * 5)
    found = together(path_of(X, codes), penalties=PENALTIES[:3])
    assert all(result.train_seconds > 0.0 for result in found)
    assert all(result.steps > 0 for result in found)
    assert found[0].kernel_evaluations > found[-1].kernel_evaluations
