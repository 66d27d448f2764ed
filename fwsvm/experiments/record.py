"""One run as a row: complete, in the order of the columns, ready for runs.csv or ``--json``."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fwsvm.data.dataset import Dataset
from fwsvm.experiments.environment import Environment
from fwsvm.results.columns import COLUMNS, SCHEMA
from fwsvm.results.kinds import Text
from fwsvm.solvers.result import Result

Row = dict[str, Any]

MEASURED = (
    "message", "subproblems", "objective", "gap", "relative_gap", "gap_kind", "certified", "primal", "dual",
    "support_vectors", "iterations", "steps", "kernel_evaluations", "cache_hit_rate", "compile_seconds",
    "train_seconds",
)  # fmt: skip


def now_utc() -> str:
    """Return the time in ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def about(data: Dataset) -> dict[str, Any]:
    """Return the columns that describe a data set and its training rows."""
    return {
        "dataset": data.name,
        "data_sha256": data.fingerprint,
        "rows": data.train.rows,
        "features": data.train.features,
        "classes": len(data.classes),
        "load_seconds": data.load_seconds,
    }


def untested(data: Dataset, result: Result) -> dict[str, Any]:
    """Return the message of a run that could not be judged because the data set's test rows are not to be had."""
    return {"message": f"{result.message} {data.lacking}".strip()} if data.lacking else {}


def row(data: Mapping[str, Any], where: Environment, result: Result | None = None, **more: Any) -> Row:
    """Return the row of one run, with every column in order.

    Parameters
    ----------
    data : mapping
        Columns that describe the data, see `about`.
    where : Environment
    result : Result, optional
        What the run came to; without it ``more`` gives status, message and the settings asked for.
    more : values by column name
        The rest: identity, accuracies, times. They go before what the result says.

    Raises
    ------
    TypeError
        A value for a column that does not exist.
    """
    values: Row = dict.fromkeys(COLUMNS) | {"schema": SCHEMA}
    values |= where.as_columns()
    if result is not None:
        values |= {name: value for name, value in result.settings.items() if name in COLUMNS}
        values |= {name: getattr(result, name) for name in MEASURED}
        values["status"] = str(result.status)
    unknown = [name for name in (*data, *more) if name not in COLUMNS]
    if unknown:
        raise TypeError(f"runs.csv has no column {', '.join(unknown)}")
    return values | dict(data) | more


def plain(row: Mapping[str, Any]) -> Row:
    """Return the row with JSON's own types: None for what is empty or not a number, infinities as text."""
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):  # numpy's scalars
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return str(value) if isinstance(value, str) else value


def text(value: Any) -> str:
    """Return a value as a field of runs.csv: numbers exactly, truth as true and false, nothing as nothing."""
    value = _plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else " ".join(str(value).split())


def fields(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row as the fields of runs.csv, in the order of the columns, such as their readers take."""
    plain = {name: text(row[name]) for name in COLUMNS}
    kinds = {name: column.kind for name, column in COLUMNS.items()}
    return {
        name: kind.fitted(plain[name]) if isinstance(kind := kinds[name], Text) else plain[name]
        for name in plain
    }
