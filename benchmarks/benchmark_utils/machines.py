"""Trained machines in one form, so that one function evaluates those of all packages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse


@dataclass
class Machine:
    """Machines of all pairs of classes; benchopt keeps them, so their functions can be pickled.

    Attributes
    ----------
    predict : callable
        Rows to labels.
    classes : sequence
        Labels; in pair i < j class i is +1.
    decide : callable or None
        Rows to the pairs' decision values, shape (rows, pairs); None where the package has none.
    squared_norms : ndarray, shape (pairs,)
        What the problem penalises: |w|^2, with b^2 where the bias is part of it.
    """

    predict: Callable[[Any], np.ndarray]
    classes: Sequence[Any] = ()
    decide: Callable[[Any], np.ndarray] | None = None
    squared_norms: np.ndarray | None = None

    def primal(self, X: Any, y: np.ndarray, C: float, power: int) -> float:
        """Return the sum over pairs of 1/2 |w|^2 + C / power sum max(0, 1 - y f)^power."""
        if self.decide is None:
            return float("nan")
        f, total = self.decide(X), 0.0
        for pair, (one, other) in enumerate(combinations(self.classes, 2)):
            slack = [
                np.maximum(0.0, 1.0 - sign * f[y == label, pair]) for sign, label in ((1, one), (-1, other))
            ]
            loss = sum(np.sum(part**power) for part in slack)
            total += 0.5 * self.squared_norms[pair] + C / power * loss
        return float(total)


def kernel_norms(
    decide: Callable[[Any], np.ndarray],
    support: Any,
    counts: Sequence[int],
    coefficients: np.ndarray,
    biases: np.ndarray,
) -> np.ndarray:
    """Return |w|^2 + b^2 of each pair, for |w|^2 = sum_s c_s (f(x_s) - b) over its support vectors.

    ``coefficients`` has LIBSVM's layout, shape (support vectors, classes - 1).
    """
    f, ends = decide(support), np.cumsum([0, *counts])
    norms = biases**2
    for pair, (i, j) in enumerate(combinations(range(len(counts)), 2)):
        for of, column in ((slice(ends[i], ends[i + 1]), j - 1), (slice(ends[j], ends[j + 1]), i)):
            norms[pair] += coefficients[of, column] @ (f[of, pair] - biases[pair])
    return norms


def linear_machine(w: np.ndarray) -> Machine:
    """Return the machine of a weight vector, for labels +1 and -1."""
    return Machine(partial(_signs, w), (1.0, -1.0), partial(_products, w), np.array([w @ w]))


def _signs(w: np.ndarray, X: Any) -> np.ndarray:
    return np.where(X @ w > 0, 1.0, -1.0)


def _products(w: np.ndarray, X: Any) -> np.ndarray:
    return (X @ w)[:, None]


def with_short_indices(X: Any) -> Any:
    """Return rows as scikit-learn's estimators take them: sparse ones as a matrix with 32-bit indices."""
    if not sparse.issparse(X):
        return X
    return sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
