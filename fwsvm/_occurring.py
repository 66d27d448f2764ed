"""Sparse rows without the features that none of them stores, so that no array grows with an index alone."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

FEW = 1 << 16  # features: arrays of so many cost nothing


class Occurring(NamedTuple):
    """Rows of k of the n features.

    Attributes
    ----------
    X : ndarray or csr_array, shape (m, k)
    columns : ndarray of int, shape (k,), ascending, or None
        The features' numbers, from 0; None where they are all n.
    """

    X: np.ndarray | sparse.csr_array
    columns: np.ndarray | None


def occurring(X: np.ndarray | sparse.csr_array) -> Occurring:
    """Return the rows of X (m, n) with the features that they store, where most of many are not among them.

    Values, their order and explicit zeros stay what they are; X is returned itself where nothing is left out.
    """
    if isinstance(X, np.ndarray) or X.shape[1] <= max(FEW, 4 * X.nnz):
        return Occurring(X, None)
    rows = sparse.csr_array(X)  # of any format
    columns, places = np.unique(rows.indices, return_inverse=True)
    return Occurring(_with(rows, rows.data, places, rows.indptr, len(columns)), columns)


def only_columns(X: sparse.csr_array, columns: np.ndarray) -> sparse.csr_array:
    """Return the rows of X (m, n) with the features ``columns``, ascending: shape (m, k)."""
    if len(columns) == X.shape[1]:
        return X
    if X.shape[1] <= max(FEW, 4 * X.nnz):
        table = np.full(X.shape[1], -1)
        table[columns] = np.arange(len(columns))
        places = table[X.indices]
        kept = places >= 0
    else:
        places = np.searchsorted(columns, X.indices)
        kept = places < len(columns)
        kept[kept] = columns[places[kept]] == X.indices[kept]
    before = np.concatenate([[0], np.cumsum(kept)])
    return _with(X, X.data[kept], places[kept], before[X.indptr], len(columns))


def widened(X: np.ndarray | sparse.csr_array, columns: np.ndarray, features: int) -> sparse.csr_array:
    """Return rows of the features ``columns``, ascending, as rows of ``features`` features."""
    rows = sparse.csr_array(X)
    return _with(rows, rows.data, columns[rows.indices], rows.indptr, features)


def _with(
    like: sparse.csr_array, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, width: int
) -> sparse.csr_array:
    """Return rows of other entries, whose indices are in order where those of ``like`` are."""
    kind = like.indices.dtype
    X = sparse.csr_array((data, indices.astype(kind), indptr.astype(kind)), shape=(like.shape[0], width))
    X.has_sorted_indices = like.has_sorted_indices
    X.has_canonical_format = like.has_canonical_format
    return X
