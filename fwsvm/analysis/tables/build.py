"""Filling a table: each entry is looked up among our cells and the published ones, which are shown below each other."""

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import unique_cells
from fwsvm.analysis.measures import Measure, measure, three_digits
from fwsvm.analysis.tables.model import Table, TableEntry, TableRow
from fwsvm.analysis.tables.notes import incomplete, other_sizes, weak_promises

#: One row of cells, by column.
CellFields = dict[Hashable, Any]
#: Marks of numbers whose run a limit ended; notes below the table explain them.
STATUS_MARKS = {"time_limit": "*", "max_iterations": "¶", "stalled": "‡"}
MARK_MEANINGS = {
    "*": "stopped at a time limit; a time is a lower bound",
    "¶": "stopped at the iteration limit",
    "‡": "stopped without progress at rounding level",
    "—": "neither this method nor a rival finished in time; a star appears only where a rival finished",
    "cut": "the time limit ended the run before all pairs of classes were solved, so there is no model to measure",
}


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Up to three lines with the same labels: ours, the paper's, and ratios."""

    labels: tuple[str, ...]
    key: dict[str, object]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column: the key that it adds to the block's, and its measure."""

    head: str
    key: dict[str, object]
    measure: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table to fill; among entries that differ in the method alone the best is marked."""

    title: str
    label_heads: tuple[str, ...]
    blocks: list[RowBlock]
    columns: list[TableColumn]
    notes: tuple[str, ...] = ()
    dash_if_no_rival_finished: bool = False


def fill_sheet(sheet: Sheet, ours: pd.DataFrame | None, theirs: pd.DataFrame | None) -> Table:
    """Return the table of a sheet from our cells and the published ones; either may be absent."""
    tidy: list[dict[str, object]] = []
    if theirs is not None and not any(theirs[measure(c.measure).column].notna().any() for c in sheet.columns):
        theirs = (
            None  # the paper prints no such numbers: a line of dashes under each of ours would say nothing
        )
    sources = _CellLookup(ours, sheet), _CellLookup(theirs, sheet)
    rows = [row for block in sheet.blocks for row in _lines(sheet, block, *sources, tidy)]
    marks = {
        mark for row in rows for entry in row.entries for mark in STATUS_MARKS.values() if mark in entry.mark
    }
    marks |= {entry.text for row in rows for entry in row.entries if entry.text in MARK_MEANINGS}
    notes = [*sheet.notes, *(f"{mark} {meaning}" for mark, meaning in MARK_MEANINGS.items() if mark in marks)]
    if any(label.endswith(published.DAGGER) for row in rows for label in row.labels):
        notes.append(published.MADE_HERE)
    if ours is not None:
        shown, settings = sources[0].shown()
        notes += [*incomplete(shown, settings), *weak_promises(shown, settings), *other_sizes(shown, theirs)]
    heads = tuple(column.head for column in sheet.columns)
    label_heads = sheet.label_heads if ours is None or theirs is None else (*sheet.label_heads, "")
    return Table(sheet.title, label_heads, heads, tuple(rows), tuple(notes), tuple(tidy))


class _CellLookup:
    """Cells by the key of a sheet's blocks and columns."""

    def __init__(self, cells: pd.DataFrame | None, sheet: Sheet) -> None:
        self.cells = cells
        self.sheet = sheet
        keys = [source.key for source in sheet.blocks] + [source.key for source in sheet.columns]
        self.names = sorted({name for key in keys for name in key})
        self.methods = list(dict.fromkeys(key["method"] for key in keys if "method" in key))
        self.found: dict[tuple[object, ...], CellFields] = {}
        if cells is not None and self.names:
            shown = unique_cells(cells[cells["method"].isin(self.methods)], self.names)
            self.found = {tuple(cell[name] for name in self.names): cell for cell in shown.to_dict("records")}

    def cell(self, key: dict[str, object]) -> CellFields | None:
        """Return the one cell with that key, or None."""
        return self.found.get(tuple(key[name] for name in self.names))

    def shown(self) -> tuple[pd.DataFrame, list[str]]:
        """Return the cells that the sheet asks for, and the keys that set those of a data set and method apart."""
        keys = [block.key | column.key for block in self.sheet.blocks for column in self.sheet.columns]
        asked = {tuple(key[name] for name in self.names) for key in keys}
        found = [cell for key, cell in self.found.items() if key in asked]
        columns = None if self.cells is None else self.cells.columns
        varying = [name for name in self.names if len({key[name] for key in keys}) > 1]
        return pd.DataFrame(found, columns=columns), [n for n in varying if n not in {"dataset", "method"}]

    def entry(self, block: RowBlock, column: TableColumn) -> TableEntry:
        """Return the entry as printed, with its mark and whether it is best."""
        key, kind = block.key | column.key, measure(column.measure)
        cell = self.cell(key)
        if cell is None:
            return TableEntry("-")
        value = _number(cell, kind.column)
        if math.isnan(value):
            return TableEntry(_word(cell, kind))
        mark = (
            "*"
            if kind.bound and cell.get("cut_short", cell["censored"])
            else STATUS_MARKS.get(str(cell["status"]), "")
        )
        if (
            mark == "*"
            and self.sheet.dash_if_no_rival_finished
            and not any(map(_finished, self._rivals(key)))
        ):
            return TableEntry("—")
        if cell.get("void"):
            mark += "§"
        if cell["used"] < cell["runs"]:
            mark += f" ({cell['used']}/{cell['runs']})"
        text = str(cell.get(f"{kind.column}_text") or "").rstrip("*") or kind.printed(value)
        if kind.derived and kind.bound and cell["censored"] and not cell.get("cut_short", False):
            text = f"≥{text}"  # the baseline was cut short
        deviation = _number(cell, f"{kind.column}_sd")
        printed_deviation = "" if math.isnan(deviation) else kind.printed_deviation(value, deviation)
        return TableEntry(text, printed_deviation, mark, best=self._best(key, kind, cell))

    def _rivals(self, key: dict[str, object]) -> list[CellFields]:
        found = (self.cell({**key, "method": method}) for method in self.methods)
        return [cell for cell in found if cell is not None]

    def _best(self, key: dict[str, object], kind: Measure, cell: CellFields) -> bool:
        """Return whether no rival is printed as better; one cut short is none if its bound already is worse.

        Runs whose numbers are not finite take no part.
        """
        found = [
            _number(c, kind.column) for c in self._rivals(key) if _is_finite(c) and _comparable(kind, c, cell)
        ]
        values = [v for v in found if math.isfinite(v)]
        if len(values) < 2 or (kind.bound and cell["censored"]) or not _is_finite(cell):
            return False
        best = min(values) if kind.better == "less" else max(values)
        return kind.printed(_number(cell, kind.column)) == kind.printed(best)


def _comparable(kind: Measure, one: CellFields, other: CellFields) -> bool:
    """Whether two cells have the same measure.

    Objectives are R on the simplex or the primal. Of several classes support vectors are rows of the machine, or a sum
    over its parts, in which a row counts several times; the runs then differ in subproblems or in what they minimise.
    """
    if kind.name == "objective":
        return one.get("minimised") == other.get("minimised")
    unlike = [one.get(name) != other.get(name) for name in ("minimised", "subproblems")]
    return kind.name != "size" or not any(unlike) or _number(one, "classes") == 2


def _is_finite(cell: CellFields) -> bool:
    """Whether the numbers of a cell's runs are finite; published ones are."""
    return cell.get("finite", True) is not False


def _finished(cell: CellFields) -> bool:
    return not cell["censored"] and cell["status"] in {"converged", "sampled_stop"}


def _lines(
    sheet: Sheet, block: RowBlock, ours: _CellLookup, theirs: _CellLookup, tidy: list[dict[str, object]]
) -> Iterator[TableRow]:
    tidy += [_record(block, column, ours, theirs) for column in sheet.columns]
    both = ours.cells is not None and theirs.cells is not None
    both &= any(theirs.cell(block.key | column.key) is not None for column in sheet.columns)
    blank = ("",) * len(block.labels)
    if ours.cells is not None:
        entries = tuple(ours.entry(block, column) for column in sheet.columns)
        yield TableRow((*block.labels, *(["ours"] if theirs.cells is not None else [])), entries)
    if theirs.cells is not None and (both or ours.cells is None):
        entries = tuple(theirs.entry(block, column) for column in sheet.columns)
        yield TableRow((*blank, "paper") if both else block.labels, entries, first=not both)
    if both and not all(measure(column.measure).derived for column in sheet.columns):
        ratios = tuple(
            _ratio(record, *(_is_bound(source, block, column) for source in (ours, theirs)))
            for record, column in zip(tidy[-len(sheet.columns) :], sheet.columns, strict=True)
        )
        yield TableRow((*blank, "ratio"), ratios, first=False)


def _record(
    block: RowBlock, column: TableColumn, ours: _CellLookup, theirs: _CellLookup
) -> dict[str, object]:
    kind = measure(column.measure)
    key = block.key | column.key
    record: dict[str, object] = {"dataset": "", "method": "", **key, "measure": kind.name}
    for name, source in (("ours", ours), ("published", theirs)):
        cell = source.cell(key)
        value, deviation = (_number(cell, c) for c in (kind.column, f"{kind.column}_sd"))
        record |= {name: value, f"{name}_sd": deviation}
        if name == "ours":
            record |= {field: "" if cell is None else cell[field] for field in ("runs", "used", "status")}
    record["ratio"] = _quotient(record["ours"], record["published"])
    return record


def _quotient(ours: object, theirs: object) -> float:
    return ours / theirs if isinstance(ours, float) and isinstance(theirs, float) and theirs else float("nan")


def _is_bound(source: _CellLookup, block: RowBlock, column: TableColumn) -> bool:
    """Return whether a number is a lower bound, for a time limit cut the run short."""
    cell = source.cell(block.key | column.key)
    return cell is not None and measure(column.measure).bound and bool(cell["censored"])


def _ratio(record: dict[str, object], ours_bound: bool, theirs_bound: bool) -> TableEntry:
    ratio = record["ratio"]
    if not isinstance(ratio, float) or math.isnan(ratio) or (ours_bound and theirs_bound):
        return TableEntry("-")
    bound = "≥" if ours_bound else "≤" if theirs_bound else ""
    return TableEntry(bound + (f"{ratio:.4f}" if record["measure"] == "accuracy" else three_digits(ratio)))


def _number(cell: CellFields | None, column: str) -> float:
    value = float("nan") if cell is None else cell.get(column, float("nan"))
    return float(value) if isinstance(value, int | float) else float("nan")


def _word(cell: CellFields, kind: Measure) -> str:
    """Return the text for a missing number: the status, or a hyphen if the run ended well or a baseline is lacking."""
    status, classes = str(cell["status"]), _number(cell, "classes")
    if status == "time_limit":
        return "-" if kind.derived else "cut" if classes > 2 else "—"
    return "-" if status in {"converged", "sampled_stop"} else status
