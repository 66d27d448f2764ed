"""What a kernel is: a sum over features, a term of each row's own, and a function of the three.

    k(x, z) = value( sum_f pair(x_f, z_f), own(x), own(z) ),      own(x) = sum_f alone(x_f)

where `pair` must add exactly nothing unless both numbers are non-zero, and `alone` where its number is zero: so only
stored numbers need be read; `itself` is the sum of a row with itself. Inner-product kernels have the usual three. A
kernel is one file: a NamedTuple of its parameters, registered under its name, and these functions.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fwsvm.errors import UsageError, shown
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.compile import generic, njit
from fwsvm.numerics.simd import muladd


class Family(NamedTuple):
    """A registered kernel: how to make one from what a user says, and what its formula is.

    ``make(D, features, gamma, coef0, degree)`` gets the data's average squared distance D, or gamma if given.
    """

    name: str
    formula: str
    parameters: tuple[str, ...]
    make: Callable[..., Any]


KERNELS: dict[str, Family] = {}


def register(name: str, formula: str, parameters: tuple[str, ...] = ()) -> Callable[[type], type]:
    """Add a NamedTuple of kernel parameters to `KERNELS` under a name; ``parameters`` are its fields in words."""

    def add(kind: type) -> type:
        if name in KERNELS:
            raise ValueError(f"a kernel named {name!r} is registered already")
        KERNELS[name] = Family(name, formula, parameters, kind)
        return kind

    return add


def family(name: str) -> Family:
    """Return the registered kernel of that name; `UsageError` with the names there are."""
    if not isinstance(name, str) or name not in KERNELS:
        raise UsageError(f"there is no kernel {shown(name)}; the kernels are {', '.join(sorted(KERNELS))}")
    return KERNELS[name]


@generic(each_step=True)
def pair(kernel, total, x, z):
    """Return ``total`` plus the contribution of a feature with values x and z; by default their product."""


@generic(each_step=True)
def alone(kernel, x):
    """Return the contribution of a feature with value x to its row's own term."""


@generic(each_step=True)
def itself(kernel, own):
    """Return the sum over features of a row with itself, from its own term."""


@generic(each_step=True)
def value(kernel, total, own_x, own_z):
    """Return k(x, z) from the sum over features and the two own terms."""


def of_inner_products(kind: type) -> type:
    """Give a kernel the usual `pair` (products), `alone` (squares), and `itself`, which is that sum of squares."""
    pair.implements(kind)(lambda kernel, total, x, z: muladd(x, z, total))
    alone.implements(kind)(lambda kernel, x: x * x)
    itself.implements(kind)(lambda kernel, own: own)
    return kind


@njit(fastmath={"reassoc"})  # any order of the sum: else each addition waits for the one before
def _own_terms(kernel, values, starts, out):
    for t in range(out.size):
        total = 0.0
        for p in range(starts[t], starts[t + 1]):
            total += alone(kernel, np.float64(values[p]))
        out[t] = total


def own_terms(kernel: Any, rows: Rows) -> np.ndarray:
    """Return own(x) of every row, shape (m,), summed in float64 and rounded to the rows' precision."""
    return _exactly_own_terms(kernel, rows).astype(rows.values.dtype, copy=False)


def _exactly_own_terms(kernel: Any, rows: Rows) -> np.ndarray:
    out = np.empty(rows.height)
    _own_terms(kernel, rows.values, rows.starts, out)
    return out


@njit(
    nogil=False
)  # as short as `fwsvm.kernels.dense_tiles.pack_left_block`, but for many rows, and then once
def _values_of_own(kernel, own):
    for t in range(own.size):
        own[t] = value(kernel, itself(kernel, own[t]), own[t], own[t])


def self_values(kernel: Any, rows: Rows) -> np.ndarray:
    """Return k(x, x) of every row, float64 of shape (m,)."""
    found = _exactly_own_terms(kernel, rows)
    _values_of_own(kernel, found)
    return found
