"""A results folder, to which rows are appended.

Each run is one line of ``runs.csv``, appended and fsynced when the run ends. A kill can leave one incomplete line at
the end, which the next start truncates and reports. A lock admits one writing process.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import yaml

from fwsvm import __version__
from fwsvm.errors import ResultsError, WriteError, shown
from fwsvm.experiments.plan import Cell, is_done
from fwsvm.experiments.record import Row, environment
from fwsvm.files.atomic import replacing, write_whole
from fwsvm.files.lock import exclusive
from fwsvm.results.columns import COLUMNS
from fwsvm.results.reading import TextRow, keep_latest, no_results, read_runs, refuse_reference
from fwsvm.results.writing import csv_fields, csv_line, utc_now, write_trace
from fwsvm.solvers.loop import TracePoint

#: Columns of the versions that a run's numbers depend on.
VERSIONS = ("fwsvm", "numpy", "numba")


@contextlib.contextmanager
def open_results(folder: Path, lenders: Sequence[Path] = ()) -> "Iterator[ResultsStore]":
    """Lock a results folder, read its rows, truncate incomplete last lines, and yield its store.

    Raises
    ------
    ResultsError
        Another process writes there, or what is there are not results of this version.
    """
    refuse_reference(folder)
    runs, notices, streams = folder / "runs.csv", list[str](), dict[str, IO[bytes]]()
    with contextlib.ExitStack() as opened:
        with _writing(folder):
            (folder / "traces").mkdir(parents=True, exist_ok=True)
            try:
                opened.enter_context(exclusive(runs, wait=False))
            except BlockingIOError:
                raise ResultsError(
                    f"{folder}: another fwsvm writes here; wait for it, or give another folder with --out"
                ) from None
        rows = read_rows(runs, notices)
        if (table := read_runs(runs)).header != tuple(COLUMNS):
            with replacing(runs) as text:
                text.writelines(map(csv_line, [COLUMNS, *table.frame.to_numpy().tolist()]))
        notices += _of_other_versions(rows.values())
        lent = add_lent(rows, lenders, notices)
        for path in (runs, folder / "log.jsonl"):  # a part of a line at its end, left by a kill, is cut off
            with _writing(path):
                stream = opened.enter_context(path.open("ab+", buffering=0))
                stream.seek(0)
                stream.truncate(stream.read().rfind(b"\n") + 1)
                streams[path.name] = stream
        yield ResultsStore(folder, rows, lent, notices, streams)


@dataclass
class ResultsStore:
    """An open results folder, see `open_results`.

    Attributes
    ----------
    folder : Path
    rows : dict of run id to row, fields as text
        The latest finished row of each run, else its latest row; with those of the lenders, folders whose finished runs
        need not be repeated.
    lent : dict of run id to Path
        The folders of the rows that are not in this one yet.
    notices : list of str
        Messages from opening the folder.
    streams : dict of open files by name
    """

    folder: Path
    rows: dict[str, TextRow]
    lent: dict[str, Path]
    notices: list[str]
    streams: Mapping[str, IO[bytes]]

    def done(self, run_id: str) -> bool:
        """Whether a run is finished and need not be repeated."""
        return is_done(self.rows.get(run_id))

    def add(self, row: Row, trace: Iterable[TracePoint] = ()) -> None:
        """Write one run: its trace first, then its row.

        Raises
        ------
        WriteError
            There is no space, or no permission; the rows before stay whole.
        """
        if points := list(trace):
            write_trace(self.folder / "traces" / f"{row['run_id']}.csv", points)
        self._add_fields(csv_fields(row))

    def take(self, cell: Cell) -> None:
        """Write the run of a lender, and its trace, as this cell, if there is one that is not here yet."""
        if (folder := self.lent.pop(cell.run_id, None)) is not None:
            name = f"traces/{cell.run_id}.csv"
            if (folder / name).exists():
                write_whole(self.folder / name, (folder / name).read_bytes())
            self._add_fields({**self.rows[cell.run_id], "experiment": cell.experiment})

    def log(self, event: str, **facts: Any) -> None:
        """Write one event with its facts to log.jsonl."""
        self._write("log.jsonl", json.dumps({"time": utc_now(), "event": event, **facts}, default=str) + "\n")

    def write_config(self, resolved: Mapping[str, Any], comment: str) -> None:
        """Write the experiment as ``experiment.yaml``."""
        text = yaml.safe_dump({"name": ""} | dict(resolved), sort_keys=False, allow_unicode=True)
        with replacing(self.folder / "experiment.yaml") as stream:
            # a file's name, which the comment has, may have line breaks or no UTF-8
            stream.write(f"# {ascii(comment)[1:-1]}, by fwsvm {__version__}\n{text}")

    def _add_fields(self, row: TextRow) -> None:
        self._write("runs.csv", csv_line(row.values()))
        keep_latest(self.rows, row)

    def _write(self, name: str, line: str) -> None:
        """Append one line, a row with fsync; on failure truncate the file to its previous length."""
        stream = self.streams[name]
        left = line.encode()
        whole = stream.seek(0, os.SEEK_END)
        with _writing(self.folder / name):
            try:
                while left:
                    left = left[stream.write(left) :]
                if name == "runs.csv":
                    os.fsync(stream)
            except OSError:
                with contextlib.suppress(OSError):
                    stream.truncate(whole)
                raise


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Raise `WriteError` for errors of the system."""
    try:
        yield
    except OSError as error:
        raise WriteError(
            f"{path}: cannot be written: {error.strerror or error}; the rows written before are intact"
        ) from error


def read_rows(path: Path, notices: list[str]) -> dict[str, TextRow]:
    """Return the latest finished row of each run of a runs.csv, else its latest; a notice tells of a torn end.

    Raises
    ------
    ResultsError
        The file has columns that are not known, or a line that is not a row.
    """
    table = read_runs(path)
    rows = dict[str, TextRow]()
    if odd := [name for name in table.header if name not in COLUMNS]:
        raise ResultsError(
            f"{path}:1: the columns are not this version's ({shown(odd[0])}); give another folder with --out"
        )
    if table.torn:
        notices.append(
            f"{path}: the last line was incomplete, as after a kill while it was written, and is removed"
        )
    every: list[Any] = table.frame.to_dict("records")
    for row in every:
        keep_latest(rows, row)
    return rows


def _of_other_versions(rows: Iterable[TextRow]) -> list[str]:
    """Return the notice that finished rows are of other versions of the packages that compute, if some are."""
    now = environment()
    others = {
        f"{name} {row[name]}"
        for row in filter(is_done, rows)
        for name in VERSIONS
        if row[name] not in {"", now[name]}
    }
    return (
        [f"finished runs made by {', '.join(sorted(others))} are kept; --force repeats them"]
        if others
        else []
    )


def add_lent(rows: dict[str, TextRow], lenders: Iterable[Path], notices: list[str]) -> dict[str, Path]:
    """Add the finished runs of other results folders to rows, by run id, and return the folder of each.

    A run's identity is the hash of all that decides its result, so it does not matter which experiment made it. A
    notice tells of a folder that has no rows.

    Raises
    ------
    ResultsError
        A folder cannot be read, or is one of ``results/reference``, whose runs are of another machine and time.
    """
    lent: dict[str, Path] = {}
    for folder in lenders:
        refuse_reference(folder)
        if not (folder / "runs.csv").exists():  # it may be made later
            notices.append(f"nothing to reuse: {no_results(folder)}")
        for name, row in read_rows(folder / "runs.csv", notices).items():
            if is_done(row) and not is_done(rows.get(name)):
                rows[name], lent[name] = row, folder
    return lent
