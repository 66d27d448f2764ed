"""Sums over all rows that partitions have parts of: how far rows are apart, and the ranges of features."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm.scaling import TARGETS, Ranges


class Sums(NamedTuple):
    """What some rows come to, of features that occur, shape (k,).

    Attributes
    ----------
    columns : ndarray of int, ascending
    counts, totals, least, most : ndarrays, how often each is stored, its sum, its extremes
    apart : ndarray, the sum of squared distances from the mean of those stored, which sums of squares would lose in
        rounding where numbers are far from zero
    """

    columns: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    least: np.ndarray
    most: np.ndarray
    apart: np.ndarray


def sums_of(X: csr_array) -> Sums:
    """Return the sums of rows."""
    values = np.asarray(X.data)
    each = np.ones(len(values))
    return added([Sums(X.indices, each, values, values, values, np.zeros(len(values)))])


@np.errstate(over="ignore", invalid="ignore")
def added(parts: Sequence[Sums]) -> Sums:
    """Return the sums of all rows."""
    columns, places = np.unique(np.concatenate([part.columns for part in parts]), return_inverse=True)
    least, most = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    np.minimum.at(least, places, np.concatenate([part.least for part in parts]))
    np.maximum.at(most, places, np.concatenate([part.most for part in parts]))
    each_total = np.concatenate([part.totals for part in parts])
    each_count = np.concatenate([part.counts for part in parts])
    totals, counts = (
        np.bincount(places, weights=each, minlength=len(columns)) for each in (each_total, each_count)
    )
    between = each_count * np.square(each_total / each_count - (totals / counts)[places])
    within = np.concatenate([part.apart for part in parts])
    apart = np.bincount(places, weights=within + between, minlength=len(columns))
    return Sums(columns, counts.astype(np.int64), totals, least, most, apart)


@np.errstate(over="ignore", invalid="ignore")
def spread(sums: Sums, rows: int) -> float:
    """Return the mean squared distance of two rows, as `fwsvm.kernels.widths.mean_squared_distance` of sparse rows."""
    # where rows do not store a feature, their zeros are as far from the rest as the mean of what is stored
    zeros = sums.counts * ((rows - sums.counts) / rows)
    apart = float(np.sum(sums.apart)) + float(np.sum(zeros * np.square(sums.totals / sums.counts)))
    return float("inf") if np.isnan(apart) else 2.0 / max(1, rows - 1) * apart


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
