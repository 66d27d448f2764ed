"""One iteration of Wolfe's method, and of SCS on its current sample: subgradient, direction, step length.

The direction is minus the shortest vector of a set of subgradients (004 eq. 5; Wolfe 1975): of the last direction and
the new subgradient, which is conjugate gradients where f is quadratic, or of every subgradient since the last reset
(`Bundle`).

The line search is the strong Wolfe line search within a ball (004 eq. 6 and Algorithm 2):

    L = { t > 0 : f(alpha + t d) - f(alpha) <= -m1 t |d|^2 }      enough decrease
    R = { t > 0 : 0 > <g(t), d> >= -m2 |d|^2 }                    enough increase of the slope

L and R intersect for a function bounded below (Wolfe 1975), but not always here: the ball may end before R begins, and
at a kink the slope may jump across R. In the first case the step goes to the boundary, in the second to the best t in L
that was tried.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from fwsvm.errors import UsageError
from fwsvm.numerics.compile import njit
from fwsvm.solvers.stochastic.state import (
    StochasticState,
    along_line,
    dot,
    evaluate_incumbent,
    inner_product,
    list_margin_changes,
    raise_lower_bound,
    subgradient,
)
from fwsvm.solvers.tuning import SHORT_FRACTION


class Bundle:
    """Subgradients since the last reset, whose shortest combination makes d_k = -Nr(conv G_k).

    It is reset on request, when it is full, and when the path of the points is longer than ``budget``: a subgradient
    from far away carries little information about f here (Wolfe 1975).

    Parameters
    ----------
    size : int, subgradients that it holds
    capacity : int, rows
    budget : float
    """

    def __init__(self, size: int, capacity: int, budget: float) -> None:
        self.g, self.Q_g, self.inside, self.Q_inside = np.zeros((4, size, capacity))
        self.products = np.zeros((size, size))
        self.used, self.path, self.budget = 0, 0.0, budget

    def turn(self, s: StochasticState) -> None:
        """Set d, Q d, u and Q u from the new subgradient, and from earlier ones unless ``now.fresh``."""
        now = s.now[0]
        self.path += (now["step"] if now["step"] > 0.0 else now["at"]) * np.sqrt(max(now["length2"], 0.0))
        if now["fresh"] or self.used == len(self.g) or self.path > self.budget:
            self.used, self.path = 0, 0.0
        k, self.used = self.used, self.used + 1
        self.g[k], self.Q_g[k], self.inside[k], self.Q_inside[k] = s.g, s.Q_g, s.inside, s.Q_inside
        some = slice(self.used)
        self.products[k, some] = self.products[some, k] = self.g[some] @ (s.g if s.euclid else s.Q_g)
        weights = shortest(self.products[some, some])
        s.d[:], s.Q_d[:] = -weights @ self.g[some], -weights @ self.Q_g[some]
        s.u[:], s.Q_u[:] = weights @ self.inside[some], weights @ self.Q_inside[some]


def shortest(products: np.ndarray) -> np.ndarray:
    """Return the convex weights (k,) of the shortest vector, given all inner products (k, k).

    The multiple of a weight vector v >= 0 that is least in |sum_i v_i g_i|^2 + (sum v - 1)^2 is that of these weights.
    """
    scale = float(products.diagonal().max())
    values, vectors = np.linalg.eigh(products / scale if scale > 0.0 else products)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    found, _ = nnls(np.vstack([root, np.ones(len(root))]), np.append(np.zeros(len(root)), 1.0))
    return np.asarray(found / found.sum())


@njit
def weight_of_last(dd, dg, gg):
    """Return lam* = argmin over [0, 1] of |lam (-d) + (1 - lam) g|^2 (004 eq. 5): |d|^2, <d, g>, |g|^2 in."""
    apart = dd + 2.0 * dg + gg
    return min(max((gg + dg) / apart, 0.0), 1.0) if apart > 0.0 else 0.0


@njit
def turn_two(s):
    """Set d, Q d, u and Q u to -Nr({-d_{k-1}, g_k}), or to -g_k where ``now.fresh``."""
    now = s.now[0]
    n, last = now.rows, 0.0
    if now.fresh == 0:
        last = weight_of_last(
            inner_product(s, s.d, s.d, s.Q_d), inner_product(s, s.g, s.d, s.Q_d), now.gradient2
        )
    now.last = last
    for i in range(n):
        s.d[i] = last * s.d[i] - (1.0 - last) * s.g[i]
        s.u[i] = last * s.u[i] + (1.0 - last) * s.inside[i]
    for first, end in ((0, n), (s.w.size, s.w.size + now.tested)):
        for i in range(first, end):
            s.Q_d[i] = last * s.Q_d[i] - (1.0 - last) * s.Q_g[i]
            s.Q_u[i] = last * s.Q_u[i] + (1.0 - last) * s.Q_inside[i]


@njit
def carry_direction(s, old, which, added):
    """Make d the same combination of subgradients over a sample that has grown from ``old`` rows.

    d = -lambda a + W u / n for a mean a of points and a mean u of ``inside``. Over the grown sample u of a new row is
    its ``inside`` at the incumbent, and 1/n is smaller. Without this d fits the rows of the smaller sample.

    Parameters
    ----------
    which : ndarray of int, shape (j,), the new rows inside their margins
    added : ndarray, like a product, sum_j w_j k(x_j, .) over them
    """
    now = s.now[0]
    n = now.rows
    share = 1.0 / n - 1.0 / old
    for i in range(n):
        s.d[i] += share * s.w[i] * s.u[i]
    for first, end in ((0, n), (s.w.size, s.w.size + now.tested)):
        for i in range(first, end):
            s.Q_d[i] += share * s.Q_u[i] + added[i] / n
            s.Q_u[i] += added[i]
            s.Q_inside[i] += added[i]
    for i in which:
        s.d[i] += s.w[i] / n
        s.u[i] = s.inside[i] = 1.0


MAX_TRIALS = 60  # halvings that a double has room for


class Constants(NamedTuple):
    """0 < m1 < m2 < 1/2 and n > 1 of Algorithm 2."""

    m1: float
    m2: float
    n: float


def checked_constants(rule: Any) -> Constants:
    """Return a rule's constants for the line search; `UsageError` unless 0 < m1 < m2 < 1/2 and n > 1."""
    if not (0 < rule.m1 < rule.m2 < 0.5 and rule.n > 1):
        raise UsageError(
            f"the line search needs 0 < m1 < m2 < 1/2 and n > 1, not {rule.m1}, {rule.m2} and {rule.n}"
        )
    return Constants(rule.m1, rule.m2, rule.n)


@njit
def line_search(constants, s):
    """Set ``now.step`` to t_k, or to 0 where no t above b/n is in L, and ``now.value_after``.

    b = min(delta / |d|, |d|^2 / (lambda d' Q d)): beyond the second bound phi' >= -|d|^2 + t lambda d' Q d is not
    negative, whatever the hinge losses. ``now.ahead`` becomes the smallest t tried whose slope is above -m2 |d|^2; a
    null step takes its subgradient there.
    """
    now = s.now[0]
    n = now.rows
    linear = s.lam * dot(n, s.alpha, s.Q_d)
    now.curvature = s.lam * dot(n, s.d, s.Q_d)
    size2 = now.length2
    start, _ = along_line(s, 0.0, linear)
    longest = min(now.ball / np.sqrt(size2), size2 / now.curvature)
    low, high, t = 0.0, longest, longest
    best, lowest = 0.0, start
    for _ in range(MAX_TRIALS):
        now.trials += 1
        value, slope = along_line(s, t, linear)
        decreases = value - start <= -constants.m1 * t * size2
        if decreases and value < lowest:
            best, lowest = t, value
        if decreases and slope < 0.0 and (slope >= -constants.m2 * size2 or t == longest):
            best, lowest = t, value
            break
        if decreases and slope < 0.0:
            low = t
        else:
            high = t
        t = 0.5 * (low + high)
        if t <= longest / constants.n or high - low <= 1e-12 * longest:
            break
    now.step = best
    now.value_after = now.value + (lowest - start)
    now.ahead = 0.0 if best > 0.0 else high


@njit
def measure_direction(s):
    """Set ``now.length2``, and raise the lower bound by the dual value of the combination that d is."""
    now = s.now[0]
    now.fresh = 0
    now.length2 = inner_product(s, s.d, s.d, s.Q_d)
    raise_lower_bound(s)


@njit
def is_short(s, eps):
    """Return whether d is shorter than ``eps``, or so short that it is to be made anew (`SHORT_FRACTION`).

    In the kernel's space f - min f <= |g|^2 / (2 lambda), so the known gap says how long d must be. Euclidean lengths
    have no such bound: d is compared with g, which is as long as d after a reset, where ``eps`` alone counts.
    """
    now = s.now[0]
    least = (
        SHORT_FRACTION * now.gradient2 if s.euclid else 2.0 * s.lam * SHORT_FRACTION * (now.value - now.lower)
    )
    return now.length2 <= max(eps * eps, least)


@njit
def reset_direction(s):
    """Reset: the next direction is -g at the incumbent."""
    now = s.now[0]
    now.fresh, now.ahead = 1, 0.0
    now.resets += 1


class Descent:
    """The iteration on a sample.

    Parameters
    ----------
    bundle : Bundle or None, for the last direction and the new subgradient
    constants : Constants, of the line search
    state : StochasticState
    sums : RecomputedSums or StoredMatrixSums, over the sample at its own rows and those of a test sample
    eps : float, the length of a subgradient below which it counts as 0
    """

    def __init__(
        self, bundle: Bundle | None, constants: Constants, state: StochasticState, sums: Any, eps: float
    ) -> None:
        self.bundle, self.constants, self.state, self.sums, self.eps = bundle, constants, state, sums, eps

    def propose(self) -> bool:
        """Set g, d and t for the incumbent; return whether even -g there is short.

        A short d proves nothing: a combination of a subgradient here with one from elsewhere can vanish far from the
        optimum. So the direction is reset to -g at the incumbent and tested again.
        """
        s = self.state
        evaluate_incumbent(s)
        self.aim()
        if is_short(s, self.eps):
            reset_direction(s)
            self.aim()
            if is_short(s, self.eps):
                s.now["step"] = 0.0
                return True
        line_search(self.constants, s)
        return False

    def aim(self) -> None:
        """Set g and d for the point ahead."""
        s = self.state
        list_margin_changes(s)
        flips = int(s.now["flips"][0])
        self._add(s.flipped[:flips], s.change[:flips], s.Q_inside)
        subgradient(s)
        if s.euclid:
            n = int(s.now["rows"][0])
            self._add(np.arange(n), s.g[:n], s.Q_g)
        if self.bundle is None:
            turn_two(s)
        else:
            self.bundle.turn(s)
        measure_direction(s)

    def carry(self, old: int) -> None:
        """Make the last direction one of the sample, which has grown from ``old`` rows."""
        s, n = self.state, int(self.state.now["rows"][0])
        which, added = old + np.flatnonzero(s.w[old:n] * s.Q_alpha[old:n] < 1.0), np.zeros(len(s.Q_d))
        self._add(which, s.w[which], added)
        carry_direction(s, old, which, added)

    def _add(self, which: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
        """Add sum_j weights[j] k(s_which[j], .) at the rows of the sample, and of the test sample."""
        capacity, n, tested = (
            len(self.state.w),
            int(self.state.now["rows"][0]),
            int(self.state.now["tested"][0]),
        )
        outs = [out[None, :n], out[None, capacity : capacity + tested]]
        self.sums.add(which, weights[None], outs if tested else outs[:1])


@njit
def gap_closed(s, goal):
    """Return whether the gap on the sample is within ``goal`` times the value."""
    now = s.now[0]
    return now.value - now.lower <= goal * now.value
