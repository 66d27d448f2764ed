"""The best multiple of w, against a general optimiser and against its own definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from fwsvm.kernels.rows import as_rows
from fwsvm.problems.box_qp import (
    LEAST,
    MOST,
    Loss,
    best_certificate,
    best_multiple,
    box_qp,
    certificate,
    margins_of,
    weights_of,
)


def problem(seed, loss, scale):
    """Return a problem with penalties of its own a row, a point of its box, and its weights times ``scale``."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_array(rng.normal(size=(40, 12)) * (rng.random((40, 12)) < 0.4))
    y = np.where(rng.random(40) < 0.5, -1.0, 1.0)
    qp = box_qp(as_rows(X), y, rng.uniform(0.1, 30.0, 40), loss, 0.5)
    alpha = rng.random(len(qp.points)) * np.minimum(qp.points["upper"], 5.0)
    return qp, alpha, scale * weights_of(qp, alpha)


def primal(qp, w):
    lack = np.maximum(0.0, 1.0 - margins_of(qp, w))
    hinge = qp.points["ridge"] == 0.0
    ridge = np.where(hinge, 1.0, qp.points["ridge"])
    costs = np.where(hinge, np.where(hinge, qp.points["upper"], 0.0) * lack, 0.5 * lack**2 / ridge)
    return 0.5 * w @ w + costs.sum()


@given(st.integers(0, 2**31), st.sampled_from(Loss), st.sampled_from([1e-2, 0.3, 1.0, 5.0]))
@settings(deadline=None, max_examples=60)
def test_no_multiple_within_reach_is_better(seed, loss, scale):
    qp, _, w = problem(seed, loss, scale)
    theta, decrease = best_multiple(qp.points, margins_of(qp, w), float(w @ w), 0.0)
    at_one, at_theta = primal(qp, w), primal(qp, theta * w)
    assert decrease == pytest.approx(at_one - at_theta, rel=1e-6, abs=1e-9 * at_one)
    best = optimize.minimize_scalar(
        lambda t: primal(qp, t * w), bounds=(LEAST, MOST), method="bounded", options={"xatol": 1e-9}
    )
    assert LEAST <= theta <= MOST
    assert at_theta <= min(best.fun, at_one) + 1e-9 * at_one


@pytest.mark.parametrize("loss", list(Loss))
def test_the_certificate_of_a_multiple_is_the_gap_between_its_primal_and_the_dual(loss):
    qp, alpha, _ = problem(1, loss, 1.0)
    w = weights_of(qp, alpha)
    found, (longer, better) = certificate(qp, alpha, w), best_certificate(qp, alpha, w)
    assert better.dual == found.dual
    assert better.gap < found.gap
    assert better.primal == pytest.approx(primal(qp, longer), rel=1e-12)
    assert better.gap == pytest.approx(primal(qp, longer) - found.dual, rel=1e-9)
    assert (better.least, better.most) == (found.least, found.most)


def test_a_multiple_is_past_the_margin_by_rounding_where_that_matters():
    qp = box_qp(as_rows(sparse.csr_array([[1.0]])), np.ones(1), np.array([1e12]), Loss.HINGE, 0.0)
    w, found = best_certificate(qp, np.ones(1), np.array([1.0, 0.0]))
    assert w[0] > 1.0
    assert found.gap + found.rounding.gap < 1e-14
