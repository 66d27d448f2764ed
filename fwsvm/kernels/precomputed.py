"""Kernel values that are given: a row's only number is its place, from 1, and k(x, z) an entry of their matrix.

So rows of a precomputed kernel go through tiles, caches and certificates as any others do. `fwsvm.problems.precomputed`
makes such rows and the matrix of LIBSVM's format.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fwsvm.kernels.kernel import alone, itself, pair, register, value
from fwsvm.numerics.compile import overload
from fwsvm.numerics.simd import SimdType, lanes_of

MOST_ROWS = 1 << 24  # places above are no numbers of single precision


@register("precomputed", "K(x, z) as the data gives it", libsvm="precomputed", given=True)
class Precomputed(NamedTuple):
    """``values`` (m, m) of float64, symmetric and contiguous; of one row where a machine predicts, which needs none."""

    values: np.ndarray = np.ones((1, 1))


@intrinsic
def _lane(typingctx, lanes, at):
    """Return one number of a vector."""

    def emit(context, builder, signature, arguments):
        place = builder.trunc(arguments[1], ir.IntType(32))
        return builder.extract_element(arguments[0], place)

    return lanes.dtype(lanes, types.intp), emit


@intrinsic
def _with_lane(typingctx, lanes, at, number):
    """Return a vector with one number replaced."""

    def emit(context, builder, signature, arguments):
        place = builder.trunc(arguments[1], ir.IntType(32))
        return builder.insert_element(arguments[0], arguments[2], place)

    return lanes(lanes, types.intp, lanes.dtype), emit


def _entry(values: np.ndarray, x, z):
    """Return the matrix's entry at two places, or at pairs of them, one for each lane."""
    return values[int(x) - 1, int(z) - 1]


@overload(_entry)
def _entry_compiled(values, x, z):
    def one(values, x, z):
        # what has no place, as the rows of a tiny problem that compiles, has the nearest: no other memory is read
        last = values.shape[0] - 1
        return values[min(max(int(x) - 1, 0), last), min(max(int(z) - 1, 0), last)]

    if not isinstance(x, SimdType):
        return one
    dtype = x.dtype

    def each(values, x, z):
        found = x
        for lane in range(lanes_of(x)):
            found = _with_lane(found, lane, dtype(_entry(values, _lane(x, lane), _lane(z, lane))))
        return found

    return each


@pair.implements(Precomputed)
def _pair(kernel, total, x, z):
    return total


@alone.implements(Precomputed)
def _alone(kernel, x):
    return x


@itself.implements(Precomputed)
def _itself(kernel, own):
    return own


@value.implements(Precomputed)
def _value(kernel, total, own_x, own_z):
    return _entry(kernel.values, own_x, own_z)
