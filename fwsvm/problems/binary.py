"""A two-class problem, and the machines that solve one."""

from typing import NamedTuple, TypeAlias

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.source import RowSource


class Binary(NamedTuple):
    """A two-class problem as a solver gets it.

    Attributes
    ----------
    X : ndarray, csr_array or `Rows` of float64, or RowSource, shape (m, n)
    y : ndarray of float64, shape (m,), +1 or -1
    penalties : ndarray of float64, shape (m,)
        C_i, the penalty times the row's weight.
    stream : tuple of int
        Seeds this problem's random numbers: (seed, number of the subproblem).
    """

    X: RowMatrix | Rows | RowSource
    y: np.ndarray
    penalties: np.ndarray
    stream: tuple[int, ...]


class Expansion(NamedTuple):
    """A two-class machine over kernel functions at training rows: sum_j coefficients[j] k(X[rows[j]], x) + bias.

    Attributes
    ----------
    rows : ndarray of int, shape (s,)
    coefficients : ndarray of float64, shape (s,)
    bias : float
    """

    rows: np.ndarray
    coefficients: np.ndarray
    bias: float


class Hyperplane(NamedTuple):
    """A two-class linear machine: weights, and the coefficient of the constant feature, 0 without one."""

    weights: np.ndarray
    bias: float


Machine: TypeAlias = Expansion | Hyperplane
