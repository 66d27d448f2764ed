"""What small pairs of classes came to that compiled code solved together."""

from typing import NamedTuple

import numpy as np


class Solutions(NamedTuple):
    """What the pairs of K classes with m rows came to, a line a pair.

    Attributes
    ----------
    coefficients : ndarray, shape (m, K - 1), of the machines, laid out as in `fwsvm.problems.machines.KernelModel`
    biases : ndarray, shape (pairs,)
    certificates : ndarray, shape (pairs, 5): objective, gap, primal, dual, and rounding of the gap, from scratch
    steps, evaluations : ndarray of int, shape (pairs,)
    reached : ndarray of bool, shape (pairs,), whether the gap is within the goal
    """

    coefficients: np.ndarray
    biases: np.ndarray
    certificates: np.ndarray
    steps: np.ndarray
    evaluations: np.ndarray
    reached: np.ndarray


def empty_solutions(rows: int, classes: int) -> Solutions:
    """Return room for what the pairs come to."""
    pairs = classes * (classes - 1) // 2
    return Solutions(
        np.zeros((rows, classes - 1)), np.zeros(pairs), np.full((pairs, 5), np.nan), np.zeros(pairs, np.int64),
        np.zeros(pairs, np.int64), np.zeros(pairs, np.bool_),
    )  # fmt: skip
