"""Sums over all rows that partitions have parts of: how far rows are apart, and the ranges of features."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm.scaling import TARGETS, Ranges


class Sums(NamedTuple):
    """What some rows come to; of features that occur, shape (k,), and of all numbers stored.

    Attributes
    ----------
    columns : ndarray of int, ascending
    counts, totals, least, most : ndarrays, how often each is stored, its sum, its extremes
    squares : float, the sum of all squares
    """

    columns: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    least: np.ndarray
    most: np.ndarray
    squares: float


def sums_of(X: csr_array) -> Sums:
    """Return the sums of rows."""
    values = np.asarray(X.data)
    columns, places = np.unique(X.indices, return_inverse=True)
    least, most = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    np.minimum.at(least, places, values)
    np.maximum.at(most, places, values)
    totals = np.bincount(places, weights=values, minlength=len(columns))
    counts = np.bincount(places, minlength=len(columns))
    return Sums(columns, counts, totals, least, most, float(np.sum(np.square(values))))


def added(parts: Sequence[Sums]) -> Sums:
    """Return the sums of all rows."""
    columns, places = np.unique(np.concatenate([part.columns for part in parts]), return_inverse=True)
    least, most = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    np.minimum.at(least, places, np.concatenate([part.least for part in parts]))
    np.maximum.at(most, places, np.concatenate([part.most for part in parts]))
    totals, counts = (
        np.bincount(places, weights=np.concatenate(each), minlength=len(columns))
        for each in ([part.totals for part in parts], [part.counts for part in parts])
    )
    return Sums(columns, counts.astype(np.int64), totals, least, most, sum(part.squares for part in parts))


def spread(sums: Sums, rows: int) -> float:
    """Return the mean squared distance of two rows, as `fwsvm.kernels.widths.mean_squared_distance` of sparse rows."""
    means = sums.totals / rows
    return max(0.0, 2.0 * rows / max(1, rows - 1) * (sums.squares / rows - float(np.sum(np.square(means)))))


def extreme(sums: Sums) -> float:
    """Return the value farthest from 0."""
    return float(max(sums.most.max(initial=0.0), sums.least.min(initial=0.0), key=abs))


def ranges(sums: Sums, rows: int, scaling: str) -> Ranges:
    """Return what `fwsvm.scaling.fit` returns for all rows: a feature that a row does not store is 0 there."""
    absent = sums.counts < rows
    least = np.where(absent, np.minimum(sums.least, 0.0), sums.least)
    most = np.where(absent, np.maximum(sums.most, 0.0), sums.most)
    varies = most > least
    return Ranges(sums.columns[varies].astype(np.int64), least[varies], most[varies], *TARGETS[scaling])
