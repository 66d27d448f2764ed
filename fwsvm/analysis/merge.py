"""Joining result folders of several machines; different code, data or configurations are refused unless allowed.

Rows are copied unchanged. Of a run in several folders the finished row is kept, or the first finished one. Within a
folder the latest finished row of a run counts, as in the experiment itself.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from fwsvm.analysis.results import DONE, SAME_DATA, configurations, result_folders, settings
from fwsvm.errors import ResultsError, counted, listed
from fwsvm.files.atomic import write_whole
from fwsvm.results.reading import OF_FOLDER, read_runs

#: What may differ between the configurations of two machines.
MACHINE_KEYS = frozenset({"workers", "scheduler"})


def merge(paths: Sequence[Path], out: Path, *, allow_mixed: bool = False) -> tuple[int, list[str]]:
    """Write one folder with the runs, traces, log and configuration of all ``paths``.

    Returns the number of rows written, and sentences about rows that were dropped or mixed.

    Raises ResultsError if ``out`` already has results, or (unless ``allow_mixed``) if code, data or
    configurations differ.
    """
    folders = list(dict.fromkeys(inside for path in paths for inside in result_folders(path)))
    for name in OF_FOLDER:
        if (out / name).exists():
            raise ResultsError(f"{out}: already contains {name}; name a new folder with --out")
    every = pd.concat(map(_rows, folders), ignore_index=True).fillna("")
    # of each run the latest finished row of the first folder that has one, or else the latest
    latest = every.assign(open=~every["status"].isin(DONE)).drop_duplicates(
        ["run_id", "folder", "open"], keep="last"
    )
    kept = latest.sort_values("open", kind="stable").drop_duplicates("run_id").sort_index()
    configured: dict[str, Path] = {}  # by what an experiment sets, the first of those that are alike
    of_experiment: dict[str, list[str]] = {}  # those by the experiment's name
    for path in (path for folder in folders for path in configurations(folder)):
        own = {key: value for key, value in settings(path).items() if key not in MACHINE_KEYS}
        if str(own) not in configured:
            configured[str(own)] = path
            of_experiment.setdefault(str(own.get("name")), []).append(str(path))
    mixed = list(_mixed(every))
    mixed += [
        f"different configurations of {name}: {listed(some, ' and ')}"
        for name, some in of_experiment.items()
        if len(some) > 1
    ]
    if mixed and not allow_mixed:
        raise ResultsError(
            f"{'; '.join(mixed)}; merge only what belongs together, or accept with --allow-mixed"
        )
    for run_id, folder in zip(kept["run_id"], kept["folder"], strict=True):
        trace = Path(folder) / "traces" / f"{run_id}.csv"
        if trace.exists():
            write_whole(out / "traces" / trace.name, trace.read_bytes())
    logs = [(folder / "log.jsonl").read_bytes() for folder in folders if (folder / "log.jsonl").exists()]
    if logs:  # whole lines: a kill may have torn the last one
        write_whole(out / "log.jsonl", b"".join(log[: log.rfind(b"\n") + 1] for log in logs))
    for number, path in enumerate(configured.values(), 1):
        write_whole(out / f"experiment{f'-{number}' * (number > 1)}.yaml", path.read_bytes())
    text = kept[every.columns.drop("folder")].to_csv(index=False, lineterminator="\n")
    write_whole(out / "runs.csv", text.encode())  # the folder is whole
    repeats = len(every) - len(kept)
    left_out = f"{counted(repeats, 'row')} left out: of each run one is kept, a finished one if there is any"
    dropped = [left_out] if repeats else []
    return len(kept), [*mixed, *dropped]


def _rows(folder: Path) -> pd.DataFrame:
    table = read_runs(folder / "runs.csv")
    if not table.header or table.torn:
        said = "the last line is incomplete" if table.torn else "empty"
        raise ResultsError(f"{folder / 'runs.csv'}: {said}; run that experiment again with fwsvm grid")
    return table.frame.assign(folder=str(folder))


def _mixed(every: pd.DataFrame) -> Iterator[str]:
    """Yield which versions, commits, and data of one name do not belong together, and where they are."""
    data = every[every["data_sha256"] != ""]
    several = data[data.groupby(SAME_DATA)["data_sha256"].transform("nunique") > 1]
    parts = {
        f"different data under the name {name}": here["data_sha256"]
        for name, here in several.groupby("dataset")
    }
    parts["rows of different versions"] = every["fwsvm"]
    parts["rows of different code"] = every["commit"].replace("", None)
    for what, values in parts.items():
        folders = every["folder"].groupby(values, sort=False).unique()
        if len(folders) > 1:
            each = (f"{str(value)[:12]} in {listed(some, ' and ')}" for value, some in folders.items())
            yield f"{what}: {listed(each)}"
