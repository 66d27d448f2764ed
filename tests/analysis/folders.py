"""Result folders as `fwsvm grid` writes them, made from given rows or from the published numbers."""

import csv
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fwsvm.analysis import cells, published
from fwsvm.results.columns import COLUMNS, TEXTS, TRUTHS

DEFAULTS: dict[str, Any] = {
    "experiment": "trial",
    "profile": "paper",
    "role": "final",
    "status": "converged",
    "rows": 1000,
    "features": 10,
    "classes": 2,
    "subproblems": 1,
    "kernel": "rbf",
    "gamma": 0.5,
    "sigma2": 1,
    "width_rule": "paper",
    "C": 1,
    "search": "sampled",
    "stop": "meb",
    "tolerance": 1e-6,
    "seed": 0,
    "repetition": 0,
    "objective": 0.5,
    "gap": 1e-6,
    "relative_gap": 1e-3,
    "gap_kind": "exact",
    "certified": "true",
    "support_vectors": 100,
    "iterations": 500,
    "steps": 500,
    "kernel_evaluations": 50000,
    "test_accuracy": 0.9,
    "train_seconds": 1.0,
    "threads": 1,
    "parallel_cells": 1,
    "shared": "false",
    "machine": "desk",
    "cpu": "a CPU",
    "fwsvm": "0.1.0",
    "commit": "abc1234",
    "python": "3.11",
    "numpy": "2",
    "numba": "0.68",
    "started_utc": "2026-01-01T00:00:00Z",
}
#: What run_id is made of here.
IDENTITY = (
    *("experiment", "profile", "role", "dataset", "method", "kernel", "C", "tolerance", "seed"),
    *("fold", "repetition", "gamma", "search"),
)


def row(**fields: Any) -> dict[str, Any]:
    """Return a full row of runs.csv; its run_id follows from what identifies the run."""
    full = dict.fromkeys(COLUMNS, "") | DEFAULTS | fields
    full["data_sha256"] = full["data_sha256"] or hashlib.sha256(str(full["dataset"]).encode()).hexdigest()
    identity = [str(full[name]) for name in IDENTITY]
    full["run_id"] = full["run_id"] or hashlib.sha256("|".join(identity).encode()).hexdigest()[:16]
    return full


def frame_of(*rows) -> pd.DataFrame:
    """Return some rows as a DataFrame typed as `read_runs` types it."""
    frame = pd.DataFrame(list(rows), dtype=object)
    for name in frame.columns.difference([*TEXTS, *TRUTHS]):
        frame[name] = pd.to_numeric(frame[name].replace("", None))
    frame["shared"] = frame["shared"] == "true"
    return frame


def cells_of(*rows) -> pd.DataFrame:
    """Return the cells of some rows."""
    return cells.cells_of_runs(frame_of(*rows))


def write(folder: Path, rows: Iterable[Mapping[str, Any]], config: str | None = None) -> Path:
    """Write runs.csv and experiment.yaml, by default of the first row's experiment, into ``folder`` and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = list(rows)
    if config is None:
        config = f"name: {rows[0]['experiment'] if rows else 'trial'}\n"
    with (folder / "runs.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "experiment.yaml").write_text(config, encoding="utf-8")
    return folder


def write_trace(folder: Path, run_id: str, trace: pd.DataFrame) -> None:
    """Write the trace of one run."""
    (folder / "traces").mkdir(exist_ok=True)
    trace.to_csv(folder / "traces" / f"{run_id}.csv", index=False)


def like_paper(
    paper: str,
    *,
    repetitions: int = 3,
    seed: int = 0,
    extra: Mapping[str, float] | None = None,
    scatter: float = 1.0,
) -> list[dict[str, Any]]:
    """Return rows scattered around a paper's printed numbers (RBF kernel for 003).

    Times are a twentieth of the printed ones, give or take a tenth; accuracies within a tenth of a point.
    ``extra`` adds methods that the paper lacks, each taking MFW's time times a factor. Without a
    ``scatter``, 0, times are a twentieth exactly and accuracies as printed.
    """
    rng = np.random.default_rng(seed)
    printed = published.cells(paper)
    rows = []
    for cell in printed[printed["kernel"] != "quadratic"].to_dict("records"):
        variants = {cell["method"]: 1.0} | (dict(extra or {}) if cell["method"] == "mfw" else {})
        for method, factor in variants.items():
            rows += [
                _scattered(cell, method, factor, repetition, rng, scatter)
                for repetition in range(repetitions)
            ]
    return [row(experiment=f"like-{paper}", **fields) for fields in rows]


def _scattered(
    cell: Mapping[Any, Any], method: str, factor: float, repetition: int, rng: Any, scatter: float
) -> dict[str, Any]:
    seconds = cell["train_seconds"] / 20 * factor * np.exp(rng.normal(0, 0.1 * scatter))
    accuracy = np.minimum(1, cell["test_accuracy"] + rng.normal(0, 5e-4 * scatter))
    m = int(cell["rows"])
    return {
        "dataset": cell["dataset"],
        "method": method,
        "rows": m,
        "repetition": repetition,
        "seed": repetition,
        "kernel": cell["kernel"] or "rbf",
        "C": 1 if np.isnan(cell["C"]) else cell["C"],
        "tolerance": 1e-6 if np.isnan(cell["tolerance"]) else cell["tolerance"],
        "status": "missing" if np.isnan(seconds) else cell["status"],
        "train_seconds": "" if np.isnan(seconds) else f"{seconds:.6g}",
        "test_accuracy": "" if np.isnan(accuracy) else f"{accuracy:.6f}",
        "steps": "" if np.isnan(cell["steps"]) else cell["steps"],
        "support_vectors": int(m**0.9 * rng.uniform(0.2, 0.5)),
    }
