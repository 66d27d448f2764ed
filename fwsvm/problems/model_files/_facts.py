"""What LIBSVM's and LIBLINEAR's formats have no place for: ``#fwsvm {json}`` lines at the end of the file.

Both programs' readers ignore what follows the last vector. The first line tells what is needed to read the
model again: number of features, labels as text, the kernel's own name, ranges to scale by. The second holds the
model's facts.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from fwsvm.errors import ModelError, shown
from fwsvm.problems.model_files._lines import Lines
from fwsvm.problems.model_files._numbers import LARGEST

MARK = "#fwsvm "
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,9}")


def codes(classes: tuple[str, ...]) -> list[int]:
    """Return the whole numbers that stand for the labels in the file: their own, or 0 to K - 1.

    >>> codes(("1", "-1")), codes(("M", "B")), codes(("2.5", "1"))
    ([1, -1], [0, 1], [0, 1])
    """
    if all(_WHOLE.fullmatch(name) and -LARGEST - 1 <= int(name) <= LARGEST for name in classes):
        return [int(name) for name in classes]
    return list(range(len(classes)))


def written(needed: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of facts; numbers that are not finite become null."""
    for record in (needed, {"facts": facts} if facts else {}):
        if record:
            yield f"{MARK}{json.dumps(_plain(record), allow_nan=False)}\n"


def read(lines: Lines, rest: Iterator[str]) -> dict[str, Any]:
    """Return all facts after the last vector; anything but facts, comments and blank lines is an error."""
    found: dict[str, Any] = {}
    for line in rest:
        if line.startswith(MARK):
            record = _parsed(lines, line.removeprefix(MARK))
            if again := next((key for key in record if key in found), None):
                raise lines.refusal(f"the fact {shown(again)} is given twice")
            found |= record
        elif line and not line.startswith("#"):
            raise lines.refusal(f"the header announces no more lines, but here is {shown(line)}")
    if not isinstance(found.get("facts", {}), dict):
        raise lines.refusal("the fact 'facts' must be an object")
    return found


def classes(lines: Lines, found: Mapping[str, Any], labels: list[int]) -> tuple[str, ...]:
    """Return the classes as text: those in the facts if they fit the header's labels, else the labels."""
    if len(set(labels)) != len(labels):
        raise lines.refusal("the header names a label twice")
    names = found.get("classes")
    if names is None:
        return tuple(str(label) for label in labels)
    if not isinstance(names, list) or not all(isinstance(name, str) and name.isprintable() for name in names):
        raise lines.refusal("the fact 'classes' must be a list of printable texts")
    if len(set(names)) != len(names) or codes(tuple(names)) != labels:
        raise lines.refusal("the fact 'classes' does not fit the labels in the header")
    return tuple(names)


def features(lines: Lines, found: Mapping[str, Any], used: int) -> int:
    """Return the number of features: the one in the facts, at least the largest index used."""
    told = found.get("features", used)
    if type(told) is not int or not used <= told < LARGEST:
        raise lines.refusal(f"the fact 'features' must be {used} to {LARGEST - 1}, not {shown(str(told))}")
    return told


def _parsed(lines: Lines, text: str) -> dict[str, Any]:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not a number")

    try:
        record = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise lines.refusal(f"the facts are not JSON: {str(error)[:80]}") from None
    if not isinstance(record, dict):
        raise lines.refusal("the facts must be a JSON object")
    return record


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it."""
    match value:
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case np.ndarray() | np.generic():
            return _plain(value.tolist())
        case list() | tuple():
            return [_plain(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case str() | bool() | int() | float() | None:
            return value
    raise ModelError(f"a fact of type {type(value).__name__} cannot be written to a model file")
