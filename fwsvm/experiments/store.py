"""A results folder: rows that stay once written, whatever happens next.

``runs.csv`` only ever grows, a line a run, each flushed to the disk as the run is finished. A kill can
leave one torn line at its end, which the next start cuts off and reports. One process writes at a time.
"""

import contextlib
import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from fwsvm.errors import ResultsError, WriteError, shown
from fwsvm.experiments.record import Row, fields, now_utc, text
from fwsvm.files.atomic import replacing
from fwsvm.files.lock import exclusive
from fwsvm.results.columns import COLUMNS, TRACE_COLUMNS
from fwsvm.results.files import present, refuse_link
from fwsvm.results.reading import runs_table, trace_table
from fwsvm.solvers import Status
from fwsvm.solvers.result import TracePoint


class Store:
    """An open results folder; use it as a context manager.

    Attributes
    ----------
    folder : Path
    rows : dict of run id to row, fields as text
        The latest finished row of each run, else its latest row.
    notices : list of str
        What was found odd on opening.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs.csv"
        self.rows: dict[str, dict[str, str]] = {}
        self.notices: list[str] = []
        self._open = contextlib.ExitStack()
        self._file = self._log = -1

    def __enter__(self) -> Self:
        """Take the folder for this process, read what is there and mend a torn end."""
        refuse_reference(self.folder)
        try:
            (self.folder / "traces").mkdir(parents=True, exist_ok=True)
            refuse_link(self.folder / "traces", self.folder)
            self._open.enter_context(exclusive(self.runs, wait=False))
        except BlockingIOError:
            raise ResultsError(
                f"{self.folder}: another fwsvm writes here; wait for it, or give another folder with --out"
            ) from None
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        try:
            self.rows = read_rows(self.runs, self.notices)
            make_ready(self.runs)
            self._file = self._append_to(self.runs)
            self._log = self._append_to(self.folder / "log.jsonl")
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the folder up."""
        self._open.close()

    def done(self, run_id: str) -> bool:
        """Whether a run is finished and need not be repeated."""
        return run_id in self.rows and Status(self.rows[run_id]["status"]).done

    def add(self, row: Row, trace: Iterable[TracePoint] = ()) -> None:
        """Write one run: its trace first, then its row.

        Raises
        ------
        WriteError
            There is no space, or no permission; the rows before stay whole.
        """
        written = fields(row)
        points = list(trace)
        if points:
            write_trace(self.folder / "traces" / f"{row['run_id']}.csv", points)
        self._write(self._file, self.runs, _line(written.values()))
        _keep(self.rows, written)

    def take(self, row: Mapping[str, str], experiment: str, folder: Path) -> None:
        """Write a run that another folder holds, and its trace, as one of this experiment."""
        name = f"traces/{row['run_id']}.csv"
        with contextlib.suppress(FileNotFoundError):
            trace = trace_table(folder / name, folder)
            with replacing(self.folder / name, WriteError) as stream:
                stream.write(_line(trace.header))
                stream.writelines(_line(line.fields) for line in trace)
        taken = {**row, "experiment": experiment}
        self._write(self._file, self.runs, _line(taken.values()))
        _keep(self.rows, taken)

    def log(self, event: str, **facts: Any) -> None:
        """Write one event with its facts to log.jsonl."""
        record = {"time": now_utc(), "event": event, **facts}
        self._write(self._log, self.folder / "log.jsonl", json.dumps(record, default=str) + "\n")

    def describe(self, resolved: Mapping[str, Any], comment: str) -> None:
        """Write experiment.yaml, the experiment with every setting in its place."""
        with replacing(self.folder / "experiment.yaml", WriteError) as stream:
            stream.write(f"# {comment}\n")
            yaml.safe_dump(dict(resolved), stream, sort_keys=False, allow_unicode=True)

    def _append_to(self, path: Path) -> int:
        refuse_link(path, self.folder)
        try:
            number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise _unwritable(path, error) from error
        self._open.callback(os.close, number)
        return number

    @staticmethod
    def _write(number: int, path: Path, line: str) -> None:
        """Append one line and wait until it is on the disk; on failure leave the file as it was."""
        whole, left = os.fstat(number).st_size, line.encode()
        try:
            while left:
                left = left[os.write(number, left) :]
            os.fsync(number)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(number, whole)
            raise _unwritable(path, error) from error


def write_trace(path: Path, points: Iterable[TracePoint]) -> None:
    """Write a trace as CSV, with a header."""
    with replacing(path, WriteError) as stream:
        stream.write(_line(TRACE_COLUMNS))
        stream.writelines(_line(text(getattr(point, name)) for name in TRACE_COLUMNS) for point in points)


def read_rows(path: Path, notices: list[str]) -> dict[str, dict[str, str]]:
    """Return the rows of a runs.csv by run id: of each run the latest finished one, else the latest.

    A torn last line is left out, with a notice; columns that an older schema lacks are empty.

    Raises
    ------
    ResultsError
        The file has columns that are not known, or a line that is not a row.
    """
    try:
        table = runs_table(path, path.parent)
    except FileNotFoundError:
        return {}
    if odd := [name for name in table.header if name not in COLUMNS]:
        raise ResultsError(
            f"{path}:1: the columns are not this version's ({shown(odd[0])}); give another folder with --out"
        )
    if table.torn:
        notices.append(f"{path}: the last line was torn, as by a kill while it was written, and is cut off")
    rows: dict[str, dict[str, str]] = {}
    for line in table:
        _keep(rows, dict.fromkeys(COLUMNS, "") | dict(zip(table.header, line.fields, strict=True)))
    return rows


def make_ready(path: Path) -> None:
    """Make a runs.csv that rows of this version can be appended to, whole lines below all its columns.

    A torn last line is cut off. A file of an older schema gets the columns it lacks, empty in its rows, in one
    step: a kill leaves the file as it was, or as it will be.

    Raises
    ------
    WriteError
        The file cannot be written; it is as it was.
    """
    table = runs_table(path, path.parent) if present(path) else None
    if table is None or table.header != tuple(COLUMNS):
        with replacing(path, WriteError) as stream:
            stream.write(_line(COLUMNS))
            if table is not None:
                held = (dict(zip(table.header, line.fields, strict=True)) for line in table)
                stream.writelines(_line(row.get(name, "") for name in COLUMNS) for row in held)
    elif table.torn:
        try:
            os.truncate(path, table.whole)
        except OSError as error:
            raise _unwritable(path, error) from error


def refuse_reference(folder: Path) -> None:
    """Refuse to write among the committed results."""
    parts = folder.resolve().parts
    if ("results", "reference") in pairwise(parts):
        raise ResultsError(
            f"{folder}: committed results are never written to; give another folder with --out"
        )


def _keep(rows: dict[str, dict[str, str]], row: dict[str, str]) -> None:
    """Add a row; one that did not finish does not replace one that did."""
    known = rows.get(row["run_id"])
    if known is None or Status(row["status"]).done or not Status(known["status"]).done:
        rows[row["run_id"]] = row


def _line(fields: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(fields)
    return out.getvalue()


def _unwritable(path: Path, error: OSError) -> WriteError:
    return WriteError(f"{path}: cannot be written: {error.strerror or error}; what stands there is whole")
