"""One run as a row of results: every column, in order."""

from collections.abc import Mapping
from typing import Any

from fwsvm.data.dataset import Dataset
from fwsvm.experiments.environment import environment
from fwsvm.results.columns import COLUMNS, SCHEMA
from fwsvm.solvers.result import Result

Row = dict[str, Any]

MEASURED = (
    "message", "subproblems", "objective", "gap", "relative_gap", "gap_kind", "certified", "primal", "dual",
    "support_vectors", "iterations", "steps", "kernel_evaluations", "cache_hit_rate", "compile_seconds",
    "train_seconds",
)  # fmt: skip


def data_columns(data: Dataset) -> dict[str, Any]:
    """Return the columns that describe a data set and its training rows."""
    return {
        "dataset": data.name,
        "data_sha256": data.fingerprint,
        "rows": data.train.rows,
        "features": data.train.features,
        "classes": len(data.classes),
        "load_seconds": data.load_seconds,
    }


def missing_test_note(data: Dataset, result: Result) -> dict[str, Any]:
    """Return the message of a run without test accuracy because the test rows cannot be found; else nothing."""
    return {"message": f"{result.message} {data.lacking}".strip()} if data.lacking else {}


def row(data: Mapping[str, Any], result: Result | None = None, **more: Any) -> Row:
    """Return the row of one run in this process, with every column in order.

    Parameters
    ----------
    data : mapping
        Columns that describe the data, see `data_columns`.
    result : Result, optional
        The result of the run; without it ``more`` has status, message and the requested settings.
    more : values by column name
        The rest: identity, accuracies, times. They take precedence over ``result``.

    Raises
    ------
    TypeError
        A value for a column that does not exist.
    """
    values: Row = dict.fromkeys(COLUMNS) | {"schema": SCHEMA}
    values |= environment().as_columns()
    if result is not None:
        values |= {name: value for name, value in result.settings.items() if name in COLUMNS}
        values |= {name: getattr(result, name) for name in MEASURED}
        values["status"] = str(result.status)
    unknown = [name for name in (*data, *more) if name not in COLUMNS]
    if unknown:
        raise TypeError(f"runs.csv has no column {', '.join(unknown)}")
    return values | dict(data) | more
