"""Read result folders: every row checked and typed, nothing repaired silently.

A folder holds ``runs.csv`` (one row per run), ``traces/<run id>.csv``, and ``experiment.yaml`` as resolved.
Only these files are read; whoever wrote them, on whatever machine, is no concern of this package.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from fwsvm.errors import ResultsError, UsageError

NUMBERS = (  # noqa: SIM905 - a list of names reads better unquoted
    "rows features classes subproblems gamma sigma2 degree coef0 C lambda tolerance seed fold repetition "
    "objective gap relative_gap primal dual support_vectors iterations steps kernel_evaluations "
    "cache_hit_rate test_accuracy train_accuracy load_seconds compile_seconds train_seconds predict_seconds "
    "peak_memory_mib threads cache_mib parallel_cells"
).split()
TRUTHS = {"shared", "certified"}
#: Without these a row cannot be placed or judged.
REQUIRED = (  # noqa: SIM905
    "run_id experiment profile role status dataset data_sha256 rows method kernel C tolerance seed fold "
    "repetition test_accuracy train_seconds support_vectors"
).split()
#: Absent in a file made by others, these are taken as empty.
OPTIONAL = [name for name in NUMBERS if name not in REQUIRED] + (  # noqa: SIM905
    "message width_rule search stop gap_kind certified shared machine cpu commit fwsvm started_utc"
).split()
DONE = frozenset({"converged", "sampled_stop", "max_iterations", "time_limit", "stalled"})
STATUSES = DONE | {"interrupted", "missing", "error"}


@dataclass(frozen=True, slots=True)
class Results:
    """Rows of one or several result folders; ``frame`` has the columns of runs.csv and ``folder``."""

    frame: pd.DataFrame
    folders: tuple[Path, ...]
    notices: tuple[str, ...] = field(default=())

    def select(self, where: Sequence[str]) -> "Results":
        """Return the rows that satisfy every ``COLUMN=VALUE``; UsageError if none is left."""
        return Results(matching(self.frame, where), self.folders, self.notices)


def matching(frame: pd.DataFrame, where: Sequence[str]) -> pd.DataFrame:
    """Return the rows (or cells) that satisfy every ``COLUMN=VALUE``; UsageError if none is left."""
    left = frame
    for condition in where:
        column, equals, value = condition.partition("=")
        if not equals or column not in left.columns:
            raise UsageError(f"--where {condition}: give COLUMN=VALUE with a column of runs.csv")
        left = left[_matches(left[column], value, condition)]
        if left.empty:
            held = sorted({f"{v:g}" if isinstance(v, float) else str(v) for v in frame[column]})[:12]
            raise UsageError(f"--where {condition}: no row is left; {column} holds {', '.join(held)}")
    return left


def read(paths: Iterable[Path]) -> Results:
    """Read result folders, runs.csv files, or folders of result folders.

    Raises ResultsError naming file, line and remedy when a file is absent or damaged.
    """
    folders = [folder for path in paths for folder in result_folders(path)]
    folders = list(dict.fromkeys(folders))
    frames, notices = [], []
    for folder in folders:
        frame, torn = read_runs(folder / "runs.csv")
        frames.append(frame.assign(folder=str(folder)))
        if torn:
            notices.append(
                f"{folder / 'runs.csv'}: the last line is torn (a run was killed while writing); left out"
            )
    if not frames:
        raise UsageError("name at least one results folder")
    return Results(pd.concat(frames, ignore_index=True), tuple(folders), tuple(notices))


def result_folders(path: Path) -> list[Path]:
    """Return the folder with a runs.csv that ``path`` is or means, or all such folders directly inside it."""
    if path.name == "runs.csv" and path.is_file():
        return [path.parent]
    if (path / "runs.csv").is_file():
        return [path]
    inside = sorted(child.parent for child in path.glob("*/runs.csv")) if path.is_dir() else []
    if not inside:
        raise ResultsError(f"{path}: no runs.csv here; give the folder that fwsvm grid wrote (its --out)")
    return inside


def read_runs(path: Path) -> tuple[pd.DataFrame, bool]:
    """Return the rows of one runs.csv, typed, and whether a torn last line was left out."""
    lines, torn = read_lines(path)
    header = lines[0]
    lacking = [name for name in REQUIRED if name not in header]
    if lacking:
        raise ResultsError(f"{path}:1: no column {', '.join(lacking)}; is this a runs.csv of fwsvm?")
    frame = pd.DataFrame(lines[1:], columns=pd.Index(header), dtype=object)
    for name in OPTIONAL:
        if name not in frame:
            frame[name] = ""
    for name in NUMBERS:
        frame[name] = _numbers(frame[name], path)
    for name in TRUTHS:
        frame[name] = frame[name].str.lower().isin({"true", "1", "yes"}).astype(bool)
    unknown = frame.loc[~frame["status"].isin(STATUSES), "status"]
    if len(unknown):
        line, status = unknown.index[0] + 2, unknown.iloc[0]
        raise ResultsError(
            f"{path}:{line}: unknown status {status!r}; known are {', '.join(sorted(STATUSES))}"
        )
    return frame, torn


def read_lines(path: Path) -> tuple[list[list[str]], bool]:
    """Return header and rows as text, all of one length, and whether a torn last line was left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"{path}: cannot be read: {error}") from error
    whole = text[: text.rfind("\n") + 1]
    lines = list(csv.reader(io.StringIO(whole)))
    if not lines:
        raise ResultsError(f"{path}: empty; run the experiment again with fwsvm grid")
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(lines[0]):
            raise ResultsError(
                f"{path}:{number}: {len(line)} fields where the header has {len(lines[0])}; "
                "mend or delete that line, then run the experiment again"
            )
    return lines, len(whole) < len(text)


def read_trace(folder: Path, run_id: str) -> pd.DataFrame | None:
    """Return one run's trace (seconds, iteration, objective, gap, support_vectors), or None without one."""
    path = folder / "traces" / f"{run_id}.csv"
    if not path.is_file():
        return None
    lines, _ = read_lines(path)
    wanted = ["seconds", "iteration", "objective", "gap", "support_vectors"]
    lacking = [name for name in wanted if name not in lines[0]]
    if lacking:
        raise ResultsError(f"{path}:1: no column {', '.join(lacking)}")
    frame = pd.DataFrame(lines[1:], columns=pd.Index(lines[0]), dtype=object)
    return pd.DataFrame({name: _numbers(frame[name], path) for name in wanted})


def _numbers(column: "pd.Series[str]", path: Path) -> "pd.Series[float]":
    numbers = pd.to_numeric(column.where(column != ""), errors="coerce").astype(float)
    wrong = numbers.isna() & (column != "") & (column.str.lower() != "nan")
    if wrong.any():
        row = column[wrong].index[0]
        raise ResultsError(f"{path}:{row + 2}: {column.name} is {column[row]!r}, which is not a number")
    return numbers


def _matches(column: "pd.Series[str]", value: str, condition: str) -> "pd.Series[bool]":
    if pd.api.types.is_bool_dtype(column):
        return column == (value.lower() in {"true", "1", "yes"})
    if pd.api.types.is_numeric_dtype(column):
        try:
            return column == float(value)
        except ValueError as error:
            raise UsageError(f"--where {condition}: {column.name} holds numbers") from error
    return column == value
