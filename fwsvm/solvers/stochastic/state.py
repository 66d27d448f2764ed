"""What Wolfe's method and SCS carry from iteration to iteration: a point, a direction, and Q times each.

All vectors are coefficients over the rows of the sample: beta = sum_j alpha_j phi(x_j). Rows that the sample
takes in later have coefficient 0 until then (004 Remark 1(iv)), so growing is padding.
"""

from typing import NamedTuple

import numpy as np

from fwsvm._compile import njit

NOW = np.dtype(
    [
        ("rows", np.int64),  # |S_k|
        ("square", np.float64),  # <beta, beta> = alpha' Q alpha
        ("value", np.float64),  # f_k at the incumbent alpha
        ("lower", np.float64),  # the best lower bound on min f_k found on this sample
        ("gradient2", np.float64),  # |g_k|^2
        ("slope", np.float64),  # <g_k, d_k>
        ("length2", np.float64),  # |d_k|^2
        ("curvature", np.float64),  # lambda d' Q d, of the quadratic part along d
        ("ball", np.float64),  # delta_k: how far a step may go
        ("step", np.float64),  # t_k, 0 where the line search found none
        ("value_after", np.float64),  # f_k(alpha + t_k d)
        ("ahead", np.float64),  # the next subgradient is taken at alpha + ahead d
        ("fresh", np.int64),  # 1: there is no previous direction
        ("resets", np.int64),  # directions thrown away
        ("trials", np.int64),  # step lengths looked at
    ]
)


class State(NamedTuple):
    """Arrays for a sample of up to ``capacity`` rows, the first ``now.rows`` of them in use.

    Attributes
    ----------
    lam : float, lambda
    euclid : bool, whether lengths are Euclidean in the coefficients instead of in the kernel's space
    Q : ndarray of float32 or float64, shape (capacity, capacity), the sample's kernel matrix
    w : ndarray of float64, shape (capacity,), labels +1 or -1
    alpha, Q_alpha : ndarrays of float64, shape (capacity,), the incumbent
    d, Q_d : the direction
    g, Q_g : the subgradient
    inside, Q_inside : inside[i] = 1 where row i is inside its margin at the point of g, and Q (w.*inside)
    u, Q_u : the mean of ``inside`` over the subgradients that make up d, and Q (w.*u): a dual candidate
    best_u : the u of ``now.lower``
    now : ndarray of `NOW`, shape (1,)
    """

    lam: float
    euclid: bool
    Q: np.ndarray
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
    now: np.ndarray


def room_for(capacity: int, lam: float, dtype: type, *, euclid: bool) -> State:
    """Return the state of an empty sample at alpha = 0, where f = 1; memory is taken as rows come."""
    now = np.zeros(1, NOW)
    now["fresh"], now["ball"], now["value"], now["lower"] = 1, np.inf, 1.0, -np.inf
    return State(lam, euclid, np.empty((capacity, capacity), dtype), *np.zeros((12, capacity)), now)  # type: ignore[call-arg]


@njit
def pad(s, rows):
    """Take in the sample's new rows up to ``rows``, whose Q and w are there: all their coefficients are 0."""
    now = s.now[0]
    old = now.rows
    for i in range(old, rows):
        q_alpha = q_d = q_inside = q_u = 0.0
        for j in range(old):
            q = np.float64(s.Q[i, j])
            q_alpha += q * s.alpha[j]
            q_d += q * s.d[j]
            q_inside += q * s.w[j] * s.inside[j]
            q_u += q * s.w[j] * s.u[j]
        s.Q_alpha[i], s.Q_d[i], s.Q_inside[i], s.Q_u[i] = q_alpha, q_d, q_inside, q_u
    now.rows = rows
    now.lower = -np.inf  # f_k is another function now


@njit
def move(s):
    """Set alpha to alpha + t d, with its square and value."""
    now = s.now[0]
    n, t = now.rows, now.step
    now.square += 2.0 * t * dot(n, s.alpha, s.Q_d) + t * t * now.curvature / s.lam
    now.value = now.value_after
    for i in range(n):
        s.alpha[i] += t * s.d[i]
        s.Q_alpha[i] += t * s.Q_d[i]


@njit
def inner(s, a, b, Q_b):
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
