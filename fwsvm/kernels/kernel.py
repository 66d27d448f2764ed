"""What a kernel is: a sum over features, a term of each row's own, and a function of the three.

    k(x, z) = value( sum_f pair(x_f, z_f), own(x), own(z) ),      own(x) = sum_f alone(x_f)

where `pair` must add exactly nothing unless both numbers are non-zero, and `alone` where its number is zero: so only
stored numbers need be read; `itself` is the sum of a row with itself. Inner-product kernels have the usual three. A
kernel is one file: a NamedTuple of its parameters, registered under its name with the rules for its default width and
what LIBSVM calls it (`KernelFamily`), and these functions. Other packages add theirs by entry points
(docs/adding/kernel.md).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fwsvm.errors import UsageError, shown
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.widths import Width
from fwsvm.numerics.compile import generic, njit
from fwsvm.numerics.simd import muladd
from fwsvm.parameters import labelled, types_of, values
from fwsvm.plugins import add_to_registry, entry_of

#: Parameters that LIBSVM's kernels have, with options, settings and columns of their own.
SHARED = ("gamma", "coef0", "degree")


class KernelFamily(NamedTuple):
    """A registered kernel: all kernels of one formula.

    Attributes
    ----------
    name, formula : str
    make : type, the NamedTuple of its parameters
    parameters : tuple of str
        Those of its fields that a user may set.
    ranges : mapping of parameters to pairs of numbers
        The least and the most they may be in training and in model files; of those not named, gamma is at least 0,
        others are any number.
    widths : mapping of str to Width
        Rules by which gamma follows from the training rows where it is not given, the default first.
    sigma2 : bool
        Whether users may give sigma^2 = 1 / (2 gamma) in place of gamma.
    of_distances : bool
        Whether values depend on distances of rows, so that the widest feature weighs most.
    libsvm : str
        What LIBSVM calls it (``kernel_type``); empty where LIBSVM does not have it.
    equal : callable (kernel) -> kernel, or None
        The same kernel as one of a family that LIBSVM has.
    objection : callable (kernel) -> str
        Why nothing may be trained with a kernel of these parameters; empty where nothing speaks against it.
    given : bool
        Whether its values are given with the rows, in place of features.
    condition : callable (kernel) -> float
        By how much a relative error of the sum over features may be multiplied in a kernel value.
    """

    name: str
    formula: str
    make: type
    parameters: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = {}
    widths: Mapping[str, Width] = {}
    sigma2: bool = False
    of_distances: bool = False
    libsvm: str = ""
    equal: Callable[[Any], Any] | None = None
    objection: Callable[[Any], str] = lambda _: ""
    given: bool = False
    condition: Callable[[Any], float] = lambda _: 1.0

    @property
    def own(self) -> dict[str, Any]:
        """The parameters that only this kernel has, with their defaults."""
        defaults = getattr(self.make, "_field_defaults", {})
        return {name: defaults[name] for name in self.parameters if name not in SHARED}

    def own_values(self, given: Any) -> dict[str, Any]:
        """Return the parameters that only this kernel has, as given or by default; `UsageError` where one is wrong."""
        kinds = types_of(self.make)
        return self.own | values(f"the {self.name} kernel", given, {name: kinds[name] for name in self.own})

    def width(self, rule: str) -> tuple[str, Width]:
        """Return the width rule of that name, or the kernel's default rule where it has none of that name."""
        name = rule if rule in self.widths else next(iter(self.widths))
        return name, self.widths[name]

    def checked(self, **parameters: Any) -> Any:
        """Return the kernel with these parameters; `UsageError` where nothing may be trained with it."""
        kinds = types_of(self.make)
        for name, value in parameters.items():
            least, most = self.ranges.get(name, (0.0 if name == "gamma" else -np.inf, np.inf))
            if not least <= value <= most:
                whole = "a whole number of" if kinds[name] is int else "a number of"
                bounds = f"at least {least:,.15g}" if most == np.inf else f"{least:,.15g} to {most:,.15g}"
                raise UsageError(f"{name} must be {whole} {bounds}, not {shown(value)}")
        kernel = self.make(**parameters)
        if said := self.objection(kernel):
            raise UsageError(f"the {self.name} kernel {said}")
        return kernel

    def label(self, kernel: Any) -> str:
        """Return the name, with those of its own parameters that differ from their defaults."""
        return labelled(self.name, {name: getattr(kernel, name) for name in self.own}, self.own)


KERNELS: dict[str, KernelFamily] = {}


def register(
    name: str, formula: str, parameters: tuple[str, ...] = (), **more: Any
) -> Callable[[type], type]:
    """Add a NamedTuple of kernel parameters to `KERNELS` under a name; arguments are those of `KernelFamily`."""

    def add(kind: type) -> type:
        add_to_registry(KERNELS, "kernel", name, KernelFamily(name, formula, kind, parameters, **more))
        return kind

    return add


def family(name: str) -> KernelFamily:
    """Return the registered kernel of that name; `UsageError` with the nearest, or the names there are."""
    return entry_of(KERNELS, "kernel", name)


def family_of(kernel: Any) -> KernelFamily:
    """Return the family that a kernel belongs to."""
    return next(family for family in KERNELS.values() if family.make is type(kernel))


def width_rules() -> tuple[str, ...]:
    """Return the names of all width rules that a user may choose from: those of kernels that have several."""
    named = (rule for family in KERNELS.values() if len(family.widths) > 1 for rule in family.widths)
    return tuple(dict.fromkeys(named))


@generic
def pair(kernel, total, x, z):
    """Return ``total`` plus the contribution of a feature with values x and z; by default their product."""


@generic
def alone(kernel, x):
    """Return the contribution of a feature with value x to its row's own term."""


@generic
def itself(kernel, own):
    """Return the sum over features of a row with itself, from its own term."""


@generic
def value(kernel, total, own_x, own_z):
    """Return k(x, z) from the sum over features and the two own terms."""


@generic
def apart(kernel, total, x, z):
    """Return ``total`` plus what a feature adds to the distance of two rows, for kernels that are a function of one.

    Their k(x, z) is value(0, distance, 0): see `fwsvm.kernels.distances`.
    """


def add_product(kernel, total, x, z):
    """Do `pair` for kernels of inner products, whose sums depend on no parameter of theirs."""
    return muladd(x, z, total)


def of_inner_products(kind: type) -> type:
    """Give a kernel the usual `pair` (products), `alone` (squares), and `itself`, which is that sum of squares."""
    pair.implements(kind)(add_product)
    alone.implements(kind)(lambda kernel, x: x * x)
    itself.implements(kind)(lambda kernel, own: own)
    return kind


@njit(
    each_step=True, inner=False, fastmath={"reassoc"}
)  # any order of the sum: else each addition waits for the one before
def _own_terms(kernel, values, starts, own, values_of_own):
    for t in range(own.size):
        total = 0.0
        for p in range(starts[t], starts[t + 1]):
            total += alone(kernel, values[p])
        own[t] = total
        values_of_own[t] = value(kernel, itself(kernel, total), total, total)


def own_terms(kernel: Any, rows: Rows) -> np.ndarray:
    """Return own(x) of every row, shape (m,), in the rows' precision."""
    return own_terms_and_values(kernel, rows)[0]


def own_terms_and_values(kernel: Any, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return own(x) of every row, summed in float64 and rounded to the rows' precision, and k(x, x) in float64."""
    own, values = np.empty((2, rows.height))
    _own_terms(kernel, rows.values.astype(np.float64, copy=False), rows.starts, own, values)
    return own.astype(rows.values.dtype, copy=False), values
