"""Trained machines: decision values and predictions for rows never seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from fwsvm.kernels.rows import as_rows, narrowed
from fwsvm.kernels.sums import weighted_sums


@dataclass(frozen=True)
class KernelModel:
    """One-versus-one kernel machines over shared support vectors, in LIBSVM's layout.

    Attributes
    ----------
    classes : tuple of str
        K labels; in pair i < j class i is +1 (conventions 6).
    kernel : NamedTuple
        A registered kernel with its parameters.
    support : ndarray or csr_array of float64, shape (s, n)
        Support vectors, grouped by class in the order of ``classes``.
    counts : ndarray of int, shape (K,)
        Support vectors of each class.
    coefficients : ndarray, shape (s, K - 1)
        Row of class c: its coefficients y alpha / R in the pairs with the other classes, in their order.
    biases : ndarray, shape (K (K - 1) / 2,)
        b of each pair (0,1), (0,2), ..., (K-2,K-1); LIBSVM's rho is -b.
    facts : mapping
        Method, settings and certificate, kept in model files.
    """

    classes: tuple[str, ...]
    kernel: Any
    support: np.ndarray | sparse.csr_array
    counts: np.ndarray
    coefficients: np.ndarray
    biases: np.ndarray
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def features(self) -> int:
        """Number of features n."""
        return int(self.support.shape[1])

    def pair_weights(self) -> np.ndarray:
        """Return each support vector's coefficient in each pair, shape (s, pairs)."""
        K = len(self.classes)
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        weights = np.zeros((len(self.coefficients), K * (K - 1) // 2))
        for p, (i, j) in enumerate(combinations(range(K), 2)):
            weights[ends[i] : ends[i + 1], p] = self.coefficients[ends[i] : ends[i + 1], j - 1]
            weights[ends[j] : ends[j + 1], p] = self.coefficients[ends[j] : ends[j + 1], i]
        return weights

    def decision(self, X: np.ndarray | sparse.csr_array, threads: int = 1) -> np.ndarray:
        """Return the pairs' decision values of the rows of X (t, n), shape (t, pairs).

        Class by class: a support vector is in the K - 1 pairs of its class only.
        """
        support, rows = narrowed(as_rows(self.support), as_rows(X))
        ends, K = np.concatenate([[0], np.cumsum(self.counts)]), len(self.classes)
        decision = np.tile(self.biases, (rows.height, 1))
        pairs = list(combinations(range(K), 2))
        for c in range(K):
            mine = [p for p, pair in enumerate(pairs) if c in pair]
            which = np.arange(ends[c], ends[c + 1])
            weights = self.coefficients[ends[c] : ends[c + 1]]
            decision[:, mine] += weighted_sums(self.kernel, support, which, weights, rows, threads)
        return decision

    def predict(self, X: np.ndarray | sparse.csr_array, threads: int = 1) -> np.ndarray:
        """Return the class number of each row: most votes (dec > 0: class i), ties to the earlier class."""
        return self.choose(self.decision(X, threads))

    def choose(self, decision: np.ndarray) -> np.ndarray:
        """Return the class numbers that decision values (t, pairs) stand for."""
        return votes(decision, len(self.classes))


def votes(decision: np.ndarray, K: int) -> np.ndarray:
    """Return the winner of one-versus-one voting for each row of decision values (t, pairs)."""
    tally = np.zeros((len(decision), K), dtype=np.int64)
    for p, (i, j) in enumerate(combinations(range(K), 2)):
        first = decision[:, p] > 0
        tally[first, i] += 1
        tally[~first, j] += 1
    return tally.argmax(axis=1)


@dataclass(frozen=True)
class LinearModel:
    """Linear machines: one for two classes, one a class (one-versus-rest) for more.

    Attributes
    ----------
    classes : tuple of str
        With two, the first is +1.
    weights : ndarray, shape (outputs, n)
    biases : ndarray, shape (outputs,)
        Coefficients of the constant feature, zeros without one.
    bias_feature : float
        Value of the constant feature, 0 for none.
    facts : mapping
        Method, settings and certificate, kept in model files.
    """

    classes: tuple[str, ...]
    weights: np.ndarray
    biases: np.ndarray
    bias_feature: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def features(self) -> int:
        """Number of features n."""
        return int(self.weights.shape[1])

    def decision(self, X: np.ndarray | sparse.csr_array, threads: int = 1) -> np.ndarray:  # noqa: ARG002
        """Return decision values of the rows of X (t, n), shape (t, outputs)."""
        return np.asarray(X @ self.weights.T) + self.biases * self.bias_feature

    def predict(self, X: np.ndarray | sparse.csr_array, threads: int = 1) -> np.ndarray:
        """Return the class number of each row: the sign for two classes, the largest value for more."""
        return self.choose(self.decision(X, threads))

    def choose(self, decision: np.ndarray) -> np.ndarray:
        """Return the class numbers that decision values (t, outputs) stand for."""
        return np.where(decision[:, 0] > 0, 0, 1) if len(self.classes) == 2 else decision.argmax(axis=1)
