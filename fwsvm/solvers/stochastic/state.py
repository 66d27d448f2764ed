"""What Wolfe's method and SCS carry from iteration to iteration, and the objective on a sample, f_k (004 problem (3)).

Q_ij = k(x_i, x_j) is the kernel matrix of the sample. All vectors are coefficients over the rows of the sample: beta =
sum_j alpha_j phi(x_j). Rows that the sample takes in later have coefficient 0 until then (004 Remark 1(iv)), so growing
is padding.
"""

from enum import Enum
from typing import NamedTuple

import numpy as np

from fwsvm.numerics.compile import njit
from fwsvm.problems.hinge import box_dual


class Metric(Enum):
    """The metric in which lengths of subgradients and directions are measured."""

    RKHS = "rkhs"
    EUCLID = "euclid"


def radius_unit(lam: float, metric: Metric) -> float:
    """Return the radius around 0 that contains the minimiser, since f(0) = 1: the unit of all lengths."""
    return float(np.sqrt(2.0 / lam)) if metric is Metric.RKHS else 1.0 / lam


CONTROL = np.dtype(
    [
        ("rows", np.int64),  # |S_k|
        ("tested", np.int64),  # |T_k| where products at the rows of T_k are kept
        ("square", np.float64),  # <beta, beta> = alpha' Q alpha
        ("value", np.float64),  # f_k at the incumbent alpha
        ("lower", np.float64),  # the best lower bound on min f_k found on this sample
        ("gradient2", np.float64),  # |g_k|^2
        ("length2", np.float64),  # |d_k|^2
        ("curvature", np.float64),  # lambda d' Q d, of the quadratic part along d
        ("ball", np.float64),  # delta_k: how far a step may go
        ("step", np.float64),  # t_k, 0 where the line search found none
        ("value_after", np.float64),  # f_k(alpha + t_k d)
        ("ahead", np.float64),  # the next subgradient is taken at alpha + ahead d
        ("at", np.float64),  # the ahead at which g was taken
        ("flips", np.int64),  # rows that went in or out of their margins since the last subgradient
        ("last", np.float64),  # lam*, the weight of the last direction in the new one (`turn_two`)
        ("fresh", np.int64),  # 1: there is no previous direction
        ("resets", np.int64),  # directions thrown away
        ("trials", np.int64),  # step lengths tried
    ]
)


class StochasticState(NamedTuple):
    """Arrays for a sample of up to ``capacity`` rows, the first ``now.rows`` of them in use.

    Products, whose names begin with Q, are those with the rows of the sample, and from place ``capacity`` on those with
    ``now.tested`` rows of a test sample. All follow the point by the same formulas.

    Attributes
    ----------
    lam : float, lambda
    euclid : bool, whether lengths are Euclidean in the coefficients instead of in the kernel's space
    w : ndarray of float64, shape (capacity,), labels +1 or -1
    alpha, Q_alpha : ndarrays of float64, shape (capacity,), the incumbent
    d, Q_d : the direction
    g, Q_g : the subgradient
    inside, Q_inside : inside[i] = 1 where row i is inside its margin at the point of g, and Q (w.*inside)
    u, Q_u : the mean of ``inside`` over the subgradients that make up d, and Q (w.*u): a dual candidate
    best_u : the u of ``now.lower``
    change : what the rows that flipped add to w.*inside
    flipped : ndarray of int64, shape (capacity,), these rows, the first ``now.flips``
    now : ndarray of `CONTROL`, shape (1,)
    """

    lam: float
    euclid: bool
    w: np.ndarray
    alpha: np.ndarray
    Q_alpha: np.ndarray
    d: np.ndarray
    Q_d: np.ndarray
    g: np.ndarray
    Q_g: np.ndarray
    inside: np.ndarray
    Q_inside: np.ndarray
    u: np.ndarray
    Q_u: np.ndarray
    best_u: np.ndarray
    change: np.ndarray
    flipped: np.ndarray
    now: np.ndarray


def empty_state(capacity: int, lam: float, *, euclid: bool, tested: int = 0) -> StochasticState:
    """Return the state of an empty sample at alpha = 0, where f = 1, with room for so many rows of a test sample."""
    now = np.zeros(1, CONTROL)
    now["fresh"], now["ball"], now["value"], now["lower"] = 1, np.inf, 1.0, -np.inf
    names = StochasticState._fields[2:-2]
    vectors = (np.zeros(capacity + tested if name.startswith("Q") else capacity) for name in names)
    return StochasticState(lam, euclid, *vectors, np.zeros(capacity, np.int64), now)  # type: ignore[call-arg]


def coefficients(s: StochasticState) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that have any coefficient, (j,), and alpha, d, w.*inside and w.*u there, (4, j)."""
    n = int(s.now["rows"][0])
    all_four = np.stack([s.alpha[:n], s.d[:n], s.w[:n] * s.inside[:n], s.w[:n] * s.u[:n]])
    used = np.flatnonzero(all_four.any(axis=0))
    return used, np.ascontiguousarray(all_four[:, used])


def pad(s: StochasticState, w: np.ndarray, products: np.ndarray) -> None:
    """Append rows with labels w, (r,), and zero coefficients; ``products`` are Q times `coefficients`, (4, r)."""
    old, n = int(s.now["rows"][0]), int(s.now["rows"][0]) + len(w)
    s.w[old:n] = w
    _write_products(s, old, products)
    s.now["rows"], s.now["lower"] = n, -np.inf  # f_k is another function now


def pad_test(s: StochasticState, first: int, products: np.ndarray) -> None:
    """Let the test sample have its first rows, and those with these ``products`` as in `pad`."""
    _write_products(s, len(s.w) + first, products)
    s.now["tested"] = first + products.shape[1]


def test_products(s: StochasticState, rows: int) -> np.ndarray:
    """Return the products of `coefficients` with the first rows of the test sample, (4, rows)."""
    part = slice(len(s.w), len(s.w) + rows)
    return np.stack([s.Q_alpha[part], s.Q_d[part], s.Q_inside[part], s.Q_u[part]])


def _write_products(s: StochasticState, first: int, products: np.ndarray) -> None:
    part = slice(first, first + products.shape[1])
    s.Q_alpha[part], s.Q_d[part], s.Q_inside[part], s.Q_u[part] = products


@njit
def move(s):
    """Set alpha to alpha + t d, with its square and value."""
    now = s.now[0]
    n, t = now.rows, now.step
    now.square += 2.0 * t * dot(n, s.alpha, s.Q_d) + t * t * now.curvature / s.lam
    now.value = now.value_after
    for i in range(n):
        s.alpha[i] += t * s.d[i]
    for first, last in ((0, n), (s.w.size, s.w.size + now.tested)):
        for i in range(first, last):
            s.Q_alpha[i] += t * s.Q_d[i]


@njit
def inner_product(s, a, b, Q_b):
    """Return <a, b> of two vectors in the metric."""
    if s.euclid:
        return dot(s.now[0].rows, a, b)
    return dot(s.now[0].rows, a, Q_b)


@njit(fastmath={"reassoc", "contract"})
def dot(n, a, b):
    """Return sum_i a_i b_i over the first n."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@njit
def copy(n, source, target):
    """Copy the first n numbers: a loop, for numba takes seconds to compile an assigned slice."""
    for i in range(n):
        target[i] = source[i]


dual_value = njit(box_dual)


@njit
def along_line(s, t, linear):
    """Return phi(t) = f_k(alpha + t d) - f_k's quadratic part at alpha, and its slope <g(t), d>.

    ``linear`` is lambda alpha' Q d. At a kink the slope is that to the right: rows at margin 1 are not
    inside.
    """
    now = s.now[0]
    n = now.rows
    hinge = slope = 0.0
    for i in range(n):
        by = s.w[i] * s.Q_d[i]
        loss = 1.0 - (s.w[i] * s.Q_alpha[i] + t * by)
        if loss > 0.0:
            hinge += loss
            slope -= by
    return t * (linear + 0.5 * t * now.curvature) + hinge / n, linear + t * now.curvature + slope / n


@njit
def evaluate_incumbent(s):
    """Set ``now.square`` and ``now.value`` at the incumbent."""
    now = s.now[0]
    n = now.rows
    hinge = 0.0
    for i in range(n):
        hinge += max(0.0, 1.0 - s.w[i] * s.Q_alpha[i])
    now.square = dot(n, s.alpha, s.Q_alpha)
    now.value = 0.5 * s.lam * now.square + hinge / n


@njit
def list_margin_changes(s):
    """List the rows that entered or left their margins at alpha + ahead d since the last subgradient."""
    now = s.now[0]
    n, t, count = now.rows, now.ahead, 0
    for i in range(n):
        margin = s.w[i] * (s.Q_alpha[i] + t * s.Q_d[i])
        inside = 1.0 if margin < 1.0 else 0.0
        if inside != s.inside[i]:
            s.flipped[count], s.change[count] = i, s.w[i] * (inside - s.inside[i])
            count += 1
    now.flips = count


@njit
def subgradient(s):
    """Set g to a subgradient of f_k at alpha + ahead d, with Q g.

    `list_margin_changes` comes first, and Q inside is up to date.

    In the kernel's space it is sum_i c_i phi(x_i) with c = lambda alpha - w.*inside/n: g is c, and lengths
    are c' Q c. The Euclidean reading of "g in the subdifferential of f_k(alpha)" is the vector Q c; Q g is then
    left 0.
    """
    now = s.now[0]
    n, t = now.rows, now.ahead
    for c in range(now.flips):
        s.inside[s.flipped[c]] = 1.0 - s.inside[s.flipped[c]]
    for i in range(n):
        s.g[i] = s.lam * (s.alpha[i] + t * s.d[i]) - s.w[i] * s.inside[i] / n
    for first, last in ((0, n), (s.w.size, s.w.size + now.tested)):
        for i in range(first, last):
            s.Q_g[i] = s.lam * (s.Q_alpha[i] + t * s.Q_d[i]) - s.Q_inside[i] / n
    if s.euclid:
        copy(n, s.Q_g, s.g)
        s.Q_g[:] = 0.0
    now.at, now.gradient2 = t, inner_product(s, s.g, s.g, s.Q_g)


@njit
def raise_lower_bound(s):
    """Raise the lower bound on min f_k by the dual value of u (see `fwsvm.problems.hinge`): O(n)."""
    now = s.now[0]
    n = now.rows
    total = square = most = 0.0
    for i in range(n):
        total += s.u[i]
        square += s.w[i] * s.u[i] * s.Q_u[i]
        most = max(most, s.u[i])
    lower = dual_value(total / n, square / (s.lam * n * n), most)
    if lower > now.lower:
        now.lower = lower
        copy(n, s.u, s.best_u)
