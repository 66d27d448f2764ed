"""Kernel matrices of pairs of classes, computed whole, where most rows have weight for the first penalty.

The values among the rows of one class stand in the matrices of all its pairs: they are computed once. Of the values
between two classes half is the mirror image of the other, so that a pair takes a quarter of what its columns take.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.numerics.atomics import compare_exchange
from fwsvm.numerics.call_by_address import call
from fwsvm.numerics.compile import njit
from fwsvm.solvers.auto.pair_state import pair_columns, settle_and_find_best
from fwsvm.solvers.tuning import MIRRORED_TOGETHER


class ClassMatrices(NamedTuple):
    """The kernel values among the rows of each class; none where pairs compute columns as they are wanted.

    Attributes
    ----------
    values : ndarray of float32, the matrices one after another
    starts : ndarray of int64, shape (K,), where each begins
    """

    values: np.ndarray
    starts: np.ndarray


def no_class_matrices() -> ClassMatrices:
    """Return what lets pairs compute columns as they are wanted."""
    return ClassMatrices(np.empty(0, np.float32), np.empty(0, np.int64))


def empty_class_matrices(sizes: np.ndarray) -> ClassMatrices:
    """Return room for the kernel values of classes of so many rows (K,)."""
    ends = np.cumsum(sizes.astype(np.int64) ** 2)
    return ClassMatrices(np.empty(ends[-1], np.float32), np.concatenate([[0], ends[:-1]]))


@njit
def fill_class_matrices(laid, claimed, addresses, left_block, matrices):
    """Compute the matrices of those classes that no other thread has claimed; see `solve_by_columns`."""
    for c in range(matrices.starts.size):
        if not compare_exchange(claimed, c, 0, 1):
            continue
        rows = laid.starts[c], laid.starts[c + 1]
        n = rows[1] - rows[0]
        if n > 0:
            values = matrices.values[matrices.starts[c] : matrices.starts[c] + n * n]
            columns = pair_columns(laid, rows, (rows[1], rows[1]), addresses.fill, values, left_block)
            _fetch(columns, n, 0, addresses.fetch)


@njit(inner=True)
def _fetch(columns, count, first, fetch_at):
    """Compute the columns of the first rows, in the order of the rows, from the row ``first`` on."""
    none = np.zeros(columns.slot_of.size)
    for at in range(0, count, WIDE):
        wanted = np.empty(min(WIDE, count - at), np.int32)
        for c in range(wanted.size):
            wanted[c] = at + c
        call(fetch_at, (columns, wanted, none, np.int64(-1), np.int64(first)))


@njit(inner=True)
def fill_pair(columns, plus, i, j, matrices, fetch_at):
    """Compute all columns of the pair of the classes i and j, of which the first has ``plus`` rows."""
    n, cached = columns.slot_of.size, columns.cached
    _fetch(columns, plus, plus, fetch_at)
    of_i, of_j, minus = matrices.starts[i], matrices.starts[j], n - plus
    for t in range(plus):
        line = cached[t]
        for p in range(plus):
            line[p] = matrices.values[of_i + t * plus + p]
    for t in range(minus):
        line = cached[plus + t]
        for p in range(minus):
            line[plus + p] = matrices.values[of_j + t * minus + p]
    for first in range(0, plus, MIRRORED_TOGETHER):
        last = min(first + MIRRORED_TOGETHER, plus)
        for t in range(plus, n):
            line = cached[t]
            for p in range(first, last):
                line[p] = cached[p, t]
    for t in range(n):
        columns.slot_of[t] = columns.row_of[t] = t
    columns.counts[EVALUATIONS] = plus * minus


@njit(inner=True)
def start_at_all(s):
    """Stand at all rows: in each class in the ratio of the penalties, between the classes where R is least.

    That is the optimum as C goes to 0, but for the share of the classes.
    """
    now, plus, n = s.now[0], s.plus, s.q.size
    total, of_class = np.zeros(2), np.zeros((2, n))
    for t in range(n):
        total[0 if t < plus else 1] += 1.0 / s.ridge[t]
    for t in range(n):
        c = 0 if t < plus else 1
        s.alpha[t] = 1.0 / (s.ridge[t] * total[c])
        sums, weight, k = of_class[c], s.alpha[t], s.cached[t]
        for p in range(n):
            sums[p] += weight * (k[p] + 1.0)
    inner = np.zeros(3)  # products of the two points by K~: of the first, of the second, of both
    for t in range(n):
        own = s.alpha[t] * s.alpha[t] * s.ridge[t]
        if t < plus:
            inner[0] += s.alpha[t] * of_class[0, t] + own
            inner[2] -= s.alpha[t] * of_class[1, t]
        else:
            inner[1] += s.alpha[t] * of_class[1, t] + own
    share = (inner[1] - inner[2]) / (inner[0] + inner[1] - 2.0 * inner[2])
    if not 0.0 < share < 1.0:  # kernel values that are no inner products
        share = 0.5
    for t in range(n):
        s.alpha[t] *= share if t < plus else 1.0 - share
        h = share * of_class[0, t] - (1.0 - share) * of_class[1, t]
        s.q[t] = (h if t < plus else -h) + s.alpha[t] * s.ridge[t]
        s.active[t], s.place[t], s.active_diagonal[t] = t, t, s.diagonal[t]
    now.active, now.found = n, 0
    settle_and_find_best(s)
