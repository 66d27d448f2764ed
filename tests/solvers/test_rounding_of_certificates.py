"""Problems whose numbers cancel, or that ask for more digits than there are: nothing false is certified of them."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import fwsvm
from fwsvm.errors import DataError, RangeError, UsageError

Y = np.array([1, 1, -1, -1])
UNSCALED = pytest.mark.filterwarnings("ignore:the rows are far from scaled:UserWarning")


def simplex_gap(kernel_values, y, weights, C):
    """Return the relative gap 2 (R - min q) / R in exact numbers."""
    total, m = sum(weights), len(y)
    alpha = [weight / total for weight in weights]
    q = [
        sum(int(y[i] * y[j]) * (kernel_values[i][j] + 1) * alpha[j] for j in range(m))
        + alpha[i] / Fraction(C)
        for i in range(m)
    ]
    R = sum(a * b for a, b in zip(alpha, q, strict=True))
    return float(2 * (R - min(q)) / R)


def weights_of(result, X):
    """Return the weights of the rows X in the machine, none for those that are no support vectors."""
    support = [tuple(row) for row in np.asarray(result.model.support)]
    found = dict(zip(support, np.abs(result.model.coefficients[:, 0]), strict=True))
    return [Fraction(float(found.get(tuple(row), 0.0))) for row in X]


@UNSCALED
@pytest.mark.parametrize(("method", "C"), [("wolfe", 1.0), ("wolfe", 1e4), ("scs", 1.0)])
def test_a_hinge_machine_whose_margins_cancel_is_not_certified(method, C):
    X = np.array([[1.7e9, 1.0], [1.7e9, 0.8], [1.7e9, -1.0], [1.7e9, -0.9]])
    assert not fwsvm.train(X, Y, method=method, kernel="linear", C=C, threads=1).certified


@pytest.mark.parametrize("method", ["wolfe", "scs"])
def test_the_same_machine_without_the_large_feature_is_certified(method):
    X = np.array([[1.0], [0.8], [-1.0], [-0.9]])
    assert fwsvm.train(X, Y, method=method, kernel="linear", C=1.0, threads=1).certified


@pytest.mark.parametrize("degree", [100, 1000])
def test_errors_of_a_sum_grow_with_the_degree(degree):
    """(1 + x)^degree is off by degree times what 1 + x is off by."""
    rng = np.random.default_rng(2)
    claims = []
    for e in (1e-5, 3e-6, 1e-6, 1e-3):
        X = np.column_stack([1 + 3 * e * rng.normal(size=4), e * Y * (1 + rng.random(4))])
        settings = {"kernel": "poly", "gamma": 1 / degree, "coef0": 1.0, "degree": degree, "C": 1e14}
        result = fwsvm.train(X, Y, threads=1, **settings)
        exact = [[_inner(u, v, degree) for v in X] for u in X]
        claims.append((result.certified, simplex_gap(exact, Y, weights_of(result, X), 1e14)))
    assert claims[-1][0], "where the errors are small"
    assert all(gap <= 1e-3 for certified, gap in claims if certified)


def _inner(u, v, degree):
    inner = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(u, v, strict=True))
    return (Fraction(1 / degree) * inner + 1) ** degree


def test_errors_of_a_sum_grow_with_the_features():
    rng, n = np.random.default_rng(0), 50_000
    X = np.tile(1.0 + rng.random(n), (4, 1)) / np.sqrt(n)
    X += 1e-7 / np.sqrt(n) * rng.normal(size=(4, n))
    exact = [[sum(Fraction(a) * Fraction(b) for a, b in zip(u, v, strict=True)) for v in X] for u in X]
    for C in (1e6, 1e12, 1e13):
        result = fwsvm.train(X, Y, kernel="linear", C=C, threads=1)
        assert result.certified or C > 1e6
        assert not result.certified or simplex_gap(exact, Y, weights_of(result, X), C) <= 1e-3


@pytest.mark.parametrize(("C", "tolerance"), [(1e14, 1e-3), (1e9, 1e-8), (1e6, 1e-11)])
def test_products_of_a_linear_machine_are_never_exact(C, tolerance):
    rng, n = np.random.default_rng(24), 10
    d, v = rng.normal(size=n), rng.normal(size=n)
    d /= np.linalg.norm(d)
    v -= d * (v @ d)
    v /= np.linalg.norm(v)
    X = np.stack([v + d, v - d, v + 2 * d + 0.1 * rng.normal(size=n), v - 3 * d])
    y = [1, -1, 1, -1]
    settings = {"C": C, "tolerance": tolerance, "parameters": {"loss": "hinge"}}
    result = fwsvm.train(X, y, method="liblinear", threads=1, **settings)

    def primal(w):
        margins = [
            t * sum(a * Fraction(float(b)) for a, b in zip(w, x, strict=True))
            for t, x in zip(y, X, strict=True)
        ]
        return sum(a * a for a in w) / 2 + Fraction(C) * sum(
            max(Fraction(0), 1 - margin) for margin in margins
        )

    w = [Fraction(float(a)) for a in result.model.weights[0]]
    better = min(primal([a * (1 + j * Fraction(1e-15)) for a in w]) for j in (2, 5, 10, 100))
    assert result.certified
    assert float((primal(w) - better) / primal(w)) <= tolerance


def test_a_large_penalty_is_no_reason_to_give_up_a_linear_machine():
    """Rows on their margin are put past it by what their products are rounded by."""
    X, y = np.array([[1.0, 0.3], [0.9, -0.2], [-1.0, 0.1], [-0.8, 0.2]]), [1, 1, -1, -1]
    assert fwsvm.train(X, y, method="avsf", C=1e12, threads=1, parameters={"loss": "hinge"}).certified


def test_the_constant_of_rows_without_features_is_their_own_penalties():
    rng, m = np.random.default_rng(9), 39
    cloud = 0.2 * rng.normal(size=(m, 2)) + np.array([[3.0, 0]]) * rng.choice([-1, 1], size=m)[:, None]
    X = np.concatenate([[[1.0, 0.3], [-1.0, 0.2]], cloud, np.zeros((1, 2))])[::-1].copy()
    y = np.where(X[:, 0] > 0, 1, -1)
    y[0] = 1
    weights = np.concatenate([[1e-3], rng.random(len(y) - 1) * 1e17])
    result = fwsvm.train(
        X, y, method="avsf", C=1.0, weights=weights, threads=1, tolerance=0.05, parameters={"loss": "hinge"}
    )
    w = result.model.weights[0]
    primal = 0.5 * w @ w + weights @ np.maximum(0, 1 - y * (X @ w))
    assert result.objective == pytest.approx(primal, rel=0.05)


def test_a_large_row_of_a_kernel_matrix_hides_nothing_of_the_others():
    K = np.array([[1, 0.9, 0.9, 0], [-0.9, 1, 0.2, 0], [-0.9, 0.2, 1, 0], [0, 0, 0, 1e9]])
    with pytest.raises(DataError, match="not symmetric"):
        fwsvm.train(K, [1, -1, -1, 1], kernel="precomputed", threads=1)
    e = 1e-7
    K = np.array([
        [1, 1 + 2 * e, 1 - 5 * e, 0], [1 + 2 * e, 1 - 8 * e, 1 - 5 * e, 0],
        [1 - 5 * e, 1 - 5 * e, 1, 1e-3], [0, 0, 1e-3, 2e8],
    ])  # fmt: skip
    with pytest.raises(DataError, match="not positive semidefinite"):
        fwsvm.train(K, Y, kernel="precomputed", C=1e12, method="decomposition", threads=1)


@pytest.mark.parametrize("method", ["newton", "auto"])
def test_a_tighter_tolerance_ends_at_no_worse_a_point(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1, -1)
    loose, tight = (
        fwsvm.train(X, y, method=method, C=1e6, kernel="linear", tolerance=tolerance, threads=1)
        for tolerance in (1e-6, 1e-9)
    )
    assert tight.objective <= loose.objective * (1.0 + 1e-6)


@UNSCALED
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8, 1.7e9])
def test_sparse_rows_have_the_default_width_of_dense_ones(offset):
    rng = np.random.default_rng(0)
    X = offset + rng.normal(size=(40, 2))
    X[rng.random((40, 2)) < 0.2] = 0.0
    y = np.arange(40) % 2
    found = [fwsvm.train(rows, y, threads=1).settings["gamma"] for rows in (X, sparse.csr_array(X))]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    X = offset + rng.normal(size=(40, 2))
    found = [fwsvm.train(rows, y, threads=1).settings["gamma"] for rows in (X, sparse.csr_array(X))]
    assert found[0] == pytest.approx(found[1], rel=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly"])
def test_rows_without_a_decision_value_are_not_labelled(kernel):
    X = np.array([[0.0, 1], [1, 0], [0.2, 0.9], [0.9, 0.3]])
    result = fwsvm.train(X, [1, -1, 1, -1], kernel=kernel, threads=1)
    with pytest.raises(UsageError, match="not finite numbers"):
        fwsvm.predict(result, [[np.nan, 1.0]])
    if kernel == "poly":
        with pytest.raises(RangeError, match="row 1 of these 1"):
            fwsvm.predict(result, [[1e160, 1.0]])


def test_decomposition_takes_a_tiny_penalty():
    assert fwsvm.train([[0.0, 1], [1, 0]], [1, -1], method="decomposition", C=1e-200, threads=1).certified
