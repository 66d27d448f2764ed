"""Kernels as entries of a LIBSVM header: ``kernel_type`` and the parameters.

A kernel that LIBSVM has under other parameters, as our quadratic one, is written as LIBSVM's. One that LIBSVM does not
have stands under its own name, which LIBSVM's programs refuse; parameters that only it has are facts.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fwsvm.errors import UsageError, shown
from fwsvm.files.decimal_text import shortest
from fwsvm.kernels.kernel import KERNELS, SHARED, KernelFamily, Range, family_of
from fwsvm.parameters import types_of
from fwsvm.problems.model_files._header import Header


def facts(kernel: Any) -> dict[str, Any]:
    """Return what the header cannot tell: the kernel's own name and parameters, and whether svm-predict reads it."""
    family = family_of(kernel)
    own = {name: getattr(kernel, name) for name in family.own}
    told = {"kernel": family.name, "svm_predict": bool(_in_libsvm(kernel)[0].libsvm)}
    return told | ({"kernel_parameters": own} if own else {})


def written(kernel: Any) -> Iterator[str]:
    """Yield the header lines of a kernel."""
    family, kernel = _in_libsvm(kernel)
    yield f"kernel_type {family.libsvm or family.name}\n"
    for parameter in family.parameters:
        if parameter in SHARED:
            yield f"{parameter} {shortest(getattr(kernel, parameter))}\n"


def read(header: Header, found: Mapping[str, Any]) -> Any:
    """Return the kernel of a header; the facts tell a kernel of ours from the one of LIBSVM's that it equals."""
    word = header.word("kernel_type")
    families = {family.libsvm or family.name: family for family in KERNELS.values() if family.equal is None}
    if word not in families:
        raise header.refusal("kernel_type", f"is {shown(word)}, a kernel that fwsvm does not have")
    family = families[word]
    for parameter in sorted(set(SHARED) - set(family.parameters)):
        if parameter in header:
            raise header.refusal(parameter, f"does not belong to a {word} kernel")
    shared = {name: _shared(header, family, name) for name in family.parameters if name in SHARED}
    kernel = family.make(**shared, **_own(header, family, found.get("kernel_parameters", {})))
    return _told(header, kernel, family, found.get("kernel", family.name))


def _in_libsvm(kernel: Any) -> tuple[KernelFamily, Any]:
    """Return the family under which a kernel is written, and the kernel as one of that family."""
    family = family_of(kernel)
    if family.equal is None:
        return family, kernel
    return family_of(family.equal(kernel)), family.equal(kernel)


def _shared(header: Header, family: KernelFamily, name: str) -> float | int:
    allowed = family.range_of(name)
    if types_of(family.make)[name] is int:
        return header.whole(name, int(allowed.least), int(allowed.most))
    value = header.number(name)
    if not allowed.least <= value <= allowed.most:
        said = "not be negative" if allowed == Range(0.0) else f"be {allowed.words}"
        raise header.refusal(name, f"must {said}, but is {value}")
    return value


def _own(header: Header, family: KernelFamily, told: Any) -> dict[str, Any]:
    """Return the parameters that only this kernel has, from the facts."""
    if not isinstance(told, dict) or set(told) != set(family.own):
        raise header.refusal(
            "kernel_type", f"needs the fact 'kernel_parameters' to name {', '.join(family.own) or 'nothing'}"
        )
    try:
        own = family.own_values(told)
    except UsageError as error:
        raise header.refusal("kernel_type", f"has a wrong fact 'kernel_parameters': {error}") from None
    for name, value in own.items():
        allowed = family.range_of(name)
        if not allowed.least <= value <= allowed.most:
            raise header.refusal("kernel_type", f"needs {name} {allowed.words}, but it is {value}")
    return own


def _told(header: Header, kernel: Any, family: KernelFamily, told: Any) -> Any:
    """Return the kernel as one of the family that the facts name."""
    other = KERNELS.get(told) if isinstance(told, str) else None
    if other is family:
        return kernel
    if other is not None and other.equal is not None and set(other.parameters) <= set(kernel._fields):
        same = other.make(**{name: getattr(kernel, name) for name in other.parameters})
        if other.equal(same) == kernel and type(other.equal(same)) is type(kernel):
            return same
    raise header.refusal("kernel_type", f"does not fit the fact 'kernel', {shown(str(told))}")
