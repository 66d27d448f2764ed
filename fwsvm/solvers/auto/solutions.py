"""Small pairs of classes that compiled code solves together: their goal, what they came to, and its certificate."""

from typing import NamedTuple

import numpy as np

from fwsvm.numerics.compile import njit


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

    def of(self, k: int) -> "Solutions":
        """Return what the pairs came to for the k-th penalty, the same arrays without their first axis."""
        return Solutions(*(each[k] for each in self))


def empty_solutions(rows: int, classes: int, penalties: int = 1) -> Solutions:
    """Return room for what the pairs come to."""
    pairs = classes * (classes - 1) // 2
    shape = penalties, pairs
    return Solutions(
        np.zeros((penalties, rows, classes - 1)), np.zeros(shape), np.full((*shape, 5), np.nan),
        np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.bool_),
    )  # fmt: skip


@njit(inner=True)
def write_certificate(alpha, q, ridge, diagonal, value_rounding, found):
    """Write objective, gap, primal, dual and rounding as `fwsvm.problems.simplex_qp.certificate` has them; return R."""
    R = squares = 0.0
    for t in range(q.size):
        R += alpha[t] * q[t]
        squares += alpha[t] * alpha[t] * diagonal[t]
    off = value_rounding * np.sqrt(squares)
    least, lowest, ridge_part, losses = np.inf, np.inf, 0.0, 0.0
    for t in range(q.size):
        least, lowest = min(least, q[t]), min(lowest, q[t] - off * np.sqrt(diagonal[t]))
        ridge_part += alpha[t] * alpha[t] * ridge[t]
        slack = max(0.0, 1.0 - (q[t] - alpha[t] * ridge[t]) / R)
        losses += slack * slack / ridge[t]
    found[0], found[1] = R, 2.0 * (R - least)
    found[2], found[3] = (R - ridge_part) / R / (2.0 * R) + losses / 2.0, 1.0 / (2.0 * R)
    found[4] = 2.0 * (least - lowest + off * np.sqrt(squares))
    return R
