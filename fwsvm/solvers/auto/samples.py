"""Samples of the rows of a problem, each a part of the next, what is trained on one, and rows held out to judge it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fwsvm._mapped import RowMatrix, picked
from fwsvm.solvers.result import Result

HELD_OUT = 8192  # rows: the standard error of an accuracy of 90 % is then a third of a per cent
HELD_OUT_SHARE = 0.1  # of all rows, at most
CHOSEN_WIDTH = "held-out"  # in the column width_rule
MOST_POWER = 3.0  # of the rows that seconds grow as: a factor of the kernel matrix of all rows


class Data(NamedTuple):
    """Rows X (m, n), their class numbers (m,), the classes, and the rows' weights (m,)."""

    X: RowMatrix
    codes: np.ndarray
    classes: tuple[str, ...]
    weights: np.ndarray

    def some(self, which: np.ndarray) -> "Data":
        """Return the rows ``which``."""
        return Data(picked(self.X, which), self.codes[which], self.classes, self.weights[which])

    def bytes_of(self, rows: int) -> int:
        """Return about how many bytes `some` copies for so many rows."""
        X = self.X
        held = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
        return -(-held * rows // len(self.codes))


class SampleTrial(NamedTuple):
    """A sample, its machine, and what they cost.

    Attributes
    ----------
    rows : int
    gamma : float or None, of a kernel that has one
    result : Result
    accuracy : float, of the rows held out by their weights; NaN where an interrupt left no time to judge
    seconds : float, in all; of these ``after`` for the certificate and the rows held out
    after : float
    """

    rows: int
    gamma: float | None
    result: Result
    accuracy: float
    seconds: float
    after: float


class Nested(NamedTuple):
    """The order in which rows come into samples, and those that come into none; class by class in equal shares.

    Attributes
    ----------
    order : ndarray of int, shape (m - h,); a sample of n rows is ``order[:n]``
    held_out : ndarray of int, shape (h,)
    """

    order: np.ndarray
    held_out: np.ndarray


def rows_in_samples(rows: int) -> int:
    """Return how many of so many rows are not held out: those of the largest sample."""
    return rows - min(HELD_OUT, int(HELD_OUT_SHARE * rows))


def nested(codes: np.ndarray, seed: int) -> Nested:
    """Return samples of rows with class numbers (m,), at random; the first of each class comes before all others."""
    drawn, place = np.random.default_rng(seed).permutation(len(codes)), np.empty(len(codes))
    for k in range(int(codes.max()) + 1):
        mine = drawn[codes[drawn] == k]
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
        place[mine[:1]] = 0.0
    order = np.argsort(place, kind="stable")
    inside = rows_in_samples(len(codes))
    return Nested(order[:inside], order[inside:])


def forecast_seconds(rows: Sequence[int], seconds: Sequence[float], wanted: int, least: float) -> float:
    """Return the seconds for ``wanted`` rows, from those for the last two of some growing numbers of ``rows``.

    Seconds grow as a power of the rows, of at least ``least`` and at most `MOST_POWER`: linear where support vectors
    are few, as a kernel matrix or a factor of it where all rows are. One number of rows says nothing of it, and the
    power is taken to be 2 unless ``least`` is more.
    """
    power = max(2.0, least)
    if len(rows) > 1:
        grown = np.log(max(seconds[-1], 1e-9) / max(seconds[-2], 1e-9)) / np.log(rows[-1] / rows[-2])
        power = min(max(float(grown), least), MOST_POWER)
    return float(seconds[-1] * (wanted / rows[-1]) ** power)
