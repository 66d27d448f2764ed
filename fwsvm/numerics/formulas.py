"""Functions of formulas that are written once for plain numbers and for vectors of eight (`fwsvm.numerics.simd`).

Of vectors they act lane by lane, as ``+ - * /`` do.
"""

import math
from typing import Any

import numpy as np
from numba import types

from fwsvm.numerics.compile import njit, overload
from fwsvm.numerics.simd import (
    SimdType,
    broadcast,
    floor,
    fused_muladd,
    lane_absolute,
    lane_max,
    power_of_two,
)


def muladd(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c; for vectors by a fused multiply-add, with one rounding, where the processor has it."""
    return a * b + c


@overload(muladd)
def _muladd_compiled(a: Any, b: Any, c: Any) -> Any:
    return (lambda a, b, c: fused_muladd(a, b, c)) if isinstance(a, SimdType) else (lambda a, b, c: a * b + c)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two numbers, or of each lane of a vector and a number."""
    return max(a, b)


@overload(maximum)
def _larger_compiled(a: Any, b: Any) -> Any:
    if isinstance(a, SimdType):
        dtype = a.dtype
        return lambda a, b: lane_max(a, broadcast(dtype(b)))
    return lambda a, b: max(a, b)


def absolute(a: Any) -> Any:
    """Return the absolute value."""
    return abs(a)


@overload(absolute)
def _size_compiled(a: Any) -> Any:
    return (lambda a: lane_absolute(a)) if isinstance(a, SimdType) else (lambda a: abs(a))


def exp(a: Any) -> Any:
    """Return e^a for a <= 0 to about one unit in the last place; below -87 (float32) or -708 (float64) 0 or tiny."""
    return math.exp(a)


# exp(r) on |r| <= ln(2)/2: Cephes' expf for float32, the Taylor series to rounding level for float64.
_TERMS_32 = tuple(
    map(
        np.float32, (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5)
    )
)
_TERMS_64 = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))
_LOG2_HIGH_32, _LOG2_LOW_32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LOG2_HIGH_64, _LOG2_LOW_64 = 6.93145751953125e-1, 1.42860682030941723212e-6


@njit(inline="always")
def _exp32(a):
    t5, t4, t3, t2, t1, t0 = _TERMS_32
    a = maximum(a, -87.0)
    n = floor(a * 1.4426950408889634 + 0.5)
    r = muladd(n, broadcast(-_LOG2_LOW_32), muladd(n, broadcast(-_LOG2_HIGH_32), a))
    p = muladd(broadcast(t5), r, broadcast(t4))
    p = muladd(p, r, broadcast(t3))
    p = muladd(p, r, broadcast(t2))
    p = muladd(p, r, broadcast(t1))
    p = muladd(p, r, broadcast(t0))
    return (muladd(p, r * r, r) + 1.0) * power_of_two(n)


@njit(inline="always")
def _exp64(a):
    a = maximum(a, -708.0)
    n = floor(a * 1.4426950408889634 + 0.5)
    r = muladd(n, broadcast(-_LOG2_LOW_64), muladd(n, broadcast(-_LOG2_HIGH_64), a))
    p = broadcast(_TERMS_64[0])
    for k in range(1, 12):
        p = muladd(p, r, broadcast(_TERMS_64[k]))
    return (muladd(p, r * r, r) + 1.0) * power_of_two(n)


@overload(exp)
def _exp_compiled(a: Any) -> Any:
    if not isinstance(a, SimdType):
        return lambda a: math.exp(a)
    return (lambda a: _exp32(a)) if a.dtype == types.float32 else (lambda a: _exp64(a))
