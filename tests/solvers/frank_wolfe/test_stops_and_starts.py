"""Where simplex methods start and by what rule they stop, under the default protocol and the papers'."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm.errors import UsageError
from fwsvm.solvers import Settings, Status, fit, resolve, warm_up
from fwsvm.solvers.frank_wolfe.gradient import sampled as by_active
from fwsvm.solvers.frank_wolfe.starting_point import CORE_TOLERANCE, POINTS, draw
from fwsvm.solvers.frank_wolfe.starting_point import optimum as core_optimum
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.tuning import FIRST_ROOM
from tests import naive
from tests.solvers.certified import outcome
from tests.solvers.frank_wolfe.running import (
    SIMPLEX,
    Store,
    clouds,
    matrix,
    optimum,
    pieces,
    run_until_miss,
    solve,
    start,
)

seeds = st.integers(0, 2**32)
each_method = pytest.mark.parametrize("method", SIMPLEX)


# ------------------------------------------------------------------ rules


@given(seeds, st.sampled_from([0.3, 0.03, 0.003]), st.sampled_from([0.1, 10.0]))
@settings(deadline=None, max_examples=20)
def test_the_meb_rule_is_the_radius_of_the_ball(seed, eps, C):
    """gamma_i^2 <= (1 + eps)^2 r^2 for every row, from distances to the centre (003 section 4.3, spec 1.5)."""
    X, y = clouds(seed)
    K = matrix(X, y, C)
    run = start("swap-2o", X, y, C, stop="meb", tolerance=eps, store=Store())

    def excess() -> float:
        a = run.state.alpha
        q, R = K @ a, a @ K @ a
        farthest, radius = (np.diag(K) - 2.0 * q + R).max(), K[0, 0] - R
        return float(farthest - (1.0 + eps) ** 2 * radius)

    while True:
        before = excess()
        if run.advance(1) == 0:
            break
        assert before > -1e-12
    assert before <= 1e-12
    assert run.check_stop() is Status.CONVERGED
    R, g = run.iterate().objective, K[0, 0] - optimum(K)
    assert g * (1.0 - (2.0 * eps + eps**2)) <= K[0, 0] - R <= g + 1e-9


@each_method
@pytest.mark.parametrize(("stop", "tolerance"), [("relative", 1e-4), ("gap", 1e-5), ("meb", 1e-5)])
def test_each_rule_is_kept_by_the_true_gap(method, stop, tolerance):
    X, y = clouds(3)
    for kernel in ("rbf", "linear"):
        K = matrix(X, y, kernel=kernel)
        run = solve(
            method, X, y, kernel=kernel, stop=stop, tolerance=tolerance if method != "fw" else 100 * tolerance
        )
        a, tol = run.state.alpha, run.resolved.tolerance
        R = a @ K @ a
        goal = {"relative": tol * R, "gap": tol, "meb": (2 * tol + tol**2) * (np.diag(K).max() - R)}[stop]
        found = outcome(run)
        assert found.gap <= goal * (1 + 1e-9)
        assert found.gap == pytest.approx(naive.gap(K, a), rel=1e-6, abs=1e-13)
        assert found.within
        assert found.gap_kind == "exact"


@each_method
def test_without_a_final_gap_nothing_is_claimed(method):
    X, y = clouds(5)
    for search, kind in (("full", "none"), ("sampled", "sampled")):
        run = start(method, X, y, search=search, final_gap=False, tolerance=1e-2)
        assert run_until_miss(run) is Status.SAMPLED_STOP
        found = outcome(run, exact=False)
        assert (found.gap_kind, found.within) == (kind, False)
        assert found.objective == run.iterate().objective


@pytest.mark.parametrize("method", ["mfw", "swap", "swap-2o", "cvm"])
def test_a_tolerance_below_single_precision_is_reached_by_double(method):
    X, y = clouds(7, m=60)
    K = matrix(X, y, 100.0)
    run = solve(method, X, y, 100.0, tolerance=1e-10)
    assert naive.gap(K, run.state.alpha) <= 1.01e-10 * run.iterate().objective


@pytest.mark.parametrize("search", ["full", "sampled"])
def test_a_tolerance_below_double_precision_ends_the_run_all_the_same(search):
    """It stalls, unless the gap happens to come out as zero."""
    X, y = clouds(8)
    run = start("swap-2o", X, y, search=search, tolerance=1e-17)
    status = run_until_miss(run)
    assert status in {Status.STALLED, Status.CONVERGED}
    assert outcome(run).within == (status is Status.CONVERGED)
    assert run.iterate().objective == pytest.approx(optimum(matrix(X, y)), rel=1e-12)


@pytest.mark.parametrize("search", ["sampled", "by-active"])
@given(seeds)
@settings(deadline=None, max_examples=10)
def test_a_sampled_run_goes_on_from_the_vertex_that_its_check_found(search, seed):
    X, y = clouds(seed, m=60)
    K = matrix(X, y, 10.0)
    run = start("swap-2o", X, y, 10.0, search=search, tolerance=1e-5)
    for ended in pieces(run, 1, limit=300):
        now, q = run.state.now[0], K @ run.state.alpha
        if ended is None and now["found"]:
            assert now["vertex"] == q.argmin()
            assert run.state.q[now["vertex"]] == pytest.approx(q.min(), rel=1e-9)


# ------------------------------------------------------------------ starting points


@given(seeds, st.integers(2, 50), st.booleans())
@settings(deadline=None, max_examples=40)
def test_the_rows_to_start_from_are_distinct_and_balanced_if_asked_for(seed, m, balanced):
    X, y = clouds(seed, m=m)
    run = start("fw", X, y)
    which = draw(run.qp, np.random.default_rng(seed), balanced=balanced)
    assert len(which) == len(set(which.tolist())) == min(POINTS, m)
    if balanced:
        plus = int((y > 0).sum())
        of_plus = int((which < plus).sum())
        fair = min(len(which) // 2, plus, m - plus)
        assert min(of_plus, len(which) - of_plus) == fair
        turns = which[: 2 * fair] < plus
        np.testing.assert_array_equal(turns, np.arange(2 * fair) % 2 == 0)


@given(seeds, st.sampled_from([0.05, 1.0, 100.0]))
@settings(deadline=None, max_examples=20)
def test_the_start_is_the_optimum_over_those_rows(seed, C):
    X, y = clouds(seed)
    run = start("fw", X, y, C)
    which = draw(run.qp, np.random.default_rng((0, 0)), balanced=False)
    K = matrix(X, y, C)[np.ix_(which, which)]
    gram = naive.gram("rbf", X[which], X[which], 0.5)
    weights = core_optimum(gram, run.qp, which)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights @ K @ weights - optimum(K) <= 2.0 * CORE_TOLERANCE * (weights @ K @ weights)
    assert set(np.flatnonzero(run.state.alpha)) <= set(which.tolist())
    assert run.iterate().objective - optimum(K) <= 2.0 * CORE_TOLERANCE * run.iterate().objective


@given(seeds, st.sampled_from([0.0, 1e10, 1e20, 1e30]))
@settings(deadline=None, max_examples=12)
def test_a_start_is_found_where_rounding_hides_the_optimum(seed, width):
    """Kernel values so large that a sum of 20 is rounding alone: pairs cannot be made to agree."""
    X, y = clouds(seed)
    run = start("swap", X, y)
    which = draw(run.qp, np.random.default_rng((0, 0)), balanced=False)
    weights = core_optimum(width * (X[which] @ X[which].T) ** 2, run.qp, which)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0, abs=1e-6)


def test_seeds_choose_the_start():
    X, y = clouds(1)
    starts = [start("swap", X, y, seed=seed).state.alpha for seed in (1, 1, 2)]
    np.testing.assert_array_equal(starts[0], starts[1])
    assert (starts[0] != starts[2]).any()


# ------------------------------------------------------------------ protocols


def test_the_papers_protocols_are_what_the_papers_say():
    X, _ = clouds(0)
    paper = resolve(Settings(protocol="paper"), X)
    assert (paper.search, paper.stop, paper.tolerance, paper.width_rule) == ("sampled", "meb", 1e-6, "paper")
    libcvm = resolve(Settings(protocol="libcvm"), X)
    assert (libcvm.search, libcvm.stop, libcvm.width_rule) == ("sampled", "meb", "libcvm")
    default = resolve(Settings(), X)
    assert (default.search, default.stop, default.tolerance) == ("full", "relative", 1e-3)


def test_libcvm_halves_its_tolerance_from_a_tenth():
    X, y = clouds(2)
    run = start("cvm", X, y, protocol="libcvm", tolerance=0.01)
    levels = [run.level]
    for _ in pieces(run, 1):
        if run.level != levels[-1]:
            levels.append(run.level)
    assert levels == [0.1, 0.05, 0.025, 0.0125, 0.01]


def test_fw_svms_is_what_the_authors_of_003_ran():
    X, y = clouds(2)
    protocol = resolve(Settings("cvm", protocol="fw-svms"), X)
    assert (protocol.search, protocol.stop, protocol.tolerance) == ("sampled", "meb", 1e-6)
    assert protocol.width_rule == "libcvm"
    for method in SIMPLEX:
        run = start(method, X, y, protocol="fw-svms", tolerance=1e-3)
        assert run.state.search == (59, 1, method == "cvm", method == "cvm")
        assert run.level == 0.005
        assert run.state.now["inner"] == (1e-4 if method == "cvm" else 0.0)


def test_each_setting_of_a_protocol_can_be_changed_alone():
    X, y = clouds(2)
    own = {
        "retries": 3,
        "first_level": 0.02,
        "candidates": "uniform",
        "gradient": "kept",
        "width_rule": "readme",
    }
    for name, value in own.items():
        protocol = resolve(Settings(protocol="fw-svms", **{name: value}), X)
        usual = resolve(Settings(protocol="fw-svms"), X)
        changed = {n for n in ("retries", "first_level", "candidates", "gradient")
                   if getattr(protocol.protocol, n) != getattr(usual.protocol, n)}  # fmt: skip
        changed |= {"width_rule"} if protocol.width_rule != usual.width_rule else set()
        assert changed == {name}
    inner = {"inner": 1e-5, "inner_share": 0.02}
    for name, value in inner.items():
        run = start("cvm", X, y, protocol="fw-svms", tolerance=1e-3, parameters={name: value})
        assert run.state.now["inner"] == pytest.approx({"inner": 1e-5, "inner_share": 2e-5}[name])
    assert start("cvm", X, y, protocol="paper").state.now["inner"] == 1e-3


@pytest.mark.parametrize(
    "wrong", [{"inner": -1.0}, {"inner_share": -1.0}, {"inner": 1e-3, "inner_share": 0.1}]
)
def test_cvm_takes_one_inner_tolerance(wrong):
    X, y = clouds(2)
    with pytest.raises(UsageError, match="cvm needs inner or inner_share"):
        start("cvm", X, y, parameters=wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"retries": 0},
        {"retries": 1.5},
        {"first_level": 0.0},
        {"first_level": 1e-9},
        {"candidates": "all"},
        {"gradient": "recomputed"},
        {"protocol": "003"},
    ],
)
def test_what_is_no_setting_of_a_protocol_is_refused(wrong):
    X, _ = clouds(2)
    with pytest.raises(UsageError, match=next(iter(wrong)).replace("_", "-")):
        resolve(Settings(**wrong), X)


@numba.njit  # noqa: TID251 - nothing of it is cached
def draw_candidates(s):
    """Call what compiled code alone may call."""
    by_active.draw(s.search, s)


@pytest.mark.parametrize("candidates", ["outside", "balanced"])
@given(seeds, st.integers(0, 4), st.integers(2, 40))
@settings(deadline=None, max_examples=20)
def test_candidates_are_outside_the_core_set_and_if_balanced_of_both_classes(
    candidates, seed, classes_left, m
):
    X, y = clouds(seed, m=m)
    run = start("cvm", X, y, protocol="fw-svms", candidates=candidates, search="by-active")
    s, rng = run.state, np.random.default_rng(seed)
    plus = int((y > 0).sum())
    left = rng.permutation(m)[: max(1, rng.integers(m))]
    if classes_left:  # rows of one class alone are outside
        left = np.flatnonzero(y > 0) if classes_left % 2 else np.flatnonzero(y < 0)
        left = left if len(left) else np.arange(m)
    inside = np.setdiff1d(np.arange(m), left)
    s.place[:], s.place[inside] = -1, np.arange(len(inside))
    s.active[: len(inside)], s.now["active"] = inside, len(inside)
    draw_candidates(s)
    drawn = s.drawn[: s.search.candidates]
    assert set(drawn) <= set(left)
    both = 0 < (left < plus).sum() < len(left)
    assert candidates == "outside" or (drawn < plus).sum() in ({30} if both else {0, 59})


def test_without_a_row_outside_the_core_set_candidates_are_of_all_rows():
    X, y = clouds(1, m=10)
    result = fit(
        X, (y < 0).astype(int), ("1", "-1"), Settings("cvm", protocol="fw-svms", C=0.01, gamma=0.5, threads=1)
    )
    assert result.support_vectors == 10
    assert result.status is Status.CONVERGED


@each_method
def test_the_schedule_reaches_the_tolerance_whatever_its_first_level(method):
    X, y = clouds(3)
    gaps = []
    for level in (None, 0.3, 1e-4):
        run = start(method, X, y, first_level=level, tolerance=1e-4)
        assert run_until_miss(run) is Status.CONVERGED
        gaps.append(outcome(run).relative_gap)
    assert max(gaps) <= 1e-4


@each_method
@pytest.mark.parametrize("protocol", ["paper", "libcvm", "fw-svms"])
def test_a_sampled_stop_is_no_certificate(method, protocol):
    """The papers' runs end as `sampled_stop`, unless the true gap, looked at afterwards, is within the tolerance."""
    X, y = clouds(4, m=300)
    found = set()
    for tolerance in (1e-1, 1e-3):
        run = start(method, X, y, protocol=protocol, tolerance=tolerance)
        assert run_until_miss(run) is Status.SAMPLED_STOP
        K = matrix(X, y)
        codes = (y < 0).astype(int)
        result = fit(X, codes, ("1", "-1"), Settings(method=method, protocol=protocol, tolerance=tolerance, C=1.0,
                     gamma=0.5, threads=1))  # fmt: skip
        goal = (2 * tolerance + tolerance**2) * (K[0, 0] - result.objective)
        assert result.gap_kind == "exact"
        assert result.certified == (result.gap <= goal)
        assert result.status is (Status.CONVERGED if result.certified else Status.SAMPLED_STOP)
        assert -1e-9 <= result.objective - optimum(K) <= result.gap + 1e-9
        found.add(result.certified)
    assert True in found


# ------------------------------------------------------------------ sampled and cached


@pytest.mark.parametrize("method", ["mfw", "swap", "swap-2o", "cvm"])
@given(seeds, st.sampled_from([0.5, 20.0]))
@settings(deadline=None, max_examples=6)
def test_sampled_and_full_search_reach_one_optimum(method, seed, C):
    X, y = clouds(seed, m=60)
    full, sampled = (outcome(solve(method, X, y, C, search=s, tolerance=1e-6)) for s in ("full", "by-active"))
    assert abs(full.objective - sampled.objective) <= max(full.gap, sampled.gap)


@pytest.mark.parametrize("gradient", ["cheaper", "kept"])
@pytest.mark.parametrize("method", ["fw", "mfw"])
@given(seeds)
@settings(deadline=None, max_examples=6)
def test_a_sampled_run_that_tracks_q_takes_the_same_steps(method, gradient, seed):
    """Of swaps, which make two entries of q equal, rounding decides the next."""
    X, y = clouds(seed, m=100)
    tracks, does_not = (
        start(method, X, y, search="sampled", gradient=g, tolerance=1e-4) for g in (gradient, "computed")
    )
    assert tracks.storage.by_active == (gradient == "cheaper")
    for _ in range(8):
        assert tracks.advance(10) == does_not.advance(10)
        np.testing.assert_allclose(tracks.state.alpha, does_not.state.alpha, rtol=0, atol=1e-6)
    assert does_not.storage.by_active
    assert not tracks.storage.by_active


@each_method
def test_a_run_cut_short_on_libcvms_schedule_claims_nothing(method):
    """Its first goals are looser than the tolerance; a gap within those is none within that."""
    X, y = clouds(3)
    run = start(method, X, y, protocol="libcvm", stop="relative", tolerance=1e-6)
    while run.level == PROTOCOLS["libcvm"].first_level:
        if run.advance(10) < 10:
            run.check_stop()
    found = outcome(run)
    assert found.within == (found.relative_gap <= 1e-6)


@each_method
def test_what_a_sampled_run_may_come_to_is_compiled_off_the_clock(method, monkeypatch):
    monkeypatch.setattr(warm_up, "_DONE", compiled := set())
    X, y = clouds(3)
    run = start(method, X, y, search="sampled", tolerance=1e-6)
    assert by_active._put_columns.signatures
    assert run.counters.compile_seconds == 0.0
    while run.storage.by_active:
        if run.advance(10) < 10:
            assert run.check_stop() is None
    seconds = run.counters.compile_seconds
    assert seconds > 0.0
    assert {kinds[-2:] for kinds in compiled} == {(True, False)}
    run.advance(10)
    assert run.counters.compile_seconds == seconds


def test_a_sampled_run_tracks_q_once_that_is_cheaper():
    """Not for a few steps on many rows: the point of sampling is that they cost nothing."""
    X, y = clouds(2, m=3000)
    run = start("fw", X, y, search="sampled", tolerance=1e-6)
    run.storage.resolved = replace(run.resolved, cache_mib=64)  # room for all columns
    run.advance(50)
    assert run.storage.by_active
    evaluations = run.counters.kernel_evaluations
    assert evaluations < 50 * 59 * (POINTS + 50)
    run.advance(1950)
    assert not run.storage.by_active
    run.advance(500)  # from here on only columns of rows that are new
    assert run.counters.kernel_evaluations <= len(y) ** 2 + 2 * run.state.now["looked"][0]


@each_method
@pytest.mark.parametrize("search", ["sampled", "by-active"])
def test_a_candidate_is_the_best_of_those_drawn(method, search):
    X, y = clouds(4, m=400)
    K = matrix(X, y)
    run = start(method, X, y, search=search, tolerance=1e-3)
    for _ in range(30):
        before = run.state.alpha.copy()
        run.advance(1)
        drawn = run.state.drawn[: run.state.search.candidates]
        if method != "cvm":  # whose other steps draw nobody
            best = (K @ before)[drawn].min()
            assert 2.0 * (before @ K @ before - best) == pytest.approx(run.iterate().gap, abs=1e-5)


@each_method
@pytest.mark.parametrize("search", ["sampled", "by-active"])
def test_a_sampled_run_near_its_end_keeps_its_q(method, search):
    """Draws without a violator, moves not made and refreshed entries of q come together only at the end of a run."""
    X, y = clouds(1, m=60)
    K = matrix(X, y, 20.0)
    run = start(method, X, y, 20.0, search=search, tolerance=1e-6)
    for _ in pieces(run, 50, limit=4000):
        a = run.state.alpha
        np.testing.assert_allclose(run.state.q[a > 0], (K @ a)[a > 0], atol=1e-6)
        assert run.iterate().objective == pytest.approx(a @ K @ a, abs=1e-6)


@each_method
@given(seeds)
@settings(deadline=None, max_examples=6)
def test_a_cache_of_sixteen_columns_changes_no_bit(method, seed):
    X, y = clouds(seed, m=60)
    roomy, tight = (
        start(method, X, y, 10.0, store=Store(np.float32, budget), tolerance=1e-5) for budget in (1 << 20, 0)
    )
    assert len(tight.qp.columns.row_of) == 16
    for run in (roomy, tight):
        for _ in pieces(run, 50, limit=2000):
            pass
    assert roomy.counters.steps == tight.counters.steps
    np.testing.assert_array_equal(roomy.state.alpha, tight.state.alpha)
    assert tight.counters.column_misses >= roomy.counters.column_misses


@each_method
@pytest.mark.parametrize("search", ["full", "sampled", "by-active"])
def test_chunks_leave_no_trace(method, search):
    """How often the loop comes back follows the clock; no bit may."""
    X, y = clouds(11)
    runs = [start(method, X, y, 10.0, search=search, tolerance=1e-4) for _ in range(2)]
    for run, chunk in zip(runs, (1, 37), strict=True):
        for _ in pieces(run, chunk, limit=37 * 20):
            pass
    np.testing.assert_array_equal(runs[0].state.alpha, runs[1].state.alpha)
    np.testing.assert_array_equal(runs[0].state.q, runs[1].state.q)


@pytest.mark.parametrize("method", ["mfw", "swap-2o", "cvm"])
def test_a_sampled_run_without_room_for_the_active_sets_kernel_matrix_is_as_good(method):
    """Lines that are lent for a move stand for those that are kept."""
    X, y = clouds(5, m=900)
    K = matrix(X, y, 1.0)
    roomy, tight = (start(method, X, y, 1.0, search="by-active", tolerance=1e-2) for _ in range(2))
    for run, cache_mib in ((roomy, 64), (tight, 0)):
        run.storage.resolved = replace(
            run.resolved, cache_mib=cache_mib
        )  # from the first growth of the store on
        assert run_until_miss(run, chunk=500) is Status.CONVERGED
        a = run.state.alpha
        np.testing.assert_allclose(run.state.q[a > 0], (K @ a)[a > 0], atol=1e-6)
    assert len(tight.state.cached) < FIRST_ROOM < tight.iterate().support_vectors < len(roomy.state.cached)
    assert tight.iterate().objective == pytest.approx(roomy.iterate().objective, rel=1e-2)


@pytest.mark.parametrize("method", ["swap-2o", "swap", "mfw", "cvm"])
def test_rows_far_from_the_origin_are_solved_in_double_precision(method):
    """In single precision their kernel values are no positive definite matrix: methods went round for ever."""
    X, y = clouds(3)
    chosen = Settings(method, kernel="rbf", gamma=1.0, C=1e4, max_iterations=200_000, threads=1)
    here, far = (fit(X + away, (y < 0).astype(int), ("a", "b"), chosen) for away in (0.0, 3e4))
    assert far.certified
    assert abs(far.objective - here.objective) <= 1.1 * max(here.gap, far.gap)


@pytest.mark.parametrize("method", ["swap-2o", "swap", "mfw"])
def test_a_few_rows_far_from_the_origin_are_solved_too(method):
    X = 1e5 + np.random.default_rng(0).normal(size=(22, 3))
    found = fit(X, np.arange(22) % 2, ("1", "-1"), Settings(method, max_iterations=200_000))
    assert found.status is Status.CONVERGED


def test_the_smallest_penalties_leave_a_run_its_steps():
    X = np.random.default_rng(0).normal(size=(60, 3))
    found = fit(X, np.arange(60) % 2, ("1", "-1"), Settings("swap-2o", C=1e-200))
    assert found.status is Status.CONVERGED
