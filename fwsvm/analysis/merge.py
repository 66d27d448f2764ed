"""Join result folders of several machines into one, and refuse to mix what must not be mixed silently.

Rows are copied as they stand. A run that several folders hold is taken once: the finished one, or, if all are
finished, the first, provided that they agree in everything but times, machines and versions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from fwsvm.analysis.results import DONE, read_lines, result_folders
from fwsvm.analysis.writing import csv_bytes, write_whole
from fwsvm.errors import ResultsError

#: Columns in which two honest runs of the same cell may differ.
VOLATILE = frozenset(
    {
        *(
            "message",
            "load_seconds",
            "compile_seconds",
            "train_seconds",
            "predict_seconds",
            "peak_memory_mib",
        ),
        *(
            "threads",
            "cache_mib",
            "parallel_cells",
            "shared",
            "machine",
            "cpu",
            "blas",
            "python",
            "numpy",
            "numba",
        ),
        *("fwsvm", "commit", "started_utc", "cache_hit_rate"),
    }
)
CODE = ("fwsvm", "commit")
#: Rows alike in these must have seen the same data.
SAME_DATA = ("experiment", "profile", "role", "dataset", "seed", "fold", "repetition")
#: What may differ between the configurations of two machines.
MACHINE_KEYS = frozenset({"workers", "scheduler"})

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge came to: rows written, and what was dropped or mixed, in sentences."""

    rows: int
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    header: list[str]
    rows: list[Row]


def merge(paths: Sequence[Path], out: Path, *, allow_mixed: bool = False) -> Merged:
    """Write one folder with the runs, traces, log and configuration of all ``paths``.

    Raises ResultsError if ``out`` already has results, if columns differ, or (unless ``allow_mixed``) if
    code, data, configurations or the results of one run differ.
    """
    folders = [_read(folder) for path in paths for folder in result_folders(path)]
    if (out / "runs.csv").exists():
        raise ResultsError(f"{out}: already has a runs.csv; name a new folder with --out")
    for folder in folders[1:]:
        if folder.header != folders[0].header:
            unlike = sorted(set(folder.header) ^ set(folders[0].header)) or ["in another order"]
            raise ResultsError(
                f"{folder.path} and {folders[0].path} have different columns: {', '.join(unlike)}"
            )
    mixed = [*_mixed_code(folders), *_mixed_data(folders), *_mixed_configurations(folders)]
    kept, dropped, disagreeing = _once_each(folders)
    mixed += disagreeing
    if mixed and not allow_mixed:
        raise ResultsError(
            f"{'; '.join(mixed)}; merge only what belongs together, or accept with --allow-mixed"
        )
    _write(folders, kept, out)
    return Merged(len(kept), (*mixed, *dropped))


def _read(path: Path) -> _Folder:
    lines, torn = read_lines(path / "runs.csv")
    if torn:
        raise ResultsError(f"{path / 'runs.csv'}: the last line is torn; run that experiment again first")
    return _Folder(path, lines[0], [dict(zip(lines[0], line, strict=True)) for line in lines[1:]])


def _mixed_code(folders: list[_Folder]) -> Iterator[str]:
    """Yield what to say if the rows come from different versions of the code."""
    for column in CODE:
        found: dict[str, list[str]] = {}
        for folder in folders:
            for value in dict.fromkeys(row.get(column, "") for row in folder.rows):
                found.setdefault(value, []).append(str(folder.path))
        if len(found) > 1:
            listed = ", ".join(
                f"{value or 'unknown'} in {' and '.join(where)}" for value, where in found.items()
            )
            yield f"rows of different code: {column} {listed}"


def _mixed_data(folders: list[_Folder]) -> Iterator[str]:
    """Yield what to say for each data set that had other bytes in another folder."""
    seen: dict[tuple[str, ...], tuple[str, Path]] = {}
    named: set[str] = set()
    for folder in folders:
        for row in folder.rows:
            digest, dataset = row["data_sha256"], row["dataset"]
            key = tuple(row[name] for name in SAME_DATA)
            first, where = seen.setdefault(key, (digest, folder.path))
            if digest and first and first != digest and where != folder.path and dataset not in named:
                named.add(dataset)
                places = f"{first[:12]} in {where}, {digest[:12]} in {folder.path}"
                yield f"different data under the name {dataset}: {places}"


def _mixed_configurations(folders: list[_Folder]) -> Iterator[str]:
    """Yield what to say if configurations of one experiment differ in more than the machine's part."""
    seen: dict[object, tuple[dict[object, object], Path]] = {}
    for folder in folders:
        content = _configuration(folder.path)
        first, where = seen.setdefault(content.get("name"), (content, folder.path))
        unlike = sorted(str(key) for key in {*first, *content} if first.get(key) != content.get(key))
        if unlike:
            yield f"different configurations in {where} and {folder.path}: {', '.join(unlike)}"


def _configuration(folder: Path) -> dict[object, object]:
    path = folder / "experiment.yaml"
    if not path.is_file():
        return {}
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ResultsError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    return {key: value for key, value in (content or {}).items() if key not in MACHINE_KEYS}


def _once_each(folders: list[_Folder]) -> tuple[dict[str, tuple[Row, Path]], list[str], list[str]]:
    """Return each run once with its folder, what was dropped, and which runs disagree."""
    kept: dict[str, tuple[Row, Path]] = {}
    repeated, disagreeing = 0, []
    for folder in folders:
        for row in folder.rows:
            run_id = row["run_id"]
            if run_id not in kept:
                kept[run_id] = row, folder.path
                continue
            repeated += 1
            before, where = kept[run_id]
            if before["status"] not in DONE:
                kept[run_id] = row, folder.path
            elif row["status"] in DONE and (unlike := _unlike(before, row)):
                place = f"run {run_id} ({row['dataset']}, {row['method']})"
                disagreeing.append(
                    f"{place} is not the same in {where} and {folder.path}: {', '.join(unlike)}"
                )
    dropped = [f"{repeated} rows were repeats of a run and are written once"] if repeated else []
    return kept, dropped, disagreeing[:5] + ([f"{len(disagreeing) - 5} more"] if len(disagreeing) > 5 else [])


def _unlike(a: Row, b: Row) -> list[str]:
    return [f"{name} {a[name]} and {b[name]}" for name in a if name not in VOLATILE and a[name] != b[name]]


def _write(folders: list[_Folder], kept: dict[str, tuple[Row, Path]], out: Path) -> None:
    """Write traces, logs and configurations, and runs.csv last: with it the folder is complete."""
    for run_id, (_, place) in kept.items():
        trace = place / "traces" / f"{run_id}.csv"
        if trace.is_file():
            write_whole(out / "traces" / trace.name, trace.read_bytes())
    logs = [folder.path / "log.jsonl" for folder in folders]
    if any(log.is_file() for log in logs):
        write_whole(out / "log.jsonl", b"".join(log.read_bytes() for log in logs if log.is_file()))
    written: list[dict[object, object]] = []
    for folder in folders:
        path, content = folder.path / "experiment.yaml", _configuration(folder.path)
        if path.is_file() and content not in written:
            name = "experiment.yaml" if not written else f"experiment-{len(written) + 1}.yaml"
            write_whole(out / name, path.read_bytes())
            written.append(content)
    header = folders[0].header
    rows = [[row[name] for name in header] for row, _ in kept.values()]
    write_whole(out / "runs.csv", csv_bytes([header, *rows]))
