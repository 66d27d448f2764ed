"""Rows of older schemas as rows of this one, and the name of a method with what was changed of it.

Until schema 3 the column ``method`` held all of it: ``cvm(retries=2)``, ``auto (swap-2o)``. From schema 4 on it is the
name alone, and ``parameters`` (JSON), ``protocol``, ``chosen`` and ``flags`` are columns.
"""

import json
from collections.abc import Mapping
from typing import Any

from fwsvm.status import BELOW_MAJORITY, NOT_FINITE, NOT_FINITE_FLAG

#: What the message of a row said of it before there were flags.
_SAID = {NOT_FINITE: NOT_FINITE_FLAG, "of its training rows, fewer than the": BELOW_MAJORITY}


def method_label(method: str, parameters: str, chosen: str = "") -> str:
    """Return a method's name with its parameters, JSON as in the column, and with what ``auto`` came to.

    >>> method_label("cvm", '{"retries": 2}'), method_label("auto", "", "swap-2o")
    ('cvm(retries=2)', 'auto (swap-2o)')
    """
    given = json.loads(parameters) if parameters else {}
    inside = ", ".join(f"{name}={_as_text(value)}" for name, value in given.items())
    return method + (f"({inside})" if inside else "") + (f" ({chosen})" if chosen else "")


def _as_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{weight:g}" for name, weight in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def updated(row: Mapping[str, str]) -> dict[str, str]:
    """Return a row of an older schema, fields as text, with the methods that ``auto`` chose and with flags.

    Parameters stay in the name of the method, which is then the label that `method_label` makes of a row of today.
    """
    method, _, chosen = row.get("method", "").partition(" (")
    flags = [flag for said, flag in _SAID.items() if said in row.get("message", "")]
    own = {"chosen": chosen.removesuffix(")"), "flags": " ".join(flags)}
    return {**row, "method": method, **{name: row.get(name) or value for name, value in own.items()}}


def as_json(parameters: Mapping[str, Any]) -> str:
    """Return parameters as the column has them: JSON in the order given, empty where there are none."""
    return json.dumps(dict(parameters)) if parameters else ""
