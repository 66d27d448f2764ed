"""Tables by name: a paper's table with our cells beside the printed ones, or a measure of our cells."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_baseline, several_kinds, unique_cells, without_sweeps
from fwsvm.analysis.measures import MEASURES, Measure, measure, measured, named, plain, three_digits
from fwsvm.analysis.names import method_names, short_names
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError, UsageError, listed, nearest, shown
from fwsvm.papers import by_author

Fields = Mapping[Hashable, Any]  # of one cell, by column
Place = tuple[object, ...]
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


class Block(NamedTuple):
    """Up to three lines with the same labels (ours, the paper's, their ratio), and the key that they share."""

    labels: tuple[str, ...]
    key: dict[str, object]


class Column(NamedTuple):
    """One column: its head, the key that it adds to a block's, and its measure."""

    head: str
    key: dict[str, object]
    measure: str


class Sheet(NamedTuple):
    """A table to be filled with cells."""

    title: str
    label_heads: tuple[str, ...]
    blocks: list[Block]
    columns: list[Column]
    notes: tuple[str, ...] = ()


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
        return against_baseline(chosen, "cvm") if any(measure(m).derived for m in self.measures) else chosen

    def sheets(self, cells: pd.DataFrame) -> list[Sheet]:
        """Return the tables to be filled: one, or of each measure over C its own."""
        if self.tolerance is None:
            return [_sheet(self.title, cells, ["dataset"], "method", self.methods, self.measures, self.notes)]
        grid = sorted(cells["C"].dropna().unique())
        titles = {name: f"{self.title}: {measure(name).title}" for name in self.measures}
        return [
            _sheet(title, cells, ["dataset", "method"], "C", grid, [name]) for name, title in titles.items()
        ]


def _sheet(
    title: str,
    cells: pd.DataFrame,
    rows: list[str],
    across: str,
    values: Sequence[Any],
    measures: Sequence[str],
    notes: tuple[str, ...] = (),
) -> Sheet:
    """Return a table with a line for each combination of ``rows``, and columns for values and measures."""
    texts = {name: _texts(cells, name) for name in rows}
    places = {dataset: place for place, dataset in enumerate(texts["dataset"])}
    keys = cells[rows].drop_duplicates()
    keys = keys.sort_values("dataset", key=lambda names: names.map(places), kind="stable")
    blocks = [
        Block(tuple(texts[name][key[name]] for name in rows), {name: key[name] for name in rows})
        for key in keys.to_dict("records")
    ]
    heads = method_names(values) if across == "method" else {C: f"C={C:g}" for C in values}
    units = {name: f" {'acc.' if name == 'accuracy' else 's'}" * (len(measures) > 1) for name in measures}
    columns = [Column(heads[v] + units[name], {across: v}, name) for v in values for name in measures]
    label_heads = ("data set", *(name.removesuffix("_set") for name in rows[1:]))
    return Sheet(title, label_heads, blocks, columns, notes)


def _texts(cells: pd.DataFrame, name: str) -> dict[Any, str]:
    """Return each value of a column as a label, with all digits where six would make two values look alike."""
    if name == "dataset":
        return dataset_labels(cells)
    if name == "method":
        return method_names(cells["method"])
    texts = {value: named(value) for value in cells[name].unique()}
    return texts if len(set(texts.values())) == len(texts) else {value: str(value) for value in texts}


def dataset_labels(cells: pd.DataFrame) -> dict[str, str]:
    """Return the name that tables print for each data set, in the papers' order; of first use, that is said."""
    names = short_names(published.in_order(cells["dataset"]))
    first = set(cells.loc[cells["first_use"].astype(bool), "dataset"])
    return {name: label + FIRST_USE * (name in first) for name, label in names.items()}


def draw_tables(
    cells: pd.DataFrame | None, names: Sequence[str], *, with_published: bool = True
) -> list[Table]:
    """Return the tables of these names; without cells a paper's table has its printed numbers alone."""
    from fwsvm.analysis.papers import LAYOUTS

    drawn: list[Table] = []
    for name in known_names(names, of_cells=cells is not None):
        if cells is None or name in LAYOUTS:
            drawn += _paper_tables(LAYOUTS[name], name, cells, with_published=with_published)
        else:
            drawn.append(_plain_table(cells, name))
    return drawn


def known_names(names: Sequence[str], *, of_cells: bool = True) -> list[str]:
    """Return the names of tables with the papers by author; UsageError for an unknown one."""
    from fwsvm.analysis.papers import LAYOUTS

    known = [*LAYOUTS, *(name for name, kind in MEASURES.items() if of_cells and not kind.derived)]
    found = [*map(by_author, names)]
    for name in found:
        if name not in known:
            hint = nearest(name, known, f"known are {', '.join(known)}")
            raise UsageError(f"there is no table {shown(name)}; {hint}")
    return found


def show_times(names: Sequence[str]) -> bool:
    """Return whether any of these tables shows times; UsageError for an unknown one."""
    from fwsvm.analysis.papers import LAYOUTS

    shown_measures = (LAYOUTS[name].measures if name in LAYOUTS else (name,) for name in known_names(names))
    return any(measure(one).timed for some in shown_measures for one in some)


def tables_for(cells: pd.DataFrame, names: Sequence[str]) -> list[tuple[pd.DataFrame, list[str]]]:
    """Return which cells to show in which tables: all in the named ones, or each experiment in its own.

    Experiments that fill the same tables of a paper, with other data sets each, fill them together. One that fills
    no paper's table gets accuracy, time and size, as far as they were measured.
    """
    from fwsvm.analysis.papers import LAYOUTS

    if names:
        return [(cells, list(names))]
    found: list[tuple[pd.DataFrame, list[str]]] = []
    for _, here in cells.groupby("experiment", sort=False):
        layouts = [name for name, layout in LAYOUTS.items() if layout.fits(here)]
        for place, (others, theirs) in enumerate(found):
            joined = pd.concat([others, here])
            if layouts and theirs == layouts and not joined.duplicated(["dataset", "method"]).any():
                found[place] = joined, layouts
                break
        else:
            found.append((here, layouts or measured(here, ("accuracy", "time", "size")) or ["time"]))
    return found


def _paper_tables(
    layout: Layout, name: str, ours: pd.DataFrame | None, *, with_published: bool
) -> list[Table]:
    theirs = layout.choose(published.cells(layout.published)) if with_published or ours is None else None
    if theirs is not None and not any(theirs[measure(m).column].notna().any() for m in layout.measures):
        theirs = None  # a line of dashes under each of ours would say nothing
    mine = None if ours is None else layout.choose(ours)
    cells = theirs if mine is None else mine
    if cells is None:
        raise ResultsError(
            f"the numbers of {layout.title} are not printed in any of the papers; give a results folder"
        )
    if mine is None:
        layout = replace(layout, methods=tuple(m for m in layout.methods if (cells["method"] == m).any()))
    sheets = [sheet for sheet in layout.sheets(cells) if sheet.blocks]
    if not sheets:
        raise ResultsError(f"these results hold no final runs for table {name} ({', '.join(layout.methods)})")
    return [_filled(sheet, mine, theirs) for sheet in sheets]


def _plain_table(cells: pd.DataFrame, name: str) -> Table:
    """Return a table of a measure: data sets (and whatever else varies) down, methods across."""
    settings = "experiment profile kernel C tolerance search stop width_rule protocol".split()  # noqa: SIM905
    alike = {"gamma_set": ["kernel", "width_rule"], "degree": ["kernel"], "coef0": ["kernel"]}
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
    sheet = _sheet(measure(name).title, cells, ["dataset", *varying], "method", methods, [name])
    return _filled(sheet, cells, None)


@dataclass(frozen=True, slots=True)
class _Side:
    """The cells of a table, ours or the paper's, and their entries by measure and place (the values of its keys)."""

    cells: pd.DataFrame
    entries: dict[str, dict[Place, Entry]]
    bounds: set[Place]  # whose time, or whose baseline's, was cut short

    def line(self, places: Sequence[Place], kinds: Sequence[Measure]) -> tuple[Entry, ...]:
        """Return the entries of one line of a table."""
        pairs = zip(places, kinds, strict=True)
        return tuple(self.entries[kind.name].get(place, Entry("-")) for place, kind in pairs)


def _side(cells: pd.DataFrame, sheet: Sheet, asked: set[Place]) -> _Side:
    names = [*sheet.blocks[0].key, *sheet.columns[0].key]
    methods = {place[names.index("method")] for place in asked}
    chosen = unique_cells(cells[cells["method"].isin(methods)], names)
    places = list(chosen[names].itertuples(index=False, name=None))
    known = [place in asked for place in places]
    chosen, places = chosen[known], [place for place in places if place in asked]
    entries = {}
    for kind in {column.measure: measure(column.measure) for column in sheet.columns}.values():
        best = _is_best(chosen, kind, [name for name in names if name != "method"])
        records = chosen.to_dict("records")
        drawn = [_entry(cell, kind, best=one) for cell, one in zip(records, best, strict=True)]
        entries[kind.name] = dict(zip(places, drawn, strict=True))
    bounds = {place for place, cut in zip(places, chosen["censored"], strict=True) if cut}
    return _Side(chosen, entries, bounds)


def _entry(cell: Fields, kind: Measure, *, best: bool) -> Entry:
    """Return the entry as printed, with its mark."""
    value, own_cut = cell[kind.column], cell.get("cut_short", cell["censored"])
    if math.isnan(value):
        return Entry(_word(cell, kind))
    mark = "*" if kind.bound and own_cut else STATUS_MARKS.get(str(cell["status"]), "")
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

    Objectives are R on the simplex, or the primal. Support vectors of several classes are rows of the model, or a sum
    over its parts; the runs then differ in subproblems or in what they minimise.
    """
    alike = [cells[name] for name in problem]
    if kind.name == "objective":
        alike.append(cells["minimised"])
    if kind.name == "size":
        alike += [cells[name].where(cells["classes"] != 2) for name in ("minimised", "subproblems")]
    values = cells[kind.column].where(cells["finite"].astype(bool) & np.isfinite(cells[kind.column]))
    rivals = values.groupby(alike, dropna=False)
    best = rivals.transform("min" if kind.better == "less" else "max")
    printed = values.map(kind.printed, na_action="ignore") == best.map(kind.printed, na_action="ignore")
    cut = cells["censored"].astype(bool) & kind.bound
    return printed & values.notna() & (rivals.transform("count") > 1) & ~cut


def _word(cell: Fields, kind: Measure) -> str:
    """Return the text for a missing number: the status, or a hyphen if the run ended well or has no baseline."""
    status = str(cell["status"])
    if status == "time_limit":
        return "-" if kind.derived else "cut" if cell["classes"] > 2 else "—"
    return "-" if status in {"converged", "sampled_stop"} else status


def _filled(sheet: Sheet, ours: pd.DataFrame | None, theirs: pd.DataFrame | None) -> Table:
    """Return the table of a sheet; ``ours`` or ``theirs`` may be absent."""
    kinds = [measure(column.measure) for column in sheet.columns]
    lines = [
        [(*block.key.values(), *column.key.values()) for column in sheet.columns] for block in sheet.blocks
    ]
    asked = {place for places in lines for place in places}
    mine, printed = (None if cells is None else _side(cells, sheet, asked) for cells in (ours, theirs))
    rows: list[Row] = []
    for block, places in zip(sheet.blocks, lines, strict=True):
        rows += _lines(block, places, kinds, mine, printed)
    both = mine is not None and printed is not None
    entries = [entry for row in rows for entry in row.entries]
    labels = " ".join(label for row in rows for label in row.labels)
    notes = [*sheet.notes]
    notes += [
        f"{mark} {meaning}"
        for mark, meaning in MARKS.items()
        if any(mark in entry.mark or mark == entry.text for entry in entries)
    ]
    notes += ["(n/m): n of m runs finished"] * any("/" in entry.mark for entry in entries)
    notes += [published.MADE_HERE] * (published.DAGGER in labels) + [FIRST_USE_NOTE] * (FIRST_USE in labels)
    if mine is not None and ours is not None:
        void = mine.cells[mine.cells["void"] != ""]
        weak = [f"{c['dataset']}/{c['method']} ({c['void']})" for c in void.to_dict("records")]
        notes += [f"§ weak guarantee for {listed(weak, '; ', 12)}"] * bool(weak)
        notes += published.smaller_than_published(mine.cells)
        setting = _setting_of(ours)
        notes = [f"ours: {setting}"] * bool(setting) + notes
    label_heads = (*sheet.label_heads, "") if both else sheet.label_heads
    heads = tuple(column.head for column in sheet.columns)
    return Table(sheet.title, label_heads, heads, tuple(rows), tuple(notes))


def _lines(
    block: Block, places: list[Place], kinds: list[Measure], mine: _Side | None, printed: _Side | None
) -> Iterator[Row]:
    """Yield the lines of ours, of the paper, and of their ratio."""
    if mine is None or printed is None:
        side = mine or printed
        if side is not None:
            yield Row(block.labels, side.line(places, kinds))
        return
    ours, theirs = mine.line(places, kinds), printed.line(places, kinds)
    below = ("",) * len(block.labels)
    yield Row((*block.labels, "ours"), ours)
    if any(entry.text != "-" for entry in theirs):
        yield Row((*below, "paper"), theirs, first=False)
        if not all(kind.derived for kind in kinds):
            ratios = tuple(
                _ratio(
                    kind, a, b, kind.bound and place in mine.bounds, kind.bound and place in printed.bounds
                )
                for kind, a, b, place in zip(kinds, ours, theirs, places, strict=True)
            )
            yield Row((*below, "ratio"), ratios, first=False)


def _ratio(kind: Measure, ours: Entry, theirs: Entry, ours_cut: bool, theirs_cut: bool) -> Entry:
    ratio = ours.value / theirs.value if theirs.value else math.nan
    if math.isnan(ratio) or (ours_cut and theirs_cut):
        return Entry("-")
    text = f"{ratio:.4f}" if kind.name == "accuracy" else three_digits(ratio)
    return Entry(("≥" if ours_cut else "≤" if theirs_cut else "") + text, value=ratio)


def _setting_of(cells: pd.DataFrame) -> str:
    """Return the settings that all these cells have in common, and the methods that differ in one."""
    words = []
    for name in ("profile", "kernel", "C", "tolerance", "search", "stop", "width_rule", "protocol"):
        per_method = cells.groupby("method", sort=False)[name]
        if (per_method.nunique(dropna=False) > 1).any():
            continue  # it varies within a method: a label of the table, or a selected parameter
        texts = {str(method): plain(values.iloc[0]) for method, values in per_method}
        usual = max(texts.values(), key=list(texts.values()).count)
        others = [f"{value or 'none'} for {method}" for method, value in texts.items() if value != usual]
        if usual not in {"", "nan"}:
            words.append(f"{name} {usual}" + (f" ({', '.join(others)})" if others else ""))
    words += filter(None, [several_kinds(cells)])
    chosen = cells.loc[cells["parameters"] != "", ["method", "parameters"]].drop_duplicates()
    return ", ".join([*words, *(f"{row.method} with {row.parameters}" for row in chosen.itertuples())])
