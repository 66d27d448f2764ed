"""Drawing tables: a paper's table beside its printed numbers, or a plain table of a measure."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.measures import MEASURES, measure, measured, named
from fwsvm.analysis.papers import LAYOUTS, SIZES
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.analysis.tables import sizes
from fwsvm.analysis.tables.build import RowBlock, Sheet, TableColumn, fill_sheet
from fwsvm.analysis.tables.layout import Layout
from fwsvm.analysis.tables.model import Table
from fwsvm.analysis.tables.notes import setting_of
from fwsvm.errors import ResultsError, UsageError, nearest, shown

#: Measures that have a table without a baseline.
PLAIN = [name for name, kind in MEASURES.items() if not kind.derived]


def paper_tables(name: str, ours: pd.DataFrame | None, *, with_published: bool = True) -> list[Table]:
    """Return a paper's table filled with our cells, the published ones, or both side by side."""
    layout = layout_named(name)
    theirs = layout.choose(published.cells(layout.published)) if with_published or ours is None else None
    mine = None if ours is None else layout.choose(ours)
    if mine is not None and mine.empty:
        raise ResultsError(f"these results hold no final runs for table {name} ({', '.join(layout.methods)})")
    if mine is None and theirs is not None:
        layout = _printed(layout, theirs)
    shown = mine if mine is not None else theirs
    sheets = [
        sheet
        for sheet in layout.sheets(layout, shown if shown is not None else pd.DataFrame())
        if sheet.blocks
    ]
    if not sheets:
        raise ResultsError(f"these results hold no runs at the setting of table {name}")
    tables = [fill_sheet(sheet, mine, theirs) for sheet in sheets]
    return [_with_setting(table, mine) for table in tables]


def _printed(layout: Layout, theirs: pd.DataFrame) -> Layout:
    """Return the layout reduced to the methods the paper prints; ResultsError if it prints nothing of it."""
    if not any(theirs[measure(name).column].notna().any() for name in layout.measures):
        raise ResultsError(
            f"the numbers of {layout.title} are not printed in any of the papers; give a results folder"
        )
    return replace(layout, methods=tuple(m for m in layout.methods if (theirs["method"] == m).any()))


def plain_tables(cells: pd.DataFrame, names: Sequence[str]) -> list[Table]:
    """Return one table per measure: data sets (and whatever else varies) down, methods across."""
    methods = list(dict.fromkeys(cells["method"]))
    apart = ("experiment", "profile", "kernel", "C", "tolerance", "search", "stop", "width_rule", "protocol")
    of_a_kernel = ("gamma_set", "degree", "coef0")
    varying = [
        *(name for name in apart if _vary(cells, ["dataset", "method"], name)),
        *(name for name in of_a_kernel if _vary(cells, ["dataset", "method", "kernel", "width_rule"], name)),
    ]
    # '' is like itself, as NaN is not
    cells = cells.assign(
        **{name: cells[name].astype(object).where(cells[name].notna(), "") for name in varying}
    )
    keys = cells[["dataset", *varying]].drop_duplicates()
    blocks = [
        RowBlock(
            (published.title(key[0]), *map(named, key[1:])),
            dict(zip(keys.columns, key, strict=True)),
        )
        for key in keys.itertuples(index=False, name=None)
    ]
    tables = []
    for name in names:
        columns = [
            TableColumn(METHOD_NAMES.get(method, method), {"method": method}, name) for method in methods
        ]
        heads = ("data set", *(name.removesuffix("_set") for name in varying))
        sheet = Sheet(measure(name).title, heads, blocks, columns)
        tables.append(_with_setting(fill_sheet(sheet, cells, None), cells))
    return tables


def _vary(cells: pd.DataFrame, alike: list[str], name: str) -> bool:
    """Return whether a setting has several values among cells that are alike in these columns."""
    return bool((cells.groupby(alike, dropna=False)[name].nunique(dropna=False) > 1).any())


def tables_for(cells: pd.DataFrame, names: Sequence[str]) -> list[tuple[pd.DataFrame, list[str]]]:
    """Return which cells to show in which tables: all in the named ones, or each experiment in its own.

    Experiments that fill the same tables of a paper, with other data sets each, fill them together. One that fills no
    paper's table gets accuracy, time and size, as far as they were measured.
    """
    if names:
        return [(cells, list(names))]
    found: list[tuple[pd.DataFrame, list[str]]] = []
    for experiment in dict.fromkeys(cells["experiment"]):
        here = cells[cells["experiment"] == experiment]
        layouts = fitting_layouts(here)
        for place, (others, theirs) in enumerate(found):
            joined = pd.concat([others, here])
            if layouts and theirs == layouts and not joined.duplicated(["dataset", "method"]).any():
                found[place] = joined, layouts
                break
        else:
            found.append((here, layouts or measured_names(here)))
    return found


def draw_tables(
    cells: pd.DataFrame | None, names: Sequence[str], *, with_published: bool = True
) -> list[Table]:
    """Return the tables of these names: a paper's table each, or a measure of our cells.

    Without cells a paper's table has its printed numbers alone.
    """
    drawn: list[Table] = []
    for name in names:
        _refuse_unknown(name, [*SIZES, *LAYOUTS, *(() if cells is None else PLAIN)])
        if name in SIZES:
            drawn.append(sizes.table(SIZES[name], cells))
        elif cells is None or name in LAYOUTS:
            drawn += paper_tables(name, cells, with_published=with_published)
        else:
            drawn += plain_tables(cells, [name])
    return drawn


def fitting_layouts(cells: pd.DataFrame) -> list[str]:
    """Return the names of the papers' layouts that these cells fill."""
    found = []
    for name, layout in LAYOUTS.items():
        if layout.fits(cells):
            chosen = layout.choose(cells)
            found += [name] if any(sheet.blocks for sheet in layout.sheets(layout, chosen)) else []
    return found


def measured_names(cells: pd.DataFrame) -> list[str]:
    """Return those of accuracy, time and size that any of these cells has."""
    return measured(cells, ("accuracy", "time", "size")) or ["time"]


def _refuse_unknown(name: str, known: list[str]) -> None:
    if name not in known:
        hint = nearest(name, known, f"known are {', '.join(known)}")
        raise UsageError(f"there is no table {shown(name)}; {hint}")


def layout_named(name: str) -> Layout:
    """Return the layout of that name; UsageError names the known ones."""
    _refuse_unknown(name, list(LAYOUTS))
    return LAYOUTS[name]


def show_times(names: Sequence[str]) -> bool:
    """Return whether any of these layouts or measures shows times."""
    for name in names:
        _refuse_unknown(name, [*SIZES, *LAYOUTS, *PLAIN])
    measures = [
        m
        for name in names
        if name not in SIZES
        for m in (LAYOUTS[name].measures if name in LAYOUTS else (name,))
    ]
    return any(measure(m).timed for m in measures)


def _with_setting(table: Table, cells: pd.DataFrame | None) -> Table:
    """Add what all our cells have in common to the notes."""
    if cells is None or not (setting := setting_of(cells)):
        return table
    return replace(table, notes=(f"ours: {setting}", *table.notes))
