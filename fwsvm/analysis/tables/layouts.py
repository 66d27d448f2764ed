"""The papers' tables, each one entry here, and a plain layout for everybody else's experiments.

To add a layout: one `Layout` in `LAYOUTS`, naming its paper, its methods and how its sheets follow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_baseline, without_sweeps
from fwsvm.analysis.measures import measure
from fwsvm.analysis.tables import sizes
from fwsvm.analysis.tables.build import Block, Column, Sheet, fill, setting_of
from fwsvm.analysis.tables.model import Table
from fwsvm.analysis.tables.sizes import SIZES
from fwsvm.errors import ResultsError, UsageError

HEADS = {"cvm": "CVM", "fw": "FW", "mfw": "MFW", "swap": "SWAP", "swap-2o": "SWAP-2o", "avsf": "AVSF",
         "scs": "SCS", "liblinear": "liblinear", "wolfe": "Wolfe", "pegasos": "Pegasos"}  # fmt: skip
ONLY_FIGURES = (
    "000 prints its results as figures; the published numbers of CVM, FW and MFW are those of 003, "
    "which has the same data sets and design"
)


@dataclass(frozen=True, slots=True)
class Layout:
    """A paper's table: what it shows of which methods and kernel, beside whose printed numbers."""

    title: str
    published: str  # the paper whose numbers stand beside ours
    methods: tuple[str, ...]
    kernel: str | None
    measures: tuple[str, ...]
    sheets: Callable[["Layout", pd.DataFrame], list[Sheet]]
    notes: tuple[str, ...] = ()

    def fits(self, cells: pd.DataFrame) -> bool:
        """Return whether these cells have the table's methods and kernel, no others, and data sets of the paper's.

        002's tables over C are good for any data sets.
        """
        if self.published != "002" and not set(cells["dataset"]) & set(
            published.training_rows(self.published)
        ):
            return False
        return self.choose(cells)["method"].nunique() == len(self.methods) == cells["method"].nunique()

    def choose(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the cells that can appear in this table."""
        chosen = cells[cells["method"].isin(self.methods)]
        if self.kernel is not None:
            chosen = chosen[chosen["kernel"].isin([self.kernel, ""])]
        if self.published == "003":
            chosen = without_sweeps(chosen)
        return against_baseline(chosen, "cvm") if any(measure(m).derived for m in self.measures) else chosen


def _method_columns(layout: Layout) -> list[Column]:
    """Return one column per method and measure, method by method."""
    several = len(layout.measures) > 1
    return [
        Column(
            HEADS[method] + (f" {'acc.' if name == 'accuracy' else 's'}" if several else ""),
            {"method": method},
            name,
        )
        for method in layout.methods
        for name in layout.measures
    ]


def per_dataset(layout: Layout, cells: pd.DataFrame) -> list[Sheet]:
    """Set data sets down and methods across."""
    blocks = [Block((published.title(name),), {"dataset": name}) for name in in_order(cells["dataset"])]
    return [Sheet(layout.title, ("data set",), blocks, _method_columns(layout), layout.notes)]


def over_C(tolerance: float) -> Callable[[Layout, pd.DataFrame], list[Sheet]]:  # noqa: N802 - C is the penalty
    """Set problems and solvers down and C across; seconds first, then update steps (002 Tables 2 and 3)."""

    def sheets(layout: Layout, cells: pd.DataFrame) -> list[Sheet]:
        here = cells[cells["tolerance"] == tolerance]
        blocks = [
            Block(
                (published.title(dataset), HEADS[method]),
                {"dataset": dataset, "method": method, "tolerance": tolerance},
            )
            for dataset in in_order(here["dataset"])
            for method in layout.methods
        ]
        grid = sorted(here["C"].dropna().unique())
        return [
            Sheet(
                f"{layout.title}: {measure(name).title}",
                ("problem", "solver"),
                blocks,
                [Column(f"C={C:g}", {"C": C}, name) for C in grid],
                dash_if_no_rival_finished=name == "time",
            )
            for name in layout.measures
        ]

    return sheets


FRANK_WOLFE = ("cvm", "fw", "mfw")
LINEAR = ("liblinear", "avsf")
STOCHASTIC = ("wolfe", "pegasos", "scs")
WITH_SWAP = (*FRANK_WOLFE, "swap", "swap-2o")


def _swap(title: str, name: str) -> Layout:
    return Layout(f"000, Figures: {title}", "003", WITH_SWAP, "rbf", (name,), per_dataset, (ONLY_FIGURES,))


LAYOUTS = {
    "003-2": Layout("003, Table 2: test accuracy (%)", "003", FRANK_WOLFE, "rbf", ("accuracy",), per_dataset),
    "003-3": Layout("003, Table 3: training time (s)", "003", FRANK_WOLFE, "rbf", ("time",), per_dataset),
    "003-8": Layout("003, Table 8: quadratic kernel, test accuracy (%) and training time (s)", "003",
                    ("fw", "mfw"), "quadratic", ("accuracy", "time"), per_dataset),
    "000-accuracy": _swap("test accuracy (%)", "accuracy"),
    "000-time": _swap("training time (s)", "time"),
    "000-size": _swap("model size (support vectors)", "size"),
    "000-speedup": _swap("speed-up over CVM", "speedup"),
    "000-relative-accuracy": _swap("accuracy below CVM's, relative (%)", "relative-accuracy"),
    "000-quadratic": Layout("000, Figures 10, 11: quadratic kernel, test accuracy (%) and training time (s)",
                            "003", WITH_SWAP[1:], "quadratic", ("accuracy", "time"), per_dataset,
                            (ONLY_FIGURES,)),
    "002-2": Layout("002, Table 2, epsilon 0.01", "002", LINEAR, None, ("time", "steps"), over_C(0.01)),
    "002-3": Layout("002, Table 3, epsilon 0.001", "002", LINEAR, None, ("time", "steps"), over_C(0.001)),
    "004-1": Layout("004, Table 1: test accuracy (%) and training time (s)", "004", STOCHASTIC, None,
                    ("accuracy", "time"), per_dataset),
}  # fmt: skip


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
    tables = [fill(sheet, mine, theirs) for sheet in sheets]
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
    varying = [
        name
        for name in ("experiment", "profile", "kernel", "C", "tolerance", "search", "stop", "width_rule")
        if (cells.groupby(["dataset", "method"])[name].nunique(dropna=False) > 1).any()
    ]
    keys = cells[["dataset", *varying]].drop_duplicates()
    blocks = [
        Block(
            tuple(f"{v:g}" if isinstance(v, float) else str(v) for v in (published.title(key[0]), *key[1:])),
            dict(zip(keys.columns, key, strict=True)),
        )
        for key in keys.itertuples(index=False, name=None)
    ]
    tables = []
    for name in names:
        columns = [Column(HEADS.get(method, method), {"method": method}, name) for method in methods]
        sheet = Sheet(measure(name).title, ("data set", *varying), blocks, columns)
        tables.append(_with_setting(fill(sheet, cells, None), cells))
    return tables


def choose(cells: pd.DataFrame, names: Sequence[str]) -> list[tuple[pd.DataFrame, list[str]]]:
    """Return which cells to show in which tables: all in the named ones, or each experiment in its own.

    An experiment that fills no paper's table gets accuracy, time and size, as far as they were measured.
    """
    if names:
        return [(cells, list(names))]
    experiments = [cells[cells["experiment"] == name] for name in dict.fromkeys(cells["experiment"])]
    return [(some, fitting(some) or measured(some)) for some in experiments]


def draw(cells: pd.DataFrame | None, names: Sequence[str], *, with_published: bool = True) -> list[Table]:
    """Return the tables of these names: a paper's table each, or a measure of our cells.

    Without cells a paper's table has its printed numbers alone.
    """
    drawn: list[Table] = []
    for name in names:
        if name in SIZES:
            drawn.append(sizes.table(name, cells))
        elif cells is None or name in LAYOUTS:
            drawn += paper_tables(name, cells, with_published=with_published)
        else:
            drawn += plain_tables(cells, [name])
    return drawn


def fitting(cells: pd.DataFrame) -> list[str]:
    """Return the names of the papers' layouts that these cells fill."""
    found = []
    for name, layout in LAYOUTS.items():
        if layout.fits(cells):
            chosen = layout.choose(cells)
            found += [name] if any(sheet.blocks for sheet in layout.sheets(layout, chosen)) else []
    return found


def measured(cells: pd.DataFrame) -> list[str]:
    """Return those of accuracy, time and size that any of these cells has."""
    return [name for name in ("accuracy", "time", "size") if cells[measure(name).column].notna().any()] or [
        "time"
    ]


def layout_named(name: str) -> Layout:
    """Return the layout of that name; UsageError names the known ones."""
    if name not in LAYOUTS:
        raise UsageError(f"there is no table {name}; known are {', '.join([*SIZES, *LAYOUTS])}")
    return LAYOUTS[name]


def timed(names: Sequence[str]) -> bool:
    """Return whether any of these layouts or measures shows times."""
    measures = [
        m
        for name in names
        if name not in SIZES
        for m in (LAYOUTS[name].measures if name in LAYOUTS else (name,))
    ]
    return any(measure(m).timed for m in measures)


def in_order(datasets: "pd.Series[str]") -> list[str]:
    """Return the distinct data sets in the papers' order, then the others as they come."""
    present = list(dict.fromkeys(datasets))
    known = [str(lock) for lock in published.names()["lock"] if lock in present]
    return known + [name for name in present if name not in known]


def _with_setting(table: Table, cells: pd.DataFrame | None) -> Table:
    """Add what all our cells have in common to the notes."""
    if cells is None or not (setting := setting_of(cells)):
        return table
    return replace(table, notes=(f"ours: {setting}", *table.notes))
