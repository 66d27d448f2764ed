"""Directions: minus the shortest vector of a set of subgradients (004 eq. 5; Wolfe 1975).

`TwoVectors` keeps the last direction and the new subgradient, which is conjugate gradients where f is
quadratic. `Bundle` keeps every subgradient since the last reset.
"""

from typing import NamedTuple

import numpy as np

from fwsvm.numerics.compile import generic, njit
from fwsvm.solvers.stochastic.state import copy, dot, inner_product

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
