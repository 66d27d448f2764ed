"""Reading result folders; every field is checked and typed, and nothing is repaired silently.

A folder has ``runs.csv`` (one row for each run), ``traces/<run id>.csv``, and ``experiment.yaml``.
"""

import functools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from fwsvm.analysis.measures import named, plain
from fwsvm.errors import ResultsError, UsageError, shortened, shown
from fwsvm.files.yaml_files import parse_yaml
from fwsvm.results import reading
from fwsvm.results.files import bytes_of, no_results, present, unreadable
from fwsvm.results.reading import TRUTHS
from fwsvm.results.schemas import method_label
from fwsvm.status import Status

DONE = frozenset(str(status) for status in Status if status.done)


@dataclass(frozen=True, slots=True)
class Results:
    """Rows of one or several result folders; ``frame`` has the columns of runs.csv, ``folder`` and ``protocol``."""

    frame: pd.DataFrame
    folders: tuple[Path, ...]
    notices: tuple[str, ...] = field(default=())

    def select(self, where: Sequence[str]) -> "Results":
        """Return the rows that satisfy the conditions, see `matching`."""
        return Results(matching(self.frame, where), self.folders, self.notices)


def matching(frame: pd.DataFrame, where: Sequence[str]) -> pd.DataFrame:
    """Return the rows (or cells) that satisfy ``COLUMN=VALUE``, of a column at least one; UsageError if none is."""
    found: dict[str, pd.Series] = {}
    left = frame
    for condition in where:
        column, equals, value = condition.partition("=")
        if not equals or column not in left.columns:
            raise UsageError(f"--where {condition}: give COLUMN=VALUE with a column of runs.csv")
        matched = _matches(frame[column], value, condition)
        found[column] = found[column] | matched if column in found else matched
        left = frame[functools.reduce(operator.and_, found.values())]
        if left.empty or not matched.any():
            held = sorted({named(v) for v in frame[column].unique()})
            more = f" and {len(held) - 12} more" if len(held) > 12 else ""
            raise UsageError(
                f"--where {condition}: no row is left; "
                f"{column} holds {', '.join(map(shortened, held[:12]))}{more}"
            )
    return left


UNKNOWN = "unknown"  # protocol of runs whose experiment no configuration of their folder is of


def read(paths: Iterable[Path]) -> Results:
    """Read result folders, runs.csv files, or folders of result folders.

    Raises ResultsError naming file, line and remedy when a file is absent or damaged.
    """
    folders = dict.fromkeys(folder for path in paths for folder in result_folders(path))
    frames, notices = [], []
    for folder in folders:
        frame, torn = read_runs(folder / "runs.csv")
        ran, said = protocols(frame, folder)
        frames.append(frame.assign(folder=str(folder), protocol=ran))
        notices += said
        if torn:
            notices.append(
                f"{folder / 'runs.csv'}: the last line is incomplete (a run was killed while writing) and is left out"
            )
    if not frames:
        raise UsageError("name at least one results folder")
    return Results(pd.concat(frames, ignore_index=True), tuple(folders), tuple(notices))


def protocols(frame: pd.DataFrame, folder: Path) -> tuple["pd.Series[str]", list[str]]:
    """Return the protocol of each run of a folder, and what to say of configurations that cannot be read.

    It is what the experiment's configuration has for the run's method, else for its data set, else for all; '' where it
    has none, or the folder has no configuration. `UNKNOWN` is that of runs of an experiment whose configuration is not
    among those of the folder. Runs without one that looked at all rows, or whose experiment has a configuration without
    one, ran under the default protocol.
    """
    found, notices = frame["search"].map({"full": "default"}).fillna(""), []
    paths = configurations(folder)
    configured = pd.Series(not paths, index=frame.index)
    for path in paths:
        try:
            content = settings(path)
        except ResultsError as error:
            notices.append(f"{error}; the protocol of its runs is not known")
            continue
        own = frame["experiment"] == str(content.get("name"))
        configured |= own
        found = found.mask(own & (frame["search"] != ""), "default")
        if isinstance(content.get("protocol"), str):
            found = found.mask(own, content["protocol"])
        for column, of in (("dataset", "datasets"), ("method", "methods")):
            names = frame[column].astype(str).str.split("(", n=1).str[0].str.strip()
            for entry in content[of] if isinstance(content.get(of), list) else ():
                if isinstance(entry, dict) and isinstance(entry.get("protocol"), str):
                    found = found.mask(own & (names == str(entry.get("name"))), entry["protocol"])
    found = frame["protocol"].where(frame["protocol"] != "", found)
    return found.mask(~configured & (found == ""), UNKNOWN), notices


def configurations(folder: Path) -> list[Path]:
    """Return the configurations of a results folder, that of the first experiment first; further ones are left out."""
    return sorted(folder.glob("experiment*.yaml"), key=lambda path: (len(path.name), path.name))


def settings(path: Path) -> dict[str, Any]:
    """Return the settings of a configuration; none if there is no such file, or nothing in it.

    Raises
    ------
    ResultsError
        The file is not YAML, or no mapping.
    """
    if not present(path):
        return {}
    content = parse_yaml(bytes_of(path), str(path), ResultsError)
    if not isinstance(content, dict | None):
        raise ResultsError(f"{path}: a mapping of settings belongs here, not {shown(content)}")
    return content or {}


#: Rows alike in these must have seen the same data.
SAME_DATA = ("experiment", "profile", "role", "dataset", "seed", "fold", "repetition")


def different_data(frame: pd.DataFrame, alike: Sequence[str] = SAME_DATA) -> list[str]:
    """Return a sentence for each data set of which rows that are ``alike`` have seen different data.

    ``frame`` has rows of runs.csv and the column ``folder``. Rows that ran on no data have no digest.
    """
    rows = frame.loc[frame["data_sha256"] != "", [*alike, "data_sha256", "folder"]].drop_duplicates()
    said: dict[str, str] = {}
    for _, here in rows.groupby([*alike], dropna=False, sort=False):
        if here["data_sha256"].nunique() > 1:
            first = here.drop_duplicates("data_sha256").head(2)
            name, places = str(first["dataset"].iloc[0]), first["folder"].tolist()
            one, other = (digest[:12] for digest in first["data_sha256"])
            said.setdefault(
                name,
                f"different data under the name {shortened(name)}"
                + (
                    f": {one} in {places[0]}, {other} in {places[1]}"
                    if places[0] != places[1]
                    else f" in {places[0]}: {one}, then {other}"
                ),
            )
    return list(said.values())


def result_folders(path: Path) -> list[Path]:
    """Return the folder with a runs.csv that ``path`` is or means, or all such folders directly inside it."""
    try:
        if path.name == "runs.csv" and path.is_file():
            return [path.parent]
        if present(path / "runs.csv"):
            return [path]
        inside = sorted(child.parent for child in path.glob("*/runs.csv")) if path.is_dir() else []
    except (OSError, RuntimeError) as error:
        raise unreadable(path, error) from None
    if not inside:
        raise no_results(path)
    return inside


def read_runs(path: Path) -> tuple[pd.DataFrame, bool]:
    """Return the rows of one runs.csv, typed, and whether a torn last line was left out.

    The frame has every column of `COLUMNS` and no other; what an older schema lacks is empty.
    """
    table = reading.read_runs(path)
    if not table.header:
        raise ResultsError(f"{path}: empty; run the experiment again with fwsvm grid")
    frame = reading.typed(table.frame, path)
    frame["method"] = [*map(method_label, frame["method"], frame["parameters"])]
    return frame, table.torn


def _matches(column: "pd.Series[str]", value: str, condition: str) -> "pd.Series[bool]":
    if pd.api.types.is_bool_dtype(column):
        if value.lower() not in TRUTHS:
            raise UsageError(f"--where {condition}: give true or false")
        return column == TRUTHS[value.lower()]
    if pd.api.types.is_numeric_dtype(column):
        if not value:
            return column.isna()
        try:
            exact = column == float(value)
        except ValueError as error:
            raise UsageError(f"--where {condition}: {column.name} holds numbers") from error
        return exact if exact.any() else column.map(plain) == value  # as messages and tables print it
    if column.name == "data_sha256" and value:
        return column.str.startswith(value)  # messages print the first twelve digits
    return column == value
