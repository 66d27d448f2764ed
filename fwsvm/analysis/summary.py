"""The table at the end of ``fwsvm grid``: selected parameters and means over repetitions for each method."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from fwsvm.analysis.cells import cells_of_runs, varying
from fwsvm.analysis.measures import plain
from fwsvm.analysis.names import short_names
from fwsvm.analysis.reported import SETTING
from fwsvm.analysis.results import read, says_sigma2
from fwsvm.analysis.tables import WIDTH, Entry, Row, Table, render

NUMBERS = {
    "sigma2": ("sigma2", "{:.3g}"),
    "test %": ("test_accuracy", "{:.2%}"),
    "SV": ("support_vectors", "{:.0f}"),
    "seconds": ("train_seconds", "{:.3g}"),
    "objective": ("objective", "{:.2e}"),
    "r.gap": ("relative_gap", "{:.0e}"),
}


def summary(folder: Path, run_ids: Collection[str], width: int = WIDTH) -> str:
    """Return the table of the reported runs of a results folder, as text of that many columns with notes.

    Notes say which runs have a weak guarantee. Settings that differ between lines of one data set and method have a
    column each.
    """
    frame = read([folder]).frame
    frame = frame[frame["run_id"].isin(run_ids) & (frame["role"] == "final")]
    if frame.empty:
        return ""
    cells = cells_of_runs(frame)
    by_sigma2 = says_sigma2([folder])
    shown = {"C", "lambda", *["gamma_set"] * by_sigma2}  # in columns of their own, or told by those
    varied = varying(cells, [name for name in SETTING[4:] if name not in shown], ["dataset", "method"])
    numbers = {head: how for head, how in NUMBERS.items() if head != "sigma2" or "gamma_set" not in varied}
    names = short_names(cells["dataset"])
    lines = []
    notes = []
    for cell in cells.to_dict("records"):
        method = cell["method"] + (f" ({cell['chosen']})" if cell["chosen"] else "")
        labels = (names[cell["dataset"]], method, *(plain(cell[name]) or "-" for name in (*varied, "C")))
        texts = [
            "-" if pd.isna(cell[column]) else form.format(cell[column]).rstrip("%")
            for column, form in numbers.values()
        ]
        status = cell["status"]
        if cell["void"]:  # beside which nothing is called converged
            status = {"converged": "stopped", "sampled_stop": "stopped"}.get(status, status)
            notes.append(f"weak guarantee for {names[cell['dataset']]}, {cell['method']}: {cell['void']}")
        texts.append(cell["statuses"] if "," in cell["statuses"] else status)
        lines.append(Row(labels, tuple(map(Entry, texts))))
    heads = (*numbers, "status")
    labels = ("data set", "method", *(name.removesuffix("_set") for name in varied), "C")
    table = Table("", labels, heads, tuple(lines), tuple(dict.fromkeys(notes)))
    return render([table], "terminal", width=width)
