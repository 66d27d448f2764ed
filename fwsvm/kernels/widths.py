"""Default widths: a kernel's gamma from distances between training rows; gamma and sigma^2 are converted here only."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix
from fwsvm._occurring import occurring
from fwsvm._stretches import stretches
from fwsvm.kernels.survey import Survey, survey_of_mapped

LARGE = 1 << 24  # numbers: beyond, a temporary of all would take 128 MiB
LOST = 1e-3  # of the mean square; a difference from the square of the mean that is less is lost in rounding

Spread = Callable[[RowMatrix, np.ndarray | None], float]


@dataclass(frozen=True)
class Width:
    """A rule by which gamma follows from the training rows: gamma = factor / spread, and 1 where there is no spread.

    Attributes
    ----------
    spread : callable (X, counts) -> float
        Of rows X (m, n); ``counts`` (m,), or None, says how often each row stands in the data.
    formula : str, for people; D is `mean_squared_distance`
    factor : float
    """

    spread: Spread
    formula: str
    factor: float = 1.0

    def gamma(self, X: RowMatrix, counts: np.ndarray | None = None) -> float:
        """Return gamma for rows X (m, n), that of `spread`."""
        return self.of(self.spread(X, counts))

    def of(self, spread: float) -> float:
        """Return gamma for a spread that is known."""
        return self.factor / spread if spread > 0 else 1.0


def gamma_of(sigma2: float) -> float:
    """Return gamma of exp(-gamma |x - z|^2) = exp(-|x - z|^2 / (2 sigma^2))."""
    return 1.0 / (2.0 * sigma2)


def sigma2_of(gamma: float) -> float:
    """Return sigma^2 of a gamma; infinity for 0."""
    return 1.0 / (2.0 * gamma) if gamma > 0.0 else float("inf")


@np.errstate(over="ignore", invalid="ignore")
def mean_squared_distance(X: RowMatrix, counts: np.ndarray | None = None) -> float:
    """Return D, the mean of |x_i - x_j|^2 over i != j (003 section 5.1): O(stored numbers).

    With ``counts``, shape (m,), row i is one of so many that are the same (see `_unlike`). Without BLAS, whose sums
    differ in the last bit from one processor to the next: a loose run may end elsewhere by it. Infinity where squares
    are beyond double precision.
    """
    m = X.shape[0]
    if m < 2:
        return 0.0
    X = occurring(X).X
    if counts is None and (known := survey_of_mapped(X)) is not None:
        return _of_survey(known, X)
    if counts is None and X.size > LARGE:  # of sparse rows, the numbers stored
        return _of_stretches(X)
    if counts is not None:
        shares = counts / np.sum(counts)
        if sparse.issparse(X):
            rows = sparse.csr_array(X)
            stored = np.repeat(shares, np.diff(rows.indptr))  # the share of each number's row
            each = sparse.csr_array((rows.data * stored, rows.indices, rows.indptr), shape=rows.shape)
            mean = np.asarray(each.sum(axis=0)).ravel()
            squares = float(np.sum(each.data * rows.data))
            spread = sparse_spread(rows, stored, squares, mean)
        else:
            centred = X - np.sum(shares[:, None] * X, axis=0)
            spread = float(np.sum(shares * np.sum(np.square(centred), axis=1)))
        return 2.0 * _unlike(counts) * spread
    if sparse.issparse(X):
        squares, mean = float(np.sum(np.square(X.data))), np.asarray(X.sum(axis=0)).ravel() / m
        return 2.0 * m / (m - 1) * sparse_spread(X, None, squares / m, mean)
    centred = X - X.mean(axis=0)
    return _at_least_zero(2.0 / (m - 1) * float(np.sum(np.square(centred, out=centred))))


def _at_least_zero(distance: float) -> float:
    """Return a mean of squares, which rounding may have made negative, infinity where it is one less another."""
    return float("inf") if np.isnan(distance) else max(0.0, distance)


def _of_survey(known: Survey, X: RowMatrix) -> float:
    """Return the same for mapped rows, of which all that it needs is known."""
    m = X.shape[0]
    if sparse.issparse(X):
        return 2.0 * m / (m - 1) * sparse_spread(X, None, known.squares / m, known.mean)
    return _at_least_zero(2.0 / (m - 1) * known.squares)


def _of_stretches(X: RowMatrix) -> float:
    """Return the same for rows without counts, which are gone through a stretch at a time."""
    m, squares = X.shape[0], 0.0
    if sparse.issparse(X):
        values = np.asarray(X.data)
        for some in stretches(len(values), len(values)):
            squares += float(np.sum(np.square(values[some])))
        mean = np.asarray(X.sum(axis=0)).ravel() / m
        return 2.0 * m / (m - 1) * sparse_spread(X, None, squares / m, mean)
    mean = X.mean(axis=0)
    for some in stretches(m, X.size):
        squares += float(np.sum(np.square(X[some] - mean)))
    return _at_least_zero(2.0 / (m - 1) * squares)


def sparse_spread(X: sparse.csr_array, shares: np.ndarray | None, squares: float, mean: np.ndarray) -> float:
    """Return the mean squared distance of sparse rows X (m, n) from their mean (n,), given the mean of their squares.

    It is the difference of two means, unless they are so near that it is lost: of times in seconds since 1970, say.
    ``shares`` say what the row of each stored number counts, 1/m where they are not given.
    """
    spread = squares - float(np.sum(np.square(mean)))
    if spread > LOST * squares or np.isnan(spread):
        return _at_least_zero(spread)
    values, features, spread = np.asarray(X.data), np.asarray(X.indices), 0.0
    # the shares of the rows that store a feature, and how many they are
    stored, rows = np.zeros(len(mean)), np.zeros(len(mean), np.int64)
    for some in stretches(len(values), len(values)):
        share = np.full(len(features[some]), 1.0 / X.shape[0]) if shares is None else shares[some]
        spread += float(np.sum(share * np.square(values[some] - mean[features[some]])))
        stored += np.bincount(features[some], weights=share, minlength=len(mean))
        rows += np.bincount(features[some], minlength=len(mean))
    # of a feature that all rows store nothing is left, and no rounding of their shares beside a large mean
    left = np.where(rows < X.shape[0], np.maximum(0.0, 1.0 - stored), 0.0)
    return spread + float(np.sum(left * np.square(mean)))


def _unlike(counts: np.ndarray) -> float:
    """Return how many pairs there are of W rows, copies counted, over those i != j: W / (W - 1).

    Counts may be weights instead, of a sum of 1 or less; below 2 rows it is that of 2.
    """
    rows = max(2.0, float(np.sum(counts)))
    return rows / (rows - 1.0)


def mean_absolute_distance(X: RowMatrix, counts: np.ndarray | None = None) -> float:
    """Return the mean of |x_i - x_j|_1 over i != j, by sorting each feature's values; ``counts`` as above."""
    m, columns = X.shape[0], sparse.csc_array(occurring(X).X)
    if m < 2:
        return 0.0
    each, whole = (np.ones(m), float(m)) if counts is None else (counts / np.sum(counts), 1.0)
    total = 0.0
    for f in range(columns.shape[1]):
        stored = slice(columns.indptr[f], columns.indptr[f + 1])
        values, repeats = columns.data[stored], each[columns.indices[stored]]
        if len(values) < m:  # the zeros, which are not stored
            values, repeats = np.append(values, 0.0), np.append(repeats, whole - float(np.sum(repeats)))
        order = np.argsort(values, kind="stable")
        values, repeats = values[order], repeats[order]
        below = np.concatenate([[0.0], np.cumsum(repeats)[:-1]])
        above = whole - below - repeats
        total += float(np.sum(values * repeats * (below - above)))
    return 2.0 * total / (m * (m - 1)) if counts is None else 2.0 * total * _unlike(counts)
