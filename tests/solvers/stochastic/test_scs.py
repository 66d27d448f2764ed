"""What Algorithm 1 promises of every iteration, and how a run ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwsvm
from fwsvm import _memory
from fwsvm.errors import UsageError
from fwsvm.problems import hinge
from fwsvm.problems.binary import Binary
from fwsvm.solvers.resolve import resolve
from fwsvm.solvers.settings import Settings
from fwsvm.solvers.stochastic.run import begin
from fwsvm.status import Status
from tests.solvers.certified import machine, outcome
from tests.solvers.stochastic.problems import drawn, finished, gram, objective, started

SMALL = {"first": 20, "more": 10, "largest": 100}


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    C=st.sampled_from([0.1, 1.0, 100.0]),
    growth=st.sampled_from(["linear", "theory"]),
    metric=st.sampled_from(["rkhs", "euclid"]),
)
def test_every_iteration_keeps_what_the_algorithm_says(seed, C, growth, metric):
    X, y = drawn(160, seed)
    p = started("scs", X, y, C=C, seed=seed, parameters={**SMALL, "growth": growth, "metric": metric})
    now, rule, order = p.state.now[0], p.rule, p.sample.order.copy()
    size = 0
    for _ in range(25):
        ball, steps = float(now["ball"]), p.steps
        before = p.state.alpha.copy()
        if p.advance(1) == 0:
            break
        n, after = len(p.sample), p.state.alpha
        drawn_rows = order[:n]
        assert size <= n <= rule.largest
        assert np.array_equal(p.sample.order, order)  # S_{k-1} is the first part of S_k
        assert len(set(drawn_rows.tolist())) == n
        assert (
            rule.least_radius * p.unit * (1 - 1e-12)
            <= now["ball"]
            <= rule.greatest_radius * p.unit * (1 + 1e-12)
        )
        if p.steps == steps:
            assert np.array_equal(after, before)
            assert now["ball"] == max(ball / rule.factor, rule.least_radius * p.unit)
        else:
            moved = after - before
            assert now["step"] * np.sqrt(now["length2"]) <= ball * (1 + 1e-9)
            assert now["ball"] == min(ball * rule.factor, rule.greatest_radius * p.unit)
            Q, w, lam = gram(X[drawn_rows], p.resolved.kernel.gamma), y[drawn_rows], p.lam
            old, new = (objective(Q, w, lam, a[:n]) for a in (before, after))
            assert new < old + 1e-6  # f_k falls on its own sample (kernel values are float32)
            np.testing.assert_allclose(
                moved[:n], now["step"] * p.state.d[:n], rtol=1e-6, atol=1e-9 * abs(after).max()
            )
        size = n


@pytest.mark.parametrize("test", ["next", "kept", "fresh"])
def test_the_test_estimates_the_objective_on_its_rows(test):
    X, y = drawn(400)
    p = started("scs", X, y, lambda_=0.01, parameters={**SMALL, "test": test})
    p.advance(5)
    s, now, n = p.state, p.state.now[0], len(p.sample)
    if test == "fresh":
        stream = p.test.random.bit_generator.state
        F0, F1, error = p._on_test_sample()
        p.test.random.bit_generator.state = stream
        T = p.test.random.choice(400, n, replace=False, shuffle=False)
    else:
        F0, F1, error = p._on_test_sample()
        T = p.test.sample.order[: len(p.test.sample)]
        assert len(T) == (n if test == "kept" else 10)
    S = p.sample.order[:n]
    Q = gram(X, p.resolved.kernel.gamma)
    alpha, square = s.alpha[:n], now["square"]
    assert square == pytest.approx(alpha @ Q[np.ix_(S, S)] @ alpha, rel=1e-4)
    assert 0.5 * p.lam * square + np.maximum(0, 1 - y[T] * (Q[np.ix_(T, S)] @ alpha)).mean() == pytest.approx(
        F0, rel=1e-5
    )
    ahead = alpha + now["step"] * s.d[:n]
    losses = [np.maximum(0, 1 - y[T] * (Q[np.ix_(T, S)] @ at)) for at in (alpha, ahead)]
    assert 0.5 * p.lam * ahead @ Q[np.ix_(S, S)] @ ahead + losses[1].mean() == pytest.approx(F1, rel=1e-4)
    assert error == pytest.approx((losses[0] - losses[1]).std(ddof=1) / np.sqrt(len(T)), rel=1e-4)


def test_the_two_samples_come_from_streams_of_their_own():
    X, y = drawn(100)
    one, other = (started("scs", X, y, parameters={**SMALL, "test": "fresh"}) for _ in range(2))
    other.test.random.random(1000)
    one.advance(5)
    other.advance(5)
    assert np.array_equal(one.sample.order, other.sample.order)
    assert one.test.random.random() != other.test.random.random()
    kept = started("scs", X, y, parameters={**SMALL, "test": "kept"})
    assert np.array_equal(kept.sample.order, one.sample.order)
    assert not np.array_equal(kept.sample.order, kept.test.sample.order)


@pytest.mark.parametrize("growth", ["linear", "theory"])
def test_a_step_is_tested_on_rows_that_the_next_sample_adds(growth):
    X, y = drawn(300)
    p = started("scs", X, y, parameters={**SMALL, "growth": growth, "radius": 0.2})
    for _ in range(30):
        if p.advance(1) == 0:
            break
        n, tested = len(p.sample), p.test.sample
        assert len(tested) == len(tested.order) == 10
        assert not set(tested.order) & set(p.sample.order[:n])
        assert np.array_equal(p.sample.order[n : n + 10], tested.order)
    assert n > 20


def test_nothing_is_tested_once_the_sample_is_everything():
    X, y = drawn(60)
    p = started("scs", X, y, C=1.0, parameters=SMALL)
    p.advance(5)
    assert len(p.sample) == 60
    now = p.state.now[0]
    assert p._on_test_sample() == (now["value"], now["value_after"], 0.0)
    status, outcome = finished(p)
    assert status is Status.CONVERGED
    assert outcome.gap_kind == "exact"


@pytest.mark.parametrize("test", ["next", "kept"])
def test_a_carried_direction_weighs_old_and_new_rows_alike(test):
    X, y = drawn(400)
    p = started("scs", X, y, lambda_=0.01, parameters={**SMALL, "test": test})
    p.advance(6)
    s, old = p.state, len(p.sample)
    point = s.d[:old] - s.w[:old] * s.u[:old] / old  # -lambda times a mean of the points so far
    at = s.w * s.Q_alpha
    p._grow()
    n = len(p.sample)
    np.testing.assert_allclose(s.d[:old] - s.w[:old] * s.u[:old] / n, point, atol=1e-14)
    assert np.array_equal(s.u[old:n], (s.w[old:n] * s.Q_alpha[old:n] < 1.0).astype(float))
    np.testing.assert_allclose(s.d[old:n], s.w[old:n] * s.u[old:n] / n)
    assert np.array_equal(at[:old], (s.w * s.Q_alpha)[:old])  # the incumbent is where it was


@pytest.mark.parametrize("metric", ["rkhs", "euclid"])
@pytest.mark.parametrize("test", ["next", "kept"])
@pytest.mark.parametrize("last", ["carried", "kept"])
@pytest.mark.parametrize("growth", ["linear", "theory"])
def test_the_sums_are_right_after_any_number_of_steps(metric, test, last, growth):
    X, y = drawn(500)
    parameters = {**SMALL, "metric": metric, "test": test, "last": last, "growth": growth}
    p = started("scs", X, y, lambda_=0.01, tolerance=1e-6, parameters=parameters)
    p.advance(15)
    n, r, s, T = len(p.sample), len(p.test.sample), p.state, p.test
    Q = gram(X, p.resolved.kernel.gamma)
    S, tested = p.sample.order[:n], T.sample.order[:r]
    inside, u = s.w[:n] * s.inside[:n], s.w[:n] * s.u[:n]
    for vector, here, there in (
        (s.alpha[:n], s.Q_alpha, T.alpha),
        (s.d[:n], s.Q_d, T.d),
        (inside, s.Q_inside, T.inside),
        (u, s.Q_u, T.u),
    ):
        np.testing.assert_allclose(here[:n], Q[np.ix_(S, S)] @ vector, atol=1e-9 * n)
        np.testing.assert_allclose(there[:r], Q[np.ix_(tested, S)] @ vector, atol=1e-9 * n)


def test_threads_change_the_sums_by_rounding_at_most():
    X, y = drawn(3000)
    one, two = (started("scs", X, y, lambda_=0.01, threads=threads) for threads in (1, 2))
    one.advance(4)
    two.advance(4)
    assert np.array_equal(one.state.alpha, two.state.alpha)  # a row's sum is made by one thread


def test_the_same_seed_gives_the_same_bits_however_the_steps_are_asked_for():
    X, y = drawn(300)
    runs = [started("scs", X, y, seed=seed, parameters=SMALL) for seed in (7, 7, 8)]
    runs[0].advance(12)
    for _ in range(12):
        runs[1].advance(1)
    runs[2].advance(12)
    machines = [machine(run) for run in runs]
    assert np.array_equal(machines[0].rows, machines[1].rows)
    assert np.array_equal(machines[0].coefficients, machines[1].coefficients)
    assert not np.array_equal(machines[0].rows, machines[2].rows)


def test_memory_is_that_of_the_sample():
    X, y = drawn(3000)
    p = started("scs", X, y, parameters={"first": 50, "more": 50, "largest": 400})
    finished(p)
    assert p.state.alpha.shape == (400,)
    assert len(p.sample) == 400
    assert p.sample.store.rows.height == 400


@pytest.mark.parametrize("doubt", [0.0, 1.0])
def test_a_step_is_taken_unless_the_test_is_that_sure_that_it_is_bad(doubt):
    X, y = drawn(2000)
    p = started("scs", X, y, lambda_=1e-3, parameters={**SMALL, "largest": 1000, "doubt": doubt})
    refused = 0
    for _ in range(60):
        steps = p.steps
        if p.advance(1) == 0:
            break
        now = p.state.now[0]
        if p.steps == steps and now["step"] > 0.0:  # refused, and everything is as it was when tested
            before, after, error = p._on_test_sample()
            assert before - after + doubt * error < 0.1 * (now["value"] - now["value_after"])
            refused += 1
    assert refused > 0


def test_a_larger_lambda_needs_fewer_rows():
    X, y = drawn(30)
    rule = started("scs", X, y, lambda_=0.1).rule
    assert [rule.most_rows(10**6, lam) for lam in (1e-2, 1e-3, 2e-4, 1e-4, 1e-9)] == [
        20_000, 20_000, 50_000, 100_000, 100_000,
    ]  # fmt: skip
    assert rule.most_rows(700, 1e-9) == 700


def test_theory_asks_for_the_fourth_power():
    X, y = drawn(2000)
    p = started("scs", X, y, parameters={"growth": "theory", "first": 10, "largest": 2000})
    p.advance(1)
    assert len(p.sample) == 10
    p.state.now["ball"] = p.rule.radius * p.unit / 2
    p.advance(1)
    assert len(p.sample) == 160


def test_a_sample_smaller_than_the_data_certifies_nothing():
    X, y = drawn(500)
    status, outcome = finished(
        started("scs", X, y, C=0.1, parameters={"first": 50, "more": 50, "largest": 200})
    )
    assert status is Status.SAMPLED_STOP
    assert outcome.gap_kind == "exact"
    assert outcome.gap > 0


def test_the_papers_rule_stops_too():
    X, y = drawn(200)
    parameters = {"first": 50, "more": 50, "least_radius": 0.01}
    p = started("scs", X, y, C=0.1, stop="eps", tolerance=0.05, parameters=parameters)
    status, _ = finished(p)
    assert status is Status.SAMPLED_STOP
    assert p.state.now["ball"][0] <= 0.01 * p.unit * (1 + 1e-12)


def test_many_rows_get_an_estimate_with_its_error(monkeypatch):
    X, y = drawn(4000)
    exact = started("scs", X, y, lambda_=0.01, parameters={"largest": 500})
    exact.advance(10)
    truth = outcome(exact)
    monkeypatch.setattr(hinge, "FIXED_SAMPLE", 1000)
    monkeypatch.setattr("fwsvm.solvers.stochastic.iterate.EXACT_ROWS", 1000)
    guess = outcome(exact)
    assert truth.gap_kind == "exact"
    assert guess.gap_kind == "estimate"
    assert not guess.within
    assert 0 < guess.gap_error < 0.1
    assert abs(guess.objective - truth.objective) < 4 * guess.gap_error
    assert guess.gap == max(0.0, guess.objective - exact.iterate().lower)


def test_rows_with_weights_are_refused_in_a_sentence():
    X, y = drawn(40)
    for method in ("wolfe", "pegasos", "scs"):
        resolved = resolve(Settings(method=method, threads=1), X)
        penalties = np.linspace(1, 2, 40)
        with pytest.raises(
            UsageError, match=rf"^{method} minimises .* weights of their own; leave the weights out"
        ):
            begin(resolved.rule, Binary(X, y, penalties, (0, 0)), resolved)


@pytest.mark.parametrize("method", ["wolfe", "pegasos", "scs"])
def test_a_lambda_beyond_double_precision_is_refused(method):
    X, y = drawn(40)
    with pytest.raises(UsageError, match=f"too small for numbers of double precision; {method} needs"):
        started(method, X, y, C=1e300)
    _, outcome = finished(started(method, X, y, C=1e120), most=200)
    assert np.isfinite(outcome.objective)


@pytest.mark.parametrize(
    ("method", "parameters", "words"),
    [
        ("scs", {"eta1": 1.5}, "eta1"),
        ("scs", {"factor": 1.0}, "factor"),
        ("scs", {"least_radius": 2.0}, "least_radius"),
        ("scs", {"first": 0}, "first"),
        ("scs", {"doubt": -1.0}, "doubt of at least 0"),
        ("scs", {"rate": 1.5}, "rate from 0 to 1"),
        ("scs", {"enough": 0.0}, "enough"),
        ("scs", {"growing": 0.0}, "growing"),
        ("wolfe", {"m1": 0.6}, "m1"),
        ("wolfe", {"n": 1.0}, "n > 1"),
        ("wolfe", {"keep": "full", "size": 1}, "size"),
        ("wolfe", {"keep": "full", "path": 0.0}, "path"),
        ("pegasos", {"batch": 0}, "batch"),
    ],
)
def test_constants_that_make_no_sense_are_refused(method, parameters, words):
    X, y = drawn(30)
    with pytest.raises(UsageError, match=words):
        started(method, X, y, parameters=parameters)


def test_wolfe_says_when_its_matrix_does_not_fit():
    X, y = drawn(600)
    with pytest.raises(UsageError, match="600 rows, 1 MiB, but cache-mb is 1"):
        started("wolfe", X, y, cache_mib=1)


def test_a_bundle_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 100 << 20)
    X, y = drawn(60)
    for size in (4000, 60_000):  # 4000 x 4000 products, and 4 vectors of 60 numbers each
        with pytest.raises(UsageError, match=r"wolfe on 60 rows .* would take"):
            fwsvm.train(X, y, method="wolfe", gamma=0.1, parameters={"keep": "full", "size": size}, threads=1)
    assert fwsvm.train(X, y, method="wolfe", gamma=0.1, parameters={"size": 60_000}, threads=1).certified


def test_wolfe_does_not_depend_on_how_the_steps_are_asked_for():
    X, y = drawn(200)
    one, other = (started("wolfe", X, y, C=10.0) for _ in range(2))
    one.advance(40)
    for _ in range(20):
        other.advance(2)
    assert np.array_equal(one.state.alpha, other.state.alpha)


def test_wolfe_stops_by_the_length_of_a_subgradient():
    X, y = drawn(100)
    p = started("wolfe", X, y, lambda_=1.0, stop="eps", tolerance=1e-4)
    status, outcome = finished(p)
    assert status is Status.SAMPLED_STOP
    assert p.state.now["gradient2"][0] <= 1e-8
    assert outcome.gap <= 1e-8 / 2 + 1e-6  # |g|^2 / (2 lambda), and float32
