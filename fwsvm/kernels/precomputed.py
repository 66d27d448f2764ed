"""Kernel values that are given: a row's only number is its place, from 1, and k(x, z) an entry of their matrix.

So rows of a precomputed kernel go through tiles, caches and certificates as any others do. `fwsvm.problems.precomputed`
makes such rows and the matrix of LIBSVM's format.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from fwsvm.kernels.kernel import alone, itself, pair, register, value
from fwsvm.numerics.compile import overload
from fwsvm.numerics.simd import SimdType

MOST_ROWS = 1 << 24  # places above are no numbers of single precision


@register("precomputed", "K(x, z) as the data gives it", libsvm="precomputed", given=True)
class Precomputed(NamedTuple):
    """``values`` (m, m) of float64, symmetric and contiguous; of one row where a machine predicts, which needs none."""

    values: np.ndarray = np.ones((1, 1))


def _entry(values: np.ndarray, x, z):
    """Return the matrix's entry at two places, or at pairs of them, one for each lane.

    What has no place, as the rows of a tiny problem that compiles, has the nearest: no other memory is read.
    """
    last = values.shape[0] - 1
    return values[min(max(int(x) - 1, 0), last), min(max(int(z) - 1, 0), last)]


@intrinsic
def _entries(typingctx, values, x, z):
    """Return the matrix's entries at pairs of places, one for each lane."""
    one = x.dtype(values, x.dtype, x.dtype)

    def emit(context, builder, signature, arguments):
        matrix, *places = arguments
        found = places[0]
        for lane in map(ir.IntType(32), range(x.lanes)):
            pair = [builder.extract_element(each, lane) for each in places]
            entry = context.compile_internal(builder, _entry, one, (matrix, *pair))
            found = builder.insert_element(found, entry, lane)
        return found

    return x(values, x, z), emit


@overload(_entry)
def _entry_compiled(values, x, z):
    if isinstance(x, SimdType):
        return lambda values, x, z: _entries(values, x, z)
    return _entry


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
