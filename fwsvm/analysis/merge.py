"""Joining result folders of several machines; different code, data or configurations are refused unless allowed.

Rows are copied unchanged. Of a run in several folders the finished row is kept, or the first finished one, provided
that the others do not contradict it (`fwsvm.results.agreement`). Within a folder the latest finished row of a run
counts, as in the experiment itself.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwsvm.analysis.configuration import files, settings
from fwsvm.analysis.results import DONE, result_folders
from fwsvm.analysis.same_data import different_data
from fwsvm.analysis.writing import csv_bytes
from fwsvm.errors import ResultsError, listed, shortened, shown
from fwsvm.files.atomic import write_whole
from fwsvm.results.agreement import contradictions
from fwsvm.results.files import OF_FOLDER, bytes_of, present, text_of
from fwsvm.results.reading import keep_latest, read_runs, read_trace, records

CODE = ("fwsvm", "commit")
#: What may differ between the configurations of two machines.
MACHINE_KEYS = frozenset({"workers", "scheduler"})

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge: rows written, and sentences about rows that were dropped or mixed."""

    rows: int
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    header: tuple[str, ...]
    rows: list[Row]


def merge(paths: Sequence[Path], out: Path, *, allow_mixed: bool = False) -> Merged:
    """Write one folder with the runs, traces, log and configuration of all ``paths``.

    Columns that some folders lack, as those of an older schema do, are empty in their rows.

    Raises ResultsError if ``out`` already has results, if columns that fwsvm
    does not know differ, or (unless ``allow_mixed``) if code, data, configurations or the results of one run differ.
    """
    folders: list[_Folder] = []
    for path in paths:
        folders += map(_read, result_folders(path))
    for name in (*OF_FOLDER, *(path.name for path in files(out))):
        if present(out / name):
            raise ResultsError(
                f"{out}: already contains {name}; name a new folder with --out, or delete what an interrupted "
                "merge has left there"
            )
    header = _common_header(folders)
    placed = ((row, str(folder.path)) for folder in folders for row in folder.rows)
    mixed = [*_mixed_code(folders), *different_data(placed), *_mixed_configurations(folders)]
    kept, dropped, disagreeing = _once_each(folders)
    mixed += disagreeing
    if mixed and not allow_mixed:
        raise ResultsError(
            f"{listed(mixed, '; ')}; merge only what belongs together, or accept with --allow-mixed"
        )
    _write(folders, header, kept, out)
    return Merged(len(kept), (*mixed, *dropped))


def _read(path: Path) -> _Folder:
    runs = path / "runs.csv"
    table = read_runs(runs)
    if not table.header:
        raise ResultsError(f"{runs}: empty; run the experiment again with fwsvm grid")
    if table.torn:
        raise ResultsError(f"{runs}: the last line is incomplete; run that experiment again first")
    return _Folder(path, tuple(table.frame.columns), records(table.frame))


def _common_header(folders: list[_Folder]) -> tuple[str, ...]:
    """Return the columns of all folders, which all must have."""
    first = folders[0]
    for folder in folders[1:]:
        if unlike := sorted({*folder.header} ^ {*first.header}):
            raise ResultsError(
                f"{folder.path} and {first.path} have different columns: {listed(map(shortened, unlike))}"
            )
    return first.header


def _mixed_code(folders: list[_Folder]) -> Iterator[str]:
    """Yield what to say if the rows come from different versions of the code."""
    for column in CODE:
        found: dict[str, list[str]] = {}
        for folder in folders:
            for value in dict.fromkeys(row.get(column, "") for row in folder.rows):
                found.setdefault(value, []).append(str(folder.path))
        if len(found) > 1:
            places = listed(
                f"{shortened(value) or 'unknown'} in {listed(where, ' and ')}"
                for value, where in found.items()
            )
            yield f"rows of different code: {column} {places}"


def _mixed_configurations(folders: list[_Folder]) -> Iterator[str]:
    """Yield what to say if configurations of one experiment differ in more than the machine's part."""
    seen: dict[str, tuple[dict[str, Any], Path]] = {}
    for folder in folders:
        # the last of a name is the one that a run wrote, beside a user's own in the same folder
        for content in {str(each.get("name")): each for _, each in _configurations(folder.path)}.values():
            first, where = seen.setdefault(str(content.get("name")), (content, folder.path))
            unlike = sorted(key for key in {*first, *content} if first.get(key) != content.get(key))
            if unlike:
                yield f"different configurations in {where} and {folder.path}: {listed(map(shortened, unlike))}"


def _configurations(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the configurations of a folder, or one without settings, with what is the experiment's of each."""
    for path in files(folder) or [folder / "experiment.yaml"]:
        yield path, {key: value for key, value in settings(path).items() if key not in MACHINE_KEYS}


def _once_each(folders: list[_Folder]) -> tuple[dict[str, tuple[Row, Path]], list[str], list[str]]:
    """Return each run once with its folder, what was dropped, and which runs contradict each other."""
    kept: dict[str, tuple[Row, Path]] = {}
    disagreeing = []
    for folder in folders:
        for run_id, row in _latest(folder.rows).items():
            if run_id not in kept or kept[run_id][0]["status"] not in DONE:
                kept[run_id] = row, folder.path
                continue
            before, where = kept[run_id]
            if row["status"] in DONE and (unlike := contradictions(before, row)):
                place = f"run {run_id} ({shortened(row['dataset'])}, {shortened(row['method'])})"
                disagreeing.append(f"{place} is not the same in {where} and {folder.path}: {listed(unlike)}")
    repeated = sum(len(folder.rows) for folder in folders) - len(kept)
    dropped = [f"{repeated} rows were repeats of a run and are written once"] if repeated else []
    return kept, dropped, disagreeing


def _latest(rows: list[Row]) -> dict[str, Row]:
    """Return the latest finished row of each run, else the latest."""
    found: dict[str, Row] = {}
    for row in rows:
        keep_latest(found, row)
    return found


def _write(
    folders: list[_Folder], header: tuple[str, ...], kept: dict[str, tuple[Row, Path]], out: Path
) -> None:
    """Write traces, logs and configurations, and runs.csv last: with it the folder is complete."""
    table = csv_bytes([header, *([row.get(name, "") for name in header] for row, _ in kept.values())])
    logs = b"".join(log for folder in folders if (log := _log(folder.path)) is not None)
    for run_id, (_, place) in kept.items():
        trace = _trace(place, run_id)
        if trace is not None:
            write_whole(out / "traces" / f"{run_id}.csv", trace)
    if logs:
        write_whole(out / "log.jsonl", logs)
    written: list[dict[str, Any]] = []
    for folder in folders:
        for path, content in _configurations(folder.path):
            if present(path) and content not in written:
                name = "experiment.yaml" if not written else f"experiment-{len(written) + 1}.yaml"
                write_whole(out / name, bytes_of(path))
                written.append(content)
    write_whole(out / "runs.csv", table)


def _trace(folder: Path, run_id: str) -> bytes | None:
    """Return the bytes of a run's trace, which is one; None without one."""
    if read_trace(folder, run_id) is None:
        return None
    return bytes_of(folder / "traces" / f"{run_id}.csv")


def _log(folder: Path) -> bytes | None:
    """Return the whole lines of log.jsonl, once each is known to be an event; None without one."""
    path = folder / "log.jsonl"
    if not present(path):
        return None
    content = text_of(path)
    whole = content[: content.rfind("\n") + 1]
    for number, line in enumerate(whole.split("\n")[:-1], start=1):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            raise ResultsError(
                f"{path}:{number}: {shown(line)} is not an event in JSON; mend or delete the line"
            )
    return whole.encode()
