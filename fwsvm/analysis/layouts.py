"""Tables by name: a paper's table with our cells beside the printed ones, or a measure of our cells."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_baseline, several_kinds, unique_cells, without_sweeps
from fwsvm.analysis.measures import MEASURES, Measure, measure, measured, named, plain, three_digits
from fwsvm.analysis.names import method_names, short_names
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError, UsageError, listed, nearest, shown

Fields = Mapping[Hashable, Any]  # of one cell, by column
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


@dataclass(frozen=True, slots=True)
class Block:
    """Up to three lines with the same labels (ours, the paper's, their ratio), and the key that they share."""

    labels: tuple[str, ...]
    key: dict[str, object]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its head, the key that it adds to a block's, and its measure."""

    head: str
    key: dict[str, object]
    measure: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table to be filled with cells."""

    title: str
    label_heads: tuple[str, ...]
    blocks: list[Block]
    columns: list[Column]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """A paper's table: methods, kernel, measures, and the paper whose printed numbers stand beside ours."""

    title: str
    published: str
    methods: tuple[str, ...]
    kernel: str | None
    measures: tuple[str, ...]
    sheets: Callable[["Layout", pd.DataFrame], list[Sheet]]
    notes: tuple[str, ...] = ()

    def fits(self, cells: pd.DataFrame) -> bool:
        """Return whether these cells have just the table's methods, and data sets of the paper's (002: any)."""
        known = set(published.training_rows(self.published))
        if self.published != "glasmachers" and not set(cells["dataset"]) & known:
            return False
        chosen = self.choose(cells)
        if not chosen["method"].nunique() == len(self.methods) == cells["method"].nunique():
            return False
        return any(sheet.blocks for sheet in self.sheets(self, chosen))

    def choose(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the cells that can appear in this table."""
        chosen = cells[cells["method"].isin(self.methods)]
        if self.kernel is not None:
            chosen = chosen[chosen["kernel"].isin([self.kernel, ""])]
        if self.published == "frandi":
            chosen = without_sweeps(chosen)
        return against_baseline(chosen, "cvm") if any(measure(m).derived for m in self.measures) else chosen


def per_dataset(layout: Layout, cells: pd.DataFrame) -> list[Sheet]:
    """Return a sheet with a row for each data set and a column for each method."""
    units = {name: f" {'acc.' if name == 'accuracy' else 's'}" for name in layout.measures}
    columns = [
        Column(METHOD_NAMES[method] + (units[name] if len(units) > 1 else ""), {"method": method}, name)
        for method in layout.methods
        for name in layout.measures
    ]
    blocks = [Block((label,), {"dataset": name}) for name, label in dataset_labels(cells).items()]
    return [Sheet(layout.title, ("data set",), blocks, columns, layout.notes)]


def over_C(tolerance: float) -> Callable[[Layout, pd.DataFrame], list[Sheet]]:  # noqa: N802 - C is the penalty
    """Return sheets with a row for each problem and solver and a column for each C (002 Tables 2, 3)."""

    def sheets(layout: Layout, cells: pd.DataFrame) -> list[Sheet]:
        here = cells[cells["tolerance"] == tolerance]
        blocks = [
            Block(
                (label, METHOD_NAMES[method]),
                {"dataset": dataset, "method": method, "tolerance": tolerance},
            )
            for dataset, label in dataset_labels(here).items()
            for method in layout.methods
        ]
        grid = sorted(here["C"].dropna().unique())
        return [
            Sheet(f"{layout.title}: {measure(name).title}", ("problem", "solver"), blocks,
                  [Column(f"C={C:g}", {"C": C}, name) for C in grid])
            for name in layout.measures
        ]  # fmt: skip

    return sheets


def dataset_labels(cells: pd.DataFrame) -> dict[str, str]:
    """Return the name that tables print for each data set, in the papers' order; of first use, that is said."""
    names = short_names(published.in_order(cells["dataset"]))
    first = set(cells.loc[cells["first_use"], "dataset"]) if "first_use" in cells else set()
    return {name: label + FIRST_USE * (name in first) for name, label in names.items()}


def draw_tables(
    cells: pd.DataFrame | None, names: Sequence[str], *, with_published: bool = True
) -> list[Table]:
    """Return the tables of these names; without cells a paper's table has its printed numbers alone."""
    from fwsvm.analysis.papers import LAYOUTS

    drawn: list[Table] = []
    for name in map(published.by_author, names):
        refuse_unknown(name, of_cells=cells is not None)
        if cells is None or name in LAYOUTS:
            drawn += _paper_tables(LAYOUTS[name], name, cells, with_published=with_published)
        else:
            drawn.append(_plain_table(cells, name))
    return drawn


def refuse_unknown(name: str, *, of_cells: bool = True) -> None:
    """Raise UsageError if there is no such table."""
    from fwsvm.analysis.papers import LAYOUTS

    known = [*LAYOUTS, *(name for name, kind in MEASURES.items() if of_cells and not kind.derived)]
    if name not in known:
        hint = nearest(name, known, f"known are {', '.join(known)}")
        raise UsageError(f"there is no table {shown(name)}; {hint}")


def show_times(names: Sequence[str]) -> bool:
    """Return whether any of these tables shows times; UsageError for an unknown one."""
    from fwsvm.analysis.papers import LAYOUTS

    names = [*map(published.by_author, names)]
    for name in names:
        refuse_unknown(name)
    return any(
        measure(one).timed
        for name in names
        for one in (LAYOUTS[name].measures if name in LAYOUTS else (name,))
    )


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
    sheets = [sheet for sheet in layout.sheets(layout, cells) if sheet.blocks]
    if not sheets:
        raise ResultsError(f"these results hold no final runs for table {name} ({', '.join(layout.methods)})")
    return [_filled(sheet, mine, theirs) for sheet in sheets]


def _plain_table(cells: pd.DataFrame, name: str) -> Table:
    """Return a table of a measure: data sets (and whatever else varies) down, methods across."""
    settings = [
        "experiment",
        "profile",
        "kernel",
        "C",
        "tolerance",
        "search",
        "stop",
        "width_rule",
        "protocol",
    ]
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
    labels = dataset_labels(cells)
    places = {dataset: place for place, dataset in enumerate(labels)}
    keys = cells[["dataset", *varying]].drop_duplicates()
    keys = keys.sort_values("dataset", key=lambda names: names.map(places), kind="stable")
    texts = {one: _setting_texts(keys[one]) for one in varying}
    blocks = [
        Block(
            (labels[dataset], *(texts[one][value] for one, value in zip(varying, values, strict=True))),
            {"dataset": dataset, **dict(zip(varying, values, strict=True))},
        )
        for dataset, *values in keys.itertuples(index=False, name=None)
    ]
    columns = [
        Column(head, {"method": method}, name) for method, head in method_names(cells["method"]).items()
    ]
    heads = ("data set", *(one.removesuffix("_set") for one in varying))
    return _filled(Sheet(measure(name).title, heads, blocks, columns), cells, None)


def _setting_texts(values: "pd.Series[Any]") -> dict[object, str]:
    """Return each value of a setting as text, with all digits where six would make two values look alike."""
    texts = {value: named(value) for value in values.unique()}
    return texts if len(set(texts.values())) == len(texts) else {value: str(value) for value in texts}


class _Source:
    """Cells by the keys of a sheet."""

    def __init__(self, cells: pd.DataFrame | None, sheet: Sheet) -> None:
        keys = [block.key | column.key for block in sheet.blocks for column in sheet.columns]
        self.given = cells is not None
        self.names = sorted(keys[0]) if keys else []
        self.methods = list(dict.fromkeys(key["method"] for key in keys))
        self.found: dict[tuple[object, ...], Fields] = {}
        if cells is not None and keys:
            asked = {self._place(key) for key in keys}
            chosen = unique_cells(cells[cells["method"].isin(self.methods)], self.names)
            places = chosen[self.names].itertuples(index=False, name=None)
            self.found = {
                place: cell
                for place, cell in zip(places, chosen.to_dict("records"), strict=True)
                if place in asked
            }

    def _place(self, key: Mapping[str, object]) -> tuple[object, ...]:
        return tuple(key[name] for name in self.names)

    def cell(self, key: Mapping[str, object]) -> Fields | None:
        """Return the cell with that key, or None."""
        return self.found.get(self._place(key))

    def entry(self, key: Mapping[str, object], kind: Measure) -> Entry:
        """Return the entry as printed, with its mark and whether it is best."""
        cell = self.cell(key)
        if cell is None:
            return Entry("-")
        value = _number(cell, kind.column)
        if math.isnan(value):
            return Entry(_word(cell, kind))
        own_time_cut = kind.bound and cell.get("cut_short", cell["censored"])
        mark = "*" if own_time_cut else STATUS_MARKS.get(str(cell["status"]), "")
        mark += "§" if cell.get("void") else ""
        mark += f" ({cell['used']}/{cell['runs']})" if cell["used"] < cell["runs"] else ""
        text = str(cell.get(f"{kind.column}_text") or "").rstrip("*") or kind.printed(value)
        if kind.derived and kind.bound and cell["censored"] and not cell.get("cut_short", False):
            text = f"≥{text}"  # the baseline was cut short
        deviation = _number(cell, f"{kind.column}_sd")
        spread = "" if math.isnan(deviation) else kind.printed_deviation(value, deviation)
        return Entry(text, spread, mark, self._is_best(key, kind, cell), value)

    def _is_best(self, key: Mapping[str, object], kind: Measure, cell: Fields) -> bool:
        """Return whether no rival is printed as better; numbers that are not finite, or bounds, take no part."""
        rivals = (self.cell({**key, "method": method}) for method in self.methods)
        values = [
            _number(rival, kind.column)
            for rival in rivals
            if rival is not None and rival.get("finite", True) and _comparable(kind, rival, cell)
        ]
        values = [value for value in values if math.isfinite(value)]
        if len(values) < 2 or (kind.bound and cell["censored"]) or not cell.get("finite", True):
            return False
        best = min(values) if kind.better == "less" else max(values)
        return kind.printed(_number(cell, kind.column)) == kind.printed(best)


def _comparable(kind: Measure, one: Fields, other: Fields) -> bool:
    """Return whether two cells have the same measure.

    Objectives are R on the simplex, or the primal. Support vectors of several classes are rows of the model, or a sum
    over its parts; the runs then differ in subproblems or in what they minimise.
    """
    if kind.name == "objective":
        return bool(one.get("minimised") == other.get("minimised"))
    same = all(one.get(name) == other.get(name) for name in ("minimised", "subproblems"))
    return kind.name != "size" or same or _number(one, "classes") == 2


def _word(cell: Fields, kind: Measure) -> str:
    """Return the text for a missing number: the status, or a hyphen if the run ended well or has no baseline."""
    status = str(cell["status"])
    if status == "time_limit":
        return "-" if kind.derived else "cut" if _number(cell, "classes") > 2 else "—"
    return "-" if status in {"converged", "sampled_stop"} else status


def _number(cell: Fields, column: str) -> float:
    value = cell.get(column, math.nan)
    return float(value) if isinstance(value, int | float) else math.nan


def _filled(sheet: Sheet, ours: pd.DataFrame | None, theirs: pd.DataFrame | None) -> Table:
    """Return the table of a sheet; ``ours`` or ``theirs`` may be absent."""
    mine, printed = _Source(ours, sheet), _Source(theirs, sheet)
    rows = tuple(row for block in sheet.blocks for row in _lines(sheet, block, mine, printed))
    heads = tuple(column.head for column in sheet.columns)
    label_heads = (*sheet.label_heads, "") if mine.given and printed.given else sheet.label_heads
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
    if ours is not None:
        cells = pd.DataFrame([*mine.found.values()], columns=ours.columns)
        void = cells[cells["void"] != ""]
        weak = [f"{c['dataset']}/{c['method']} ({c['void']})" for c in void.to_dict("records")]
        notes += [f"§ weak guarantee for {listed(weak, '; ', 12)}"] * bool(weak)
        notes += published.smaller_than_published(cells)
        notes = [f"ours: {setting}" for setting in [_setting_of(ours)] if setting] + notes
    return Table(sheet.title, label_heads, heads, rows, tuple(notes))


def _lines(sheet: Sheet, block: Block, ours: _Source, theirs: _Source) -> Iterator[Row]:
    keys = [(block.key | column.key, measure(column.measure)) for column in sheet.columns]
    both = ours.given and any(theirs.cell(key) is not None for key, _ in keys)
    below = ("",) * len(block.labels)
    mine, printed = ([source.entry(*key) for key in keys] for source in (ours, theirs))
    if ours.given:
        yield Row((*block.labels, *(["ours"] if theirs.given else [])), tuple(mine))
    if both or not ours.given:
        yield Row((*below, "paper") if both else block.labels, tuple(printed), first=not both)
    if both and not all(kind.derived for _, kind in keys):
        bounds = (
            [kind.bound and bool((source.cell(key) or {}).get("censored")) for key, kind in keys]
            for source in (ours, theirs)
        )
        ratios = tuple(
            _ratio(kind, *four) for (_, kind), *four in zip(keys, mine, printed, *bounds, strict=True)
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
    words += [several] if (several := several_kinds(cells)) else []
    chosen = cells.loc[cells["parameters"] != "", ["method", "parameters"]].drop_duplicates()
    return ", ".join([*words, *(f"{row.method} with {row.parameters}" for row in chosen.itertuples())])
