"""Scaling features to [-1, 1] or [0, 1] by their ranges over the training rows, as LIBSVM's svm-scale does.

A value v of feature j becomes ``lower + (upper - lower) (v - min_j) / (max_j - min_j)``; a feature that does
not vary over the training rows becomes 0, since svm-scale leaves it out. Test rows use the training ranges
and may fall outside.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm._occurring import occurring, only, widened
from fwsvm.data import memory

TARGETS = {"[-1,1]": (-1.0, 1.0), "[0,1]": (0.0, 1.0)}


class Ranges(NamedTuple):
    """Training minima and maxima, each of shape (k,), and the interval they are mapped to.

    They are those of the features ``columns``, ascending from 0, and others do not vary; of all features where that is
    None.
    """

    minimum: np.ndarray
    maximum: np.ndarray
    lower: float
    upper: float
    columns: np.ndarray | None = None


def fit(X: np.ndarray | csr_array, scaling: str) -> Ranges:
    """Return the ranges of the columns of ``X``, shape (m, n), for a scaling of conventions 7."""
    lower, upper = TARGETS[scaling]
    rows, columns = occurring(X)
    if isinstance(rows, csr_array):
        least, most = rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
        return Ranges(least, most, lower, upper, columns)
    return Ranges(rows.min(axis=0), rows.max(axis=0), lower, upper)


def apply(X: np.ndarray | csr_array, ranges: Ranges) -> np.ndarray | csr_array:
    """Return ``X`` scaled, in new memory; sparse rows stay sparse where zero is mapped to zero.

    They do so, too, where the ranges are of some features only.

    Raises
    ------
    DataError
        Sparse rows that would not fit in the memory available once they are dense.
    """
    if ranges.columns is not None:
        rows = apply(only(csr_array(X), ranges.columns), ranges._replace(columns=None))
        return widened(rows, ranges.columns, X.shape[1])
    minimum, maximum, lower, upper, _ = ranges
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
        memory.for_dense(X.shape[0], X.shape[1], f"scaling to [{lower:g},{upper:g}]")
        X = X.toarray()
    scaled = lower + (upper - lower) * (X - minimum) / span  # in svm-scale's order, so that no bit differs
    scaled[maximum == X] = upper  # exact at the ends, whatever the rounding above
    scaled[:, ~varies] = 0.0
    return np.ascontiguousarray(scaled)
