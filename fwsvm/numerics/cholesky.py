"""Systems of linear equations in compiled code, by LAPACK."""

import numpy as np
from numba import types

from fwsvm.numerics.compile import njit

FLOAT64, LOWER = ord("d"), ord("L")  # the upper triangle, as Fortran reads an array of numpy's
#: LAPACK's Cholesky factor in place, by scipy's BLAS, which `scipy_linalg` has to load first.
potrf = types.ExternalFunction(
    "numba_xxpotrf",
    types.intc(types.char, types.char, types.intp, types.CPointer(types.float64), types.intp),
)


@njit(inner=True, fastmath={"reassoc"})
def solve_ones(K, ridge, rows):
    """Return x (n,) with G x = 1 for G = K_AA + 1 + diag(ridge_A); arbitrary where G is not positive definite.

    A column of ones beside G = U'U becomes U'^-1 1.

    Parameters
    ----------
    K : ndarray of float64, shape (m, m); only the lines of the rows A are read
    ridge : ndarray of float64, shape (m,)
    rows : ndarray of int, shape (n,), A
    """
    n = rows.size
    U, x = np.full((n + 1, n + 1), 1e300), np.empty(n)
    for r in range(n):
        k, U[r, n] = K[rows[r]], 1.0
        for t in range(r, n):
            U[r, t] = k[rows[t]] + 1.0
        U[r, r] += ridge[rows[r]]
    potrf(FLOAT64, LOWER, n + 1, U.ctypes, n + 1)
    for r in range(n - 1, -1, -1):
        rest = U[r, n]
        for t in range(r + 1, n):
            rest -= U[r, t] * x[t]
        x[r] = rest / U[r, r]
    return x
