"""Parameters of methods and kernels: fields of a NamedTuple, as users type them and as tables show them."""

import contextlib
import math
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, get_type_hints

import msgspec

from fwsvm.errors import UsageError, nearest, not_one_of, shown
from fwsvm.settings import Settings

BALANCED = "balanced"  # weights of classes by which the rows of all count alike
LARGEST = 2**53  # of a whole number among parameters: to it every one is a double
WORDS = {bool: "true or false", int: "a whole number between -2^53 and 2^53", float: "a finite number"}


#: Returns the types of a rule's or a kernel's parameters: looking them up takes as long as some steps.
types_of = cache(get_type_hints)


def values(owner: str, given: Any, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a user gave for the fields of ``kinds`` (name to type), in these types.

    `UsageError` names the ``owner``, a wrong parameter and the nearest one that there is.
    """
    if not isinstance(given, Mapping):
        raise UsageError(f"parameters of {owner} must be a mapping of names to values, not {shown(given)}")
    found = {}
    for key, raw in given.items():
        if key not in kinds:
            hint = nearest(key, kinds, f"it has {', '.join(kinds) or 'none'}")
            if key in Settings.__dataclass_fields__:
                hint = f"{key} is a setting: write it beside the parameters"
            raise UsageError(f"{owner} has no parameter {shown(key)}; {hint}")
        found[key] = converted(f"parameter {key} of {owner}", raw, kinds[key])
    return found


def converted(what: str, raw: Any, kind: Any) -> Any:
    """Return ``raw``, a value or its text, as the type of a field: bool, int, finite float, str or an Enum by name."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        names = {member.name.lower(): member for member in kind}
        if str(raw).lower() not in names:
            raise UsageError(not_one_of(what, names, raw))
        return names[str(raw).lower()]
    raw = getattr(raw, "item", lambda: raw)()  # of numpy's scalars
    with contextlib.suppress(msgspec.ValidationError):
        value = msgspec.convert(raw, kind, strict=False)
        if kind not in (int, float) or (math.isfinite(value) and (kind is float or abs(value) <= LARGEST)):
            return value
    raise UsageError(f"{what} must be {WORDS.get(kind, 'text')}, not {shown(raw)}")


def labelled(name: str, made: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """Return a name with those parameters that differ from their defaults.

    >>> labelled("wolfe", {"m1": 0.2, "m2": 0.4}, {"m1": 0.1, "m2": 0.4})
    'wolfe(m1=0.2)'
    """
    changed = [
        f"{key}={getattr(value, 'name', value)}".lower()
        for key, value in made.items()
        if value != defaults[key]
    ]
    return f"{name}({', '.join(changed)})" if changed else name
