"""Two-class problems for tests of methods, and what a result says of its point."""

from typing import Any

import numpy as np
from scipy import sparse

from fwsvm.solvers import Result, Settings, fit
from tests import naive

CLASSES = ("1", "-1")


def clouds(seed: int, m: int = 40, n: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct rows of two overlapping clouds, in single precision, and their labels 1 and -1."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) < rng.integers(m // 4, m - m // 4), 1.0, -1.0)
    X = rng.normal(size=(m, n)) + 0.7 * y[:, None] * (np.arange(n) == 0)
    X[:, 1:] *= rng.random((m, n - 1)) < 0.8
    return X.astype(np.float32).astype(np.float64), y


def two_classes(seed: int, m: int = 120, apart: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two classes, and their numbers; few rows lie at the border unless classes are not ``apart``."""
    rng = np.random.default_rng(seed)
    codes = (rng.random(m) < 0.4).astype(np.int64)
    return rng.normal(size=(m, 4)) + apart * (1 - 2 * codes[:, None]), codes


def text_like(seed: int, m: int = 60, n: int = 40) -> tuple[sparse.csr_array, np.ndarray]:
    """Return sparse rows of unequal length, one empty and one twice, and noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(m, n)) * (rng.random((m, n)) < 0.15 * rng.uniform(0.2, 2.0, (m, 1)))
    y = np.where(X @ rng.normal(size=n) + 0.3 * rng.normal(size=m) > 0, 1.0, -1.0)
    X[m // 2] = X[m // 3]
    X[m // 4] = 0.0
    y[:2] = 1.0, -1.0
    return sparse.csr_array(X), y


def train(method: str, X: Any, y: np.ndarray, *, weights: Any = None, **settings: Any) -> Result:
    """Return the result on rows labelled 1 and -1, with one thread."""
    chosen = Settings(method, **{"threads": 1, **settings})
    return fit(X, (np.asarray(y) < 0).astype(np.int64), CLASSES, chosen, weights=weights)


def simplex_weights(result: Result, X: np.ndarray) -> np.ndarray:
    """Return alpha, shape (m,), of a kernel machine on distinct rows X: its coefficients are y alpha / R."""
    alpha = np.zeros(len(X))
    for row, coefficient in zip(result.model.support, result.model.coefficients[:, 0], strict=True):
        alpha[np.flatnonzero((row == X).all(axis=1))] = abs(coefficient)
    return alpha / alpha.sum()


def hold_to_the_simplex(result: Result, X: np.ndarray, y: np.ndarray, C: Any, **kernel: Any) -> float:
    """Assert that objective and gap are those of the machine; return how far the objective is above the optimum."""
    K = naive.extended(naive.gram(X=X, Z=X, **kernel), y, C)
    alpha = simplex_weights(result, X)
    best = naive.simplex_optimum(K)
    R = float(alpha @ K @ alpha)
    least = float(best @ K @ best)
    assert abs(result.objective - R) <= 1e-9 * R
    assert abs(result.gap - naive.gap(K, alpha)) <= 1e-6 * result.gap + 1e-12 * R
    if result.certified and result.settings["stop"] == "relative":
        assert result.relative_gap <= result.settings["tolerance"]
    assert least * (1 - 1e-8) <= R <= least + result.gap + 1e-9 * R
    return R - least
