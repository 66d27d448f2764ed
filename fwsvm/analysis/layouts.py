"""Tables by name: a paper's table with our cells beside the printed ones, or a measure of our cells."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_cvm, in_sweeps, settings_in_words, unique_cells, varying
from fwsvm.analysis.measures import MEASURES, Measure, measure, measured, plain
from fwsvm.analysis.names import method_names, short_names
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError, listed
from fwsvm.papers import by_author
from fwsvm.plugins import entry_of

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
#: Settings that a plain table has a column for where they vary.
SETTINGS = "experiment profile kernel C tolerance search stop width_rule protocol".split()  # noqa: SIM905


class Layout(NamedTuple):
    """A table: measures, and of a paper's its methods, its kernel, and whose printed numbers stand beside ours.

    With a ``tolerance`` it has a line for each data set and method, and a column for each C.
    """

    title: str
    measures: tuple[str, ...]
    published: str = ""
    methods: tuple[str, ...] = ()
    kernel: str | None = None
    tolerance: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def shows_times(self) -> bool:
        """Whether runs have to be timed alike."""
        return any(measure(name).timed for name in self.measures)

    def fits(self, cells: pd.DataFrame) -> bool:
        """Return whether these cells have just the table's methods, and data sets of the paper's or values of C."""
        printed = published.cells(self.published)["dataset"]
        if self.tolerance is None and not cells["dataset"].isin(printed).any():
            return False
        return self.choose(cells)["method"].nunique() == len(self.methods) == cells["method"].nunique()

    def choose(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the cells that can appear in this table."""
        if not self.published:
            return cells
        chosen = cells[cells["method"].isin(self.methods)]
        if self.kernel is not None:
            chosen = chosen[chosen["kernel"].isin([self.kernel, ""])]
        if self.tolerance is not None:
            chosen = chosen[chosen["tolerance"] == self.tolerance]
        if self.published == "frandi":
            chosen = chosen[~in_sweeps(chosen)]
        return against_cvm(chosen) if any(measure(m).derived for m in self.measures) else chosen

    def draw(self, ours: pd.DataFrame | None) -> list[Table]:
        """Return the table, or of each measure over C its own; without cells of ours the printed numbers alone."""
        sides = {} if ours is None else {"ours": self.choose(ours)}
        if self.published:
            printed = self.choose(published.cells(self.published))
            if measured(printed, self.measures):  # a line of dashes under each of ours would say nothing
                sides["paper"] = printed
        if not sides:
            raise ResultsError(
                f"the numbers of {self.title} are not printed in any of the papers; give a results folder"
            )
        cells = next(iter(sides.values()))
        if cells.empty:
            raise ResultsError(
                f"these results hold no final runs for {self.title} ({', '.join(self.methods)})"
            )
        if self.tolerance is not None:
            grid = sorted(cells["C"].dropna().unique())
            return [
                _table(f"{self.title}: {measure(one).title}", sides, ["dataset", "method"], "C", grid, (one,))
                for one in self.measures
            ]
        down = ["dataset"]
        methods = [m for m in self.methods if ours is not None or m in {*cells["method"]}]
        if not self.published:
            settings = _varying(cells)
            # '' is like itself, as NaN is not
            sides = {
                "ours": cells.assign(**cells[settings].astype(object).where(cells[settings].notna(), ""))
            }
            down = [*down, *settings]
            methods = [*dict.fromkeys(cells["method"])]
        return [_table(self.title, sides, down, "method", methods, self.measures, self.notes)]


def known_layouts() -> dict[str, Layout]:
    """Return the papers' tables by name, then those of a measure."""
    from fwsvm.analysis.papers import LAYOUTS  # which is made of the classes above

    own = {name: Layout(kind.title, (name,)) for name, kind in MEASURES.items() if not kind.derived}
    return LAYOUTS | own


def named_layouts(names: Sequence[str], *, of_cells: bool = True) -> list[Layout]:
    """Return the tables of these names; UsageError for an unknown one. Without cells there are only the papers'."""
    known = {name: each for name, each in known_layouts().items() if of_cells or each.published}
    return [entry_of(known, "table", by_author(name)) for name in names]


def fitting_layouts(cells: pd.DataFrame) -> list[tuple[pd.DataFrame, list[Layout]]]:
    """Return each experiment's cells with the tables they fill.

    Experiments that fill the same tables of a paper, with other data sets each, fill them together. One that fills
    no paper's table gets accuracy, time and size, as far as they were measured.
    """
    papers = {name: each for name, each in known_layouts().items() if each.published}
    groups: dict[tuple[str, ...], list[pd.DataFrame]] = {}
    for experiment, here in cells.groupby("experiment", sort=False):
        fitting = ("", *(name for name, each in papers.items() if each.fits(here)))
        own = (str(experiment), *(measured(here, ("accuracy", "time", "size")) or ["time"]))
        groups.setdefault(fitting if len(fitting) > 1 else own, []).append(here)
    return [(pd.concat(some), named_layouts(names)) for (_, *names), some in groups.items()]


def _varying(cells: pd.DataFrame) -> list[str]:
    """Return the settings of which a data set and method have several values, other than by their kernels."""
    width = "sigma2_set" if "sigma2_set" in cells else "gamma_set"
    alike = dict.fromkeys(SETTINGS, ()) | {
        width: ("kernel", "width_rule"),
        "degree": ("kernel",),
        "coef0": ("kernel",),
    }
    return [name for name, others in alike.items() if varying(cells, [name], ["dataset", "method", *others])]


def _table(
    title: str,
    sides: Mapping[str, pd.DataFrame],
    down: list[str],
    across: str,
    values: Sequence[Any],
    measures: Sequence[str],
    notes: tuple[str, ...] = (),
) -> Table:
    """Return a table with a line for each combination of ``down``, and columns for values and measures.

    Of ``sides``, ours and the paper's, one may be absent. Where both are there, the paper's stands below ours.
    """
    kinds, ours, cells = [*map(measure, measures)], sides.get("ours"), next(iter(sides.values()))
    entries = {word: _entries(some, [*down, across], kinds) for word, some in sides.items()}
    texts = {name: _texts(cells, name) for name in down}
    order = {dataset: place for place, dataset in enumerate(texts["dataset"])}
    columns = [(value, kind.name) for value in values for kind in kinds]
    rows: list[Row] = []
    for key in sorted(
        {}.fromkeys(cells[down].itertuples(index=False, name=None)), key=lambda key: order[key[0]]
    ):
        labels = [texts[name][value] for name, value in zip(down, key, strict=True)]
        for word, side in entries.items():
            line = tuple(side.get((*key, *column), NONE) for column in columns)
            if word == "ours" or any(entry.text != "-" for entry in line):
                rows.append(Row((*labels, *[word] * (len(sides) == 2)), line))
                labels = [""] * len(down)
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
    records = unique_cells(cells, place).to_dict("records")
    problem = [name for name in place if name != "method"]
    return {
        (*(cell[name] for name in place), kind.name): _entry(cell, kind, best=one)
        for kind in kinds
        for cell, one in zip(records, _is_best(cells, kind, problem), strict=True)
    }


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

    Objectives are R on the simplex, or the primal, and support vectors are counted accordingly.
    """
    alike = [cells[name] for name in problem]
    if kind.name in {"objective", "size"}:
        alike.append(cells["minimised"])
    values = cells[kind.column].where(cells["finite"].astype(bool) & np.isfinite(cells[kind.column]))
    rivals = values.groupby(alike, dropna=False)
    best = rivals.transform("min" if kind.better == "less" else "max")
    printed = values.map(kind.printed, na_action="ignore") == best.map(kind.printed, na_action="ignore")
    cut = cells["censored"].astype(bool) & kind.bound
    return printed & values.notna() & (rivals.transform("count") > 1) & ~cut


def _notes(rows: Sequence[Row], ours: pd.DataFrame | None, names: Mapping[str, str]) -> list[str]:
    """Return what explains the marks of a table, and what is weak or smaller than published in ours."""
    marks = [mark for row in rows for entry in row.entries for mark in (entry.mark, entry.text[:3])]
    notes = [f"{mark} {meaning}" for mark, meaning in MARKS.items() if any(mark in one for one in marks)]
    notes += ["(n/m): n of m runs finished"] * any("/" in mark for mark in marks)
    labels = " ".join(names.values())
    notes += [FIRST_USE_NOTE] * (FIRST_USE in labels)
    if ours is not None:
        weak = ours[ours["void"] != ""].to_dict("records")
        said = listed((f"{names[c['dataset']]}/{c['method']} ({c['void']})" for c in weak), "; ", 12)
        notes += [f"§ weak guarantee for {said}"] * bool(weak) + published.unlike_published(ours)
    return notes
