"""The papers' "default" widths, from distances between training rows; sigma^2 and gamma are converted here only.

Three conventions of the same word are in circulation (spec: kernels): 003 and 000 print gamma = 1/(2 D), LIBCVM's
README says 1/D, and LIBCVM's and the authors' programs set 2/D, with D the mean squared distance of two rows.
"""

import numpy as np
from scipy import sparse

from fwsvm._occurring import occurring

WIDTH_RULES = {"paper": 0.5, "readme": 1.0, "libcvm": 2.0}
LIBCVM_SAMPLE = 5000


def gamma_of(sigma2: float) -> float:
    """Return gamma of exp(-gamma |x - z|^2) = exp(-|x - z|^2 / (2 sigma^2))."""
    return 1.0 / (2.0 * sigma2)


def sigma2_of(gamma: float) -> float:
    """Return sigma^2 of a gamma; infinity for 0."""
    return 1.0 / (2.0 * gamma) if gamma > 0.0 else float("inf")


@np.errstate(over="ignore")
def mean_squared_distance(X: np.ndarray | sparse.csr_array) -> float:
    """Return D, the mean of |x_i - x_j|^2 over i != j (003 section 5.1): O(stored numbers).

    Without BLAS, whose sums differ in the last bit from one processor to the next: a loose run may end elsewhere by it.
    """
    m = X.shape[0]
    if m < 2:
        return 0.0
    X = occurring(X).X
    if sparse.issparse(X):
        squares, mean = float(np.sum(np.square(X.data))), np.asarray(X.sum(axis=0)).ravel() / m
        return max(0.0, 2.0 * m / (m - 1) * (squares / m - float(np.sum(np.square(mean)))))
    centred = X - X.mean(axis=0)
    return 2.0 / (m - 1) * float(np.sum(np.square(centred, out=centred)))


def mean_absolute_distance(X: np.ndarray | sparse.csr_array) -> float:
    """Return the mean of |x_i - x_j|_1 over i != j, by sorting each feature's values."""
    m, columns = X.shape[0], sparse.csc_array(occurring(X).X)
    if m < 2:
        return 0.0
    total = 0.0
    for f in range(columns.shape[1]):
        values = columns.data[columns.indptr[f] : columns.indptr[f + 1]]
        values = np.sort(np.concatenate([values, np.zeros(min(1, m - len(values)))]))
        repeats = np.ones(len(values))
        if len(values) and columns.indptr[f + 1] - columns.indptr[f] < m:
            repeats[np.searchsorted(values, 0.0)] = m - (len(values) - 1)
        below = np.concatenate([[0.0], np.cumsum(repeats)[:-1]])
        above = m - below - repeats
        total += float(np.sum(values * repeats * (below - above)))
    return 2.0 * total / (m * (m - 1))


def default_gamma(kernel: str, X: np.ndarray | sparse.csr_array, width_rule: str = "paper") -> float:
    """Return the kernel's gamma where the user gives none.

    rbf: by the width rule; quadratic and poly: 1/D (003 section 5.8); laplacian: 1 / mean |x - z|_1.
    Data without any spread get gamma = 1.
    """
    if kernel == "laplacian":
        spread, factor = mean_absolute_distance(X), 1.0
    elif kernel == "rbf":
        step = -(-X.shape[0] // LIBCVM_SAMPLE) if width_rule == "libcvm" else 1
        spread, factor = mean_squared_distance(X[::step]), WIDTH_RULES[width_rule]
    else:
        spread, factor = mean_squared_distance(X), 1.0
    return factor / spread if spread > 0 else 1.0
