"""Rows in compressed sparse row (CSR) form, for dense and sparse data alike.

Kernel values of sparse rows come from `fwsvm.kernels.sparse_tiles`; rows with few zeros have a faster path with the
same bits, `fwsvm.kernels.dense_tiles`.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy

from fwsvm._mapped import RowMatrix, is_mapped


class Rows(NamedTuple):
    """m rows; row t holds ``values[starts[t]:starts[t + 1]]`` at the features in ``columns``, ascending.

    Attributes
    ----------
    values : ndarray of float32 or float64, shape (nnz,)
    columns : ndarray of int32, shape (nnz,)
    starts : ndarray of int64, shape (m + 1,)
    features : int
    """

    values: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    features: int

    @property
    def height(self) -> int:
        """Number of rows m."""
        return len(self.starts) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.height, self.features


def as_rows(X: RowMatrix | Rows, dtype: type = np.float64) -> Rows:
    """Return the rows of an (m, n) array, dense or CSR, in the precision asked for; X stays as it is."""
    if isinstance(X, Rows):
        return in_precision(X, dtype)
    if isinstance(X, np.ndarray):  # what is not zero is stored
        table = np.asarray(X, np.float64)
        m, n = table.shape
        values = _writable(table.reshape(-1), dtype)
        columns = np.tile(np.arange(n, dtype=np.int32), m)
        starts = n * np.arange(m + 1, dtype=np.int64)
        stored = table != 0.0
        if not stored.all():
            stored.sum(axis=1).cumsum(out=starts[1:])
            values = values[stored.reshape(-1)]
            columns = columns[stored.reshape(-1)]
        return Rows(values, columns, starts, n)
    compressed: Any = canonical(X)
    return Rows(
        _writable(compressed.data, dtype),
        _writable(compressed.indices, np.int32),
        _writable(compressed.indptr, np.int64),
        int(X.shape[1]),
    )


def _writable(array: np.ndarray, dtype: type) -> np.ndarray:
    """Return the array in a type, a copy if it is read-only: compiled code takes that for another type."""
    return np.require(array, dtype, ["C", "W"])


def canonical(X: Any) -> RowMatrix:
    """Return sparse rows as a csr_array with sorted indices and none twice, others as they are; X stays what it is."""
    if not scipy.sparse.issparse(X):
        return np.asarray(X)
    rows = (
        X if isinstance(X, scipy.sparse.csr_array) else scipy.sparse.csr_array(X)
    )  # which remembers its format
    if not rows.has_canonical_format:
        rows = rows.copy()  # it may share its numbers with X
        rows.sum_duplicates()  # and sort
    return rows


def as_they_lie(X: RowMatrix | Rows) -> Rows:
    """Return the rows of an (m, n) array without a copy of mapped ones; dense ones of these have no ``columns``."""
    if isinstance(X, Rows):
        return X
    if not is_mapped(X):
        return as_rows(X)
    m, n = X.shape
    if isinstance(X, np.ndarray):
        return Rows(X.reshape(-1), None, n * np.arange(m + 1, dtype=np.int64), n)  # type: ignore[arg-type]
    return Rows(X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64), n)


def narrowed(one: Rows, other: Rows) -> tuple[Rows, Rows]:
    """Return the rows of two tables with the features that neither stores left out, where these are most.

    Tables of scratch as long as the number of features are then no longer than the data.
    """
    stored = len(one.columns) + len(other.columns)
    if one.features <= 4 * stored:
        return one, other
    used, numbers = np.unique(np.concatenate([one.columns, other.columns]), return_inverse=True)
    first, second = np.split(numbers.astype(np.int32), [len(one.columns)])
    return one._replace(columns=first, features=len(used)), other._replace(columns=second, features=len(used))


def in_precision(rows: Rows, dtype: type) -> Rows:
    """Return the same rows with values of another precision; columns and starts are shared."""
    return rows._replace(values=rows.values.astype(dtype, copy=False))


def some_rows(rows: Rows, which: np.ndarray) -> Rows:
    """Return copies of the rows ``which`` (row numbers), in that order."""
    sizes = np.diff(rows.starts)[which]
    starts = np.append(0, sizes.cumsum())
    places = np.arange(starts[-1]) + np.repeat(rows.starts[which] - starts[:-1], sizes)
    return Rows(rows.values.take(places), rows.columns.take(places), starts, rows.features)
