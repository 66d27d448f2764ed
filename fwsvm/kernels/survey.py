"""What one pass over mapped rows finds, remembered as long as the file is mapped: rows on a disk are read once for it.

Rows that somebody may write to are read anew each time that they are asked for. Before it begins, training asks whether
values are finite, for their ranges, and how far rows are apart.
"""

import weakref
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix, blocks, for_compiled, is_constant, is_mapped, let_go, mapping_of
from fwsvm._stretches import NUMBERS
from fwsvm.numerics.compile import njit


class Survey(NamedTuple):
    """What m rows of n features hold.

    Attributes
    ----------
    least, most : ndarray of float64, shape (n,)
        Of each feature; 0 is among its values where some row does not store it. NaN where a value is none.
    mean : ndarray of float64, shape (n,)
    squares : float
        Sum of the squares of dense rows' differences from the mean, and of the values that sparse rows store.
    """

    least: np.ndarray
    most: np.ndarray
    mean: np.ndarray
    squares: float

    @property
    def finite(self) -> bool:
        """Whether all values are."""
        return bool(np.isfinite(self.least).all() and np.isfinite(self.most).all())

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return float(max(self.most.max(initial=0.0), -self.least.min(initial=0.0)))


_KNOWN: dict[tuple[object, ...], Survey] = {}


def survey_of_mapped(X: Any) -> Survey | None:
    """Return the survey of mapped rows X (m, n), an ndarray or a csr_array; None for rows in memory.

    One of rows that somebody may write to is not remembered.
    """
    if not is_mapped(X):
        return None
    numbers = X if isinstance(X, np.ndarray) else X.data
    mapping = mapping_of(numbers)
    assert mapping is not None  # noqa: S101 - the rows are mapped
    address = int(numbers.__array_interface__["data"][0])
    key = id(mapping), address, numbers.strides, numbers.dtype.str, X.shape
    if key in _KNOWN:
        return _KNOWN[key]
    found = _sparse(X) if sparse.issparse(X) else _dense(X)
    if is_constant(mapping):
        _KNOWN[key] = found
        weakref.finalize(mapping, _KNOWN.pop, key, None)
    return found


def largest_of(X: RowMatrix) -> float:
    """Return the largest absolute value of rows X (m, n), in memory or mapped."""
    if (known := survey_of_mapped(X)) is not None:
        return known.largest
    values: np.ndarray = X.data if isinstance(X, sparse.csr_array) else np.asarray(X)
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


@np.errstate(over="ignore", invalid="ignore")
def _dense(X: np.ndarray) -> Survey:
    n = X.shape[1]
    least, most, total = np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n)
    for some in blocks(X):
        _add_dense(for_compiled(X[some]), least, most, total)
    mean, squares = total / len(X), 0.0
    for some in blocks(X):  # in the order of `fwsvm.kernels.widths`
        squares += float(np.sum(np.square(X[some] - mean)))
    return Survey(least, most, mean, squares)


@np.errstate(over="ignore", invalid="ignore")
def _sparse(X: sparse.csr_array) -> Survey:
    m, n = X.shape
    least, most, total = np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n)
    counts, squares = np.zeros(n, np.int64), 0.0
    for first in range(0, X.nnz, NUMBERS):
        some = slice(first, min(first + NUMBERS, X.nnz))
        _add_sparse(for_compiled(X.data[some]), for_compiled(X.indices[some]), least, most, total, counts)
        squares += float(np.sum(np.square(X.data[some])))
        if first % (NUMBERS * 64) == 0:
            let_go(X)
    let_go(X)
    unstored = counts < m
    least[unstored], most[unstored] = np.minimum(least[unstored], 0.0), np.maximum(most[unstored], 0.0)
    return Survey(least, most, total / m, squares)


@njit
def _add_dense(X, least, most, total):
    for t in range(X.shape[0]):
        for f in range(X.shape[1]):
            value = np.float64(X[t, f])
            least[f] = value if value < least[f] or np.isnan(value) else least[f]
            most[f] = value if value > most[f] or np.isnan(value) else most[f]
            total[f] += value


@njit
def _add_sparse(values, columns, least, most, total, counts):
    for k in range(values.size):
        value, f = values[k], columns[k]
        least[f] = value if value < least[f] or np.isnan(value) else least[f]
        most[f] = value if value > most[f] or np.isnan(value) else most[f]
        total[f] += value
        counts[f] += 1
