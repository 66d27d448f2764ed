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


def update(frame: Any) -> None:
    """Give the rows of older schemas in a data frame of text what ``auto`` chose, and flags; others stay as they are.

    Parameters stay in the name of the method, which is then the label that `method_label` makes of a row of today.
    """
    labels = [label.partition(" (") for label in frame["method"]]
    frame["method"] = [method for method, _, _ in labels]
    frame["chosen"] = [
        known or chosen.removesuffix(")")
        for known, (_, _, chosen) in zip(frame["chosen"], labels, strict=True)
    ]
    for said, flag in _SAID.items():
        frame["flags"] = [
            known or (flag if said in message else "")
            for known, message in zip(frame["flags"], frame["message"], strict=True)
        ]
