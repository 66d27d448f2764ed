"""The columns of a row that say how a method was asked to run: protocol, limits, and parameters that were changed."""

from enum import Enum
from typing import Any

from fwsvm.kernels.kernel import KernelFamily
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.results.schemas import as_json
from fwsvm.solvers import Settings, method
from fwsvm.solvers.protocols import OPTIONS, PROTOCOLS
from fwsvm.solvers.registry import FAMILIES


def settings_columns(settings: Settings) -> dict[str, Any]:
    """Return the columns method, protocol, parameters, time_limit and max_iterations of a run.

    The protocol is empty for methods that neither sample rows nor stop by the MEB rule.
    """
    chosen = method(settings.method)
    family = FAMILIES[chosen.family]
    has_protocol = "sampled" in family.searches or "meb" in chosen.stops
    return {
        "method": chosen.name,
        "protocol": settings.protocol if has_protocol else None,
        "parameters": as_json(changed_parameters(settings)),
        "time_limit": settings.time_limit,
        "max_iterations": family.iteration_cap
        if settings.max_iterations is None
        else settings.max_iterations,
    }


def changed_parameters(settings: Settings) -> dict[str, Any]:
    """Return what differs from the method's defaults.

    These are its own parameters, settings of its protocol, those that its kernel alone has (``kernel.`` before their
    names), and weights of classes.
    """
    chosen, kernel = method(settings.method), kernel_of(settings)
    found = _differing(chosen.make(settings.parameters)._asdict(), chosen.parameters())
    if "sampled" in FAMILIES[chosen.family].searches:
        protocol = PROTOCOLS[settings.protocol]
        given = {name: getattr(settings, name) for name in OPTIONS}
        found |= {
            name: value for name, value in given.items() if value not in {None, getattr(protocol, name)}
        }
    own = _differing(kernel.own_values(settings.kernel_parameters), kernel.own)
    found |= {f"kernel.{name}": value for name, value in own.items()}
    weights = settings.class_weight
    if weights is not None:
        found["class_weight"] = weights if isinstance(weights, str) else dict(sorted(weights.items()))
    return found


def _differing(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    changed = {name: value for name, value in values.items() if value != defaults[name]}
    return {name: value.name.lower() if isinstance(value, Enum) else value for name, value in changed.items()}


def kernel_of(settings: Settings) -> KernelFamily:
    """Return the kernel of a run: the one given, else the default of the method's family."""
    return kernel_family(settings.kernel or FAMILIES[method(settings.method).family].default_kernel)
