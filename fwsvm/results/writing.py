"""The values of a row as fields of runs.csv and as JSON, and traces."""

import csv
import io
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fwsvm.files.atomic import replacing
from fwsvm.results.columns import COLUMNS, TRACE_COLUMNS


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
    if isinstance(value, float):
        return repr(value)
    return " ".join(str(value).split())


def csv_fields(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row as the fields of runs.csv, in the order of the columns."""
    return {name: csv_field(row[name]) for name in COLUMNS}


def csv_line(fields: Iterable[str]) -> str:
    """Return a line of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(fields)
    return out.getvalue()


def write_trace(path: Path, points: Iterable[Any]) -> None:
    """Write a trace, points with attributes `TRACE_COLUMNS`, as CSV with a header."""
    with replacing(path) as stream:
        stream.write(csv_line(TRACE_COLUMNS))
        stream.writelines(
            csv_line(csv_field(getattr(point, name)) for name in TRACE_COLUMNS) for point in points
        )


def utc_now() -> str:
    """Return the time as rows and logs have it: ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
