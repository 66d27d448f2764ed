"""LAPACK's Cholesky factorisation, called so that it releases the interpreter lock, which scipy's wrapper holds.

A factor takes seconds; meanwhile progress is shown and an interrupt taken note of.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address

_INTEGER = ctypes.POINTER(ctypes.c_int)


def factor_in_place(upper: np.ndarray) -> bool:
    """Replace the upper triangle of a symmetric matrix (n, n) by U with U'U = the matrix.

    ``upper`` is float32 or float64, in Fortran's order; what is below its diagonal is left alone.

    Returns
    -------
    bool
        Whether the matrix is positive definite in this precision; where it is not, there is no factor.
    """
    if not (upper.flags.f_contiguous and upper.dtype in {np.dtype("f4"), np.dtype("f8")}):
        raise ValueError("a factor is made in place, of a matrix of floats in Fortran's order")
    n, failed = ctypes.c_int(len(upper)), ctypes.c_int(0)
    _potrf(upper.dtype.char)(
        b"U", ctypes.byref(n), upper.ctypes.data, ctypes.byref(ctypes.c_int(max(1, len(upper)))), ctypes.byref(failed)
    )  # fmt: skip
    return failed.value == 0


@functools.cache
def _potrf(char: str) -> Callable[..., Any]:
    """Return spotrf or dpotrf of the LAPACK that scipy has."""
    address = get_cython_function_address("scipy.linalg.cython_lapack", {"f": "spotrf", "d": "dpotrf"}[char])
    return ctypes.CFUNCTYPE(None, ctypes.c_char_p, _INTEGER, ctypes.c_void_p, _INTEGER, _INTEGER)(address)
