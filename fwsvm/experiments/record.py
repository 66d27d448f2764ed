"""One run as a row of results: every column, in order."""

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from fwsvm import promises
from fwsvm.data.dataset import Dataset
from fwsvm.errors import PluginWarning, kind_and_words
from fwsvm.experiments.environment import environment
from fwsvm.results.columns import COLUMNS, NUMBER, SCHEMA
from fwsvm.solvers.result import Result

Row = dict[str, Any]

#: Fields of a result that are columns.
OF_RESULT = tuple(field.name for field in fields(Result) if field.name in COLUMNS and field.name != "flags")


def data_columns(data: Dataset) -> dict[str, Any]:
    """Return the columns that describe a data set and its training rows."""
    return {
        "dataset": data.name,
        "data_sha256": data.fingerprint,
        "rows": data.train.rows,
        "features": data.train.features,
        "classes": len(data.classes),
        "load_seconds": data.load_seconds,
        "source": data.source,
        "flags": promises.FIRST_USE if data.first_use else None,
    }


def sample_columns(data: Dataset, result: Result) -> dict[str, Any]:
    """Return the columns that describe the rows of a machine of a sample, which are data of their own.

    The row then names the problem that its objective and certificate are of.
    """
    assert result.sample is not None  # noqa: S101  (who asks has looked)
    drawn = f"{data.fingerprint} sample of {result.sample.rows} rows, seed {result.settings['seed']}"
    return {"rows": result.sample.rows, "data_sha256": hashlib.sha256(drawn.encode()).hexdigest()}


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
        values |= {name: getattr(result, name) for name in OF_RESULT}
        values["status"] = str(result.status)
    unknown = [name for name in (*data, *more) if name not in COLUMNS]
    if unknown:
        raise TypeError(f"runs.csv has no column {', '.join(unknown)}")
    values |= dict(data) | more
    if result is not None:
        values["flags"] = " ".join([*(values["flags"] or "").split(), *_flags(result)]) or None
    return values | (_measured(result, values) if result is not None else {})


def _flags(result: Result) -> list[str]:
    numbers = result.objective, result.gap, result.relative_gap, result.gap_kind
    found = promises.gap_flags(*numbers) if result.status.done else []
    return [*found, *result.flags, *([promises.TRAINED_ON_SAMPLE] if result.sample is not None else [])]


def _measured(result: Result, row: Row) -> Row:
    """Return the columns that are functions of a result; one that fails, or does not fit, is empty and warned of."""
    found: Row = {}
    for name, column in COLUMNS.items():
        if column.measure is None:
            continue
        try:
            value = column.measure(result, row)
            if column.kind == NUMBER and value is not None:
                float(value)
        except Exception as error:  # noqa: BLE001  (a stranger's code may raise anything, and the run is made)
            said = f"the column {name} is left empty: {kind_and_words(error)}"
            warnings.warn(said, PluginWarning, stacklevel=2)
        else:
            found[name] = value
    return found
