"""Probabilities of classes from decision values, as LIBSVM computes them.

A sigmoid for each pair of classes (Platt 1999, fitted as in Lin, Lin and Weng 2007), and for more than two classes the
coupling of the pairs' probabilities by the second method of Wu, Lin and Weng (2004).
"""

import numpy as np

from fwsvm._mapped import slices

LEAST = 1e-7  # of a pair's probability
MOST_NUMBERS = 1 << 22  # of the matrices (K, K) of rows whose probabilities are coupled at a time


def fit_sigmoid(decision: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """Return A and B of the probability 1 / (1 + exp(A f + B)) that a row with decision value f is positive.

    They minimise the cross-entropy to Platt's smoothed targets.

    Parameters
    ----------
    decision : ndarray, shape (t,), of machines that were not trained on the row
    positive : ndarray of bool, shape (t,)
    """
    from scipy.optimize import minimize  # late: it takes as long to import as numba
    from scipy.special import expit

    P = positive.sum()
    N = (~positive).sum()
    target = np.where(positive, (P + 1.0) / (P + 2.0), 1.0 / (N + 2.0))
    scale = np.abs(decision).max() or 1.0
    design = np.column_stack([decision / scale, np.ones_like(decision)])

    def cross_entropy(at):
        value = design @ at
        return np.sum(target * value + np.logaddexp(0.0, -value))

    def slope(at):
        return (target - expit(-design @ at)) @ design

    def curvature(at):
        p = expit(-design @ at)
        return (p * (1.0 - p) * design.T) @ design

    start = [0.0, np.log((N + 1.0) / (P + 1.0))]
    A, B = minimize(cross_entropy, start, method="trust-exact", jac=slope, hess=curvature, tol=1e-8).x
    return float(A) / scale, float(B)


def probabilities(decision: np.ndarray, sigmoids: np.ndarray, K: int) -> np.ndarray:
    """Return the probability of each class, shape (t, K), each row with the sum 1.

    Parameters
    ----------
    decision : ndarray, shape (t, pairs), positive for the first class of a pair
    sigmoids : ndarray, shape (2, pairs), A and B of each pair
    K : int
    """
    from scipy.special import expit

    with np.errstate(over="ignore"):  # a foreign model may have any finite A and B; infinity is certainty
        value = decision * sigmoids[0] + sigmoids[1]
    pairs = np.clip(expit(-value), LEAST, 1.0 - LEAST)
    if K == 2:
        return np.hstack([pairs, 1.0 - pairs])
    found = np.empty((len(pairs), K))
    for some in slices(len(pairs), len(pairs) * K**2, MOST_NUMBERS):
        found[some] = _coupled(pairs[some], K)
    return found


def _coupled(pairs: np.ndarray, K: int) -> np.ndarray:
    """Return probabilities (t, K) that minimise sum_i sum_j (r_ji p_i - r_ij p_j)^2, by LIBSVM's iteration."""
    t = len(pairs)
    r = np.zeros((t, K, K))
    first, second = np.triu_indices(K, 1)
    every = np.arange(K)
    r[:, first, second] = pairs
    r[:, second, first] = 1.0 - pairs
    Q = -r * r.swapaxes(1, 2)
    Q[:, every, every] = np.sum(r**2, axis=1)
    p = np.full((t, K), 1.0 / K)
    for _ in range(max(100, K)):
        q = p.copy()
        Qp = np.einsum("tij,tj->ti", Q, p)
        pQp = np.sum(p * Qp, axis=1)
        moves = np.max(np.abs(Qp - pQp[:, None]), axis=1) >= 0.005 / K
        if not moves.any():
            break
        for i in range(K):
            change = (pQp - Qp[:, i]) / Q[:, i, i]
            q[:, i] += change
            pQp = (pQp + change * (change * Q[:, i, i] + 2.0 * Qp[:, i])) / (1.0 + change) ** 2
            Qp = (Qp + change[:, None] * Q[:, i]) / (1.0 + change)[:, None]
            q /= (1.0 + change)[:, None]
        p[moves] = q[moves]
    return p
