"""Joining result folders of several machines; different code, data or configurations are refused unless allowed.

Rows are copied unchanged. Of a run in several folders the finished row is kept, or the first finished one, provided
that the others do not contradict it (`fwsvm.results.agreement`). Within a folder the latest finished row of a run
counts, as in the experiment itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fwsvm.analysis.results import DONE, configurations, different_data, result_folders, settings
from fwsvm.errors import ResultsError, listed, shortened
from fwsvm.files.atomic import write_whole
from fwsvm.results.agreement import contradictions
from fwsvm.results.files import OF_FOLDER, bytes_of, present
from fwsvm.results.reading import keep_latest, read_runs, records

#: What may differ between the configurations of two machines.
MACHINE_KEYS = frozenset({"workers", "scheduler"})

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge: rows written, and sentences about rows that were dropped or mixed."""

    rows: int
    notices: tuple[str, ...]


def merge(paths: Sequence[Path], out: Path, *, allow_mixed: bool = False) -> Merged:
    """Write one folder with the runs, traces, log and configuration of all ``paths``.

    Raises ResultsError if ``out`` already has results, or (unless ``allow_mixed``) if code, data, configurations or
    the results of one run differ.
    """
    folders = {inside: _rows(inside) for path in paths for inside in result_folders(path)}
    for name in OF_FOLDER:
        if present(out / name):
            raise ResultsError(
                f"{out}: already contains {name}; name a new folder with --out, or delete what an interrupted "
                "merge has left there"
            )
    every = pd.concat([frame.assign(folder=str(folder)) for folder, frame in folders.items()]).fillna("")
    configured = [
        (folder, path, {key: value for key, value in settings(path).items() if key not in MACHINE_KEYS})
        for folder in folders
        for path in configurations(folder)
    ]
    kept, disagreeing = _once_each(folders)
    mixed = [
        *_mixed_code(every),
        *different_data(every),
        *_mixed_configurations(configured),
        *disagreeing,
    ]
    if mixed and not allow_mixed:
        raise ResultsError(
            f"{listed(mixed, '; ')}; merge only what belongs together, or accept with --allow-mixed"
        )
    for run_id, (_, folder) in kept.items():
        trace = folder / "traces" / f"{run_id}.csv"
        if trace.exists():
            write_whole(out / "traces" / trace.name, bytes_of(trace))
    logs = [bytes_of(folder / "log.jsonl") for folder in folders if (folder / "log.jsonl").exists()]
    if logs:  # whole lines: a kill may have torn the last one
        write_whole(out / "log.jsonl", b"".join(log[: log.rfind(b"\n") + 1] for log in logs))
    written: list[dict[str, Any]] = []
    for _, path, content in configured:
        if content not in written:
            name = "experiment.yaml" if not written else f"experiment-{len(written) + 1}.yaml"
            write_whole(out / name, bytes_of(path))
            written.append(content)
    columns = [name for name in every.columns if name != "folder"]
    joined = pd.DataFrame([row for row, _ in kept.values()], columns=columns).fillna("")
    write_whole(
        out / "runs.csv", joined.to_csv(index=False, lineterminator="\n").encode()
    )  # the folder is whole
    repeated = len(every) - len(kept)
    dropped = [f"{repeated} rows were repeats of a run and are written once"] if repeated else []
    return Merged(len(kept), (*mixed, *dropped))


def _rows(folder: Path) -> pd.DataFrame:
    table = read_runs(folder / "runs.csv")
    if not table.header:
        raise ResultsError(f"{folder / 'runs.csv'}: empty; run the experiment again with fwsvm grid")
    if table.torn:
        raise ResultsError(
            f"{folder / 'runs.csv'}: the last line is incomplete; run that experiment again first"
        )
    return table.frame


def _mixed_code(every: pd.DataFrame) -> Iterator[str]:
    """Yield what to say if the rows come from different versions of the code."""
    for column in ("fwsvm", "commit"):
        places = every.groupby(column, sort=False)["folder"].unique()
        if len(places) > 1:
            said = listed(
                f"{shortened(str(value)) or 'unknown'} in {listed(where, ' and ')}"
                for value, where in places.items()
            )
            yield f"rows of different code: {column} {said}"


def _mixed_configurations(configurations: Sequence[tuple[Path, Path, dict[str, Any]]]) -> Iterator[str]:
    """Yield what to say if configurations of one experiment differ in more than the machine's part."""
    # the last of a name in a folder is the one that a run wrote, beside a user's own there
    last = {(folder, str(content.get("name"))): content for folder, _, content in configurations}
    seen: dict[str, tuple[dict[str, Any], Path]] = {}
    for (folder, name), content in last.items():
        first, where = seen.setdefault(name, (content, folder))
        unlike = sorted(key for key in {*first, *content} if first.get(key) != content.get(key))
        if unlike:
            yield f"different configurations in {where} and {folder}: {listed(map(shortened, unlike))}"


def _once_each(folders: dict[Path, pd.DataFrame]) -> tuple[dict[str, tuple[Row, Path]], list[str]]:
    """Return each run once with its folder, and which runs contradict each other."""
    kept: dict[str, tuple[Row, Path]] = {}
    disagreeing = []
    for folder, frame in folders.items():
        latest: dict[str, Row] = {}
        for row in records(frame):
            keep_latest(latest, row)
        for run_id, row in latest.items():
            if run_id not in kept or kept[run_id][0]["status"] not in DONE:
                kept[run_id] = row, folder
                continue
            before, where = kept[run_id]
            if row["status"] in DONE and (unlike := contradictions(before, row)):
                place = f"run {run_id} ({shortened(row['dataset'])}, {shortened(row['method'])})"
                disagreeing.append(f"{place} is not the same in {where} and {folder}: {listed(unlike)}")
    return kept, disagreeing
