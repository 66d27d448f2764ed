"""The rows of a problem wherever they are: in memory, mapped from a file, or, by a subclass, on a cluster."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fwsvm._mapped import RowMatrix, blocks, in_memory, is_mapped
from fwsvm.kernels.distances import TOLERATED_SPARSE, cancels, value_error
from fwsvm.kernels.kernel import own_terms_and_values
from fwsvm.kernels.rows import Rows, as_rows, in_precision, some_rows
from fwsvm.kernels.values import is_dense, most_stored, rounding_of_sums, weighted_sums

ALL = slice(None)  # rows


class Diagonal(NamedTuple):
    """The kernel's diagonal over m rows.

    Attributes
    ----------
    values : ndarray of float64, shape (m,), k(x, x)
    rounding : float
        What kernel values of `RowSource.sums` in double precision are off by, in parts of sqrt(k(x, x) k(z, z)).
    """

    values: np.ndarray
    rounding: float


class RowSource:
    """The m rows of a problem; mapped ones are read block by block, and copied no more than asked for.

    Parameters
    ----------
    X : ndarray, csr_array or Rows, shape (m, n)
    """

    def __init__(self, X: RowMatrix | Rows) -> None:
        #: Whether rows are not in memory, so that few are to be taken.
        self.is_far = is_mapped(X)
        self.X: Any = X if self.is_far else as_rows(X)  # None for rows on other computers

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.X.shape

    def blocks(self, dtype: type = np.float64) -> Iterator[tuple[slice, Rows]]:
        """Yield all rows in order, in a precision: which they are, and the rows."""
        if isinstance(self.X, Rows):
            yield slice(0, self.X.height), in_precision(self.X, dtype)
            return
        for some in blocks(self.X):
            yield some, as_rows(in_memory(self.X, some), dtype)

    def take(self, which: np.ndarray) -> Rows:
        """Return copies of the rows ``which``, in that order; all rows in order are not copied."""
        if not isinstance(self.X, Rows):
            return as_rows(self.X[which])
        if len(which) == self.X.height and (which == np.arange(len(which))).all():
            return self.X
        return some_rows(self.X, which)

    def some(self, which: np.ndarray) -> "RowSource":
        """Return the rows ``which`` as a source of their own."""
        return RowSource(self.take(which))

    def sums(
        self,
        kernel: Any,
        which: np.ndarray,
        weights: np.ndarray,
        threads: int,
        dtype: type = np.float64,
        at: np.ndarray | slice = ALL,
    ) -> np.ndarray:
        """Return sum_j weights[j, o] k(x_which[j], x_t) at the rows t ``at``, ascending.

        Returns float64 of shape (rows, outputs), from kernel values in ``dtype``.
        Of the rows, those of ``which`` and a block are in memory.
        """
        taken = self.X
        places = which
        if not isinstance(taken, Rows):
            taken = self.take(which)
            places = np.arange(len(which))
        sources = in_precision(taken, dtype)
        found = []
        for some, rows in self.blocks(dtype):
            here = rows
            if not isinstance(at, slice):
                first, last = np.searchsorted(at, [some.start, some.stop])
                here = some_rows(rows, at[first:last] - some.start)
            found.append(weighted_sums(kernel, sources, places, weights, here, threads))
        return np.concatenate(found)

    def diagonal(self, kernel: Any) -> Diagonal:
        """Return the kernel's diagonal."""
        values, largest, features, dense = np.empty(self.shape[0]), 0.0, 0, True
        for some, rows in self.blocks():
            own, values[some] = own_terms_and_values(kernel, rows)
            largest = max(largest, own.max(initial=0.0))
            features = max(features, most_stored(rows))
            dense &= is_dense(rows)
        error = value_error(kernel, np.array([largest]))
        if cancels(error, dense=dense):  # differences are taken, far away in those blocks that ask for them
            error = TOLERATED_SPARSE if self.is_far else 0.0
        return Diagonal(values, rounding_of_sums(kernel, features, error))


def row_source(X: Any) -> RowSource:
    """Return rows as a source; one that is a source already as it is."""
    return X if isinstance(X, RowSource) else RowSource(X)
