"""Methods and families by name. A method is one file in its family's folder: a NamedTuple of its own parameters.

The fields' names, types and defaults are the method's parameters on the command line and in YAML files.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any, get_type_hints

from fwsvm.errors import UsageError, shown

LARGEST = 2**53  # of a whole number among parameters: to it every one is a double


@dataclass(frozen=True)
class Family:
    """What the methods of one folder have in common.

    Attributes
    ----------
    name : {"simplex", "active-face", "chunking", "linear", "stochastic"}
    problem : str, what is minimised, for people
    kernels : tuple of str or None
        Kernels it can use; None for any.
    default_kernel : str
    stops : tuple of str
        Stopping rules it knows, the default first.
    keeps_values : bool
        Whether it keeps kernel values, within ``cache_mib``.
    memory : callable (`fwsvm.solvers.memory.Size`, Resolved) -> bytes, or None
        What a run on a two-class problem takes beside its rows and the budget for kernel columns; None: not known.
    searches : tuple of str
        Ways of looking for a vertex that it knows, the default first; none where there is no such thing.
    multiclass : {"one-vs-one", "one-vs-rest"}
    start : callable (Binary, rule, Resolved, WarmStart or None, SharedColumns or None) -> Process
    certify : callable (Rows, y, sequence of `Candidate`, threads) -> list of Outcome, or None
        Computes deferred certificates of several runs on the same rows together; None where none are deferred.
    goes_on : bool
        Whether a run can start where another on the same rows ended; if not, each starts cold.
    iteration_cap : int or None
        Iterations after which a run ends where the user sets no limit; None for methods that end by themselves.
    """

    name: str
    problem: str
    kernels: tuple[str, ...] | None
    default_kernel: str
    stops: tuple[str, ...]
    multiclass: str
    start: Callable[..., Any]
    iteration_cap: int | None = None
    searches: tuple[str, ...] = ()
    keeps_values: bool = True
    memory: Callable[[Any, Any], int] | None = None
    certify: Callable[..., Any] | None = None
    goes_on: bool = True


@dataclass(frozen=True)
class Method:
    """A registered method.

    Attributes
    ----------
    name : str, as typed
    family : str
    paper : str, paper and algorithm number
    tolerance : str, what its tolerance means, in a sentence
    rule : type, the NamedTuple of its parameters
    """

    name: str
    family: str
    paper: str
    tolerance: str
    rule: type

    @property
    def summary(self) -> str:
        """First line of the rule's docstring."""
        return (self.rule.__doc__ or "").strip().splitlines()[0]

    def parameters(self) -> dict[str, Any]:
        """Return the method's parameters with their defaults."""
        return dict(getattr(self.rule, "_field_defaults", {}))

    def make(self, given: Any) -> Any:
        """Return the rule with the given parameters; `UsageError` names a wrong one and its nearest."""
        if not isinstance(given, Mapping):
            raise UsageError(
                f"parameters of {self.name} must be a mapping of names to values, not {shown(given)}"
            )
        hints = get_type_hints(self.rule)
        values = {}
        for key, raw in dict(given).items():
            if key not in hints:
                near = get_close_matches(str(key), hints, 1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(hints) or 'none'}"
                raise UsageError(f"method {self.name} has no parameter {shown(key)}{hint}")
            values[key] = _converted(f"parameter {key} of {self.name}", raw, hints[key])
        return self.rule(**values)


METHODS: dict[str, Method] = {}
FAMILIES: dict[str, Family] = {}


def register(name: str, *, family: str, paper: str, tolerance: str) -> Callable[[type], type]:
    """Add a NamedTuple of parameters to `METHODS` under a name."""

    def add(rule: type) -> type:
        if name in METHODS:
            raise ValueError(f"a method named {name!r} is registered already")
        METHODS[name] = Method(name, family, paper, tolerance, rule)
        return rule

    return add


def method(name: str) -> Method:
    """Return the registered method of that name; `UsageError` with the names there are."""
    if not isinstance(name, str) or name not in METHODS:
        near = get_close_matches(str(name), METHODS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the methods are {', '.join(sorted(METHODS))}"
        raise UsageError(f"there is no method {shown(name)}; {hint}")
    return METHODS[name]


def _converted(what: str, raw: Any, kind: Any) -> Any:
    """Return ``raw`` as the type of a rule's field: bool, int, float or an Enum by name."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        names = {member.name.lower(): member for member in kind}
        if str(raw).lower() not in names:
            raise UsageError(f"{what} must be one of {', '.join(names)}, not {shown(raw)}")
        return names[str(raw).lower()]
    if kind is bool:
        if str(raw).lower() not in {"true", "false"}:
            raise UsageError(f"{what} must be true or false, not {shown(raw)}")
        return str(raw).lower() == "true"
    try:
        value = kind(raw)
        whole = kind is not int or float(raw) == value
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{what} must be a {kind.__name__}, not {shown(raw)}") from None
    if not whole or isinstance(raw, bool):
        raise UsageError(f"{what} must be a {'whole ' if kind is int else ''}number, not {shown(raw)}")
    if (kind is float and not math.isfinite(value)) or (kind is int and not -LARGEST <= value <= LARGEST):
        raise UsageError(f"{what} must be a number that it has room for, not {shown(raw)}")
    return value
