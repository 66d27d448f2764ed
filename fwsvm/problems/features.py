"""Rows as a machine takes them: with its features, each at most once."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse


def fitted(X: np.ndarray | csr_array, features: int) -> tuple[np.ndarray | csr_array, int]:
    """Return the rows of X (m, n) with ``features`` columns, and how many non-zeros were left out.

    Missing features are zeros, as in LIBSVM's sparse format; those the machine has not seen are left out.
    """
    n = X.shape[1]
    if n == features:
        return X, 0
    if isinstance(X, csr_array):
        kept = X.copy()
        kept.resize(X.shape[0], features)
        return kept, int(X.count_nonzero() - kept.count_nonzero())
    ignored = int(np.count_nonzero(X[:, features:]))
    return np.ascontiguousarray(np.pad(X, ((0, 0), (0, max(0, features - n))))[:, :features]), ignored


def canonical(X: Any) -> np.ndarray | csr_array:
    """Return sparse rows as a csr_array with sorted indices and none twice, others as they are; X stays what it is."""
    if not issparse(X):
        return np.asarray(X)
    rows = csr_array(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
