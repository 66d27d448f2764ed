"""liblinear and avsf: the machines that LIBLINEAR and general optimisers find, and rows at the edge."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from fwsvm.data import load
from fwsvm.errors import UsageError
from fwsvm.solvers import Status
from tests.solvers.problems import text_like, train

each_method = pytest.mark.parametrize("method", ["liblinear", "avsf"])
each_loss = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def solved(method, X, y, loss="hinge", bias=0.0, **given):
    """Return a certified result whose objective is the primal value of its machine, and the weights."""
    weights = given.get("weights")
    found = train(method, X, y, parameters={"loss": loss, "bias": bias}, **{"tolerance": 1e-8, **given})
    assert found.certified, found.message
    w = found.model.weights[0]
    b = found.model.biases[0] if bias else 0.0
    slack = np.maximum(0.0, 1.0 - y * found.model.decision(X)[:, 0])
    penalties = found.settings["C"] * (np.ones(len(y)) if weights is None else weights)
    primal = 0.5 * (w @ w + b * b) + penalties @ (slack**2 if loss == "squared_hinge" else slack)
    assert found.objective == pytest.approx(primal, rel=1e-9)
    assert found.gap == pytest.approx(found.objective - found.dual, abs=1e-12 * primal)
    return found, w


def by_liblinear(X, y, C, loss):
    """Return the primal value that LIBLINEAR reaches."""
    svm = pytest.importorskip("sklearn.svm")
    X = sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    peer = svm.LinearSVC(
        loss=loss, C=C, dual=True, fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0
    )
    w = peer.fit(X, y).coef_[0]
    slack = np.maximum(0.0, 1.0 - y * (X @ w))
    return 0.5 * w @ w + C * (slack**2 if loss == "squared_hinge" else slack).sum()


@each_loss
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_liblinear_reaches_the_same_primal_value(loss, C):
    X, y = text_like(11, m=200, n=80)
    theirs = by_liblinear(X, y, C, loss)
    for method in ("liblinear", "avsf"):
        found, _ = solved(method, X, y, loss, C=C, tolerance=1e-6)
        assert found.objective == pytest.approx(theirs, rel=2e-6)
        assert found.dual <= theirs * (1 + 1e-12)


@each_method
@each_loss
def test_a_bias_feature_is_a_constant_column(method, loss):
    X, y = text_like(13)
    column = sparse.csr_array(sparse.hstack([X, np.full((X.shape[0], 1), 2.0)]))
    one, _ = solved(method, X, y, loss, bias=2.0)
    other, _ = solved(method, column, y, loss)
    assert one.objective == pytest.approx(other.objective, rel=1e-7)
    np.testing.assert_allclose(one.model.decision(X), other.model.decision(column), atol=1e-3)


# heart_scale and a1a without bias: dual coordinate descent run to a small gap, BFGS for squared hinge
KNOWN = [("hinge", 0.1, 10.5774031), ("hinge", 1.0, 96.498278), ("squared_hinge", 10.0, 1207.95552979)]


@pytest.mark.mirror
@each_method
@pytest.mark.parametrize(("loss", "C", "optimum"), KNOWN)
def test_heart_scale_has_its_known_optima(method, loss, C, optimum):
    path = Path(os.environ.get("FWSVM_MIRROR", "nowhere"), "heart_scale")
    if not path.is_file():
        pytest.skip("FWSVM_MIRROR has no heart_scale")
    rows = load(path).train
    found, _ = solved(method, rows.X, np.asarray(rows.labels, float), loss, C=C, tolerance=1e-6)
    assert found.dual <= optimum * (1 + 1e-7)
    assert found.objective == pytest.approx(optimum, rel=2e-6)


# ------------------------------------------------------------------ rows at the edge


@each_method
@each_loss
def test_rows_without_features_cost_c_each(method, loss):
    X, y = text_like(21)
    more = sparse.csr_array(sparse.vstack([X, sparse.csr_array((5, X.shape[1]))]))
    one, _ = solved(method, X, y, loss, C=2.0)
    other, _ = solved(method, more, np.append(y, [1, 1, -1, 1, -1]), loss, C=2.0)
    assert other.objective == pytest.approx(one.objective + 5 * 2.0, rel=1e-7)
    empty, w = solved(method, sparse.csr_array((4, 3)), np.array([1.0, -1, 1, 1]), loss, C=3.0)
    assert (empty.objective, empty.dual, empty.gap) == (12.0, 12.0, 0.0)
    assert not w.any()


@each_method
def test_stored_zeros_are_no_features_and_a_column_given_twice_is_the_sum(method):
    indices = np.array([0, 0, 1, 1, 0, 2])
    starts = np.array([0, 3, 6])
    X = sparse.csr_array((np.array([1.0, 2.0, -1.0, 1.0, 0.5, 0.0]), indices, starts), (2, 3))
    y = np.array([1.0, -1.0])
    one = solved(method, X, y)[1]
    other = solved(method, X.toarray(), y)[1]
    np.testing.assert_array_equal(one, other)


@each_method
def test_each_stopping_rule_is_kept(method):
    X, y = text_like(29)
    assert train(method, X, y, C=10.0, tolerance=1e-2).relative_gap <= 1e-2
    assert train(method, X, y, C=10.0, stop="gap", tolerance=1e-2).gap <= 1e-2
    assert train(method, X, y, C=10.0, tolerance=1.0).iterations == 0  # w = 0 has that gap
    published = train(method, X, y, C=10.0, stop="eps", tolerance=1e-4)
    assert published.relative_gap < 1e-3  # the pseudo code of 002, read literally, stops after one sweep
    assert published.iterations > len(y)
    tight = train(method, X, y, tolerance=1e-300)
    assert tight.status in {Status.STALLED, Status.CONVERGED}
    assert tight.relative_gap < 1e-11


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"p_min": 0.0}, "p_min"),
        ({"c": -0.2}, "p_min"),
        ({"c": float("nan")}, r"parameter c of method avsf .*nan"),
    ],
)
def test_constants_of_avsf_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(UsageError, match=words):
        train("avsf", *text_like(20), parameters=wrong)
