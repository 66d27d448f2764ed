"""Default widths: a kernel's gamma from distances between training rows; gamma and sigma^2 are converted here only."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from fwsvm._mapped import RowMatrix, blocks, occurring

BLOCK = 1 << 24  # numbers of a block, of which a temporary takes 128 MiB
LOST = 1e-3  # of the mean square; a difference from the square of the mean that is less is lost in rounding


class Width(NamedTuple):
    """A rule by which gamma follows from the training rows: gamma = factor / spread, and 1 where there is no spread.

    Attributes
    ----------
    spread : callable (rows X (m, n)) -> float
    formula : str, for people; D is `mean_squared_distance`
    factor : float
    """

    spread: Callable[[RowMatrix], float]
    formula: str
    factor: float = 1.0

    def gamma(self, spread: float) -> float:
        """Return gamma for the spread of some rows."""
        return self.factor / spread if spread > 0 else 1.0


def gamma_of(sigma2: float) -> float:
    """Return gamma of exp(-gamma |x - z|^2) = exp(-|x - z|^2 / (2 sigma^2))."""
    return 1.0 / (2.0 * sigma2)


def sigma2_of(gamma: float) -> float:
    """Return sigma^2 of a gamma; infinity for 0."""
    return 1.0 / (2.0 * gamma) if gamma > 0.0 else float("inf")


@np.errstate(over="ignore", invalid="ignore")
def mean_squared_distance(X: RowMatrix) -> float:
    """Return D, the mean of |x_i - x_j|^2 over i != j (003 section 5.1): O(stored numbers).

    Without BLAS, whose sums differ in the last bit from one processor to the next: a loose run may end elsewhere by it.
    Infinity where squares are beyond double precision.
    """
    m = X.shape[0]
    if m < 2:
        return 0.0
    X, _ = occurring(X)
    if isinstance(X, np.ndarray):
        mean = X.sum(axis=0, dtype=np.float64) / m
        squares = sum(np.square(X[some] - mean).sum() for some in blocks(X, BLOCK))
        return _at_least_zero(2.0 / (m - 1) * squares)
    rows = scipy.sparse.csr_array(X)
    mean, values, features = rows.sum(axis=0) / m, rows.data, rows.indices
    square = np.sum(np.square(values)) / m
    spread = square - np.sum(np.square(mean))
    if spread <= LOST * square:  # of times in seconds since 1970, say
        stored = np.bincount(features, minlength=len(mean))
        spread = np.sum(np.square(values - mean[features])) + np.sum((m - stored) * np.square(mean))
        spread /= m
    return 2.0 * m / (m - 1) * _at_least_zero(spread)


def _at_least_zero(distance: float) -> float:
    """Return a mean of squares, which rounding may have made negative, infinity where it is one less another."""
    return float("inf") if np.isnan(distance) else max(0.0, float(distance))


def mean_absolute_distance(X: RowMatrix) -> float:
    """Return the mean of |x_i - x_j|_1 over i != j, by sorting each feature's values."""
    m = X.shape[0]
    columns = scipy.sparse.csc_array(occurring(X)[0])
    if m < 2:
        return 0.0
    total = 0.0
    for f in range(columns.shape[1]):
        values = np.sort(columns.data[columns.indptr[f] : columns.indptr[f + 1]])
        below = np.arange(len(values)) + (m - len(values)) * (values > 0.0)  # the zeros, which are not stored
        total += float(np.sum(values * (2.0 * below - (m - 1.0))))
    return 2.0 * total / (m * (m - 1))
