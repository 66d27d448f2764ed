"""Directions: minus the shortest vector of a set of subgradients (004 eq. 5; Wolfe 1975).

`TwoVectors` keeps the last direction and the new subgradient, which is conjugate gradients where f is
quadratic. `Bundle` keeps every subgradient since the last reset.
"""

from typing import NamedTuple

import numpy as np

from fwsvm._compile import generic, njit
from fwsvm.solvers.stochastic.state import copy, inner

#: The shortest of a bundle is found to this part of its squared length, or after so many exchanges.
SHARP, EXCHANGES = 1e-6, 2000


class TwoVectors(NamedTuple):
    """d_k = -Nr({-d_{k-1}, g_k}). ``vectors`` is how many are kept: 2."""

    vectors: int = 2


class Bundle(NamedTuple):
    """d_k = -Nr(conv G_k). Slots 0 ... ``used`` - 1 hold subgradients; full, or told to, it starts again.

    Attributes
    ----------
    g, Q_g, inside, Q_inside : ndarrays of float64, shape (size, capacity), as in the state
    products : ndarray, shape (size, size), <g_a, g_b>
    weights : ndarray, shape (size,)
    used : ndarray of int64, shape (1,)
    """

    g: np.ndarray
    Q_g: np.ndarray
    inside: np.ndarray
    Q_inside: np.ndarray
    products: np.ndarray
    weights: np.ndarray
    used: np.ndarray


def room_for_bundle(size: int, capacity: int) -> Bundle:
    """Return an empty bundle."""
    vectors = np.zeros((4, size, capacity))
    products, weights, used = np.zeros((size, size)), np.zeros(size), np.zeros(1, np.int64)
    return Bundle(vectors[0], vectors[1], vectors[2], vectors[3], products, weights, used)


@generic
def turn(directions, s):
    """Set d, Q d, u and Q u from the new subgradient; forget the past where ``now.fresh`` says so."""


@njit
def weight_of_last(dd, dg, gg):
    """Return lam* = argmin over [0, 1] of |lam (-d) + (1 - lam) g|^2 (004 eq. 5): |d|^2, <d, g>, |g|^2 in."""
    apart = dd + 2.0 * dg + gg
    return min(max((gg + dg) / apart, 0.0), 1.0) if apart > 0.0 else 0.0


@turn.implements(TwoVectors)
def _turn_two(directions, s):
    now = s.now[0]
    n, last = now.rows, 0.0
    if now.fresh == 0:
        last = weight_of_last(inner(s, s.d, s.d, s.Q_d), inner(s, s.g, s.d, s.Q_d), now.gradient2)
    for i in range(n):
        s.d[i] = last * s.d[i] - (1.0 - last) * s.g[i]
        s.Q_d[i] = last * s.Q_d[i] - (1.0 - last) * s.Q_g[i]
        s.u[i] = last * s.u[i] + (1.0 - last) * s.inside[i]
        s.Q_u[i] = last * s.Q_u[i] + (1.0 - last) * s.Q_inside[i]


@turn.implements(Bundle)
def _turn_many(directions, s):
    now = s.now[0]
    n, size = now.rows, directions.weights.size
    if now.fresh != 0 or directions.used[0] == size:
        directions.used[0] = 0
    k = directions.used[0]
    directions.used[0] += 1
    copy(n, s.g, directions.g[k])
    copy(n, s.Q_g, directions.Q_g[k])
    copy(n, s.inside, directions.inside[k])
    copy(n, s.Q_inside, directions.Q_inside[k])
    for a in range(k + 1):
        product = inner(s, directions.g[a], s.g, s.Q_g)
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
    """Set ``weights`` to the convex weights of the shortest vector, given all inner products.

    Weight goes from the worst vector in use to the best, as in SWAP, until no vector z of the set has
    <shortest, z> below |shortest|^2 by more than a small part of it.
    """
    best = 0
    for a in range(count):
        weights[a] = 0.0
        if products[a, a] < products[best, best]:
            best = a
    weights[best] = 1.0
    along = np.empty(count)
    for a in range(count):
        along[a] = products[a, best]
    for _ in range(EXCHANGES):
        i, j, length2 = 0, -1, 0.0
        for a in range(count):
            length2 += weights[a] * along[a]
            if along[a] < along[i]:
                i = a
            if weights[a] > 0.0 and (j < 0 or along[a] > along[j]):
                j = a
        if length2 - along[i] <= SHARP * length2:
            return
        apart = products[i, i] - 2.0 * products[i, j] + products[j, j]
        share = min(weights[j], (along[j] - along[i]) / apart) if apart > 0.0 else weights[j]
        weights[i] += share
        weights[j] -= share
        for a in range(count):
            along[a] += share * (products[a, i] - products[a, j])
