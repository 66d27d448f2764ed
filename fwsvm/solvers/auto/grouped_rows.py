"""Rows grouped by class, for compiled code that solves pairs of classes, and room for what the pairs come to.

The rows of a pair are two ranges.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.dense_tiles import (
    DENSE,
    HEIGHT,
    DenseTiles,
    empty_dense_tiles,
    is_dense,
    no_dense_tiles,
    pack_range,
)
from fwsvm.kernels.kernel import own_terms, self_values
from fwsvm.kernels.rows import Rows, as_rows, in_precision, some_rows
from fwsvm.kernels.sums import product_rounding
from fwsvm.numerics.compile import njit

#: Bytes of copies for each number that is stored: in both precisions with its feature, laid out in tiles, and in the
#: order in which the rows came.
COPIED = 48


class GroupedRows(NamedTuple):
    """The rows of some of the classes, class by class.

    Attributes
    ----------
    order : ndarray of int, shape (m,), which of all rows these are
    starts : ndarray of int, shape (K + 1,), where the rows of each class start; a class may have none here
    pairs : ndarray of int, shape (pairs, 2), the classes i < j of each pair
    weights : ndarray of float64, shape (m,), which multiply C
    rows : Rows of float64
    """

    order: np.ndarray
    starts: np.ndarray
    pairs: np.ndarray
    weights: np.ndarray
    rows: Rows

    def ranges(self, number: int) -> tuple[slice, slice, int, int]:
        """Return where the rows of a pair's two classes are, and the classes."""
        (i, j), ends = self.pairs[number].tolist(), self.starts
        return slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1]), i, j

    def places(self, number: int) -> tuple[np.ndarray, int]:
        """Return where the rows of a pair are, (n,), and how many of the first of them are +1."""
        plus, minus, _, _ = self.ranges(number)
        return np.r_[plus, minus], int(plus.stop - plus.start)

    def sizes(self, numbers: np.ndarray) -> np.ndarray:
        """Return how many rows the pairs ``numbers`` have."""
        return np.asarray(np.diff(self.starts)[self.pairs[numbers]].sum(axis=1))


def grouped_rows(
    rows: Rows, codes: np.ndarray, weights: np.ndarray, pairs: np.ndarray, numbers: np.ndarray
) -> GroupedRows:
    """Return the rows of the classes of the pairs ``numbers``, out of rows with class numbers and weights (m,)."""
    used, all_counts = pairs[numbers], np.bincount(codes, minlength=int(pairs.max()) + 1)
    counts = np.zeros_like(all_counts)
    counts[used] = all_counts[used]
    order = np.argsort(codes, kind="stable")
    if (counts < all_counts).any():
        order = order[counts[codes[order]] > 0]
    starts = np.concatenate([[0], np.cumsum(counts)])
    return GroupedRows(order, starts, pairs, weights[order], some_rows(rows, order))


def tiny_groups(gaps: int) -> GroupedRows:
    """Return nine rows of three classes, dense or with features that no row has, to compile for."""
    X, codes = np.random.default_rng(0).normal(size=(9, 2)), np.repeat(np.arange(3), 3)
    rows = as_rows(sparse.csr_array(np.pad(X, ((0, 0), (0, gaps)))))
    return grouped_rows(rows, codes, np.ones(9), np.array([[0, 1], [0, 2], [1, 2]]), np.arange(3))


def bytes_of_copies(X: RowMatrix, K: int) -> int:
    """Return the memory of copies of rows X (m, n) of K classes at most, each class filled up to whole tiles."""
    # of sparse rows, X.size is how many numbers are stored
    return COPIED * X.size + (8 * HEIGHT * K * X.shape[1] if X.size >= DENSE * X.shape[0] * X.shape[1] else 0)


class LaidOutRows(NamedTuple):
    """Grouped rows as `fwsvm.solvers.auto.by_columns` reads them.

    Attributes
    ----------
    kernel : the kernel
    starts, pairs, weights : those of `GroupedRows`
    single, double : Rows of float32 and of float64
    own_single, own_double : ndarray, shape (m,), own terms
    itself : ndarray of float64, shape (m,), k(x, x)
    tiles : DenseTiles of float64, each class from a tile of its own on; empty where rows are sparse
    tile_starts : ndarray of int, shape (K,), the first row of each class in the tiles
    value_rounding : float, what kernel values from own terms are off by
    """

    kernel: Any
    starts: np.ndarray
    pairs: np.ndarray
    weights: np.ndarray
    single: Rows
    double: Rows
    own_single: np.ndarray
    own_double: np.ndarray
    itself: np.ndarray
    tiles: DenseTiles
    tile_starts: np.ndarray
    value_rounding: float


def laid_out(kernel: Any, groups: GroupedRows) -> LaidOutRows:
    """Return grouped rows in both precisions, and in tiles where they are dense."""
    _, starts, pairs, weights, double = groups
    single, own = in_precision(double, np.float32), own_terms(kernel, double)
    tile_starts = np.concatenate([[0], np.cumsum(-(-np.diff(starts) // HEIGHT) * HEIGHT)])
    tiles = no_dense_tiles(double)
    if is_dense(double):
        tiles = empty_dense_tiles(int(tile_starts[-1]), double.features, np.float64)
        for first, last, place in zip(starts, starts[1:], tile_starts, strict=False):
            pack_range(double, first, last, first - place, tiles.numbers)
            tiles.own[place : place + last - first] = own[first:last]
    return LaidOutRows(
        kernel,
        starts,
        pairs,
        weights,
        single,
        double,
        own_terms(kernel, single),
        own,
        self_values(kernel, double),
        tiles,
        tile_starts[:-1].copy(),
        product_rounding(kernel, double, own),
    )


class Goal(NamedTuple):
    """The largest gap at which a pair has converged, constant + slope R, and the steps it may take.

    These are ``steps_a_row`` for each row, or ``steps`` if that is more. ``value_rounding`` is what kernel values are
    off by (`fwsvm.kernels.sums.product_rounding`).
    """

    constant: float
    slope: float
    steps_a_row: float
    steps: int
    value_rounding: float


@njit(inner=True)
def most_steps(goal, n):
    """Return how many steps a pair of n rows may take."""
    return max(np.int64(goal.steps_a_row * n), goal.steps)


class Solutions(NamedTuple):
    """What the pairs of K classes with m rows came to for each of S penalties.

    Attributes
    ----------
    coefficients : ndarray, shape (S, m, K - 1), of the machines, laid out as in `fwsvm.problems.machines.KernelModel`
    biases : ndarray, shape (S, pairs)
    certificates : ndarray, shape (S, pairs, 5): objective, gap, primal, dual, and rounding of the gap, from scratch
    steps, evaluations : ndarray of int, shape (S, pairs)
    reached : ndarray of bool, shape (S, pairs), whether the gap is within the goal
    """

    coefficients: np.ndarray
    biases: np.ndarray
    certificates: np.ndarray
    steps: np.ndarray
    evaluations: np.ndarray
    reached: np.ndarray

    def signed(self, groups: GroupedRows, k: int, number: int) -> np.ndarray:
        """Return the coefficients of a pair for the k-th penalty, (n,), those of the class +1 first."""
        plus, minus, i, j = groups.ranges(number)
        return np.concatenate([self.coefficients[k, plus, j - 1], self.coefficients[k, minus, i]])

    def forget(self, groups: GroupedRows, k: int, number: int) -> None:
        """Leave no machine of a pair for the k-th penalty."""
        plus, minus, i, j = groups.ranges(number)
        self.coefficients[k, plus, j - 1] = self.coefficients[k, minus, i] = 0.0
        self.biases[k, number] = 0.0


def empty_solutions(rows: int, classes: int, penalties: int = 1) -> Solutions:
    """Return room for what the pairs come to."""
    pairs = classes * (classes - 1) // 2
    shape = penalties, pairs
    return Solutions(
        np.zeros((penalties, rows, classes - 1)),
        np.zeros(shape),
        np.full((*shape, 5), np.nan),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.bool_),
    )
