"""Rows of older schemas as rows of this one, and the name of a method with what was changed of it.

Until schema 3 the column ``method`` held all of it: ``cvm(retries=2)``, ``auto (swap-2o)``. From schema 4 on it is the
name alone, and ``parameters`` (JSON), ``protocol``, ``chosen`` and ``flags`` are columns.
"""

import json
from collections.abc import Mapping
from typing import Any

from fwsvm.status import (
    BELOW_MAJORITY,
    NOT_FINITE,
    NOT_FINITE_FLAG,
    TEST_UNMEASURED,
    TRAIN_UNMEASURED,
    TRAINED_ON_SAMPLE,
    Status,
    gap_flags,
)

#: Options that had no column of their own, and stood among the parameters where they told two methods apart.
_OWN_COLUMNS = ("protocol", "time_limit", "max_iterations")
#: What the message of a row said of it before there were flags.
_SAID = {
    NOT_FINITE: NOT_FINITE_FLAG,
    "of its training rows, fewer than the": BELOW_MAJORITY,
    "The training accuracy could not be computed:": TRAIN_UNMEASURED,
    "The test accuracy could not be computed:": TEST_UNMEASURED,
}


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
    """Return a row of an older schema, fields as text, with the columns of schema 4 that its own ones tell."""
    label, _, chosen = row.get("method", "").partition(" (")
    name, _, inside = label.partition("(")
    parts = (part.partition("=") for part in inside.removesuffix(")").split(", ") if part)
    given = {key: value for key, _, value in parts}
    own = {key: given.pop(key) for key in _OWN_COLUMNS if key in given}
    found = {**row, **own, "method": name, "flags": row.get("flags") or " ".join(_flags(row, chosen))}
    found["chosen"] = row.get("chosen") or chosen.removesuffix(")")
    found["parameters"] = row.get("parameters") or as_json({key: _value(key, given[key]) for key in given})
    return found


def as_json(parameters: Mapping[str, Any]) -> str:
    """Return parameters as the column has them: JSON in the order given, empty where there are none."""
    return json.dumps(dict(parameters)) if parameters else ""


def _value(key: str, text: str) -> Any:
    if key == "class_weight" and ":" in text:
        pairs = (pair.rpartition(":") for pair in text.split(" "))
        return {label: float(weight) for label, _, weight in pairs}
    try:
        return json.loads(text)
    except ValueError:
        return text


def _flags(row: Mapping[str, str], chosen: str) -> list[str]:
    objective, gap, relative = (float(row.get(name) or 0.0) for name in ("objective", "gap", "relative_gap"))
    done = row.get("status") in set(Status) and Status(row["status"]).done
    found = gap_flags(objective, gap, relative, row.get("gap_kind", "")) if done else []
    found += [flag for said, flag in _SAID.items() if said in row.get("message", "") and flag not in found]
    return [*found, *([TRAINED_ON_SAMPLE] if "sample of" in chosen else [])]
