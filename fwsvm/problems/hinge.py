"""The kernel machine with mean hinge loss and no bias: 004 problem (2); lambda is explicit.

    f(alpha) = lambda/2 alpha' Q alpha + 1/m sum_i max(0, 1 - w_i (Q alpha)_i),

with Q_ij = k(x_i, x_j), beta = sum_j alpha_j phi(x_j) and labels w_i = +1 or -1.

The paper writes lambda = 1. For a kernel with |k| <= 1, as Gaussian and Laplacian, no margin of alpha = w/m
then exceeds 1, every hinge is active there, the gradient Q (lambda alpha - w/m) vanishes, and the minimiser
is w/m: the difference of the class means. The usual machine has lambda = 1/(C m).

Dual: max over 0 <= b <= 1/(lambda m) of lambda (sum b - 1/2 (w.*b)' Q (w.*b)), and alpha = w.*b at the
optimum.
"""

from typing import Any

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm.errors import UsageError
from fwsvm.kernels.rows import as_rows
from fwsvm.kernels.source import RowSource
from fwsvm.kernels.values import weighted_sums

#: Up to so many rows the value and the gap are computed over all of them, else on a fixed sample of so many. The number
#: also seeds the sample: the same rows for every method, parameter and seed, so that estimates can be compared.
FIXED_SAMPLE = 20_000


def regularisation(penalties: np.ndarray, method: str) -> float:
    """Return lambda = 1/(C m) from the rows' penalties C_i, shape (m,).

    Raises
    ------
    UsageError
        Penalties that differ: problem (2) weighs all rows alike.
    """
    if penalties.min() != penalties.max():
        raise UsageError(
            f"{method} minimises the plain mean hinge loss, where rows have no weights of their own; "
            "leave the weights out or choose a simplex or linear method"
        )
    return float(
        1.0 / (penalties[0] * len(penalties))
    )  # one that a user gives may differ from it in the last bit


def box_dual(total: float, square: float, most: float) -> float:
    """Return the largest of theta total - theta^2/2 square over 0 <= theta <= 1/most.

    With b = theta C u, C = 1/(lambda m), u >= 0 of largest entry ``most``, total = sum u / m and
    square = (w.*u)' Q (w.*u) / (lambda m^2) this is the dual value of the best feasible multiple of u.
    """
    if most <= 0.0:
        return 0.0
    theta = 1.0 / most
    if square > 0.0:
        theta = min(theta, total / square)
    return theta * total - 0.5 * theta * theta * square


def certificate(
    kernel: Any,
    X: RowMatrix,
    w: np.ndarray,
    lam: float,
    rows: np.ndarray,
    alpha: np.ndarray,
    u: np.ndarray,
    threads: int,
) -> tuple[float, float, float]:
    """Return what alpha is worth over all rows, from scratch in float64; O(m |rows|) kernel values, none stored.

    The numbers are the primal f(alpha); the dual, a lower bound on the minimum of f; and by how much the rounding of
    kernel values may have made their difference, the gap, too small.

    Parameters
    ----------
    X : array, shape (m, n)
    w : ndarray, shape (m,), +1 or -1
    lam : float, lambda
    rows : ndarray of int, shape (s,), the rows that alpha and u speak of; both are 0 elsewhere
    alpha : ndarray, shape (s,)
    u : ndarray, shape (s,), in [0, 1]
        A dual candidate b = u/(lambda m), tried beside w.*alpha clipped to the box; the best feasible
        multiple of either counts.
    """
    everyone = as_rows(X)
    m = len(w)
    clipped = np.clip(w[rows] * alpha * (lam * m), 0.0, 1.0)
    sources = np.column_stack([alpha, w[rows] * u, w[rows] * clipped])
    values = weighted_sums(kernel, everyone, rows, sources, everyone, threads)
    if not np.isfinite(values).all():  # coefficients of 1e300, say
        return np.inf, 0.0, 0.0
    losses = np.maximum(0.0, 1.0 - w * values[:, 0])
    primal = 0.5 * lam * float(alpha @ values[rows, 0]) + float(losses.mean())
    # a sum of terms c_j k_ij, each off by c_j sqrt(k_ii k_jj) times `off`, independently of the others
    itself, off = RowSource(everyone).diagonal(kernel)
    squares = off * (itself[rows] @ np.square(sources))  # of alpha' K alpha, and of the same of the duals
    dual = 0.0
    for k, b in ((1, u), (2, clipped)):
        square = ((w[rows] * b) @ values[rows, k] + squares[k]) / (lam * m * m)
        dual = max(dual, box_dual(b.sum() / m, square, b.max(initial=0.0)))
    rounding = np.sqrt(off * squares[0]) * np.sqrt(itself).mean() + 0.5 * lam * squares[0]
    return primal, dual, float(rounding)


def fixed_sample(m: int) -> np.ndarray:
    """Return the rows of m, ascending, on which objectives are estimated."""
    return np.sort(np.random.default_rng(FIXED_SAMPLE).choice(m, min(m, FIXED_SAMPLE), replace=False))


def estimate(
    kernel: Any,
    X: RowMatrix,
    w: np.ndarray,
    lam: float,
    rows: np.ndarray,
    alpha: np.ndarray,
    square: float,
    threads: int,
    dtype: type = np.float32,
) -> tuple[float, float]:
    """Return an unbiased estimate of f(alpha) from the fixed sample, and its standard error.

    ``square`` is alpha' Q alpha. The other parameters are those of `certificate`. Kernel values are of ``dtype``.
    """
    m = len(w)
    sample = fixed_sample(m)
    few, others = (as_rows(X[which], dtype) for which in (rows, sample))
    values = weighted_sums(kernel, few, np.arange(len(rows)), alpha[:, None], others, threads)[:, 0]
    hinge = np.maximum(0.0, 1.0 - w[sample] * values)
    error = hinge.std(ddof=1) / np.sqrt(len(sample)) * np.sqrt(1.0 - len(sample) / m)
    return 0.5 * lam * square + float(hinge.mean()), float(error)
