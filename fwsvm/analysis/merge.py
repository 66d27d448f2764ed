"""Joining result folders of several machines; different code, data or configurations are refused unless allowed.

Rows are copied unchanged. Of a run in several folders the finished row is kept, or the first finished one, provided
that the others do not contradict it (`fwsvm.results.agreement`). Within a folder the latest finished row of a run
counts, as in the experiment itself.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fwsvm.analysis.results import DONE, SAME_DATA, configurations, result_folders, settings
from fwsvm.errors import ResultsError, counted, listed, shortened
from fwsvm.files.atomic import write_whole
from fwsvm.results.agreement import contradictions
from fwsvm.results.files import OF_FOLDER
from fwsvm.results.reading import read_runs, records

#: What may differ between the configurations of two machines.
MACHINE_KEYS = frozenset({"workers", "scheduler"})


def merge(paths: Sequence[Path], out: Path, *, allow_mixed: bool = False) -> tuple[int, list[str]]:
    """Write one folder with the runs, traces, log and configuration of all ``paths``.

    Returns the number of rows written, and sentences about rows that were dropped or mixed.

    Raises ResultsError if ``out`` already has results, or (unless ``allow_mixed``) if code, data, configurations or
    the results of one run differ.
    """
    folders = list(dict.fromkeys(inside for path in paths for inside in result_folders(path)))
    for name in OF_FOLDER:
        if (out / name).exists():
            raise ResultsError(
                f"{out}: already contains {name}; name a new folder with --out, or delete what an interrupted "
                "merge has left there"
            )
    every = pd.concat(map(_rows, folders), ignore_index=True).fillna("")
    # finished rows first, then by folder, of each the latest
    place = every["folder"].map({str(folder): place for place, folder in enumerate(folders)})
    order = every.assign(open=~every["status"].isin(DONE), place=place, line=-every.index)
    order = order.sort_values(["open", "place", "line"])
    kept = order.drop_duplicates("run_id").set_index("run_id").loc[every["run_id"].unique()].reset_index()
    digests = every["data_sha256"].replace("", None).groupby([every[name] for name in SAME_DATA])
    other_data = every[(digests.transform("nunique") > 1) & (every["data_sha256"] != "")]
    configured = [
        (folder, path, {key: value for key, value in settings(path).items() if key not in MACHINE_KEYS})
        for folder in folders
        for path in configurations(folder)
    ]
    mixed = [
        *_mixed(every, "fwsvm", every["fwsvm"].map(lambda _: "rows of different versions")),
        *_mixed(every, "commit", every["commit"].map(lambda _: "rows of different code")),
        *_mixed(other_data, "data_sha256", "different data under the name " + other_data["dataset"]),
        *_mixed_configurations(configured),
        *_disagreeing(order.loc[~order["open"], every.columns]),
    ]
    if mixed and not allow_mixed:
        raise ResultsError(
            f"{listed(mixed, '; ')}; merge only what belongs together, or accept with --allow-mixed"
        )
    for run_id, folder in zip(kept["run_id"], kept["folder"], strict=True):
        trace = Path(folder) / "traces" / f"{run_id}.csv"
        if trace.exists():
            write_whole(out / "traces" / trace.name, trace.read_bytes())
    logs = [(folder / "log.jsonl").read_bytes() for folder in folders if (folder / "log.jsonl").exists()]
    if logs:  # whole lines: a kill may have torn the last one
        write_whole(out / "log.jsonl", b"".join(log[: log.rfind(b"\n") + 1] for log in logs))
    written: list[dict[str, Any]] = []
    for _, path, content in configured:
        if content not in written:
            name = "experiment.yaml" if not written else f"experiment-{len(written) + 1}.yaml"
            write_whole(out / name, path.read_bytes())
            written.append(content)
    text = kept[every.columns.drop("folder")].to_csv(index=False, lineterminator="\n")
    write_whole(out / "runs.csv", text.encode())  # the folder is whole
    repeats = len(every) - len(kept)
    dropped = [f"{counted(repeats, 'repeated row')} of the same runs left out"] if repeats else []
    return len(kept), [*mixed, *dropped]


def _rows(folder: Path) -> pd.DataFrame:
    table = read_runs(folder / "runs.csv")
    if not table.header:
        raise ResultsError(f"{folder / 'runs.csv'}: empty; run the experiment again with fwsvm grid")
    if table.torn:
        raise ResultsError(
            f"{folder / 'runs.csv'}: the last line is incomplete; run that experiment again first"
        )
    return table.frame.assign(folder=str(folder))


def _mixed(rows: pd.DataFrame, column: str, names: "pd.Series[str]") -> Iterator[str]:
    """Yield for each name of rows that differ in a column the folders of each value."""
    for name, here in rows.groupby(names, sort=False):
        places = here.groupby(column, sort=False)["folder"].unique()
        if len(places) > 1:
            each = (
                f"{str(value)[:12] or 'unknown'} in {listed(some, ' and ')}" for value, some in places.items()
            )
            yield f"{name}: {listed(each)}"


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


def _disagreeing(finished: pd.DataFrame) -> Iterator[str]:
    """Yield which runs contradict each other, by the row of each folder that counts there."""
    counting = finished.drop_duplicates(["run_id", "folder"])
    for run_id, rows in counting[counting.duplicated("run_id", keep=False)].groupby("run_id", sort=False):
        first, *others = records(rows.drop(columns="folder"))
        for folder, other in zip(rows["folder"].iloc[1:], others, strict=True):
            if unlike := contradictions(first, other):
                place = f"run {run_id} ({shortened(first['dataset'])}, {shortened(first['method'])})"
                yield f"{place} is not the same in {rows['folder'].iloc[0]} and {folder}: {listed(unlike)}"
