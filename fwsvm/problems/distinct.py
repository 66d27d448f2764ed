"""Rows that are the same as one row with their weights' sum, in an order that is theirs: what a fit depends on.

A row of weight k stands for k equal ones in a sum of losses, and a row of weight 0 for none. Fits
of both then take the same steps, not only to the same optimum, because rows come in the order of a hash of their
numbers: neither copies nor the order in which rows were given say where a run starts and goes.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix, for_compiled
from fwsvm.numerics.compile import njit
from fwsvm.numerics.random import mixed


class Distinct(NamedTuple):
    """Rows X (m, n), no two of a class alike, with class numbers (m,) and weights (m,) or None where all are 1."""

    X: RowMatrix
    codes: np.ndarray
    weights: np.ndarray | None


def distinct(X: RowMatrix, codes: np.ndarray, weights: np.ndarray | None) -> Distinct:
    """Return each row of X (m, n; sparse ones canonical) once for its class, with the sum of its weights.

    Rows of weight 0 are left out. Dense and sparse rows of the same numbers come in the same order.
    """
    counts = np.ones(len(codes)) if weights is None else weights
    hashes = row_hashes(X, codes)
    order = np.argsort(hashes, kind="stable")
    if weights is not None:
        order = order[counts[order] > 0]
    begins = np.ones(len(order), dtype=bool)
    ordered = hashes[order]
    begins[1:] = ordered[1:] != ordered[:-1]
    begins[1:] |= ~_alike(X, codes, order, ~begins[1:])
    firsts = order[begins]
    sums = np.add.reduceat(counts[order], np.flatnonzero(begins)) if len(order) else counts[order]
    return Distinct(X[firsts], codes[firsts], None if (sums == 1).all() else sums)


def row_hashes(X: RowMatrix, codes: np.ndarray) -> np.ndarray:
    """Return a uint64 of each row's class and numbers other than zero, shape (m,): the same dense and sparse."""
    hashes = codes.astype(np.uint64) + np.uint64(1)
    if isinstance(X, np.ndarray):
        _add_dense(for_compiled(np.ascontiguousarray(X).view(np.uint64)), hashes)
    else:
        _add_sparse(*map(for_compiled, (X.data.view(np.uint64), X.indices, X.indptr)), hashes)
    return hashes


@njit
def _add_dense(bits, hashes):
    for r in range(hashes.size):
        total = mixed(hashes[r])
        for c in range(bits.shape[1]):
            total += _of_number(bits[r, c], c)
        hashes[r] = total


@njit
def _add_sparse(bits, columns, starts, hashes):
    for r in range(hashes.size):
        total = mixed(hashes[r])
        for p in range(starts[r], starts[r + 1]):
            total += _of_number(bits[p], columns[p])
        hashes[r] = total


@njit(inner=True)
def _of_number(bits, column):
    """Return what a number adds to its row's hash: nothing for 0.0 and -0.0."""
    if bits << np.uint64(1) == 0:
        return np.uint64(0)
    return mixed(bits + mixed(np.uint64(column + 1)))


def _alike(X: Any, codes: np.ndarray, order: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return whether each of ``order[1:]`` is the row before it, where that is asked: hashes may meet by chance."""
    alike = np.zeros(len(asked), dtype=bool)
    places = np.flatnonzero(asked)
    if not len(places):
        return alike
    one, other = order[places + 1], order[places]
    if sparse.issparse(X):
        unlike = np.asarray((X[one] != X[other]).sum(axis=1)).ravel() > 0
    else:
        unlike = (X[one] != X[other]).any(axis=1)
    alike[places] = ~unlike & (codes[one] == codes[other])
    return alike
