"""Sigmoids and coupled probabilities, against minimisers of the same functions that know no trick."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from fwsvm.problems.probability import fit_sigmoid, probabilities


def cross_entropy(AB, f, positive):
    P, N = positive.sum(), (~positive).sum()
    target = np.where(positive, (P + 1) / (P + 2), 1 / (N + 2))
    value = AB[0] * f + AB[1]
    return float(np.sum(target * np.logaddexp(0, value) + (1 - target) * np.logaddexp(0, -value)))


@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (3.0, 0.1), (-40.0, 50.0)])
def test_a_sigmoid_minimises_the_cross_entropy_to_smoothed_targets(shift, scale):
    rng = np.random.default_rng(3)
    positive = rng.random(80) < 0.3
    f = rng.normal(size=80) * scale + np.where(positive, scale, -scale) + shift
    found = fit_sigmoid(f, positive)
    start = [0.0, float(np.log((~positive).sum() + 1) - np.log(positive.sum() + 1))]
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000}
    peer = minimize(cross_entropy, start, (f, positive), method="Nelder-Mead", options=options)
    assert cross_entropy(found, f, positive) <= peer.fun + 1e-8
    assert found[0] < 0  # the higher the decision value, the likelier


def test_rows_that_a_threshold_separates_have_a_finite_sigmoid():
    f = np.array([-2.0, -1.0, 1.0, 2.0])
    assert np.isfinite(fit_sigmoid(f, f > 0)).all()
    A, B = fit_sigmoid(np.full(4, 0.7), f > 1.5)  # decision values all alike, of which B alone counts
    assert 1.0 / (1.0 + np.exp(0.7 * A + B)) == pytest.approx(19 / 60, rel=1e-2)  # the mean target


@pytest.mark.parametrize("K", [3, 5])
def test_coupled_probabilities_solve_the_linear_system_of_wu_lin_and_weng(K):
    rng = np.random.default_rng(K)
    decision, sigmoids = rng.normal(size=(5000, K * (K - 1) // 2)), np.array([[-1.5], [0.2]])
    found = probabilities(decision, np.repeat(sigmoids, decision.shape[1], axis=1), K)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    for row in (0, 17, 4999):
        r = np.zeros((K, K))
        for value, (i, j) in zip(decision[row], combinations(range(K), 2), strict=True):
            r[i, j] = 1 / (1 + np.exp(-1.5 * value + 0.2))
            r[j, i] = 1 - r[i, j]
        Q = -r.T * r
        Q[np.diag_indices(K)] = (r**2).sum(axis=0)
        whole = np.block([[Q, np.ones((K, 1))], [np.ones((1, K)), np.zeros((1, 1))]])
        np.testing.assert_allclose(found[row], np.linalg.solve(whole, [*[0.0] * K, 1.0])[:K], atol=0.01)


def test_two_classes_have_the_sigmoid_and_what_is_left():
    found = probabilities(np.array([[0.0], [2.0], [1e6], [-1e6]]), np.array([[-1.0], [0.0]]), 2)
    np.testing.assert_allclose(found[:, 0], [0.5, 1 / (1 + np.exp(-2)), 1 - 1e-7, 1e-7])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
