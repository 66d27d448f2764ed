"""What holds at every moment of a run of either method (spec 9)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm.numerics.random import stream
from fwsvm.problems.box_certificate import certificate
from fwsvm.problems.box_qp import weights_of
from fwsvm.solvers.dual_coordinate.avsf import schedule
from fwsvm.solvers.dual_coordinate.state import SURVEYING, SWEEPING
from fwsvm.solvers.tuning import REST_MARGIN
from tests.solvers.certified import outcome
from tests.solvers.dual_coordinate.running import METHODS, run_until_miss, solve, start, text_like

cases = {
    "method": st.sampled_from(METHODS),
    "loss": st.sampled_from(["hinge", "squared_hinge"]),
    "seed": st.integers(0, 2**31),
    "C": st.sampled_from([0.01, 1.0, 100.0]),
    "bias": st.sampled_from([0.0, 1.0]),
    "chunks": st.lists(st.integers(1, 200), min_size=1, max_size=12),
}


@given(**cases)
@settings(max_examples=60, deadline=None)
def test_every_moment_of_a_run(method, loss, seed, C, bias, chunks):
    X, y = text_like(seed)
    run = start(method, X, y, C, loss=loss, bias=bias, tolerance=1e-9, seed=seed)
    qp, s, now = run.qp, run.state, run.state.now[0]
    before = -np.inf
    for chunk in chunks:
        if run.advance(chunk) < chunk:
            break
        alpha = s.coordinates["alpha"].copy()
        w = weights_of(qp, alpha)
        found = certificate(qp, alpha, w)
        assert ((alpha >= 0) & (alpha <= qp.points["upper"])).all()
        np.testing.assert_allclose(s.w, w, rtol=1e-9, atol=1e-9 * (1 + np.abs(w).max()))
        assert now["dual"] == pytest.approx(found.dual, rel=1e-9, abs=1e-9)  # the sum of all gains
        assert now["dual"] >= before
        assert found.gap >= 0
        before = float(now["dual"])
        if method == "avsf":
            p = s.preferences
            assert ((p >= 1 / 20) & (p <= 20)).all()
            assert now["size"] == len(s.order)
            _rows_at_rest_would_not_move(run, w)
        else:
            assert sorted(s.order) == list(range(len(s.order)))


def _rows_at_rest_would_not_move(run, w):
    qp, rows = run.qp, run.state.coordinates
    resting = rows["slack"] > run.state.now["distance"][0]
    margins = qp.points["y"] * (_rows(run) @ w)
    g = 1.0 - margins - qp.points["ridge"] * rows["alpha"]
    at_zero, at_upper = rows["alpha"] == 0, rows["alpha"] == qp.points["upper"]
    assert ((at_zero & (g <= 1e-9)) | (at_upper & (g >= -1e-9)))[resting].all()


@given(**{key: cases[key] for key in ("method", "loss", "seed", "C", "bias")})
@settings(max_examples=40, deadline=None)
def test_a_survey_that_leaves_rows_at_rest_sees_the_exact_gap_and_no_movement_is_missed(
    method, loss, seed, C, bias
):
    X, y = text_like(seed)
    run = start(method, X, y, C, loss=loss, bias=bias, tolerance=1e-12, seed=seed)
    qp, s, now = run.qp, run.state, run.state.now[0]
    surveyed = None
    while now["sweeps"] < 40 and run.advance(1) == 1:
        if now["doing"] == SURVEYING and now["at"] == len(qp.points) - 1:
            surveyed = s.w.copy()
            at_rest = (s.coordinates["alpha"] == 0) & (s.coordinates["slack"] > REST_MARGIN * now["distance"])
            seen = certificate(qp, s.coordinates["alpha"].copy(), surveyed)
            if run.advance(1) < 1:
                break
            margins = qp.points["y"] * (_rows(run) @ surveyed)
            assert s.coordinates["shortfall"].sum() == pytest.approx(seen.gap, rel=1e-9, abs=1e-12)
            assert (s.coordinates["margin"] <= margins + 1e-9 * (1 + abs(margins))).all()
            assert (s.coordinates["margin"][at_rest] >= 1).all()
            np.testing.assert_allclose(s.coordinates["margin"][s.coordinates["alpha"] > 0],
                                       margins[s.coordinates["alpha"] > 0], rtol=1e-9, atol=1e-9)  # fmt: skip
        elif surveyed is not None:
            change = s.w - surveyed
            assert now["moved"] >= change @ change * (1 - 1e-9) - 1e-15
            assert now["distance"] == np.sqrt(now["moved"])


def _rows(run):
    """Return the points of a run as a dense array with the constant feature."""
    qp = run.qp
    rows = np.full((len(qp.points), qp.features + 1), 0.0)
    rows[:, -1] = qp.bias
    for row, point in zip(rows, qp.points, strict=True):
        row[qp.columns[point["first"] : point["end"]]] = qp.values[point["first"] : point["end"]]
    return rows


@given(st.integers(0, 2**31), st.integers(1, 300))
@settings(deadline=None)
def test_equal_preferences_give_a_permutation(seed, m):
    order = _schedule(np.full(m, 0.7), seed)
    assert sorted(order) == list(range(m))


@given(st.integers(0, 2**31), st.lists(st.floats(0.05, 20.0), min_size=1, max_size=200))
@settings(deadline=None)
def test_a_schedule_has_as_many_visits_as_rows_and_the_first_row_has_its_share_but_for_rounding(
    seed, preferences
):
    p = np.array(preferences)
    counts = np.bincount(_schedule(p, seed), minlength=len(p))
    assert counts.sum() == len(p)
    if len(p) > 1:
        first = len(p) * p[0] / p.sum()  # later shares depend on what was drawn before
        assert np.floor(first) <= counts[0] <= np.ceil(first + 1e-9)


def test_rows_are_visited_in_proportion_to_their_preferences():
    p = np.array([0.05, 20.0, 1.0, 3.3, 0.4, 7.0, 1.0, 1.0])
    draws = 4000
    s, random, order = _with_preferences(p), stream(0), np.zeros(8, dtype=np.uint32)
    counts = np.zeros(8)
    for _ in range(draws):
        schedule(s, order, random)
        counts += np.bincount(order, minlength=8) / draws
    np.testing.assert_allclose(counts, 8 * p / p.sum(), atol=5 * 0.5 / np.sqrt(draws))


def _with_preferences(p):
    run = start("avsf", np.ones((len(p), 1)), np.where(np.arange(len(p)) % 2, -1.0, 1.0))
    return run.state._replace(preferences=p)


def _schedule(p, seed):
    order = np.zeros(len(p), dtype=np.uint32)
    schedule(_with_preferences(p), order, stream(seed))
    return order


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_avsf_moves_as_the_papers_algorithm_does_step_by_step(C):
    """Algorithms 3 and 5 written out, on the same schedules: being spared inner products changes no step."""
    X, y = text_like(5)
    run = start("avsf", X, y, C, tolerance=1e-7)
    rows, y = X.toarray()[run.qp.rows], y[run.qp.rows]
    m, Q = len(y), (rows**2).sum(axis=1)
    alpha, w, p, reference = np.zeros(m), np.zeros(X.shape[1]), np.ones(m), 0.0
    rested = sweeps = 0
    while sweeps < 60 and run.advance(1) == 1:
        now = run.state.now[0]
        if now["doing"] != SWEEPING or now["at"] != (sweeps == 0) or now["sweeps"] != sweeps:
            continue  # not where a schedule has just been drawn (the first is drawn by the first visit)
        if sweeps > 0:
            np.testing.assert_allclose(run.state.coordinates["alpha"], alpha, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(run.state.preferences, p, rtol=1e-5)
        rested += int((run.state.coordinates["slack"] > now["distance"]).sum())
        for i in run.state.order.copy():
            g = 1.0 - y[i] * (rows[i] @ w)
            mu = np.clip(g / Q[i], -alpha[i], C - alpha[i])
            alpha[i] = C if alpha[i] + mu > C * (1 - 1e-15) else alpha[i] + mu
            w += mu * y[i] * rows[i]
            gain = mu * (g - mu / 2 * Q[i])
            if sweeps == 0:
                reference += gain / m
            else:
                p[i] = np.clip(p[i] * np.exp(min(50.0, 0.2 * (gain / reference - 1))), 1 / 20, 20)
                reference += (gain - reference) / m
        sweeps += 1
    assert sweeps > 5
    assert rested > 0


def test_the_pseudo_code_read_literally_stops_after_one_sweep_and_ours_does_not():
    """002 prints vmin over alpha_i > 0 and vmax over alpha_i < C; at the first look no alpha_i is > 0."""
    X, y = text_like(1)
    C, rows = 1.0, X.toarray()
    rows, y = rows[rows.any(axis=1)], y[rows.any(axis=1)]
    alpha, w, least, most = np.zeros(len(y)), np.zeros(rows.shape[1]), np.inf, -np.inf
    for i in np.random.default_rng(0).permutation(len(y)):
        g = 1.0 - y[i] * (rows[i] @ w)
        if alpha[i] > 0 and g < least:
            least = -g
        if alpha[i] < C and g > most:
            most = g
        mu = np.clip(g / (rows[i] @ rows[i]), -alpha[i], C - alpha[i])
        alpha[i] += mu
        w += mu * y[i] * rows[i]
    assert most - least < 0.01  # and so it would stop, with a gap of
    primal = 0.5 * w @ w + C * np.maximum(0, 1 - y * (rows @ w)).sum()
    assert (primal - (alpha.sum() - 0.5 * w @ w)) / primal > 0.03
    ours = start("liblinear", *text_like(1), C, stop="eps", tolerance=1e-4)
    run_until_miss(ours)
    assert outcome(ours).relative_gap < 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_the_published_rules_stop_where_every_violation_is_small(method):
    X, y = text_like(2)
    run = start(method, X, y, 10.0, stop="eps", tolerance=1e-3)
    run_until_miss(run)
    found = certificate(run.qp, run.state.coordinates["alpha"].copy(), run.state.w)
    assert (
        run.rule.violation(found.least, found.most) < 1e-2
    )  # those it saw were below 1e-3, each a little old
    assert run.counters.iterations > len(run.qp.rows)


def test_avsf_ends_by_its_own_rule_only_after_a_sweep_over_every_row():
    X, y = text_like(3)
    run = start("avsf", X, y, 1.0, stop="eps", tolerance=1e-3)
    run_until_miss(run)
    assert run.counters.steps % len(run.qp.rows) == 0  # steps of length zero count, as in the paper
    assert run.state.now["can_stop"][0] == 1


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_bits_whatever_the_chunks(method):
    X, y = text_like(4)
    a, b = start(method, X, y, 10.0, tolerance=1e-6), start(method, X, y, 10.0, tolerance=1e-6)
    run_until_miss(a, chunk=7)
    run_until_miss(b, chunk=5000)
    np.testing.assert_array_equal(a.iterate().alpha, b.iterate().alpha)
    assert a.counters == b.counters
    other = solve(method, X, y, 10.0, tolerance=1e-6, seed=1)
    assert (other.iterate().alpha != a.iterate().alpha).any()
    assert outcome(other).primal == pytest.approx(outcome(a).primal, rel=1e-5)
