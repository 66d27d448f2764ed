"""The values of a row as fields of runs.csv and as JSON."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fwsvm.results.columns import COLUMNS
from fwsvm.results.kinds import Text


def json_values(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with JSON's own types: None for empty values and NaN, infinities as text."""
    return {name: _json_value(value) for name, value in row.items()}


def _json_value(value: Any) -> Any:
    if hasattr(value, "item"):  # a scalar of numpy
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return str(value) if isinstance(value, str) else value


def csv_field(value: Any) -> str:
    """Return a value as a field of runs.csv: numbers exactly, booleans as true and false, None as empty text."""
    value = _json_value(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else " ".join(str(value).split())


def csv_fields(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row as the fields of runs.csv, in the order of the columns, in the form that `reading` accepts."""
    fields = {name: csv_field(row[name]) for name in COLUMNS}
    kinds = {name: column.kind for name, column in COLUMNS.items()}
    return {
        name: kind.fitted(field) if isinstance(kind := kinds[name], Text) else field
        for name, field in fields.items()
    }


def utc_now() -> str:
    """Return the time as rows and logs have it: ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
