"""The best multiple of w: P(theta w), convex in one number, needs no more than the margins of w.

Where C is large the last thing that dual coordinate descent gets right is the length of w: rows that belong on
their margin are some thousandths short of it, and each is charged C times what it lacks, which a slightly longer
w does not. D bounds P from below at every w, so P(theta w) - D(alpha) certifies theta w as P(w) - D does w.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.numerics.compile import njit
from fwsvm.problems.box_qp import BoxCertificate, BoxQP, Rounding, certificate, margins_of, measure

LEAST, MOST = 0.5, 2.0
HALVINGS, MOST_HALVINGS = 20, 52  # of the interval that holds theta, for a look and for a certificate
NEAR = 1e-11  # of |theta w|^2 / 2: how far P(theta w) of a certificate may be above its least
MATTERS = 1e-9  # rounding of P in parts of it, above which w may be lengthened
LONGER, MOST_LONGER = 4.0, 1e-3  # by how much, in units of a margin's rounding, and up to which rounding


class Multiple(NamedTuple):
    """theta, and by how much P(theta w) is below P(w)."""

    theta: float
    decrease: float


@njit(forceinline=True)
def _loss(point, lack):
    """Return what a row costs that lacks so much to its margin."""
    if lack <= 0.0:
        return 0.0
    return point.upper * lack if point.ridge == 0.0 else 0.5 * lack * lack / point.ridge


@njit(inner=True)
def _slope(points, margins, square, theta):
    """Return dP(theta w) / dtheta."""
    slope = theta * square
    for i in range(len(points)):
        point, lack = points[i], 1.0 - theta * margins[i]
        if lack > 0.0:
            slope -= margins[i] * (point.upper if point.ridge == 0.0 else lack / point.ridge)
    return slope


@njit
def best_multiple(points, margins, square, wanted):
    """Return the `Multiple` for margins y_i <w, x_i>, shape (m,), and |w|^2; (1, 0) where none is better.

    Or where none takes off as much as ``wanted``, which tangents of P show early; with 0 theta is as exact as P feels
    it. A margin above 1 may be given too small, but above 1: what a multiple is said to take off is then no more than
    it does.
    """
    at_one = _slope(points, margins, square, 1.0)
    least, most = (1.0, MOST) if at_one < 0.0 else (LEAST, 1.0)
    slope = np.inf if at_one < 0.0 else at_one  # at most, where known
    for _ in range(HALVINGS if wanted > 0.0 else MOST_HALVINGS):
        if max(-at_one * (most - 1.0), at_one * (1.0 - least)) < wanted:
            return Multiple(1.0, 0.0)
        if wanted == 0.0 and slope * (most - least) <= NEAR * 0.5 * most * most * square:
            break
        middle = 0.5 * (least + most)
        at_middle = _slope(points, margins, square, middle)
        if at_middle < 0.0:
            least = middle
        else:
            most, slope = middle, at_middle
    decrease = _decrease(points, margins, square, most)
    return Multiple(most, decrease) if decrease > 0.0 else Multiple(1.0, 0.0)


@njit
def _decrease(points, margins, square, theta):
    """Return by how much P(theta w) is below P(w)."""
    decrease = 0.5 * (1.0 - theta * theta) * square
    for i in range(len(points)):
        decrease += _loss(points[i], 1.0 - margins[i]) - _loss(points[i], 1.0 - theta * margins[i])
    return decrease


def best_certificate(qp: BoxQP, alpha: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, BoxCertificate]:
    """Return theta w and its certificate, for alpha of shape (m,) and w = weights_of(qp, alpha), shape (n + 1,).

    Where C is so large that the rounding of margins matters, w is lengthened by as much: rows on their margin are then
    past it, however their products are rounded.

    Since |w|^2 is the sum of alpha_i times the margins, P(theta w) - D(alpha) = (1 - theta)^2 |w|^2 / 2 plus each row's
    `shortfall` at theta times its margin: a sum of terms that are not negative, where P(w) - D(alpha) less P(w) -
    P(theta w) may be that of two numbers of 1e20.
    """
    margins, square = margins_of(qp, w), float(w @ w)
    found = certificate(qp, alpha, w, margins)

    def at(theta: float) -> tuple[float, Rounding]:
        """Return P(theta w) - D(alpha), and its rounding."""
        gap, _, _, *off = measure(qp, alpha, theta * np.sqrt(square), theta * margins)
        return float(0.5 * (1.0 - theta) ** 2 * square + gap), Rounding(*off)

    theta, _ = best_multiple(qp.points, margins, square, 0.0)
    gap, off = at(theta)
    if off.gap > MATTERS * (found.dual + gap) and off.gradient < MOST_LONGER:
        longer = theta * (1.0 + LONGER * off.gradient)
        there, less = at(longer)
        if there + less.gap < gap + off.gap:
            theta, gap, off = longer, there, less
    return theta * w, found._replace(primal=found.dual + gap, gap=gap, rounding=off)
