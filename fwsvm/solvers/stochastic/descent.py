"""One iteration of Wolfe's method, and of SCS on its current sample: subgradient, direction, step length.

The direction is minus the shortest vector of a set of subgradients (004 eq. 5; Wolfe 1975). `TwoVectors` keeps the last
direction and the new subgradient, which is conjugate gradients where f is quadratic; `Bundle` keeps every subgradient
since the last reset.

The line search is the strong Wolfe line search within a ball (004 eq. 6 and Algorithm 2):

    L = { t > 0 : f(alpha + t d) - f(alpha) <= -m1 t |d|^2 }      enough decrease
    R = { t > 0 : 0 > <g(t), d> >= -m2 |d|^2 }                    enough increase of the slope

L and R intersect for a function bounded below (Wolfe 1975), but not always here: the ball may end before R begins, and
at a kink the slope may jump across R. In the first case the step goes to the boundary, in the second to the best t in L
that was tried.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.numerics.compile import generic, njit
from fwsvm.solvers.stochastic.acceptance import TrackedTest
from fwsvm.solvers.stochastic.state import (
    StochasticState,
    along_line,
    copy,
    dot,
    evaluate_incumbent,
    inner_product,
    list_margin_changes,
    move,
    raise_lower_bound,
    subgradient,
)
from fwsvm.solvers.tuning import SHORT_FRACTION

#: The shortest vector is found to this fraction of its squared length, or for so many exchanges of vectors in use.
SHORTEST_TOLERANCE, MAX_EXCHANGES = 1e-6, 200
#: Rounding errors of inner products, relative to the largest.
RIDGE = 1e-12


class TwoVectors(NamedTuple):
    """d_k = -Nr({-d_{k-1}, g_k}). ``vectors`` is how many are kept: 2."""

    vectors: int = 2


class Bundle(NamedTuple):
    """d_k = -Nr(conv G_k). Slots 0 ... ``used`` - 1 hold the subgradients since the last reset.

    It is reset on request, when it is full, and when the path of the points is longer than ``budget``: a subgradient
    from far away carries little information about f here (Wolfe 1975).

    Attributes
    ----------
    g, Q_g, inside, Q_inside : ndarrays of float64, shape (size, capacity), as in the state
    products : ndarray, shape (size, size), <g_a, g_b>
    weights : ndarray, shape (size,)
    used : ndarray of int64, shape (1,)
    path : ndarray, shape (1,), the length so far
    budget : float
    """

    g: np.ndarray
    Q_g: np.ndarray
    inside: np.ndarray
    Q_inside: np.ndarray
    products: np.ndarray
    weights: np.ndarray
    used: np.ndarray
    path: np.ndarray
    budget: float


def empty_bundle(size: int, capacity: int, budget: float) -> Bundle:
    """Return an empty bundle."""
    vectors, used = np.zeros((4, size, capacity)), np.zeros(1, np.int64)
    return Bundle(*vectors, np.zeros((size, size)), np.zeros(size), used, np.zeros(1), budget)  # type: ignore[call-arg]


@generic
def update_direction(directions, s):
    """Set d, Q d, u and Q u from the new subgradient, and from earlier ones unless ``now.fresh``."""


@njit
def weight_of_last(dd, dg, gg):
    """Return lam* = argmin over [0, 1] of |lam (-d) + (1 - lam) g|^2 (004 eq. 5): |d|^2, <d, g>, |g|^2 in."""
    apart = dd + 2.0 * dg + gg
    return min(max((gg + dg) / apart, 0.0), 1.0) if apart > 0.0 else 0.0


@update_direction.implements(TwoVectors)
def _turn_two(directions, s):
    now = s.now[0]
    n, last = now.rows, 0.0
    if now.fresh == 0:
        last = weight_of_last(
            inner_product(s, s.d, s.d, s.Q_d), inner_product(s, s.g, s.d, s.Q_d), now.gradient2
        )
    now.last = last
    for i in range(n):
        s.d[i] = last * s.d[i] - (1.0 - last) * s.g[i]
        s.Q_d[i] = last * s.Q_d[i] - (1.0 - last) * s.Q_g[i]
        s.u[i] = last * s.u[i] + (1.0 - last) * s.inside[i]
        s.Q_u[i] = last * s.Q_u[i] + (1.0 - last) * s.Q_inside[i]


@njit
def carry_direction(s, old, which, added):
    """Make d the same combination of subgradients over a sample that has grown from ``old`` rows.

    d = -lambda a + W u / n for a mean a of points and a mean u of ``inside``. Over the grown sample u of a new row is
    its ``inside`` at the incumbent, and 1/n is smaller. Without this d fits the rows of the smaller sample.

    Parameters
    ----------
    which : ndarray of int, shape (j,), the new rows inside their margins
    added : ndarray, shape (at least rows,), sum_j w_j k(x_j, .) over them
    """
    n = s.now[0].rows
    share = 1.0 / n - 1.0 / old
    for i in range(n):
        s.d[i] += share * s.w[i] * s.u[i]
        s.Q_d[i] += share * s.Q_u[i] + added[i] / n
        s.Q_u[i] += added[i]
        s.Q_inside[i] += added[i]
    for i in which:
        s.d[i] += s.w[i] / n
        s.u[i] = s.inside[i] = 1.0
    return share


@update_direction.implements(Bundle)
def _turn_many(directions, s):
    now = s.now[0]
    n, size = now.rows, directions.weights.size
    directions.path[0] += (now.step if now.step > 0.0 else now.at) * np.sqrt(max(now.length2, 0.0))
    if now.fresh != 0 or directions.used[0] == size or directions.path[0] > directions.budget:
        directions.used[0], directions.path[0] = 0, 0.0
    k = directions.used[0]
    directions.used[0] += 1
    copy(n, s.g, directions.g[k])
    copy(n, s.Q_g, directions.Q_g[k])
    copy(n, s.inside, directions.inside[k])
    copy(n, s.Q_inside, directions.Q_inside[k])
    for a in range(k + 1):
        product = inner_product(s, directions.g[a], s.g, s.Q_g)
        directions.products[a, k] = directions.products[k, a] = product
    shortest(directions.products, k + 1, directions.weights)
    for i in range(n):
        s.d[i] = s.Q_d[i] = s.u[i] = s.Q_u[i] = 0.0
    for a in range(k + 1):
        part = directions.weights[a]
        if part > 0.0:
            for i in range(n):
                s.d[i] -= part * directions.g[a, i]
                s.Q_d[i] -= part * directions.Q_g[a, i]
                s.u[i] += part * directions.inside[a, i]
                s.Q_u[i] += part * directions.Q_inside[a, i]


@njit
def shortest(products, count, weights):
    """Set ``weights`` to the convex weights of the shortest vector, given all inner products (Wolfe 1976).

    The vectors in use get the weights of their shortest affine combination; those whose weights would become negative
    are dropped; and the vector z of least <shortest, z> is added, until that product is |shortest|^2.
    """
    used, scale = np.empty(count, np.int64), 0.0
    for a in range(count):
        weights[a] = 0.0
        scale = max(scale, products[a, a])
    best = 0
    for a in range(count):
        best = a if products[a, a] < products[best, best] else best
    used[0], size, weights[best] = best, 1, 1.0
    for _ in range(MAX_EXCHANGES):
        i, least, length2 = _least(products, count, weights)
        if length2 - least <= max(SHORTEST_TOLERANCE * length2, RIDGE * scale) or weights[i] > 0.0:
            return
        used[size], size = i, size + 1
        while True:
            target = _affine(products, used, size, scale)
            share = 1.0
            for c in range(size):
                if target[c] <= 0.0:
                    share = min(share, weights[used[c]] / (weights[used[c]] - target[c] + 1e-300))
            left = 0
            for c in range(size):
                a = used[c]
                weights[a] = weights[a] + share * (target[c] - weights[a])
                if weights[a] > 1e-14:
                    used[left], left = a, left + 1
                else:
                    weights[a] = 0.0
            if left == size:
                break
            size = left


@njit(inner=True)
def _least(products, count, weights):
    """Return the vector z of least <x, z>, that product, and <x, x>, for the combination x of the given weights."""
    i, least, length2 = 0, np.inf, 0.0
    for a in range(count):
        along = dot(count, products[a], weights)
        length2 += weights[a] * along
        if along < least:
            i, least = a, along
    return i, least, length2


@njit(inner=True)
def _affine(products, used, size, scale):
    """Return weights of sum 1 that make the combination of the vectors in use shortest, by a Cholesky factor.

    They solve (G + scale 1 1') v = 1 up to a factor; the ridge is for vectors that depend on one another.
    """
    L, v, total = np.empty((size, size)), np.ones(size), 0.0
    for a in range(size):
        for b in range(a + 1):
            rest = products[used[a], used[b]] + scale
            if a == b:
                rest += RIDGE * scale
            for c in range(b):
                rest -= L[a, c] * L[b, c]
            if a == b:
                L[a, a] = np.sqrt(max(rest, RIDGE * scale))
            else:
                L[a, b] = rest / L[b, b]
    for a in range(size):
        for b in range(a):
            v[a] -= L[a, b] * v[b]
        v[a] /= L[a, a]
    for a in range(size - 1, -1, -1):
        for b in range(a + 1, size):
            v[a] -= L[b, a] * v[b]
        v[a] /= L[a, a]
        total += v[a]
    return v / total


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
def set_direction(directions, s):
    """Set d from g, and raise the lower bound by the dual value of the same combination."""
    now = s.now[0]
    now.gradient2 = inner_product(s, s.g, s.g, s.Q_g)
    update_direction(directions, s)
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
    directions : TwoVectors or Bundle
    constants : Constants, of the line search
    state : StochasticState
    sums : RecomputedSums or StoredMatrixSums, over the sample at its own rows, and at the test's if one is kept
    eps : float, the length of a subgradient below which it counts as 0
    tracked_test : TrackedTest, optional, whose sums follow the point
    """

    def __init__(
        self,
        directions: Any,
        constants: Constants,
        state: StochasticState,
        sums: Any,
        eps: float,
        tracked_test: TrackedTest | None = None,
    ) -> None:
        self.directions, self.constants, self.state = directions, constants, state
        self.sums, self.eps, self.tracked_test = sums, eps, tracked_test

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
        s, tracked_test = self.state, self.tracked_test
        list_margin_changes(s)
        flips = int(s.now["flips"][0])
        self._add(
            s.flipped[:flips], s.change[:flips], s.Q_inside, tracked_test.inside if tracked_test else None
        )
        subgradient(s)
        if tracked_test:
            tracked_test.subgradient(s)
        if s.euclid:
            n = int(s.now["rows"][0])
            self._add(np.arange(n), s.g[:n], s.Q_g, tracked_test.g if tracked_test else None)
        set_direction(self.directions, s)
        if tracked_test:
            tracked_test.turn(s)

    def carry(self, old: int) -> None:
        """Make the last direction one of the sample, which has grown from ``old`` rows."""
        s, n, tracked_test = self.state, int(self.state.now["rows"][0]), self.tracked_test
        which = old + np.flatnonzero(s.w[old:n] * s.Q_alpha[old:n] < 1.0)
        here, there = np.zeros(n), np.zeros(len(tracked_test.sample) if tracked_test else 0)
        self._add(which, s.w[which], here, there if tracked_test else None)
        share = carry_direction(s, old, which, here)
        if tracked_test:
            tracked_test.carry(share, there, n)

    def _add(
        self, which: np.ndarray, weights: np.ndarray, here: np.ndarray, there: np.ndarray | None
    ) -> None:
        """Add sum_j weights[j] k(s_which[j], .) at the rows of the sample and of the test."""
        outs = [here[None]] if there is None else [here[None], there[None]]
        self.sums.add(which, weights[None], outs)

    def move(self) -> None:
        """Make the candidate the incumbent."""
        move(self.state)
        if self.tracked_test:
            self.tracked_test.move(self.state)


@njit
def gap_closed(s, goal):
    """Return whether the gap on the sample is within ``goal`` times the value."""
    now = s.now[0]
    return now.value - now.lower <= goal * now.value
