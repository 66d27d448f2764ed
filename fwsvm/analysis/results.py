"""Reading result folders; every field is checked and typed, and nothing is repaired silently.

A folder has ``runs.csv`` (one row for each run), ``traces/<run id>.csv``, and ``experiment.yaml``.
"""

import fnmatch
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from fwsvm.analysis.measures import named, plain
from fwsvm.errors import ResultsError, UsageError, counted, listed
from fwsvm.files.yaml_files import read_yaml
from fwsvm.results import reading
from fwsvm.results.reading import no_results
from fwsvm.results.schemas import method_label
from fwsvm.status import Status

DONE = frozenset(str(status) for status in Status if status.done)


class Results(NamedTuple):
    """Rows of one or several result folders; ``frame`` has the columns of runs.csv, ``folder`` and ``protocol``."""

    frame: pd.DataFrame
    folders: tuple[Path, ...]
    notices: tuple[str, ...]


#: Rows alike in these are of one version of their data.
SAME_DATA = ["experiment", "profile", "role", "dataset", "seed", "fold", "repetition"]


def matching(frame: pd.DataFrame, where: Sequence[str]) -> pd.DataFrame:
    """Return the rows (or cells) that satisfy ``COLUMN=VALUE``, of a column at least one; UsageError if none is."""
    found: dict[str, pd.Series] = {}
    left = frame
    for condition in where:
        column, equals, value = condition.partition("=")
        if not equals or column not in frame:
            raise UsageError(f"--where {condition}: give COLUMN=VALUE with a column of runs.csv")
        matched = _matches(frame[column], value)
        found[column] = found.get(column, False) | matched
        left = frame[pd.DataFrame(found).all(axis=1)]
        if left.empty or not matched.any():
            held = listed(map(named, sorted(frame[column].unique())), most=12)
            raise UsageError(f"--where {condition}: no row is left; {column} holds {held}")
    return left


def _matches(column: "pd.Series[Any]", value: str) -> "pd.Series[bool]":
    """Return where a column has a value: a number, a truth, a pattern of a text, or the first digits of a digest."""
    texts = column.map(plain)
    if pd.api.types.is_numeric_dtype(column):  # of six digits, as messages and tables print it, or all
        return (column == pd.to_numeric(value, errors="coerce")) | (texts.str.lower() == value.lower())
    if column.name == "data_sha256" and value:
        return texts.str.startswith(value)
    return texts.map(lambda text: fnmatch.fnmatchcase(text, value)) | (texts == value)


def read(paths: Iterable[Path], where: Sequence[str] = ()) -> Results:
    """Read result folders, runs.csv files, or folders of result folders; return the rows that satisfy ``where``.

    Of a data set whose file has changed only the rows of its latest version are returned.

    Raises ResultsError naming file, line and remedy when a file is absent or damaged.
    """
    folders = dict.fromkeys(folder for path in paths for folder in result_folders(path))
    frames = []
    notices = []
    for folder in folders:
        table = reading.read_runs(folder / "runs.csv")
        if not table.header:
            raise ResultsError(f"{folder / 'runs.csv'}: empty; run the experiment again with fwsvm grid")
        frame = reading.typed(table.frame)
        frame["method"] = [*map(method_label, frame["method"], frame["parameters"])]
        frames.append(frame.assign(folder=str(folder), protocol=protocols(frame, folder)))
        if table.torn:
            notices.append(
                f"{folder / 'runs.csv'}: the last line is incomplete (a run was killed while writing) and is left out"
            )
    rows = matching(pd.concat(frames, ignore_index=True), where)
    known = rows[rows["data_sha256"] != ""].sort_values("started_utc", kind="stable")
    latest = known.groupby(SAME_DATA, dropna=False)["data_sha256"].transform("last")
    older = (known["data_sha256"] != latest).reindex(rows.index, fill_value=False)
    if older.any():
        names = listed(rows.loc[older, "dataset"].unique())
        notices.append(
            f"{counted(older.sum(), 'row')} of an older version of the data ({names}) left out; "
            "--where data_sha256=... chooses another version"
        )
    return Results(rows[~older], tuple(folders), tuple(notices))


def protocols(frame: pd.DataFrame, folder: Path) -> "pd.Series[str]":
    """Return the protocol of each run of a folder; rows of older schemas have that of their experiment's configuration.

    Runs without one that looked at all rows, or whose experiment has a configuration without one, ran under the default
    protocol; '' is that of other runs.
    """
    searched = frame["search"].map({"full": "default"}).fillna("")
    for content in map(settings, configurations(folder) if (frame["protocol"] == "").any() else ()):
        own = (frame["experiment"] == str(content.get("name"))) & (frame["search"] != "")
        searched = searched.mask(own, str(content.get("protocol", "default")))
    return frame["protocol"].where(frame["protocol"] != "", searched)


def configurations(folder: Path) -> list[Path]:
    """Return the configurations of a results folder, that of the first experiment first; further ones are left out."""
    return sorted(folder.glob("experiment*.yaml"), key=lambda path: (len(path.name), path.name))


def settings(path: Path) -> dict[str, Any]:
    """Return the settings of a configuration; ResultsError if it is not YAML."""
    return read_yaml(path, ResultsError) or {}


def says_sigma2(folders: Iterable[Path]) -> bool:
    """Return whether a configuration of these folders gives widths as sigma2."""
    return any(
        "sigma2" in path.read_text("utf-8", "replace") for each in folders for path in configurations(each)
    )


def result_folders(path: Path) -> list[Path]:
    """Return the folder with a runs.csv that ``path`` is or means, or all such folders directly inside it."""
    if path.name == "runs.csv" and path.is_file():
        return [path.parent]
    if (path / "runs.csv").exists():
        return [path]
    inside = sorted(child.parent for child in path.glob("*/runs.csv")) if path.is_dir() else []
    if not inside:
        raise no_results(path)
    return inside
