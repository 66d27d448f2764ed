"""The papers' tables of data sets: rows, classes and features, printed and as loaded here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.tables.model import Table, TableEntry, TableRow


@dataclass(frozen=True, slots=True)
class SizesTable:
    """A paper's table of data sets: its printed columns, and the column of our cells for each ('' if there is none)."""

    paper: str
    columns: Mapping[str, str]


#: The columns of Table 1 in 000 and 003.
KERNEL_COLUMNS = {"m": "rows", "t": "", "K": "classes", "m_max": "", "m_min": "", "n": "features"}
NOTE = "m training rows, t test rows, K classes, m_max and m_min largest and smallest two-class problem, n features"


def table(sizes: SizesTable, cells: pd.DataFrame | None) -> Table:
    """Return a paper's table of data sets; with cells, those that were run, with our rows, classes and features."""
    paper, columns = sizes.paper, sizes.columns
    printed = published.table(f"{paper}-table1")
    rows, tidy = [], []
    for record in printed.to_dict("records"):
        label = str(record["problem" if paper == "002" else "dataset"])
        lock = published.lock_name(label)
        ours = _ours(cells, lock)
        if cells is not None and ours is None:
            continue
        rows.append(
            TableRow((label, *(["paper"] if cells is not None else [])), _entries(record, list(columns)))
        )
        if ours is not None:
            counts = {head: f"{ours[column]:.0f}" if column and pd.notna(ours[column]) else "-"
                      for head, column in columns.items()}  # fmt: skip
            rows.append(TableRow(("", "ours"), _entries(counts, list(columns)), first=False))
        loaded = (
            {} if ours is None else {f"ours_{column}": ours[column] for column in columns.values() if column}
        )
        tidy.append({"dataset": lock, **{head: record[head] for head in columns}, **loaded})
    heads = ("data set",) if cells is None else ("data set", "")
    notes = (NOTE,) if paper != "002" else ()
    return Table(f"{paper}, Table 1: data sets", heads, tuple(columns), tuple(rows), notes, tuple(tidy))


def _ours(cells: pd.DataFrame | None, lock: str) -> "pd.Series[float] | None":
    """Return our rows, classes and features of a data set, or None if it was not run."""
    if cells is None:
        return None
    here = cells[(cells["dataset"] == lock) & cells["rows"].notna()]
    return None if here.empty else here[["rows", "classes", "features"]].astype(float).max()


def _entries(record: Mapping[Any, str], heads: list[str]) -> tuple[TableEntry, ...]:
    return tuple(TableEntry(record[head]) for head in heads)
