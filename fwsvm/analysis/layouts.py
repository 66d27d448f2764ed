"""Tables by name: a paper's table with our cells beside the printed ones, or a measure of our cells."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_cvm, settings_in_words, unique_cells, without_sweeps
from fwsvm.analysis.measures import MEASURES, Measure, measure, measured, plain
from fwsvm.analysis.names import method_names, short_names
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError, UsageError, listed, nearest, shown
from fwsvm.papers import by_author

#: Marks of numbers whose run a limit ended; notes below the table explain them.
STATUS_MARKS = {"time_limit": "*", "max_iterations": "¶", "stalled": "‡"}
MARKS = {
    "*": "stopped at a time limit; a time is a lower bound",
    "¶": "stopped at the iteration limit",
    "‡": "stopped without progress at rounding level",
    "cut": "the time limit ended the run before all pairs of classes were solved, so there is no model to measure",
}
FIRST_USE = " (first use)"
FIRST_USE_NOTE = "first use: no published checksum; the digest was recorded when the file was fetched first"
NONE = Entry("-")


@dataclass(frozen=True, slots=True)
class Layout:
    """A paper's table: methods, kernel, measures, and the paper whose printed numbers stand beside ours.

    With a ``tolerance`` it has a line for each data set and method, and a column for each C.
    """

    title: str
    published: str
    methods: tuple[str, ...]
    kernel: str | None
    measures: tuple[str, ...]
    tolerance: float | None = None
    notes: tuple[str, ...] = ()

    def fits(self, cells: pd.DataFrame) -> bool:
        """Return whether these cells have just the table's methods, and data sets of the paper's or values of C."""
        known = set(published.training_rows(self.published))
        if self.tolerance is None and not set(cells["dataset"]) & known:
            return False
        return self.choose(cells)["method"].nunique() == len(self.methods) == cells["method"].nunique()

    def choose(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the cells that can appear in this table."""
        chosen = cells[cells["method"].isin(self.methods)]
        if self.kernel is not None:
            chosen = chosen[chosen["kernel"].isin([self.kernel, ""])]
        if self.tolerance is not None:
            chosen = chosen[chosen["tolerance"] == self.tolerance]
        if self.published == "frandi":
            chosen = without_sweeps(chosen)
        return against_cvm(chosen) if any(measure(m).derived for m in self.measures) else chosen


def draw_tables(cells: pd.DataFrame | None, names: Sequence[str]) -> list[Table]:
    """Return the tables of these names; without cells a paper's table has its printed numbers alone."""
    layouts = _layouts()
    drawn: list[Table] = []
    for name in known_names(names, of_cells=cells is not None):
        if name in layouts:
            drawn += _paper_tables(layouts[name], name, cells)
        elif cells is not None:
            drawn.append(_plain_table(cells, name))
    return drawn


def _layouts() -> dict[str, Layout]:
    from fwsvm.analysis.papers import LAYOUTS  # which is made of the classes above

    return LAYOUTS


def known_names(names: Sequence[str], *, of_cells: bool = True) -> list[str]:
    """Return the names of tables with the papers by author; UsageError for an unknown one."""
    known = [*_layouts(), *(name for name, kind in MEASURES.items() if of_cells and not kind.derived)]
    found = [*map(by_author, names)]
    for name in found:
        if name not in known:
            hint = nearest(name, known, f"known are {', '.join(known)}")
            raise UsageError(f"there is no table {shown(name)}; {hint}")
    return found


def show_times(names: Sequence[str]) -> bool:
    """Return whether any of these tables shows times; UsageError for an unknown one."""
    layouts = _layouts()
    of_each = (layouts[name].measures if name in layouts else (name,) for name in known_names(names))
    return any(measure(one).timed for some in of_each for one in some)


def tables_for(cells: pd.DataFrame, names: Sequence[str]) -> list[tuple[pd.DataFrame, list[str]]]:
    """Return which cells to show in which tables: all in the named ones, or each experiment in its own.

    Experiments that fill the same tables of a paper, with other data sets each, fill them together. One that fills
    no paper's table gets accuracy, time and size, as far as they were measured.
    """
    if names:
        return [(cells, list(names))]
    fitting = {
        name: tuple(layout for layout, drawn in _layouts().items() if drawn.fits(here))
        for name, here in cells.groupby("experiment", sort=False)
    }
    groups = cells["experiment"].map(lambda name: fitting[name] or (name,))
    return [
        (
            here,
            [*layouts]
            if layouts[0] in _layouts()
            else measured(here, ("accuracy", "time", "size")) or ["time"],
        )
        for layouts, here in cells.groupby(groups, sort=False)
    ]


def _paper_tables(layout: Layout, name: str, ours: pd.DataFrame | None) -> list[Table]:
    """Return a paper's table, or of each measure over C its own."""
    printed = layout.choose(published.cells(layout.published))
    # a line of dashes under each of ours would say nothing
    theirs = printed if measured(printed, layout.measures) else None
    mine = None if ours is None else layout.choose(ours)
    cells = theirs if mine is None else mine
    if cells is None:
        raise ResultsError(
            f"the numbers of {layout.title} are not printed in any of the papers; give a results folder"
        )
    if cells.empty:
        raise ResultsError(f"these results hold no final runs for table {name} ({', '.join(layout.methods)})")
    if layout.tolerance is None:
        methods = [m for m in layout.methods if mine is not None or (cells["method"] == m).any()]
        return [
            _table(layout.title, mine, theirs, ["dataset"], "method", methods, layout.measures, layout.notes)
        ]
    grid = sorted(cells["C"].dropna().unique())
    return [
        _table(f"{layout.title}: {measure(one).title}", mine, theirs, ["dataset", "method"], "C", grid, [one])
        for one in layout.measures
    ]


def _plain_table(cells: pd.DataFrame, name: str) -> Table:
    """Return a table of a measure: data sets (and whatever else varies) down, methods across."""
    settings = "experiment profile kernel C tolerance search stop width_rule protocol".split()  # noqa: SIM905
    width = "sigma2_set" if "sigma2_set" in cells else "gamma_set"
    alike = {width: ["kernel", "width_rule"], "degree": ["kernel"], "coef0": ["kernel"]}
    varying = [
        setting
        for setting in (*settings, *alike)
        if cells.groupby(["dataset", "method", *alike.get(setting, [])], dropna=False)[setting]
        .nunique(dropna=False)
        .gt(1)
        .any()
    ]
    # '' is like itself, as NaN is not
    cells = cells.assign(**{one: cells[one].astype(object).where(cells[one].notna(), "") for one in varying})
    methods = list(dict.fromkeys(cells["method"]))
    return _table(measure(name).title, cells, None, ["dataset", *varying], "method", methods, [name])


def _table(
    title: str,
    ours: pd.DataFrame | None,
    theirs: pd.DataFrame | None,
    down: list[str],
    across: str,
    values: Sequence[Any],
    measures: Sequence[str],
    notes: tuple[str, ...] = (),
) -> Table:
    """Return a table with a line for each combination of ``down``, and columns for values and measures.

    ``ours`` or ``theirs`` may be absent. Where both are there, the paper's stands below ours.
    """
    kinds = [measure(name) for name in measures]
    sides = {word: cells for word, cells in (("ours", ours), ("paper", theirs)) if cells is not None}
    cells = next(iter(sides.values()))
    entries = {word: _entries(some, [*down, across], kinds) for word, some in sides.items()}
    texts = {name: _texts(cells, name) for name in down}
    order = {dataset: place for place, dataset in enumerate(texts["dataset"])}
    keys = cells[down].drop_duplicates()
    keys = keys.sort_values("dataset", key=lambda names: names.map(order), kind="stable")
    columns = [(value, kind) for value in values for kind in kinds]
    rows: list[Row] = []
    for key in keys.itertuples(index=False, name=None):
        labels = tuple(texts[name][value] for name, value in zip(down, key, strict=True))
        lines = {
            word: tuple(side.get((*key, value, kind.name), NONE) for value, kind in columns)
            for word, side in entries.items()
        }
        if all(entry.text == "-" for entry in lines.get("paper", ())):
            lines.pop("paper", None)
        for place, (word, line) in enumerate(lines.items()):
            own = labels if place == 0 else ("",) * len(labels)
            rows.append(Row((*own, word) if len(sides) == 2 else own, line, first=place == 0))
    names = method_names(values) if across == "method" else {C: f"C={C:g}" for C in values}
    units = [f" {'acc.' if kind.name == 'accuracy' else 's'}" * (len(kinds) > 1) for kind in kinds]
    heads = tuple(names[value] + unit for value in values for unit in units)
    label_heads = ("data set", *(name.removesuffix("_set") for name in down[1:]), *[""] * (len(sides) == 2))
    setting = settings_in_words(ours) if ours is not None else ""
    said = (*[f"ours: {setting}"] * bool(setting), *notes, *_notes(rows, ours, texts["dataset"]))
    return Table(title, label_heads, heads, tuple(rows), said)


def _texts(cells: pd.DataFrame, name: str) -> dict[Any, str]:
    """Return each value of a column as a label, data sets in the papers' order, those of first use with a note."""
    if name == "dataset":
        first = set(cells.loc[cells["first_use"].astype(bool), "dataset"])
        names = short_names(published.in_order(cells["dataset"]))
        return {dataset: label + FIRST_USE * (dataset in first) for dataset, label in names.items()}
    if name == "method":
        return method_names(cells["method"])
    return {value: plain(value) or "-" for value in cells[name].unique()}


def _entries(cells: pd.DataFrame, place: list[str], kinds: Sequence[Measure]) -> dict[tuple[Any, ...], Entry]:
    """Return the entries of cells by the values of ``place`` and the measure's name."""
    cells = unique_cells(cells, place)
    places, records = [*cells[place].itertuples(index=False, name=None)], cells.to_dict("records")
    found = {}
    for kind in kinds:
        best = _is_best(cells, kind, [name for name in place if name != "method"])
        for where, cell, one in zip(places, records, best, strict=True):
            found[*where, kind.name] = _entry(cell, kind, best=one)
    return found


def _entry(cell: Mapping[Hashable, Any], kind: Measure, *, best: bool) -> Entry:
    """Return the entry as printed, with its mark."""
    value, own_cut, status = cell[kind.column], cell.get("cut_short", cell["censored"]), str(cell["status"])
    if math.isnan(value):  # the status, or a hyphen if the run ended well or has no baseline
        if status == "time_limit":
            status = "-" if kind.derived else "cut" if cell["classes"] > 2 else "—"
        return Entry("-" if status in {"converged", "sampled_stop"} else status)
    mark = "*" if kind.bound and own_cut else STATUS_MARKS.get(status, "")
    mark += "§" * bool(cell["void"])
    mark += f" ({cell['used']}/{cell['runs']})" * (cell["used"] < cell["runs"])
    text = str(cell.get(f"{kind.column}_text") or "").rstrip("*") or kind.printed(value)
    if kind.derived and kind.bound and cell["censored"] and not own_cut:
        text = f"≥{text}"  # the baseline was cut short
    deviation = cell[f"{kind.column}_sd"]
    spread = "" if math.isnan(deviation) else kind.printed_deviation(value, deviation)
    return Entry(text, spread, mark, best, value)


def _is_best(cells: pd.DataFrame, kind: Measure, problem: list[str]) -> "pd.Series[bool]":
    """Return of which cells no rival is printed as better; numbers that are not finite, or bounds, take no part.

    Objectives are R on the simplex, or the primal, and support vectors of several classes are counted accordingly.
    """
    alike = [cells[name] for name in problem]
    if kind.name == "objective" or (kind.name == "size" and (cells["classes"] > 2).any()):
        alike.append(cells["minimised"])
    values = cells[kind.column].where(cells["finite"].astype(bool) & np.isfinite(cells[kind.column]))
    rivals = values.groupby(alike, dropna=False)
    best = rivals.transform("min" if kind.better == "less" else "max")
    printed = values.map(kind.printed, na_action="ignore") == best.map(kind.printed, na_action="ignore")
    cut = cells["censored"].astype(bool) & kind.bound
    return printed & values.notna() & (rivals.transform("count") > 1) & ~cut


def _notes(rows: Sequence[Row], ours: pd.DataFrame | None, names: Mapping[str, str]) -> list[str]:
    """Return what explains the marks of a table, and what is weak or smaller than published in ours."""
    entries = [entry for row in rows for entry in row.entries]
    labels = " ".join(label for row in rows for label in row.labels)
    notes = [
        f"{mark} {meaning}"
        for mark, meaning in MARKS.items()
        if any(mark in entry.mark or mark == entry.text for entry in entries)
    ]
    notes += ["(n/m): n of m runs finished"] * any("/" in entry.mark for entry in entries)
    notes += [published.MADE_HERE] * (published.DAGGER in labels) + [FIRST_USE_NOTE] * (FIRST_USE in labels)
    if ours is not None:
        weak = ours[ours["void"] != ""].to_dict("records")
        said = listed((f"{names[c['dataset']]}/{c['method']} ({c['void']})" for c in weak), "; ", 12)
        notes += [f"§ weak guarantee for {said}"] * bool(weak) + published.smaller_than_published(ours)
    return notes
