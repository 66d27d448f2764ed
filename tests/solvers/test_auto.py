"""auto: which methods it chooses, that the row says so, and pairs solved in compiled code."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from fwsvm.solvers import Settings, Status, certify, fit
from fwsvm.solvers.auto import one_matrix, own_columns, small_pairs, unreached
from fwsvm.solvers.auto.auto import CHUNKS_FROM
from fwsvm.solvers.c_path import CPath
from tests import naive

GAMMA = 0.4


@pytest.fixture(params=[small_pairs.ONE_MATRIX_ROWS, 0], ids=["one matrix", "columns of their own"])
def way(request, monkeypatch):
    """Solve small pairs on one matrix, or each with columns of its own, whatever the number of rows."""
    monkeypatch.setattr(small_pairs, "ONE_MATRIX_ROWS", request.param)


def classes_of(seed, K, each, features=3):
    """Return rows in no order around K centres, and their class numbers."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(K), each))
    return rng.normal(size=(K, features))[codes] * 2 + rng.normal(size=(len(codes), features)), codes


def train(X, codes, **given):
    asked = {"gamma": GAMMA, "C": 10.0, "threads": 1, **given}
    return fit(X, codes, [str(k) for k in range(codes.max() + 1)], Settings("auto", **asked))


@given(
    st.integers(0, 2**32), st.integers(3, 6), st.integers(1, 12), st.sampled_from([1e-2, 1.0, 1e3, 1e6]),
    st.sampled_from(["rbf", "linear", "quadratic", "laplacian"]), st.booleans(),
)  # fmt: skip
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("way")
def test_sums_over_the_pairs_are_those_of_each_pairs_optimum(seed, K, each, C, kernel, stored):
    X, codes = classes_of(seed, K, each)
    own = {} if kernel == "linear" else {"gamma": GAMMA}
    rounded = kernel == "quadratic" and C == 1e6  # what rounding may take can be 1e-6 of the objective
    found = train(
        sparse.csr_array(X) if stored else X,
        codes,
        kernel=kernel,
        C=C,
        tolerance=1e-5 if rounded else 1e-6,
        **{"gamma": None, **own},
    )
    assert found.certified
    optima = []
    for i, j in combinations(range(K), 2):
        which = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[which] == i, 1.0, -1.0)
        matrix = naive.extended(naive.gram(kernel, X[which], X[which], GAMMA), y, C)
        best = naive.simplex_optimum(matrix)
        optima.append(float(best @ matrix @ best))
    assert sum(optima) * (1 - 1e-8) <= found.objective <= (sum(optima) + found.gap) * (1 + 1e-8)
    assert found.solved == found.subproblems == len(optima)


@pytest.mark.usefixtures("way")
def test_decisions_are_those_of_a_run_for_each_pair():
    X, codes = classes_of(1, 5, 30)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(codes))
    names = [str(k) for k in range(5)]
    both = [
        fit(X, codes, names, Settings(method, gamma=GAMMA, C=10.0, tolerance=1e-8), weights=weights).model
        for method in ("auto", "swap-2o")
    ]
    assert both[0].decision(X) == pytest.approx(both[1].decision(X), abs=1e-3)
    assert (both[0].counts == both[1].counts).all()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(threads):
    X, codes = classes_of(3, 7, 20)
    one, other = train(X, codes), train(X, codes, threads=threads)
    assert one.objective == other.objective
    assert (one.model.coefficients == other.model.coefficients).all()


@pytest.mark.usefixtures("way")
def test_rows_far_from_the_origin_are_certified_as_runs_of_their_own_are():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(3), 12)
    X = 1e8 + rng.normal(size=(36, 2)) + 2 * codes[:, None]
    found = train(X, codes, gamma=1e3)
    apart = 0.0
    for i, j in combinations(range(3), 2):
        which = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[which] == i, 1.0, -1.0)
        matrix = naive.extended(naive.gram("rbf", X[which], X[which], 1e3), y, 10.0)
        best = naive.simplex_optimum(matrix)
        apart += float(best @ matrix @ best)
    assert found.objective - found.gap <= apart * (1 + 1e-8)
    assert found.objective >= apart * (1 - 1e-8)


@pytest.mark.parametrize("numbers", [(1.0, 1e-4, 2.0, 2.0), (1.0, 9e-4, 2.0, 2.0), (1.0, -1e-4, 2.0, 2.0),
                                         (1.0, -0.1, 2.0, 2.0),
                                     (1.0, 0.1, 2.0, 2.0), (0.0, 0.0, 1.0, 1.0), (1e-320, 0.0, np.inf, 0.0),
                                     (np.nan, 0.0, 1.0, 1.0)])  # fmt: skip
def test_many_certificates_are_judged_as_one_is(numbers):
    goal = 1e-3 * numbers[0]
    for rounding in (0.0, 2e-4, 2e-3, np.inf):
        one = certify.proven(*numbers, goal=goal, measured=numbers[1] + rounding)
        found = np.array([[*numbers, rounding]])
        assert certify.within_goals(found, np.array([goal])).tolist() == [one.within]


@pytest.mark.usefixtures("way")
def test_a_pair_that_takes_too_many_steps_goes_on_as_a_run_of_its_own(monkeypatch):
    X, codes = classes_of(4, 4, 40)
    before = train(X, codes)
    monkeypatch.setattr(one_matrix, "ONE_MATRIX_STEPS", 1)
    monkeypatch.setattr(own_columns, "FIRST_SWAPS", 0.2)
    monkeypatch.setattr(own_columns, "NEWTON_OVERHEAD", 0)
    seen = []
    alone = small_pairs.solve_all

    def spy(*given):
        seen.extend(given[5].items())
        return alone(*given)

    monkeypatch.setattr(small_pairs, "solve_all", spy)
    after = train(X, codes)
    assert seen
    for number, start in seen:  # where its own run starts, in the order of that run's rows
        i, j = list(combinations(range(4), 2))[number]
        rows = np.concatenate([np.flatnonzero(codes == i), np.flatnonzero(codes == j)])
        y = np.where(codes[rows] == i, 1.0, -1.0)
        matrix = naive.extended(naive.gram("rbf", X[rows], X[rows], GAMMA), y, 10.0)
        assert start.gradient == pytest.approx(matrix @ start.weights, rel=1e-9)
        assert start.weights.sum() == pytest.approx(1.0)
    assert before.chosen == "swap-2o"
    assert "newton" in after.chosen
    assert after.certified
    assert after.solved == 6
    assert after.objective == pytest.approx(before.objective, rel=2e-3)


@pytest.mark.usefixtures("way")
def test_a_time_limit_or_an_interrupt_keeps_the_pairs_that_were_solved(monkeypatch):
    X, codes = classes_of(5, 6, 10)
    monkeypatch.setattr(small_pairs, "PAIRS_SHARE", 500)
    cut = train(X, codes, time_limit=1e-9)
    assert cut.status is Status.TIME_LIMIT
    assert 0 < cut.solved < 15

    def impatient(progress):
        raise KeyboardInterrupt

    names = [str(k) for k in range(6)]
    stopped = fit(X, codes, names, Settings("auto", gamma=GAMMA, threads=1), watch=impatient)
    assert stopped.status is Status.INTERRUPTED
    assert 0 < stopped.solved < 15


@pytest.fixture
def few_steps(monkeypatch):
    """Let no pair reach its goal before its own run."""
    monkeypatch.setattr(one_matrix, "ONE_MATRIX_STEPS", 1)
    monkeypatch.setattr(own_columns, "FIRST_SWAPS", 0.2)
    monkeypatch.setattr(own_columns, "NEWTON_OVERHEAD", 0)


def assert_points_are_kept(found, pairs):
    """Assert that so many pairs have a machine, whose objectives add up to what is told."""
    machines = [c for c in found.model.pair_weights().T if c.any()]
    assert found.solved == len(machines) == pairs
    total = 0.0
    for c in machines:
        rows, y, alpha = found.model.support[c != 0], np.sign(c[c != 0]), np.abs(c[c != 0]) / np.abs(c).sum()
        matrix = naive.extended(naive.gram("rbf", rows, rows, GAMMA), y, 10.0)
        total += float(alpha @ matrix @ alpha)
    assert found.objective == pytest.approx(total, rel=1e-6)


@pytest.mark.usefixtures("way", "few_steps")
@pytest.mark.parametrize("end", ["limit", "interrupt"])
def test_pairs_keep_the_points_they_reached_where_their_own_runs_are_cut(monkeypatch, end):
    X, codes = classes_of(4, 4, 40)
    real = small_pairs.solve_all

    def cut(X, weights, problems, resolved, *given):
        if end == "interrupt":
            raise KeyboardInterrupt
        return real(X, weights, problems, replace(resolved, time_limit=1e-9), *given)

    monkeypatch.setattr(small_pairs, "solve_all", cut)
    found = train(X, codes, time_limit=1e6, tolerance=1e-9)
    assert found.status is (Status.INTERRUPTED if end == "interrupt" else Status.TIME_LIMIT)
    assert not found.certified
    assert "not reached" not in found.message
    assert_points_are_kept(found, 6)


@pytest.mark.usefixtures("way", "few_steps")
@pytest.mark.parametrize("end", ["limit", "interrupt"])
def test_where_the_time_is_over_pairs_keep_their_points_and_nothing_is_computed_for_their_own_runs(
    monkeypatch, end
):
    X, codes = classes_of(5, 6, 10)
    monkeypatch.setattr(small_pairs, "PAIRS_SHARE", 500)
    monkeypatch.setattr(unreached, "gradients", lambda *_: pytest.fail("nobody goes on from there"))

    def impatient(progress):
        raise KeyboardInterrupt

    asked = {"time_limit": 1e-9} if end == "limit" else {}
    names = [str(k) for k in range(6)]
    settings = Settings("auto", gamma=GAMMA, C=10.0, threads=1, tolerance=1e-9, **asked)
    found = fit(X, codes, names, settings, watch=impatient if end == "interrupt" else None)
    assert found.status is (Status.INTERRUPTED if end == "interrupt" else Status.TIME_LIMIT)
    assert 0 < found.solved < 15
    assert_points_are_kept(found, found.solved)


@pytest.mark.parametrize("stored", [False, True])
def test_a_large_class_is_left_to_runs_of_its_own(monkeypatch, stored):
    rng = np.random.default_rng(8)
    codes = rng.permutation(np.repeat([0, 1, 2], [CHUNKS_FROM, 60, 40]))
    X = rng.normal(size=(3, 30))[codes] + rng.normal(size=(len(codes), 30)) * (
        rng.random((len(codes), 30)) < 0.1
    )
    X = sparse.csr_array(X) if stored else X
    found = train(X, codes, gamma=0.05)
    # no memory for copies: all pairs by runs of their own
    monkeypatch.setattr(small_pairs, "bytes_of_copies", lambda *_: 1 << 60)
    apart = train(X, codes, gamma=0.05)
    assert "chunking" in found.chosen
    assert "swap-2o" in found.chosen
    assert found.certified
    assert found.solved == 3
    assert found.objective == pytest.approx(apart.objective, rel=2e-3)
    assert (found.model.predict(X) == apart.model.predict(X)).mean() > 0.99


@pytest.mark.usefixtures("way")
def test_penalties_of_rows_and_classes_count_in_small_pairs():
    X, codes = classes_of(9, 4, 30)
    weights = np.random.default_rng(3).uniform(0.1, 5.0, len(codes))
    names, given = (
        [str(k) for k in range(4)],
        {"gamma": GAMMA, "C": 3.0, "tolerance": 1e-6, "class_weight": "balanced"},
    )
    both = [
        fit(X, codes, names, Settings(method, **given), weights=weights) for method in ("auto", "swap-2o")
    ]
    assert both[0].objective == pytest.approx(both[1].objective, rel=2e-6)
    assert both[0].certified


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("where", ["after solving", "in the runs of the others"])
def test_an_interrupt_leaves_no_weights_without_a_certificate(monkeypatch, where):
    X, codes = classes_of(10, 4, 30)
    monkeypatch.setattr(small_pairs, "PAIRS_SHARE", 500)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    if where == "after solving":
        turns = iter([None, None])
        for kind in (small_pairs.OneMatrix, small_pairs.OwnColumns):
            certify = kind.certify

            def later(self, numbers, real=certify):
                next(turns, False) is False and interrupted()
                real(self, numbers)

            monkeypatch.setattr(kind, "certify", later)
    else:  # the pair of the two largest classes is not small
        X, codes = X[(codes == 0) | (np.arange(120) % 3 > 0)], codes[(codes == 0) | (np.arange(120) % 3 > 0)]
        monkeypatch.setattr(small_pairs, "solve_all", interrupted)
    fewest = 4096 if where == "after solving" else np.sort(np.bincount(codes))[-2:].sum()
    found = train(X, codes, parameters={"fewest": int(fewest)})
    assert found.status is Status.INTERRUPTED
    assert 0 < found.solved < 6
    weights = found.model.pair_weights()
    assert np.count_nonzero(weights.any(axis=0)) == found.solved


def test_large_pairs_are_solved_in_chunks_and_small_ones_are_not():
    rng = np.random.default_rng(6)
    m = CHUNKS_FROM
    codes = (rng.random(m) < 0.4).astype(np.int64)
    X = rng.normal(size=(m, 3)) + 2.0 * (1 - 2 * codes[:, None])
    assert train(X, codes).chosen == "chunking"
    assert train(X[:500], codes[:500]).chosen in {"swap-2o", "newton"}


def test_sampling_and_the_papers_protocols_are_swap_2os():
    X, codes = classes_of(7, 2, 200)
    assert train(X, codes, search="sampled").chosen == "swap-2o"
    same = Settings("swap-2o", gamma=GAMMA, C=10.0, threads=1, protocol="paper")
    paper = fit(X, codes, ["0", "1"], same)
    assert train(X, codes, protocol="paper").objective == paper.objective


def test_where_a_factor_does_not_fit_it_goes_on_with_swaps():
    X = np.random.default_rng(0).normal(size=(600, 4))
    found = train(X, np.arange(600) % 2, C=1e3, cache_mib=1)
    assert found.certified
    assert found.chosen == "swap-2o"


@pytest.mark.parametrize(("apart", "name"), [(0.5, "newton or its steps"), (20.0, "chunking")])
def test_along_c_a_large_problem_is_solved_in_chunks_where_few_rows_are_support_vectors(apart, name):
    rng = np.random.default_rng(11)
    codes = rng.permutation(np.arange(CHUNKS_FROM + 200) % 2)
    X = rng.normal(size=(len(codes), 2)) + apart * codes[:, None]
    path = CPath(X, codes, ("a", "b"))
    runs = [path.train(Settings("auto", gamma=0.05, C=C, threads=1)) for C in (5.0, 10.0)]
    (_, first), (_, second) = path.certify(runs)
    assert first.certified
    assert second.certified
    assert "chunking" in first.chosen
    many = first.support_vectors > len(codes) / 8
    assert many == (name != "chunking")
    assert ("chunking" in second.chosen) == (not many)
    alone = train(X, codes, gamma=0.05)
    assert second.objective == pytest.approx(alone.objective, rel=2e-3)
