"""Scaling features to [-1, 1] or [0, 1] by their ranges over the training rows, as LIBSVM's svm-scale does.

A value v of feature j becomes ``lower + (upper - lower) (v - min_j) / (max_j - min_j)``; a feature that does
not vary over the training rows becomes 0, since svm-scale leaves it out. Test rows use the training ranges
and may fall outside.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

TARGETS = {"[-1,1]": (-1.0, 1.0), "[0,1]": (0.0, 1.0)}


class Ranges(NamedTuple):
    """Training minima and maxima, each of shape (n,), and the interval they are mapped to."""

    minimum: np.ndarray
    maximum: np.ndarray
    lower: float
    upper: float


def fit(X: np.ndarray | csr_array, scaling: str) -> Ranges:
    """Return the ranges of the columns of ``X``, shape (m, n), for a scaling of conventions 7."""
    lower, upper = TARGETS[scaling]
    if isinstance(X, csr_array):
        return Ranges(X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel(), lower, upper)
    return Ranges(X.min(axis=0), X.max(axis=0), lower, upper)


def apply(X: np.ndarray | csr_array, ranges: Ranges) -> np.ndarray | csr_array:
    """Return ``X`` scaled, in new memory; sparse rows stay sparse where zero is mapped to zero."""
    minimum, maximum, lower, upper = ranges
    varies = maximum > minimum
    span = np.where(varies, maximum - minimum, 1.0)
    if isinstance(X, csr_array):
        if lower == 0 and not np.any(minimum[varies]):
            j = X.indices
            data = np.where(varies[j], upper * X.data / span[j], 0.0)
            data[varies[j] & (X.data == maximum[j])] = upper
            scaled = csr_array((data, j.copy(), X.indptr.copy()), shape=X.shape)
            scaled.eliminate_zeros()
            return scaled
        X = X.toarray()
    scaled = lower + (upper - lower) * (X - minimum) / span  # in svm-scale's order, so that no bit differs
    scaled[maximum == X] = upper  # exact at the ends, whatever the rounding above
    scaled[:, ~varies] = 0.0
    return np.ascontiguousarray(scaled)
