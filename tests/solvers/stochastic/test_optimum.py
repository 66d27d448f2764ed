"""wolfe and scs against an independent solver; lambda = 1 against the closed form."""

import os
from pathlib import Path

import numpy as np
import pytest

import fwsvm.data
from fwsvm.data.labels import encode
from fwsvm.status import Status
from tests.solvers.certified import machine
from tests.solvers.certified import outcome as outcome_from_scratch
from tests.solvers.stochastic.problems import drawn, finished, gram, objective, optimum, started

#: SCS from a small sample on, so that it has to grow before it holds all rows.
METHODS = {
    "wolfe": ("wolfe", {}),
    "wolfe, full bundle": ("wolfe", {"keep": "full"}),
    "scs": ("scs", {"first": 100, "more": 100, "largest": 5000}),
}
MIRROR = os.environ.get("FWSVM_MIRROR")


def check(name, X, y, C):
    m, (method, parameters) = len(y), METHODS[name]
    Q, lam = gram(X), 1.0 / (C * m)
    process = started(method, X, y, C=C, parameters=parameters)
    _, outcome = finished(process, most=1500)
    solution = process.iterate()
    alpha = np.zeros(m)
    alpha[solution.rows] = solution.alpha
    bound = optimum(Q, y, lam)
    reached = objective(Q, y, lam, alpha)
    assert reached <= 1.01 * bound / (1 - 1e-3)
    assert outcome.gap_kind == "exact"
    assert outcome.objective == pytest.approx(reached, rel=1e-9)
    assert outcome.dual <= reached
    assert outcome.dual <= bound / (1 - 1e-3)
    assert outcome.gap == pytest.approx(outcome.primal - outcome.dual)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", METHODS)
def test_random_problems(name, C):
    check(name, *drawn(300), C)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", METHODS)
def test_wdbc(name, C):
    check(name, *rows_of("wdbc", 5000), C)


@pytest.mark.mirror
@pytest.mark.skipif(MIRROR is None, reason="FWSVM_MIRROR is not set")
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("data", ["heart-failure", "wine-quality-red", "magic", "room-occupancy"])
@pytest.mark.parametrize("name", METHODS)
def test_the_papers_sets(name, data, C):
    check(name, *rows_of(data, 1200), C)


def rows_of(name, most):
    data = fwsvm.data.load(name, mirror=Path(MIRROR) if MIRROR else None, offline=True)
    codes = encode(data.train.labels, data.classes)
    chosen = np.random.default_rng(0).permutation(len(codes))[:most]
    return np.asarray(data.train.X[chosen]), np.where(codes[chosen] == 0, 1.0, -1.0)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("method", ["wolfe", "scs"])
def test_lambda_one_is_the_difference_of_the_class_means(method, kernel):
    X, y = drawn(150, seed=3)
    m = len(y)
    process = started(method, X, y, lambda_=1.0, kernel=kernel, gamma=0.3, tolerance=1e-7)
    status, outcome = finished(process)
    solution = process.iterate()
    alpha = np.zeros(m)
    alpha[solution.rows] = solution.alpha
    Q = gram(X, 0.3, kernel)
    assert status is Status.CONVERGED
    assert outcome.objective == pytest.approx(1.0 - y @ Q @ y / (2 * m * m), rel=1e-7)
    apart = alpha - y / m
    assert apart @ Q @ apart <= 2 * outcome.gap + 1e-15  # f is 1-strongly convex in the kernel's space


@pytest.mark.parametrize("method", ["wolfe", "scs"])
def test_the_euclidean_reading_ends_at_the_same_optimum(method):
    X, y = drawn(80, seed=1)
    lam = 1.0 / (0.3 * len(y))
    process = started(method, X, y, C=0.3, parameters={"metric": "euclid"}, tolerance=5e-3)
    status, outcome = finished(process)
    assert status is Status.CONVERGED
    assert outcome.objective <= optimum(gram(X), y, lam) * 1.01


@pytest.mark.parametrize("method", ["wolfe", "scs"])
def test_the_euclidean_reading_does_not_stop_far_from_the_optimum_where_kernel_values_are_small(method):
    """The optimum of one feature y 1e-3 has hinge losses of 1/2; subgradients are shorter than 1e-6."""
    y = np.repeat([1.0, -1.0], 50)
    X = 1e-3 * y[:, None]
    process = started(
        method, X, y, C=5000.0, kernel="linear", parameters={"metric": "euclid"}, tolerance=1e-3
    )
    status, outcome = finished(process)
    assert status is Status.CONVERGED
    assert outcome.objective == pytest.approx(optimum(X @ X.T, y, 1 / (5000.0 * 100)), rel=2e-3)


@pytest.mark.parametrize("method", ["wolfe", "scs", "pegasos"])
def test_rows_far_from_the_origin_have_the_optimum_of_rows_near_it(method):
    X, y = drawn(300)
    bound = optimum(gram(X, 0.1), y, 1 / 300)
    process = started(method, X + 1e5, y, C=1.0, gamma=0.1)
    if method == "pegasos":
        process.advance(3000)
    _, found = finished(process, most=1500) if method != "pegasos" else (None, outcome_from_scratch(process))
    assert bound * (1 - 1e-3) <= found.objective <= bound * (1.1 if method == "pegasos" else 1.01)


@pytest.mark.parametrize("averaging", [False, True])
def test_the_estimate_of_rows_far_from_the_origin_is_that_of_rows_near_it(averaging, monkeypatch):
    monkeypatch.setattr("fwsvm.solvers.stochastic.iterate.EXACT_ROWS", 100)
    monkeypatch.setattr("fwsvm.problems.hinge.FIXED_SAMPLE", 200)
    X, y = drawn(300)
    found = []
    for rows in (X, X + 1e5):
        process = started("pegasos", rows, y, C=1.0, gamma=0.1, parameters={"averaging": averaging})
        process.advance(500)
        found.append(outcome_from_scratch(process))
    assert found[1].gap_error > 0
    assert found[1].objective == pytest.approx(found[0].objective, rel=1e-5)
    assert found[1].gap_error == pytest.approx(found[0].gap_error, rel=1e-4)


def test_sparse_rows_give_the_machine_of_dense_ones():
    from scipy.sparse import csr_array

    X, y = drawn(120)
    X[np.abs(X) < 0.7] = 0.0
    for method in ("wolfe", "scs", "pegasos"):
        dense, sparse = (started(method, kind, y, C=1.0, gamma=0.2) for kind in (X, csr_array(X)))
        dense.advance(60)
        sparse.advance(60)
        assert np.array_equal(machine(dense).rows, machine(sparse).rows)
        assert np.array_equal(machine(dense).coefficients, machine(sparse).coefficients)
