"""The dual of the linear SVM without offset, a quadratic program over a box.

002 section 2; Hsieh et al. 2008:

    P(w)     = 1/2 |w|^2 + sum_i loss_i(1 - y_i <w, x_i>)
    D(alpha) = sum alpha - 1/2 |w|^2 - 1/2 sum_i r_i alpha_i^2,    0 <= alpha_i <= U_i
    w        = sum_i y_i alpha_i x_i

Two numbers of each row make the loss: hinge, C_i max(0, t), has U_i = C_i and r_i = 0; squared hinge, C_i
max(0, t)^2, has no upper bound and r_i = 1 / (2 C_i). With dD/dalpha_i = g_i = 1 - y_i <w, x_i> - r_i alpha_i
the gap P - D is a sum of one term >= 0 a row (`shortfall`), so it is computed without cancellation.

A constant feature of value B ("bias feature") is one more coordinate of w, kept at its end; no row stores it.
Rows without any feature have g = 1 whatever w is: alpha_i is min(U_i, 1 / r_i) at once, they add C_i to P and
to D alike, and are left out of the problem.
"""

from enum import Enum
from typing import NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.compile import njit, njit_inlined_step, njit_inner, record

POINT = record(
    float64=(
        "y",  # +1 or -1
        "curvature",  # |x_i|^2 + B^2 + r_i
        "upper",  # U_i
        "ridge",  # r_i
    ),
    uint64=("first", "end"),  # where the row's values begin, and end
)


class Loss(Enum):
    """What a row inside the margin costs."""

    HINGE = "hinge"
    SQUARED_HINGE = "squared hinge"


class BoxQP(NamedTuple):
    """One two-class problem; its m points are the rows that have a feature.

    Attributes
    ----------
    values : ndarray of float64, shape (nnz,), of dense rows that are mapped also float32
    columns : ndarray of uint32, shape (nnz,), or None where every row has all features
    points : ndarray of `POINT`, shape (m,)
    rows : ndarray of int64, shape (m,), the points' numbers among all rows
    features : int, n; weight vectors have n + 1 entries
    bias : float, B, 0 for no constant feature
    constant : float, the part of P and of D of rows without features
    """

    values: np.ndarray
    columns: np.ndarray | None
    points: np.ndarray
    rows: np.ndarray
    features: int
    bias: float
    constant: float


def box_qp(rows: Rows, y: np.ndarray, penalties: np.ndarray, loss: Loss, bias: float) -> BoxQP:
    """Return the problem for rows (m, n), y = +1 or -1 and the penalties C_i > 0, both of shape (m,).

    Rows without ``columns`` have all features (`fwsvm.kernels.rows.as_they_lie`).

    Raises
    ------
    UsageError
        A bias feature that is no number >= 0.
    """
    if not 0 <= bias < np.sqrt(np.finfo(np.float64).max):
        raise UsageError(f"bias is the value of a constant feature, 0 for none; it cannot be {bias}")
    rows_used = np.arange(rows.height) if bias else np.flatnonzero(np.diff(rows.starts))
    hinge = loss is Loss.HINGE
    points = np.zeros(len(rows_used), POINT)
    points["y"] = y[rows_used]
    points["upper"] = penalties[rows_used] if hinge else np.inf
    points["ridge"] = 0.0 if hinge else 0.5 / penalties[rows_used]
    points["first"] = rows.starts[rows_used]
    points["end"] = rows.starts[rows_used + 1]
    qp = BoxQP(
        _read_only(rows.values),
        None if rows.columns is None else _read_only(rows.columns.view(np.uint32)),
        points,
        rows_used,
        rows.features,
        float(bias),
        float(np.delete(penalties, rows_used).sum()),
    )
    _set_curvature(qp)
    return qp


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view for reading: compiled code takes arrays that may be written for others than those that may not."""
    view = array.view()
    view.flags.writeable = False
    return view


@njit(fastmath={"contract", "reassoc"})
def _set_curvature(qp):
    values = qp.values
    for i in range(len(qp.points)):
        point = qp.points[i]
        square = 0.0
        for k in range(point.first, point.end):  # `for value in values` would not be vectorised
            value = np.float64(values[k])
            square += value * value
        # below this 1 / curvature would be infinite; alpha_i then is U_i all the same
        point.curvature = max(square + qp.bias * qp.bias + point.ridge, 2.2250738585072014e-308)


@njit_inlined_step(fastmath={"contract"})
def product_with_row(qp, w, i):
    """Return <w, x_i> with the constant feature, in four sums so that additions need not wait for another."""
    return _inner(qp.values, qp.columns, w, qp.points[i].first, qp.points[i].end, qp.bias * w[qp.features])


@njit_inlined_step(fastmath={"contract"}, no_rewrites=False)
def _inner(values, columns, w, k, end, a):
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    b = c = d = 0.0
    if columns is None:  # which the compiler knows: one of the two loops is left
        return a + _inner_of_dense(values, w, k, end)
    while k + four <= end:
        a += values[k] * w[columns[k]]
        b += values[k + one] * w[columns[k + one]]
        c += values[k + two] * w[columns[k + two]]
        d += values[k + three] * w[columns[k + three]]
        k += four
    while k < end:
        a += values[k] * w[columns[k]]
        k += one
    return (a + b) + (c + d)


@njit_inlined_step(fastmath={"contract", "reassoc"})
def _inner_of_dense(values, w, k, end):
    total = 0.0
    for f in range(end - k):
        total += values[k + f] * w[f]
    return total


@njit_inlined_step(fastmath={"contract"})
def add(qp, w, i, factor):
    """Set w to w + factor x_i."""
    _add(qp.values, qp.columns, w, qp.points[i].first, qp.points[i].end, factor)
    w[qp.features] += factor * qp.bias


@njit_inlined_step(fastmath={"contract"}, no_rewrites=False)
def _add(values, columns, w, k, end, factor):
    if columns is None:  # which the compiler knows: one of the two loops is left
        for f in range(end - k):
            w[f] += factor * values[k + f]
        return
    for at in range(k, end):
        w[columns[at]] += factor * values[at]


@njit(forceinline=True)
def projected(point, alpha, g):
    """Return g without the part that points out of the box: the signed violation of optimality."""
    least = 0.0 if alpha == 0.0 else -np.inf
    most = 0.0 if alpha == point.upper else np.inf
    return min(max(g, least), most)


@njit(forceinline=True)
def shortfall(point, alpha, g):
    """Return row i's part of P - D, which is >= 0 and zero only where row i is optimal."""
    if point.ridge == 0.0:  # one of the two is >= 0; which, the processor need not guess
        return max((point.upper - alpha) * g, -alpha * g)
    if g + point.ridge * alpha > 0.0:
        return 0.5 * g * g / point.ridge
    return -alpha * (g + 0.5 * point.ridge * alpha)


@njit
def weights_of(qp, alpha):
    """Return w = sum_i y_i alpha_i x_i from scratch, shape (n + 1,), for alpha of shape (m,)."""
    w = np.zeros(qp.features + 1)
    for i in range(len(alpha)):
        if alpha[i] != 0.0:
            add(qp, w, i, qp.points[i].y * alpha[i])
    return w


@njit
def margins_of(qp, w):
    """Return y_i <w, x_i>, shape (m,)."""
    margins = np.empty(len(qp.points))
    for i in range(len(margins)):
        margins[i] = qp.points[i].y * product_with_row(qp, w, i)
    return margins


EPS = float(np.finfo(np.float64).eps)


class BoxCertificate(NamedTuple):
    """What a point of the box is worth: P(w(alpha)), D(alpha), P - D, and the range of the projected gradient.

    ``rounding`` and ``gradient_rounding`` are how far rounding of the products <w, x_i> may take P - D, and any entry
    of the gradient.
    """

    primal: float
    dual: float
    gap: float
    least: float
    most: float
    rounding: float
    gradient_rounding: float


def dual(qp: BoxQP, alpha: np.ndarray, w: np.ndarray) -> float:
    """Return D(alpha), for alpha of shape (m,) and w = weights_of(qp, alpha), shape (n + 1,)."""
    return float(alpha.sum() - 0.5 * w @ w - 0.5 * (qp.points["ridge"] * alpha) @ alpha) + qp.constant


@njit
def measure(qp, alpha, length, margins):
    """Return P - D, a sum of terms >= 0, the range of the projected gradient, and roundings.

    ``length`` is |w|, ``margins`` are y_i <w, x_i>, (m,). A product of k numbers is off by about
    eps |w| |x_i| sqrt(max(1, k / 16)), as sums of kernel values are. P feels it by the slope of the row's loss, and D,
    whose |w|^2 is that of a rounded w, by alpha_i.
    """
    gap = of_gap = of_gradient = 0.0
    least = np.inf
    most = -np.inf
    for i in range(len(alpha)):
        point = qp.points[i]
        g = 1.0 - margins[i] - point.ridge * alpha[i]
        gap += shortfall(point, alpha[i], g)
        violation = projected(point, alpha[i], g)
        least = min(least, violation)
        most = max(most, violation)
        off = EPS * length * np.sqrt(point.curvature * max(1.0, (point.end - point.first) / 16.0))
        lack = max(0.0, 1.0 - margins[i] + off)
        slope = lack / point.ridge if point.ridge > 0.0 else point.upper if lack > 0.0 else 0.0
        of_gap += (slope + alpha[i]) * off
        of_gradient = max(of_gradient, off)
    return gap, least, most, of_gap, of_gradient


# ---------------------------------------------------------------- the best multiple of w

# Where C is large the last thing that dual coordinate descent gets right is the length of w: rows that belong on
# their margin are some thousandths short of it, and each is charged C times what it lacks, which a slightly longer
# w does not. P(theta w) is convex in one number and needs no more than the margins of w; D bounds P from below at
# every w, so P(theta w) - D(alpha) certifies theta w as P(w) - D does w.

LEAST = 0.5
MOST = 2.0
HALVINGS, MOST_HALVINGS = 20, 52  # of the interval that holds theta, for a look and for a certificate
LONGER = 4.0  # by how much, in units of a margin's rounding, w may be longer


@njit(forceinline=True)
def _loss(point, lack):
    """Return what a row costs that lacks so much to its margin."""
    if lack <= 0.0:
        return 0.0
    return point.upper * lack if point.ridge == 0.0 else 0.5 * lack * lack / point.ridge


@njit_inner
def _slope(points, margins, square, theta):
    """Return dP(theta w) / dtheta."""
    slope = theta * square
    for i in range(len(points)):
        point = points[i]
        lack = 1.0 - theta * margins[i]
        if lack > 0.0:
            slope -= margins[i] * (point.upper if point.ridge == 0.0 else lack / point.ridge)
    return slope


@njit
def best_multiple(points, margins, square, wanted):
    """Return the best theta, by margins y_i <w, x_i> (m,) and |w|^2, and by how much P(theta w) is below P(w).

    (1, 0) where none is better, or none takes off as much as ``wanted``, which tangents of P show early. A margin above
    1 may be given too small, but above 1: what a multiple is said to take off is then no more than it does.
    """
    at_one = _slope(points, margins, square, 1.0)
    least, most = (1.0, MOST) if at_one < 0.0 else (LEAST, 1.0)
    for _ in range(HALVINGS if wanted > 0.0 else MOST_HALVINGS):
        if max(-at_one * (most - 1.0), at_one * (1.0 - least)) < wanted:
            return 1.0, 0.0
        middle = 0.5 * (least + most)
        if _slope(points, margins, square, middle) < 0.0:
            least = middle
        else:
            most = middle
    decrease = 0.5 * (1.0 - most * most) * square
    for i in range(len(points)):
        decrease += _loss(points[i], 1.0 - margins[i]) - _loss(points[i], 1.0 - most * margins[i])
    return (most, decrease) if decrease > 0.0 else (1.0, 0.0)


def certificate(qp: BoxQP, alpha: np.ndarray, *, scaled: bool = False) -> tuple[np.ndarray, BoxCertificate]:
    """Return w = sum_i y_i alpha_i x_i, shape (n + 1,), and its certificate, for alpha of shape (m,).

    Where ``scaled``, the best theta w and its certificate. Where C is so large that the rounding of margins matters, w
    is longer by as much: rows on their margin are then past it, however their products are rounded.

    Since |w|^2 is the sum of alpha_i times the margins, P(theta w) - D(alpha) = (1 - theta)^2 |w|^2 / 2 plus each row's
    `shortfall` at theta times its margin: a sum of terms that are not negative, where P(w) - D(alpha) less P(w) -
    P(theta w) may be that of two numbers of 1e20.
    """
    w = weights_of(qp, alpha)
    margins = margins_of(qp, w)
    square = w @ w
    gap, *others = measure(qp, alpha, np.sqrt(square), margins)
    value = dual(qp, alpha, w)
    found = BoxCertificate(value + gap, value, gap, *others)
    if not scaled:
        return w, found
    best, _ = best_multiple(qp.points, margins, square, 0.0)
    options = []
    for theta in best, best * (1.0 + LONGER * found.gradient_rounding):
        gap, _, _, rounding, _ = measure(qp, alpha, theta * np.sqrt(square), theta * margins)
        gap += 0.5 * (1.0 - theta) ** 2 * square
        better = found._replace(primal=value + gap, gap=gap, rounding=rounding)
        options.append((theta * w, better))
    return min(options, key=lambda option: option[1].gap + option[1].rounding)
