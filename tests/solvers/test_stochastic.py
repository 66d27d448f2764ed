"""wolfe, scs and pegasos against an independent solver of the dual, closed forms, and the laws of their samples."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from fwsvm.errors import UsageError
from fwsvm.kernels.polynomial import Linear
from fwsvm.kernels.rows import as_rows
from fwsvm.kernels.source import RowSource
from fwsvm.problems.hinge import FIXED_SAMPLE, certificate, estimate
from fwsvm.solvers import Settings, Status, fit
from tests import naive
from tests.solvers.problems import train

#: scs from a small sample on, so that it has to grow before it holds all rows.
GROWING = {"first": 100, "more": 100, "largest": 5000}
#: scs on at most 100 rows.
SMALL = {"first": 20, "more": 10, "largest": 100}
each_method = pytest.mark.parametrize("method", ["wolfe", "scs", "pegasos"])


def drawn(m: int, seed: int = 0, n: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels that no machine separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def optimum(X, y, C, **kernel):
    """Return bounds on min f = lambda/2 |w|^2 + mean hinge, lambda = 1 / (C m)."""
    Q = np.outer(y, y) * naive.gram(X=X, Z=X, **kernel)
    lower, upper = naive.box_optimum(Q, np.full(len(y), C))
    assert upper - lower <= 1e-3 * upper, "the oracle is not good enough"
    return lower / (C * len(y)), upper / (C * len(y))


@pytest.mark.parametrize(
    "C", [pytest.param(0.1, marks=pytest.mark.slow), 1.0, pytest.param(10.0, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("wolfe", {}),
        ("wolfe", {"keep": "full"}),
        ("scs", GROWING),
        ("scs", {**GROWING, "test": "kept", "growth": "theory", "last": "kept"}),
    ],
)
def test_the_optimum_is_reached(method, parameters, C):
    X, y = drawn(300)
    found = train(method, X, y, C=C, gamma=0.2, parameters=parameters, max_iterations=1500)
    lower, upper = optimum(X, y, C, kernel="rbf", gamma=0.2)
    assert lower * (1 - 1e-9) <= found.objective <= 1.01 * upper
    assert found.gap_kind == "exact"
    assert found.dual <= upper * (1 + 1e-9)
    assert found.gap == pytest.approx(found.primal - found.dual)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("method", ["wolfe", "scs"])
def test_lambda_one_is_the_difference_of_the_class_means(method, kernel):
    X, y = drawn(150, seed=3)
    found = train(method, X, y, lambda_=1.0, kernel=kernel, gamma=0.3, tolerance=1e-7)
    Q = naive.gram(kernel, X, X, 0.3)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(1.0 - y @ Q @ y / (2 * 150 * 150), rel=1e-7)
    assert found.model.decision(X)[:, 0] == pytest.approx(Q @ y / 150, abs=1e-3)


@pytest.mark.parametrize("method", ["wolfe", "scs"])
def test_the_euclidean_metric_ends_at_the_same_optimum(method):
    X, y = drawn(80, seed=1)
    euclid = {"parameters": {"metric": "euclid"}}
    found = train(method, X, y, C=0.3, gamma=0.2, tolerance=5e-3, **euclid)
    assert found.certified
    assert found.objective <= optimum(X, y, 0.3, kernel="rbf", gamma=0.2)[1] * 1.01
    # kernel values of 1e-6: subgradients are short far from the optimum, where hinge losses are 1/2
    y = np.repeat([1.0, -1.0], 50)
    found = train(method, 1e-3 * y[:, None], y, C=5000.0, kernel="linear", tolerance=1e-3, **euclid)
    assert found.certified
    assert found.objective == pytest.approx(0.75, rel=2e-3)  # w = 500: lambda/2 w^2 + 1/2 with lambda = 2e-6


def test_pegasos_comes_near_the_optimum():
    X, y = drawn(200)
    found = train("pegasos", X, y, lambda_=0.05, gamma=0.2, max_iterations=40_000)
    lower, upper = optimum(X, y, 1 / (0.05 * 200), kernel="rbf", gamma=0.2)
    assert lower * (1 - 1e-9) <= found.objective <= 1.02 * upper
    assert found.gap_kind == "exact"
    assert found.dual <= upper


def test_steps_of_pegasos_are_multiples_of_one_over_lambda_t():
    """Figure 3 of the paper: each violator met adds y / (lambda t) in the end, whenever it was met."""
    X, y = drawn(60)
    given = {"lambda_": 0.05, "gamma": 0.2, "tolerance": 1e-6, "max_iterations": 150}
    found = train("pegasos", X, y, **given)
    counts = np.abs(found.model.coefficients[:, 0]) * 0.05 * 150
    np.testing.assert_allclose(counts, counts.round(), atol=1e-6)
    assert 0 < counts.sum() <= 150 * (1 + 1e-9)
    first = train("pegasos", X, y, **given | {"max_iterations": 1})
    assert np.abs(first.model.coefficients).sum() == pytest.approx(1 / 0.05)  # all rows violate at w = 0


@each_method
def test_rows_far_from_the_origin_have_the_optimum_of_rows_near_it(method):
    X, y = drawn(300)
    most = 3000 if method == "pegasos" else 1500
    found = train(method, X + 1e5, y, C=1.0, gamma=0.1, max_iterations=most)
    lower, upper = optimum(X, y, 1.0, kernel="rbf", gamma=0.1)
    assert lower * (1 - 1e-3) <= found.objective <= upper * (1.1 if method == "pegasos" else 1.01)


# ------------------------------------------------------------------ samples and stops


def test_a_sample_smaller_than_the_data_certifies_nothing():
    X, y = drawn(500)
    parameters = {"first": 50, "more": 50, "largest": 200}
    found = train("scs", X, y, C=0.1, gamma=0.2, parameters=parameters)
    assert found.status is Status.SAMPLED_STOP
    assert found.gap_kind == "exact"
    assert found.gap > 0
    assert found.support_vectors <= 200


@pytest.mark.parametrize("method", ["scs", "pegasos"])
def test_many_rows_have_an_estimate_with_its_error(method):
    X, y = drawn(60_000, n=3)
    parameters = SMALL if method == "scs" else {}
    found = train(method, X, y, lambda_=0.01, gamma=0.2, parameters=parameters, max_iterations=50)
    decision = found.model.decision(X)[:, 0]
    S = found.model.support
    v = found.model.coefficients[:, 0]
    truth = 0.005 * v @ naive.gram("rbf", S, S, 0.2) @ v + np.maximum(0.0, 1.0 - y * decision).mean()
    assert found.gap_kind == "estimate" if method == "scs" else found.gap_kind in {"estimate", "none"}
    assert not found.certified
    assert 0 < found.gap_error < 0.1
    assert abs(found.objective - truth) < 4 * found.gap_error


def test_the_papers_rules_stop():
    X, y = drawn(200)
    parameters = {"first": 50, "more": 50, "least_radius": 0.01}
    found = train("scs", X, y, C=0.1, gamma=0.2, stop="eps", tolerance=0.05, parameters=parameters)
    assert found.status in {Status.SAMPLED_STOP, Status.CONVERGED}
    found = train("wolfe", X, y, lambda_=1.0, gamma=0.2, stop="eps", tolerance=1e-4)
    assert found.status in {Status.SAMPLED_STOP, Status.CONVERGED}
    assert found.gap <= 1e-8 / 2 + 1e-6  # |g|^2 / (2 lambda), and float32
    with pytest.raises(UsageError, match="stop of pegasos must be relative, not 'eps'"):
        train("pegasos", X, y, stop="eps")


@pytest.mark.parametrize(
    ("method", "given", "words"),
    [
        ("scs", {"eta1": 1.5}, "eta1"),
        ("scs", {"factor": 1.0}, "factor"),
        ("wolfe", {"m1": 0.6}, "m1"),
        ("wolfe", {"n": 1.0}, "n > 1"),
        ("wolfe", {"keep": "full", "size": 1}, "size"),
    ],
)
def test_constants_that_make_no_sense_are_refused(method, given, words):
    with pytest.raises(UsageError, match=words):
        train(method, *drawn(30), parameters=given)


def test_an_interrupt_while_wolfe_computes_its_matrix_leaves_the_zero_machine(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("fwsvm.solvers.stochastic.wolfe.kernel_matrix", interrupted)
    found = train("wolfe", *drawn(60))
    assert found.status is Status.INTERRUPTED
    assert (found.objective, found.iterations, found.support_vectors) == (1.0, 0, 0)


@each_method
def test_pairs_of_classes_have_equal_parts_of_a_time_limit(method, monkeypatch):
    seconds = itertools.count(step=0.03)  # by this clock a chunk stays one step
    monkeypatch.setattr("fwsvm.solvers.loop.time", SimpleNamespace(perf_counter=seconds.__next__))
    monkeypatch.setattr("fwsvm.solvers.loop.compile_seconds", lambda: 0.0)
    X, _ = drawn(60)
    settings = Settings(
        method, lambda_=1e-4, kernel="rbf", gamma=0.2, tolerance=1e-9, time_limit=6.0, threads=1
    )
    found = fit(X, np.arange(60) % 4, list("abcd"), settings)
    assert (found.status, found.solved) == (Status.TIME_LIMIT, 6)
    assert found.model.coefficients.any(axis=0).all()


def test_wolfe_says_when_its_matrix_does_not_fit():
    with pytest.raises(UsageError, match="600 rows, 1 MiB, but cache_mib is 1"):
        train("wolfe", *drawn(600), cache_mib=1)


def test_hinge_margins_that_cancel_are_not_certified():
    X = np.array([[1.7e9, 1.0], [1.7e9, 0.8], [1.7e9, -1.0], [1.7e9, -0.9]])
    y = np.array([1.0, 1, -1, -1])
    for method in ("wolfe", "scs"):
        assert not train(method, X, y, kernel="linear", C=1.0).certified
        assert train(method, X[:, 1:], y, kernel="linear", C=1.0).certified


@pytest.mark.parametrize(("a", "lam"), [(1.0, 1.0), (10.0, 0.1)])
def test_one_rows_certificate_and_its_rounding_are_those_of_the_formulas(a, lam):
    """With k(x, x) = 1 rounding is what values are off by times |beta| for the losses, and lambda |beta|^2 / 2."""
    rows = as_rows(np.eye(4))
    alpha = np.array([a])
    u = np.array([0.5])
    _, dual, rounding = certificate(
        Linear(), np.eye(4), np.array([1.0, 1, -1, -1]), lam, np.array([0]), alpha, u, 1
    )
    off = RowSource(rows).diagonal(Linear()).rounding
    assert rounding == pytest.approx(off * (a + 0.5 * lam * a**2), rel=1e-12, abs=0.0)
    b = min(1.0, 0.25 / lam)  # of all 0 <= b <= 1 / (lambda m) the best
    assert dual == pytest.approx(lam * (b - 0.5 * b**2))


@pytest.mark.parametrize(("alpha", "u"), [((7.0, -2.0), (0.0, 0.0)), ((0.0, 0.0), (1.0, 0.0))])
def test_a_dual_value_is_that_of_the_best_point_of_the_box_that_is_given(alpha, u):
    """Of b >= 0 the best is (1, 0), worth lambda / 2; of all b it would be (7, -2), worth five times as much."""
    X = np.array([[1.0, 0.0], [3.0, 1.0]])
    lam = 1 / 14
    _, dual, _ = certificate(Linear(), X, np.ones(2), lam, np.arange(2), np.array(alpha), np.array(u), 1)
    assert dual == pytest.approx(lam / 2)


def test_an_estimate_and_its_error_are_those_of_a_sample_without_replacement():
    m = 2 * FIXED_SAMPLE
    w = np.random.default_rng(0).choice([-1.0, 1.0], m)
    found, error = estimate(Linear(), np.ones((m, 1)), w, 0.5, np.arange(1), np.ones(1), 1.0, 1)
    assert error == pytest.approx(np.sqrt(1 / FIXED_SAMPLE - 1 / m), rel=1e-2)  # a loss is 0 or 2
    assert abs(found - 0.25 - (1.0 - w).mean()) < 4 * error
