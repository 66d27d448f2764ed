"""Read results folders with pandas: rows of every schema; a torn last line, as a kill leaves it, is left out."""

import io
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from fwsvm.errors import ResultsError, shortened
from fwsvm.results.columns import COLUMNS, REQUIRED, SCHEMA, TEXTS, TRACE_COLUMNS, TRUTHS
from fwsvm.results.schemas import update
from fwsvm.status import Status

#: Files of a results folder besides its traces.
OF_FOLDER = ("runs.csv", "experiment.yaml", "log.jsonl")
TextRow = Mapping[str, str]


class ResultsTable(NamedTuple):
    """A CSV file of results.

    Attributes
    ----------
    frame : DataFrame of str
        A row for each whole line, fields as they stand.
    header : tuple of str
        Columns of the file; empty for a file without a whole line. `read_runs` adds others to ``frame``.
    torn : bool
        Whether part of a line follows.
    """

    frame: pd.DataFrame
    header: tuple[str, ...]
    torn: bool


def read_runs(path: Path) -> ResultsTable:
    """Return the rows of a runs.csv with every column of `COLUMNS`; what an older schema lacks is filled in or empty.

    Columns that are not known follow the known ones. A file that does not exist has no rows.

    Raises
    ------
    ResultsError
        The file has not the columns of fwsvm, or has a row of a newer schema.
    """
    table = _read_csv(path)
    if not table.header:
        return table._replace(frame=pd.DataFrame(columns=list(COLUMNS), dtype=object))
    if lacking := [name for name in REQUIRED if name not in table.header]:
        raise ResultsError(
            f"{path}:1: the columns are not this version's: no column {', '.join(lacking)}; "
            "give a folder that fwsvm grid wrote"
        )
    unknown = [name for name in table.header if name not in COLUMNS]
    frame = table.frame.reindex(columns=[*COLUMNS, *unknown], fill_value="")
    if any(int(field or 1) > SCHEMA for field in frame["schema"].unique()):
        raise ResultsError(
            f"{path}: a row of a schema above {SCHEMA}, which this version reads; update fwsvm"
        )
    update(frame)
    return table._replace(frame=frame)


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the known columns of `read_runs` as numbers (empty: NaN), truths and text."""
    found = {
        name: frame[name] if name in TEXTS else _numbers(frame[name])
        for name in COLUMNS
        if name not in TRUTHS
    }
    truths = {name: frame[name].str.lower() == "true" for name in TRUTHS}
    return pd.DataFrame(found | truths, columns=list(COLUMNS))


def read_trace(folder: Path, run_id: str) -> pd.DataFrame | None:
    """Return the trace of a run, columns as numbers (`TRACE_COLUMNS`), or None where there is none."""
    path = folder / "traces" / f"{run_id}.csv"
    return _read_csv(path).frame[list(TRACE_COLUMNS)].apply(_numbers) if path.exists() else None


def _read_csv(path: Path) -> ResultsTable:
    content = path.read_bytes() if path.exists() else b""
    whole = content.rfind(b"\n") + 1
    torn = whole < len(content)
    if not whole:
        return ResultsTable(pd.DataFrame(), (), torn)
    frame = pd.read_csv(
        io.BytesIO(content[:whole]), dtype=object, keep_default_na=False, encoding="utf-8-sig"
    )
    return ResultsTable(frame, tuple(frame.columns), torn)


def _numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    return column.where(column != "", "nan").astype(float)


def keep_latest(rows: dict[str, TextRow], row: TextRow) -> None:
    """Add a row to those of other runs, by run id; one that did not finish does not replace one that did."""
    known = rows.get(row["run_id"])
    if known is None or Status(row["status"]).done or not Status(known["status"]).done:
        rows[row["run_id"]] = row


def refuse_reference(folder: Path) -> None:
    """Refuse to write among the committed results."""
    if ("results", "reference") in pairwise(folder.resolve().parts):
        raise ResultsError(
            f"{folder}: committed results are never written to; give another folder with --out"
        )


def no_results(path: Path) -> ResultsError:
    """Return the error for what should be a results folder and is none."""
    lacks = "no runs.csv here" if path.exists() else "no such folder"
    return ResultsError(
        f"{shortened(str(path), 300)}: {lacks}; give the folder that fwsvm grid wrote (its --out)"
    )
