"""Kernels as entries of a LIBSVM header: ``kernel_type`` and the parameters.

LIBSVM's own are linear, polynomial and rbf. Our quadratic kernel is its polynomial of degree 2 with coef0 0.
Any other registered kernel stands under its own name, which LIBSVM's programs refuse.
"""

from collections.abc import Iterator, Mapping
from typing import Any, get_type_hints

from fwsvm.kernels.kernel import KERNELS
from fwsvm.kernels.polynomial import MOST_DEGREE, Polynomial, Quadratic
from fwsvm.problems.model_files._header import Header
from fwsvm.problems.model_files._lines import quoted
from fwsvm.problems.model_files._numbers import shortest

IN_LIBSVM = {"linear": "linear", "poly": "polynomial", "quadratic": "polynomial", "rbf": "rbf"}
FROM_LIBSVM = {"linear": "linear", "polynomial": "poly", "rbf": "rbf"}
PARAMETERS = frozenset(parameter for family in KERNELS.values() for parameter in family.parameters)


def name(kernel: Any) -> str:
    """Return the name under which a kernel is registered."""
    return next(name for name, family in KERNELS.items() if family.make is type(kernel))


def written(kernel: Any) -> Iterator[str]:
    """Yield the header lines of a kernel."""
    if isinstance(kernel, Quadratic):
        kernel = Polynomial(kernel.gamma, 0.0, 2)
    own = name(kernel)
    yield f"kernel_type {IN_LIBSVM.get(own, own)}\n"
    for parameter in KERNELS[own].parameters:
        yield f"{parameter} {shortest(getattr(kernel, parameter))}\n"


def read(header: Header, found: Mapping[str, Any]) -> Any:
    """Return the kernel of a header; the facts tell a quadratic kernel from the polynomial it equals."""
    word = header.word("kernel_type")
    own = FROM_LIBSVM.get(word, word)
    if own not in KERNELS or own in IN_LIBSVM.keys() - FROM_LIBSVM.values():
        raise header.refusal("kernel_type", f"is {quoted(word)}, a kernel that fwsvm does not have")
    family = KERNELS[own]
    for parameter in sorted(PARAMETERS - set(family.parameters)):
        if parameter in header:
            raise header.refusal(parameter, f"does not belong to a {word} kernel")
    kinds = get_type_hints(family.make)
    kernel = family.make(**{p: _parameter(header, p, kinds[p]) for p in family.parameters})
    told = found.get("kernel", own)
    if told == "quadratic" and isinstance(kernel, Polynomial) and (kernel.coef0, kernel.degree) == (0.0, 2):
        return Quadratic(kernel.gamma)
    if told != own:
        raise header.refusal("kernel_type", f"does not fit the fact 'kernel', {quoted(str(told))}")
    return kernel


def _parameter(header: Header, parameter: str, kind: type) -> float | int:
    if kind is int:
        return header.whole(parameter, 1, MOST_DEGREE)
    value = header.number(parameter)
    if parameter == "gamma" and value < 0:
        raise header.refusal(parameter, f"must not be negative, but is {value}")
    return value
