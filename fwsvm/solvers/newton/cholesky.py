"""LAPACK's Cholesky factorisation in panels, called so that it releases the interpreter lock, which scipy holds.

A factor takes seconds; meanwhile progress is shown, the part that is done is announced, and an interrupt taken.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import get_cython_function_address

from fwsvm import phases
from fwsvm.solvers.tuning import FACTOR_PANEL

_INTEGER = ctypes.POINTER(ctypes.c_int)
_TEXT, _PLACE = ctypes.c_char_p, ctypes.c_void_p


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
    n, panel = len(upper), FACTOR_PANEL
    if n <= 2 * panel:
        return _factored(upper, 0, n)
    for first in range(0, n, panel):
        last = min(first + panel, n)
        if not _factored(upper, first, last):
            return False
        if last < n:
            _take_away(upper, first, last)
        phases.inside("factoring", 1.0 - (1.0 - last / n) ** 3)
    return True


def _factored(upper: np.ndarray, first: int, last: int) -> bool:
    """Factor the square on the diagonal from ``first`` to ``last``; return whether it is positive definite."""
    failed = ctypes.c_int(0)
    if last > first:
        _of(upper).potrf(
            b"U", _int(last - first), _at(upper, first, first), _int(len(upper)), ctypes.byref(failed)
        )
    return failed.value == 0


def _take_away(upper: np.ndarray, first: int, last: int) -> None:
    """Finish the panel's rows of U right of the square, and take their products away from what is left to factor."""
    n, size, rest = _int(len(upper)), _int(last - first), _int(len(upper) - last)
    number = ctypes.c_float if upper.dtype == np.float32 else ctypes.c_double
    one, minus = ctypes.byref(number(1.0)), ctypes.byref(number(-1.0))
    square, right, left = _at(upper, first, first), _at(upper, first, last), _at(upper, last, last)
    _of(upper).trsm(b"L", b"U", b"T", b"N", size, rest, one, square, n, right, n)
    _of(upper).syrk(b"U", b"T", rest, size, minus, right, n, one, left, n)


def _int(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def _at(upper: np.ndarray, row: int, column: int) -> int:
    return int(upper.ctypes.data) + upper.itemsize * (row + column * len(upper))


class _Routines(NamedTuple):
    """LAPACK's and BLAS's routines of one precision."""

    potrf: Callable[..., Any]
    trsm: Callable[..., Any]
    syrk: Callable[..., Any]


def _of(upper: np.ndarray) -> _Routines:
    return _routines(upper.dtype.char)


@functools.cache
def _routines(char: str) -> _Routines:
    """Return the routines for floats ("f") or doubles ("d") of the LAPACK and BLAS that scipy has."""
    letter = {"f": "s", "d": "d"}[char]

    def routine(module: str, name: str, *arguments: Any) -> Callable[..., Any]:
        address = get_cython_function_address(f"scipy.linalg.{module}", f"{letter}{name}")
        return ctypes.CFUNCTYPE(None, *arguments)(address)

    return _Routines(
        routine("cython_lapack", "potrf", _TEXT, _INTEGER, _PLACE, _INTEGER, _INTEGER),
        routine(
            "cython_blas", "trsm", _TEXT, _TEXT, _TEXT, _TEXT, _INTEGER, _INTEGER, _PLACE, _PLACE, _INTEGER, _PLACE,
            _INTEGER,
        ),
        routine(
            "cython_blas", "syrk", _TEXT, _TEXT, _INTEGER, _INTEGER, _PLACE, _PLACE, _INTEGER, _PLACE, _PLACE,
            _INTEGER,
        ),
    )  # fmt: skip
