"""Slow truth in plain numpy, written from the definitions (no code is shared with the package).

The problem: R = a' K~ a over the simplex, K~_ij = y_i y_j (k(x_i, x_j) + 1) + delta_ij / C_i, q = K~ a.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize, nnls
from scipy.spatial.distance import cdist

Step = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


#: Some parameters of each kernel that `gram` knows; tests that go through all kernels of the package take these.
PARAMETERS = {
    "rbf": {"gamma": 0.5},
    "laplacian": {"gamma": 0.3},
    "quadratic": {"gamma": 0.5},
    "poly": {"gamma": 0.5, "coef0": 1.0, "degree": 2},
    "linear": {},
}


def gram(kernel: str, X: np.ndarray, Z: np.ndarray, gamma=1.0, coef0=1.0, degree=3) -> np.ndarray:
    """Return k(x, z) for every row x of X and z of Z."""
    if kernel == "rbf":
        return np.exp(-gamma * cdist(X, Z, "sqeuclidean"))
    if kernel == "laplacian":
        return np.exp(-gamma * cdist(X, Z, "cityblock"))
    inner = X @ Z.T
    return {"linear": inner, "quadratic": (gamma * inner) ** 2, "poly": (gamma * inner + coef0) ** degree}[
        kernel
    ]


def extended(K: np.ndarray, y: np.ndarray, C: float | np.ndarray) -> np.ndarray:
    """Return K~ (003 eq. 18)."""
    return np.outer(y, y) * (K + 1.0) + np.diag(np.broadcast_to(1.0 / np.asarray(C, float), y.shape))


def gap(K: np.ndarray, a: np.ndarray) -> float:
    """Return 2 (R - min q)."""
    q = K @ a
    return 2.0 * float(a @ q - q.min())


def standard_form(K: np.ndarray, y: np.ndarray, C: np.ndarray, a: np.ndarray) -> tuple[float, float]:
    """Return primal and dual of the squared-hinge machine at (w, b) / R, for the kernel matrix K."""
    R = float(a @ extended(K, y, C) @ a)
    beta = y * a / R
    decision = K @ beta + beta.sum()
    loss = np.maximum(0.0, 1.0 - y * decision) ** 2
    primal = 0.5 * (beta @ K @ beta + beta.sum() ** 2) + 0.5 * float((C * loss).sum())
    b = a / R
    return primal, float(b.sum() - 0.5 * b @ extended(K, y, C) @ b)


def simplex_optimum(K: np.ndarray) -> np.ndarray:
    """Return argmin a' K a over the simplex: argmin 1/2 b' K b - 1'b over b >= 0 by NNLS, normalised."""
    L = cholesky(K, lower=True)
    b, _ = nnls(L.T, solve_triangular(L, np.ones(len(K)), lower=True), maxiter=100 * len(K))
    return b / b.sum()


def least_objective(kernel: str, X: np.ndarray, y: np.ndarray, C: float, gamma: float) -> float:
    """Return a' K~ a at its minimum over the simplex."""
    K = extended(gram(kernel, X, X, gamma), y, C)
    best = simplex_optimum(K)
    return float(best @ K @ best)


def box_optimum(Q: np.ndarray, C: np.ndarray) -> tuple[float, float]:
    """Return dual and primal value, which bound the optimum, of the hinge machine without bias.

    max sum b - 1/2 b'Qb over 0 <= b <= C, with Q_ij = y_i y_j k(x_i, x_j).
    """
    found = minimize(
        lambda b: (0.5 * b @ Q @ b - b.sum(), Q @ b - 1.0),
        np.zeros(len(Q)),
        jac=True,
        bounds=[(0.0, c) for c in C],
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-11, "maxiter": 3000, "maxfun": 4000},
    )
    b = found.x
    square = b @ Q @ b
    return b.sum() - 0.5 * square, 0.5 * square + float((C * np.maximum(0.0, 1.0 - Q @ b)).sum())


# ------------------------------------------------------------------ one step of each method (spec 4 to 7)
#
# Steps take q = K a as well as a: after an exact step two entries of q are equal but for rounding, and a method that
# is compared with these must break such ties on the same numbers.


def _toward(K: np.ndarray, a: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the point after a Frank-Wolfe step and the decrease as if the step might be as long as it liked."""
    R = a @ q
    i = int(q.argmin())
    curvature = R - 2.0 * q[i] + K[i, i]
    step = min(1.0, (R - q[i]) / curvature)
    moved = (1.0 - step) * a
    moved[i] += step
    return moved, (R - q[i]) ** 2 / curvature


def fw(K: np.ndarray, a: np.ndarray, q: np.ndarray) -> np.ndarray:
    """003 Algorithm 2, 000 Algorithm 1."""
    return _toward(K, a, q)[0]


def mfw(K: np.ndarray, a: np.ndarray, q: np.ndarray) -> np.ndarray:
    """003 Algorithm 3, with its line 20 put right."""
    R = a @ q
    j = int(np.where(a > 0, q, -np.inf).argmax())
    if R - q.min() >= q[j] - R:
        return fw(K, a, q)
    longest = a[j] / (1.0 - a[j])
    step = (q[j] - R) / (R - 2.0 * q[j] + K[j, j])
    moved = (1.0 + min(step, longest)) * a
    moved[j] = 0.0 if step >= longest else moved[j] - step
    return moved


def _swap(K: np.ndarray, a: np.ndarray, q: np.ndarray, i: int, j: int) -> tuple[np.ndarray, float]:
    """Return the point after weight has gone from j to i, and the decrease as if a_j did not bound the step."""
    slope = q[j] - q[i]
    curvature = K[i, i] - 2.0 * K[i, j] + K[j, j]
    step = min(slope / curvature, a[j])
    moved = a.copy()
    moved[i] += step
    moved[j] = 0.0 if slope / curvature >= a[j] else a[j] - step
    return moved, slope**2 / curvature


def _better(K: np.ndarray, a: np.ndarray, q: np.ndarray, j: int, clipped: bool) -> np.ndarray:
    """Return the point after the swap with j, or after the Frank-Wolfe step, as 000 Algorithm 4 decides."""
    toward, promise = _toward(K, a, q)
    swapped, promise_of_swap = _swap(K, a, q, int(q.argmin()), j)
    if clipped:
        promise, promise_of_swap = (a @ K @ a - moved @ K @ moved for moved in (toward, swapped))
    return swapped if promise_of_swap > promise else toward


def swap(K: np.ndarray, a: np.ndarray, q: np.ndarray, *, clipped: bool = False) -> np.ndarray:
    """000 Algorithm 4; the decision by unconstrained improvements, or by the clipped ones."""
    return _better(K, a, q, int(np.where(a > 0, q, -np.inf).argmax()), clipped)


def _partner(K: np.ndarray, a: np.ndarray, q: np.ndarray, i: int) -> int | None:
    gain = np.full(len(a), -np.inf)
    for j in np.flatnonzero(a > 0):
        if j != i and q[j] > q[i]:
            gain[j] = (q[j] - q[i]) ** 2 / (K[i, i] - 2.0 * K[i, j] + K[j, j])
    return None if np.isinf(gain).all() else int(gain.argmax())


def swap_2o(K: np.ndarray, a: np.ndarray, q: np.ndarray, *, clipped: bool = False) -> np.ndarray:
    """000 Algorithm 5."""
    j = _partner(K, a, q, int(q.argmin()))
    return fw(K, a, q) if j is None else _better(K, a, q, j, clipped)


def cvm(K: np.ndarray, a: np.ndarray, q: np.ndarray, inner: float) -> np.ndarray:
    """003 Algorithm 1, one step of its inner solver: within the core set while a pair there differs by ``inner``."""
    i = int(np.where(a > 0, q, np.inf).argmin())
    if q[a > 0].max() - q[i] <= inner:
        i = int(q.argmin())
    j = _partner(K, a, q, i)
    return fw(K, a, q) if j is None else _swap(K, a, q, i, j)[0]


STEPS: dict[str, Step] = {"fw": fw, "mfw": mfw, "swap": swap, "swap-2o": swap_2o}
