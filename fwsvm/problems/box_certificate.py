"""What a point of the box problem is worth: primal and dual value, gap, gradient, and how far rounding may take them.

The problem and its formulas: `fwsvm.problems.box_qp`.
"""

from typing import NamedTuple

import numpy as np

from fwsvm._stretches import stretches
from fwsvm.numerics.compile import njit
from fwsvm.problems.box_qp import BoxQP, margins_of_parts, projected, shortfall

AT_ONCE = 1 << 22  # rows of which vectors are no matter for memory


class Rounding(NamedTuple):
    """How far rounding of the products <w, x_i> may take P - D, and any entry of the gradient."""

    gap: float
    gradient: float


class BoxCertificate(NamedTuple):
    """What a point of the box is worth: P(w(alpha)), D(alpha), P - D, the range of the projected gradient, rounding."""

    primal: float
    dual: float
    gap: float
    least: float
    most: float
    rounding: Rounding

    @property
    def relative_gap(self) -> float:
        """The gap in parts of P, which is positive: no w without loss is shorter than none. Rounding may take it."""
        return self.gap / self.primal if self.primal > 0.0 else np.inf


def certificate(
    qp: BoxQP, alpha: np.ndarray, w: np.ndarray, margins: np.ndarray | None = None
) -> BoxCertificate:
    """Return the certificate of alpha, shape (m,), with w = weights_of(qp, alpha), shape (n + 1,).

    ``margins`` (m,), of `margins_of_parts`, where they are known.
    """
    margins = margins_of_parts(qp, w) if margins is None else margins
    gap, least, most = gap_and_range(qp, alpha, margins)
    dual = float(alpha.sum() - 0.5 * (w @ w) - 0.5 * (qp.points["ridge"] * alpha) @ alpha) + qp.constant
    return BoxCertificate(dual + gap, dual, gap, least, most, rounding(qp, alpha, w, margins))


@np.errstate(over="ignore")
def rounding(qp: BoxQP, alpha: np.ndarray, w: np.ndarray, margins: np.ndarray) -> Rounding:
    """Return the `Rounding` at w (n + 1,) with alpha and margins y_i <w, x_i>, both (m,).

    A product of k numbers is off by about eps |w| |x_i| sqrt(max(1, k / 16)), as sums of kernel values are. P feels it
    by the slope of the row's loss, and D, whose |w|^2 is that of a rounded w, by alpha_i.
    """
    if len(qp.points) > AT_ONCE:
        some = stretches(len(alpha), len(alpha))
        found = [_rounding(qp.points[part], alpha[part], w, margins[part]) for part in some]
        return Rounding(sum(one.gap for one in found), max(one.gradient for one in found))
    return _rounding(qp.points, alpha, w, margins)


def _rounding(points: np.ndarray, alpha: np.ndarray, w: np.ndarray, margins: np.ndarray) -> Rounding:
    size = float(np.sqrt(w @ w)) * np.sqrt(points["curvature"])
    numbers = (points["end"] - points["first"]).astype(np.float64)
    off = np.finfo(np.float64).eps * size * np.sqrt(np.maximum(1.0, numbers / 16.0))
    lack, ridge = np.maximum(0.0, 1.0 - margins + off), points["ridge"]
    hinge = ridge == 0.0
    slope = np.where(hinge, np.where(lack > 0.0, points["upper"], 0.0), lack / np.where(hinge, 1.0, ridge))
    return Rounding(float((slope + alpha) @ off), float(off.max(initial=0.0)))


@njit
def gap_and_range(qp, alpha, margins):
    """Return P - D, a sum of terms >= 0, and the range of the projected gradient, at margins y_i <w, x_i>, (m,)."""
    gap, least, most = 0.0, np.inf, -np.inf
    for i in range(len(alpha)):
        point = qp.points[i]
        g = 1.0 - margins[i] - point.ridge * alpha[i]
        gap += shortfall(point, alpha[i], g)
        violation = projected(point, alpha[i], g)
        least, most = min(least, violation), max(most, violation)
    return gap, least, most
