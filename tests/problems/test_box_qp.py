"""The dual of the linear SVM against a naive one: primal, dual, gap, violations, and the best multiple of w."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from fwsvm.errors import UsageError
from fwsvm.kernels.rows import as_rows
from fwsvm.problems.box_qp import (
    LEAST,
    MOST,
    BoxQP,
    Loss,
    best_multiple,
    box_qp,
    certificate,
    margins_of,
    weights_of,
)

losses = st.sampled_from(list(Loss))


def problem(
    seed: int, m: int, n: int, loss: Loss, bias: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, BoxQP]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6)
    y = rng.choice([-1.0, 1.0], m)
    C = rng.uniform(0.1, 5.0, m)
    return X, y, C, box_qp(as_rows(sparse.csr_array(X)), y, C, loss, bias)


def naive(
    X: np.ndarray,
    y: np.ndarray,
    C: np.ndarray,
    loss: Loss,
    bias: float,
    alpha: np.ndarray,
    theta: float = 1.0,
) -> tuple[float, float]:
    """Return P(theta w(alpha)) and D(alpha), written as in the definition."""
    X = np.column_stack([X, np.full(len(X), bias)])
    w = X.T @ (y * alpha)
    t = np.maximum(0.0, 1.0 - theta * y * (X @ w))
    hinge = loss is Loss.HINGE
    primal = 0.5 * theta**2 * w @ w + (C * (t if hinge else t**2)).sum()
    return primal, alpha.sum() - 0.5 * w @ w - (0.0 if hinge else (alpha**2 / (4 * C)).sum())


@given(st.integers(0, 2**32), st.integers(1, 20), st.integers(1, 6), losses, st.sampled_from([0.0, 1.0, 2.5]))
@settings(deadline=None)  # the first example compiles
def test_primal_dual_and_gap_are_those_of_the_definition(seed, m, n, loss, bias):
    X, y, C, qp = problem(seed, m, n, loss, bias)
    everywhere = C if loss is Loss.HINGE else 2 * C
    alpha = np.random.default_rng(seed + 1).choice([0.0, 0.3, 1.0], m) * everywhere
    empty = np.setdiff1d(np.arange(m), qp.rows)
    alpha[empty] = everywhere[empty]  # rows without features are at their optimum from the start
    primal, dual = naive(X, y, C, loss, bias, alpha)
    _, found = certificate(qp, alpha[qp.rows])
    assert found.primal == pytest.approx(primal, rel=1e-10)
    assert found.dual == pytest.approx(dual, rel=1e-10, abs=1e-10 * primal)
    assert found.gap == pytest.approx(primal - dual, rel=1e-9, abs=1e-10 * primal)
    assert found.gap >= 0.0


@given(st.integers(0, 2**32), losses)
@settings(max_examples=30, deadline=None)
def test_the_violations_are_the_projected_slopes_of_the_dual(seed, loss):
    X, y, C, qp = problem(seed, 8, 4, loss, 0.5)
    alpha = np.random.default_rng(seed).choice([0.0, 0.4, 1.0], 8) * C
    _, found = certificate(qp, alpha)
    slopes = []
    for i in range(8):
        e = np.zeros(8)
        e[i] = 1e-6
        slopes.append(
            (naive(X, y, C, loss, 0.5, alpha + e)[1] - naive(X, y, C, loss, 0.5, alpha - e)[1]) / 2e-6
        )
    g = np.array(slopes)
    g = np.where(
        alpha == 0, np.maximum(g, 0), np.where((alpha == C) & (loss is Loss.HINGE), np.minimum(g, 0), g)
    )
    assert found.least == pytest.approx(g.min(), abs=1e-6)
    assert found.most == pytest.approx(g.max(), abs=1e-6)


def test_a_tiny_gap_is_not_lost_in_the_difference_of_primal_and_dual():
    X = np.array([[1.0]])
    y = np.array([1.0])
    qp = box_qp(as_rows(sparse.csr_array(X)), y, np.array([10.0]), Loss.HINGE, 0.0)
    alpha = np.array([1.0 - 1e-12])  # P - D = C 1e-12 - 1e-12 to first order
    assert certificate(qp, alpha)[1].gap == pytest.approx(9e-12, rel=1e-3)


@pytest.mark.parametrize("bias", [-1.0, np.nan])
def test_a_bias_feature_must_be_a_number_that_can_be_squared(bias):
    with pytest.raises(UsageError, match="bias"):
        box_qp(as_rows(sparse.csr_array(np.ones((1, 1)))), np.ones(1), np.ones(1), Loss.HINGE, bias)


@pytest.mark.parametrize("loss", list(Loss))
@pytest.mark.parametrize("scale", [0.01, 0.04, 0.1, 1.0])  # of the best theta: the upper end to the lower one
@given(seed=st.integers(0, 2**31))
def test_no_multiple_within_reach_is_better(seed, loss, scale):
    X, y, C, qp = problem(seed, 40, 12, loss, 0.5)
    alpha = scale * np.random.default_rng(seed + 1).random(40) * C

    def primal(theta):
        return naive(X, y, C, loss, 0.5, alpha, theta)[0]

    w = weights_of(qp, alpha)
    theta, decrease = best_multiple(qp.points, margins_of(qp, w), float(w @ w), 0.0)
    assert decrease == pytest.approx(primal(1.0) - primal(theta), rel=1e-6, abs=1e-9 * primal(1.0))
    best = optimize.minimize_scalar(primal, bounds=(LEAST, MOST), method="bounded", options={"xatol": 1e-9})
    assert LEAST <= theta <= MOST
    assert primal(theta) <= min(best.fun, primal(1.0)) * (1 + 1e-9)
    _, found = certificate(qp, alpha)
    longer, better = certificate(qp, alpha, scaled=True)
    np.testing.assert_allclose(longer, theta * w, rtol=1e-9)
    assert (better.dual, better.least, better.most) == (found.dual, found.least, found.most)
    assert better.gap <= found.gap
    assert better.primal == pytest.approx(primal(theta), rel=1e-12)
    assert better.gap == pytest.approx(primal(theta) - found.dual, rel=1e-9)


def test_a_multiple_is_past_the_margin_by_rounding_where_that_matters():
    qp = box_qp(as_rows(sparse.csr_array([[1.0]])), np.ones(1), np.array([1e12]), Loss.HINGE, 0.0)
    w, found = certificate(qp, np.ones(1), scaled=True)
    assert w[0] > 1.0
    assert found.gap + found.rounding < 1e-14
