"""The table at the end of ``fwsvm grid``: selected parameters and means over repetitions for each method."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

from fwsvm.analysis.cells import cells_of_runs
from fwsvm.analysis.measures import named
from fwsvm.analysis.names import distinct, middle_cut, short_names
from fwsvm.analysis.reported import SETTING, final_rows
from fwsvm.analysis.results import DONE, read
from fwsvm.analysis.tables import Entry, Row, Table, render

NUMBERS = {
    "C": ("C", "{:g}"),
    "sigma2": ("sigma2", "{:.3g}"),
    "test %": ("test_accuracy", "{:.2%}"),
    "SV": ("support_vectors", "{:.0f}"),
    "seconds": ("train_seconds", "{:.3g}"),
    "objective": ("objective", "{:.2e}"),
    "r.gap": ("relative_gap", "{:.0e}"),
}
STATUSES = {"sampled_stop": "sampled", "max_iterations": "iterations", "time_limit": "time limit"}
#: Columns in which runs are alike whose seconds can be averaged.
LOAD = ("machine", "threads", "parallel_cells")
NAME_WIDTH = 14


def summary(folder: Path, run_ids: Collection[str]) -> str:
    """Return the table of the reported runs of a results folder, as text of 80 columns with notes.

    Notes say which runs have a weak guarantee and whose seconds cannot be compared. Settings that differ between lines
    of one data set and method have a column each.
    """
    frame = read([folder]).frame
    frame = frame[frame["run_id"].isin(run_ids) & (frame["role"] == "final")]
    if frame.empty:
        return ""
    cells, rows = cells_of_runs(frame), final_rows(frame)
    cells["sigma2"] = list(rows.groupby(SETTING, dropna=False, sort=False)["sigma2"].mean())
    cells["chosen"] = [
        f" ({next(iter(names))})" if len(names) == 1 and "" not in names else ""
        for _, names in rows.groupby(SETTING, dropna=False, sort=False)["chosen"].unique().map(set).items()
    ]
    together = cells.groupby(["dataset", "method"], sort=False)
    varied = [
        name for name in SETTING[4:] if name != "C" and (together[name].nunique(dropna=False) > 1).any()
    ]
    names = short_names(cells["dataset"])
    names = distinct({name: middle_cut(short, NAME_WIDTH) for name, short in names.items()})
    lines, last = [], None
    for cell in cells.to_dict("records"):
        labels: tuple[str, ...] = (names[cell["dataset"]], str(cell["method"]) + cell["chosen"])
        labels += tuple("" if (said := named(cell[name])) == "(empty)" else said for name in varied)
        lines.append(Row(labels, tuple(_entries(cell)), first=cell["dataset"] != last))
        last = cell["dataset"]
    heads = (*NUMBERS, "status")
    return render(
        [Table("", ("data set", "method", *varied), heads, tuple(lines), _notes(cells, rows))], "terminal"
    )


def _entries(cell: dict[Any, Any]) -> list[Entry]:
    texts = [
        "-" if pd.isna(cell[column]) else form.format(cell[column]).rstrip("%")
        for column, form in NUMBERS.values()
    ]
    status = STATUSES.get(cell["status"], cell["status"])
    if cell["void"]:  # beside which nothing is called converged
        status = status.replace("converged", "stopped").replace("sampled", "stopped")
    return [Entry(text) for text in (*texts, status if "," not in cell["statuses"] else cell["statuses"])]


def _notes(cells: pd.DataFrame, rows: pd.DataFrame) -> tuple[str, ...]:
    notes = [
        f"weak guarantee for {cell['dataset']}, {cell['method']}: {cell['void']}"
        for cell in cells.to_dict("records")
        if cell["void"]
    ]
    for (dataset, method), runs in rows[rows["status"].isin(DONE)].groupby(["dataset", "method"], sort=False):
        unlike = [name for name in LOAD if runs[name].nunique(dropna=False) > 1]
        why = [f"the runs differ in {', '.join(unlike)}"] if unlike else []
        why += ["some took over what another run had computed"] if runs["shared"].any() else []
        if why:
            notes.append(f"seconds of {dataset}, {method} say little: {'; '.join(why)}")
    return tuple(dict.fromkeys(notes))
