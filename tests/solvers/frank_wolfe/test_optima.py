"""Optima of real data against code by others: NNLS, LIBLINEAR, and values computed elsewhere."""

import functools
import os
from pathlib import Path

import numpy as np
import pytest

from fwsvm import data
from fwsvm.data import labels
from fwsvm.solvers import Settings, fit
from tests import naive
from tests.solvers.frank_wolfe.running import SIMPLEX

# spec of the peers, section 4B: LIBLINEAR's optimum P* by f* = 1/(2 P*), and NNLS on the Cholesky factor
HEART_SCALE = [
    ("linear", None, 1.0, 0.00862505172335),
    ("linear", None, 100.0, 8.75192224815e-05),
    ("rbf", 1 / 13, 1.0, 0.00862867517432),
    ("rbf", 1 / 13, 10.0, 0.00132481902638),
    ("rbf", 1 / 13, 100.0, 0.000315424164277),
    ("rbf", 0.0842392664, 1.0, 0.00872121924552),
    ("rbf", 0.0842392664, 100.0, 0.000345821806322),
]


def trained(X, codes, method: str, kernel: str, gamma: float | None, C: float, tolerance: float):
    """Return a result; fw, whose gap falls as 1/steps, is given a limit of steps and may end before it is there."""
    limit = 20_000 if method == "fw" else None
    chosen = Settings(
        method=method, kernel=kernel, gamma=gamma, C=C, tolerance=tolerance, max_iterations=limit, threads=1
    )
    result = fit(X, codes, ("1", "-1"), chosen)
    assert result.certified or method == "fw"
    assert result.gap_kind == "exact"
    return result


@pytest.mark.mirror
@pytest.mark.skipif(
    not Path(os.environ.get("FWSVM_MIRROR", ""), "heart_scale").is_file(),
    reason="FWSVM_MIRROR has no heart_scale",
)
@pytest.mark.parametrize("method", SIMPLEX)
@pytest.mark.parametrize(("kernel", "gamma", "C", "optimum"), HEART_SCALE)
def test_heart_scale(method, kernel, gamma, C, optimum):
    rows = data.load(Path(os.environ["FWSVM_MIRROR"]) / "heart_scale").train
    result = trained(rows.X, labels.encode(rows.labels, ("1", "-1")), method, kernel, gamma, C, 1e-6)
    digits = 2e-9  # gamma is known to ten of them
    assert -digits * optimum <= result.objective - optimum <= result.gap + digits * optimum
    assert result.primal >= 1.0 / (2.0 * optimum) * (1 - digits)
    assert result.dual <= 1.0 / (2.0 * optimum) * (1 + digits)


@functools.cache
def wdbc():
    loaded = data.load("wdbc", offline=True)
    X = loaded.train.X
    return X.toarray() if hasattr(X, "toarray") else X, labels.encode(loaded.train.labels, loaded.classes)


@functools.cache
def optimum_by_nnls(kernel, gamma, C):
    X, codes = wdbc()
    y = 1.0 - 2.0 * codes
    K = naive.extended(naive.gram(kernel, X, X, *[gamma] * (gamma is not None)), y, C)
    best = naive.simplex_optimum(K)
    return best @ K @ best


@pytest.mark.parametrize("method", SIMPLEX)
@pytest.mark.parametrize(("kernel", "gamma", "C"), [("rbf", 0.5, 10.0), ("linear", None, 1.0)])
def test_wdbc_by_nnls(method, kernel, gamma, C):
    result = trained(*wdbc(), method, kernel, gamma, C, 1e-5)
    over = result.objective - optimum_by_nnls(kernel, gamma, C)
    assert -1e-9 * result.objective <= over <= result.gap


def test_wdbc_by_liblinear():
    """The squared hinge with C/2 and a constant feature is the same machine, weight by weight (spec 1.3)."""
    svm = pytest.importorskip("sklearn.svm")
    X, codes = wdbc()
    y, C = 1.0 - 2.0 * codes, 4.0
    result = trained(X, codes, "swap-2o", "linear", None, C, 1e-10)
    model = result.model
    weights = model.support.T @ model.coefficients[:, 0]
    other = svm.LinearSVC(
        loss="squared_hinge", C=C / 2, fit_intercept=False, dual=False, tol=1e-12, max_iter=100_000
    )
    other.fit(np.column_stack([X, np.ones(len(X))]), y)
    expected = other.coef_[0]
    np.testing.assert_allclose(weights, expected[:-1], atol=1e-4 * abs(expected).max())
    assert model.biases[0] == pytest.approx(expected[-1], abs=1e-4 * abs(expected).max())
    primal = (
        0.5 * expected @ expected
        + C / 2 * (np.maximum(0, 1 - y * (X @ expected[:-1] + expected[-1])) ** 2).sum()
    )
    assert result.primal == pytest.approx(primal, rel=1e-8)
    assert result.objective == pytest.approx(1 / (2 * primal), rel=1e-8)
    np.testing.assert_array_equal(model.predict(X) == 0, other.decision_function(
        np.column_stack([X, np.ones(len(X))])) > 0)  # fmt: skip
