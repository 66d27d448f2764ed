"""The primal value that others reach: LIBLINEAR, its known optima, scipy, a problem with a bias column."""

import functools
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, sparse

from fwsvm.data import load
from fwsvm.data.formats.svmlight import read
from tests.solvers.certified import machine, outcome
from tests.solvers.dual_coordinate.running import METHODS, solve, text_like


def primal(w: np.ndarray, X: sparse.csr_array, y: np.ndarray, C: float, *, squared: bool = False) -> float:
    t = np.maximum(0.0, 1.0 - y * (X @ w))
    return float(0.5 * w @ w + C * (t**2 if squared else t).sum())


def of_liblinear(X: sparse.csr_array, y: np.ndarray, C: float, *, squared: bool, tol: float = 1e-8) -> float:
    """Return the primal value that LIBLINEAR's dual coordinate descent reaches."""
    svm = pytest.importorskip("sklearn.svm")
    loss = "squared_hinge" if squared else "hinge"
    peer = svm.LinearSVC(
        loss=loss, C=C, dual=True, fit_intercept=False, tol=tol, max_iter=1_000_000, random_state=0
    )
    X = sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return primal(peer.fit(X, y).coef_[0], X, y, C, squared=squared)


@functools.cache
def text() -> tuple[sparse.csr_array, np.ndarray]:
    return text_like(11, m=200, n=80)


@functools.cache
def wdbc() -> tuple[sparse.csr_array, np.ndarray]:
    """Return wdbc with the largest value of each feature 1."""
    data = load("wdbc")
    X, y = sparse.csr_array(data.train.X), np.where(data.train.labels == data.train.labels.max(), 1.0, -1.0)
    return sparse.csr_array(X.multiply(1.0 / np.abs(X).max(axis=0).toarray().ravel())), y


@functools.cache
def text_by_liblinear(loss: str, C: float) -> float:
    return of_liblinear(*text(), C, squared=loss == "squared_hinge")


@functools.cache
def wdbc_by_liblinear(C: float) -> float:
    return of_liblinear(*wdbc(), C, squared=False, tol=1e-5)


@functools.cache
def file_by_liblinear(name: str, C: float) -> float:
    return of_liblinear(*of_mirror(name), C, squared=False)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1000.0])
def test_liblinear_reaches_the_same_primal_value_on_random_problems(method, loss, C):
    X, y = text()
    theirs = text_by_liblinear(loss, C)
    run = solve(method, X, y, C, loss=loss, tolerance=1e-6)
    found = outcome(run)
    assert found.objective == pytest.approx(theirs, rel=2e-6)
    assert found.dual <= theirs * (1 + 1e-12)
    w = machine(run).weights
    assert primal(w, X, y, C, squared=loss == "squared_hinge") == pytest.approx(found.objective, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
def test_liblinear_reaches_the_same_primal_value_on_wdbc(method, C):
    found = outcome(solve(method, *wdbc(), C, tolerance=1e-5))
    assert found.objective == pytest.approx(wdbc_by_liblinear(C), rel=2e-5)


@pytest.mark.parametrize("method", METHODS)
def test_squared_hinge_has_the_optimum_that_a_general_optimiser_finds(method):
    X, y = text_like(12)
    found = outcome(solve(method, X, y, 3.0, loss="squared_hinge", tolerance=1e-8))

    def value_and_slope(w):
        t = np.maximum(0.0, 1.0 - y * (X @ w))
        return 0.5 * w @ w + 3.0 * (t**2).sum(), w - 6.0 * X.T @ (y * t)

    best = optimize.minimize(
        value_and_slope, np.zeros(X.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-7}
    )
    assert found.objective == pytest.approx(best.fun, rel=1e-7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_bias_feature_is_a_constant_column(method, loss):
    X, y = text_like(13)
    column = sparse.csr_array(sparse.hstack([X, np.full((X.shape[0], 1), 2.0)]))
    with_bias = solve(method, X, y, 1.0, loss=loss, bias=2.0, tolerance=1e-8)
    with_column = solve(method, column, y, 1.0, loss=loss, tolerance=1e-8)
    a, b = outcome(with_bias), outcome(with_column)
    assert a.objective == pytest.approx(b.objective, rel=1e-7)
    one, w = machine(with_bias), machine(with_column).weights
    np.testing.assert_allclose(X @ one.weights + 2.0 * one.bias, column @ w, atol=1e-3)


# heart_scale without bias: optima of dual coordinate descent run to a small gap, of BFGS for squared hinge
HEART = [("hinge", 0.1, 10.5774031), ("hinge", 1.0, 96.498278),
         ("squared_hinge", 0.1, 12.4187023312), ("squared_hinge", 1.0, 121.134724437),
         ("squared_hinge", 10.0, 1207.95552979)]  # fmt: skip


def of_mirror(name: str) -> tuple[sparse.csr_array, np.ndarray]:
    """Return a file's rows and labels, the largest label +1; skip the test where there is no mirror."""
    file = Path(os.environ.get("FWSVM_MIRROR", "")) / name
    if not os.environ.get("FWSVM_MIRROR") or not file.is_file():
        pytest.skip(f"{name} is not in a folder named by FWSVM_MIRROR")
    table, _ = read(file)
    return sparse.csr_array(table.X), np.where(table.labels == table.labels.max(), 1.0, -1.0)


@pytest.mark.mirror
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("loss", "C", "optimum"), HEART)
def test_heart_scale_has_its_known_optima(method, loss, C, optimum):
    X, y = of_mirror("heart_scale")
    found = outcome(solve(method, X, y, C, loss=loss, tolerance=1e-6))
    assert found.dual <= optimum * (1 + 1e-7)
    assert found.objective == pytest.approx(optimum, rel=2e-6)


@pytest.mark.mirror
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("name", "C"), [("a1a", 0.01), ("a1a", 1.0), ("w1a", 0.1), ("w1a", 1.0), ("splice", 0.01)]
)
def test_liblinear_reaches_the_same_primal_value_on_real_sets(method, name, C):
    theirs = file_by_liblinear(name, C)
    found = outcome(solve(method, *of_mirror(name), C, tolerance=1e-4))
    assert found.dual <= theirs * (1 + 1e-9)
    assert found.objective == pytest.approx(theirs, rel=1e-4)
