"""The fact ``scaling``: the training ranges by which rows are scaled before the machine sees them.

    {"interval": [0, 1], "features": [1, 3], "minimum": [6.981, 43.79], "maximum": [28.11, 188.5]}

Features count from 1, as in the file; those that are not named become 0.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwsvm.problems.model_files._lines import Lines
from fwsvm.scaling import Ranges

KEYS = ("interval", "features", "minimum", "maximum")


def written(ranges: Ranges | None) -> dict[str, Any]:
    """Return the fact, or none where training scaled nothing."""
    if ranges is None:
        return {}
    values = ([ranges.lower, ranges.upper], ranges.features + 1, ranges.minimum, ranges.maximum)
    return {"scaling": dict(zip(KEYS, values, strict=True))}


def read(lines: Lines, found: Mapping[str, Any], features: int) -> Ranges | None:
    """Return the ranges among the facts of a machine of so many features; `ModelError` where they cannot be."""
    told = found.get("scaling")
    if told is None:
        return None
    if not isinstance(told, dict) or set(told) != set(KEYS):
        raise lines.refusal(f"the fact 'scaling' must be an object with {', '.join(KEYS)}")
    named = told["features"]
    if not isinstance(named, list) or not all(type(j) is int and 1 <= j <= features for j in named):
        raise lines.refusal(f"the features of the fact 'scaling' must be whole numbers from 1 to {features}")
    places = np.array(named, np.int64) - 1
    if (np.diff(places) <= 0).any():
        raise lines.refusal("the features of the fact 'scaling' must increase")
    interval, minimum, maximum = (
        _numbers(lines, key, told[key], count)
        for key, count in (("interval", 2), ("minimum", len(places)), ("maximum", len(places)))
    )
    with np.errstate(over="ignore"):
        widths = np.append(maximum - minimum, interval[1] - interval[0])
    if not ((widths > 0) & np.isfinite(widths)).all():
        raise lines.refusal("a range of the fact 'scaling' is empty, or too wide for doubles")
    return Ranges(places, minimum, maximum, float(interval[0]), float(interval[1]))


def _numbers(lines: Lines, key: str, told: Any, count: int) -> NDArray[np.float64]:
    """Return the ``count`` finite numbers of a key."""
    if not isinstance(told, list) or len(told) != count:
        raise lines.refusal(f"the {key} of the fact 'scaling' must be a list of {count} numbers")
    values = [_number(value) for value in told]
    if not all(map(math.isfinite, values)):
        raise lines.refusal(f"the {key} of the fact 'scaling' must be finite numbers")
    return np.array(values, np.float64)


def _number(value: Any) -> float:
    """Return a number of JSON as a double, not finite where it is none."""
    try:
        return float(value) if type(value) in (int, float) else math.nan
    except OverflowError:
        return math.inf
