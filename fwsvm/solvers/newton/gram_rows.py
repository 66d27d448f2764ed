"""Rows of the Gram matrix Q for the active set, read from the column cache."""

from functools import partial
from typing import Any

import numpy as np

from fwsvm import phases
from fwsvm.kernels.column_cache import ColumnCache, provide
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import in_shares
from fwsvm.problems.simplex_qp import STRETCH, add_lines
from fwsvm.solvers.tuning import HELD_COLUMNS


class GramRows:
    """Q_ij = y_i y_j (k(x_i, x_j) + 1) by lines, in the precision of the columns; sums are float64.

    Parameters
    ----------
    columns : ColumnCache
    y : ndarray of float64, shape (m,), +1 or -1
    threads : int
    """

    def __init__(self, columns: ColumnCache, y: np.ndarray, threads: int) -> None:
        self.columns, self.y, self.threads = columns, y, threads
        self.dtype = columns.cached.dtype
        self.most = len(y) if len(columns.row_of) == len(y) else int(HELD_COLUMNS * len(columns.row_of))

    def provide(self, rows: np.ndarray) -> None:
        """Cache the columns of all these rows, at most ``most``, at the same time."""
        provide(self.columns, rows, partial(phases.inside, "kernel values"))

    def product(self, x: np.ndarray) -> np.ndarray:
        """Return Q x (m,) for an x (m,) that is zero outside rows that were provided."""
        rows = np.flatnonzero(x)
        signed, lines = (x * self.y)[rows], self.columns.slot_of[rows]
        out: np.ndarray = np.full(len(x), signed.sum())
        in_shares(
            lambda first, last: add_lines(self.columns.cached, lines, signed, out, first, last),
            len(x),
            self.threads,
            STRETCH,
        )
        out *= self.y
        return out

    def product_anywhere(self, x: np.ndarray) -> np.ndarray:
        """Return Q x (m,) for any x (m,), with as many columns provided at a time as there may be room for."""
        rows, out = np.flatnonzero(x), np.zeros(len(x))
        for first in range(0, len(rows), self.most):
            some, part = rows[first : first + self.most], np.zeros(len(x))
            part[some] = x[some]
            self.provide(some)
            out += self.product(part)
        return out

    def block(self, first: np.ndarray, second: np.ndarray, dtype: Any) -> np.ndarray:
        """Return Q over rows that were provided and any others, shape (len(first), len(second))."""
        values, y = np.empty((len(first), len(second)), dtype), self.y.astype(dtype)
        _gather_block(self.columns.cached, self.columns.slot_of[first], second, y[first], y[second], values)
        return values

    def matrix(self, rows: np.ndarray, ridge: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Fill a square over rows that were provided, and return k(x_i, x_i) there, float64.

        Below the square's diagonal, and on it, K~ is written; above it k(x_i, x_j).
        """
        y, lines, own = self.y[rows].astype(out.dtype), self.columns.slot_of[rows], ridge[rows]
        phases.inside("matrix")
        _gather(self.columns.cached, lines, rows, y, own, out)
        return self.columns.cached[self.columns.slot_of[rows], rows].astype(np.float64)


@njit
def _gather_block(cached, lines, rows, y_lines, y_rows, out):
    one = out.dtype.type(1)
    for i in range(lines.size):
        k, y_i = cached[lines[i]], y_lines[i]
        for j in range(rows.size):
            out[i, j] = (k[rows[j]] + one) * (y_i * y_rows[j])


@njit
def _gather(cached, lines, rows, y, ridge, out):
    one = out.dtype.type(1)
    for i in range(rows.size):
        k, y_i = cached[lines[i]], y[i]
        for j in range(i + 1):
            out[i, j] = (k[rows[j]] + one) * (y_i * y[j])
        out[i, i] += ridge[i]
        for j in range(i + 1, rows.size):
            out[i, j] = k[rows[j]]
