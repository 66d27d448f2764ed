"""The layout of a paper's table: which measures of which methods, in which rows and columns."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.baseline import against_baseline
from fwsvm.analysis.measures import measure
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.analysis.sweeps import without_sweeps
from fwsvm.analysis.tables.build import RowBlock, Sheet, TableColumn


@dataclass(frozen=True, slots=True)
class Layout:
    """A paper's table: its methods, kernel and measures, and the paper whose printed numbers are shown with ours."""

    title: str
    published: str  # the paper whose numbers are shown with ours
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


def _method_columns(layout: Layout) -> list[TableColumn]:
    """Return one column per method and measure, method by method."""
    several = len(layout.measures) > 1
    return [
        TableColumn(
            METHOD_NAMES[method] + (f" {'acc.' if name == 'accuracy' else 's'}" if several else ""),
            {"method": method},
            name,
        )
        for method in layout.methods
        for name in layout.measures
    ]


def per_dataset(layout: Layout, cells: pd.DataFrame) -> list[Sheet]:
    """Return a sheet with a row for each data set and a column for each method."""
    blocks = [RowBlock((published.title(name),), {"dataset": name}) for name in in_order(cells["dataset"])]
    return [Sheet(layout.title, ("data set",), blocks, _method_columns(layout), layout.notes)]


def over_C(tolerance: float) -> Callable[[Layout, pd.DataFrame], list[Sheet]]:  # noqa: N802 - C is the penalty
    """Return sheets with a row for each problem and solver and a column for each C, one a measure (002 Tables 2, 3)."""

    def sheets(layout: Layout, cells: pd.DataFrame) -> list[Sheet]:
        here = cells[cells["tolerance"] == tolerance]
        blocks = [
            RowBlock(
                (published.title(dataset), METHOD_NAMES[method]),
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
                [TableColumn(f"C={C:g}", {"C": C}, name) for C in grid],
                dash_if_no_rival_finished=name == "time",
            )
            for name in layout.measures
        ]

    return sheets


def in_order(datasets: "pd.Series[str]") -> list[str]:
    """Return the distinct data sets in the papers' order, then the others as they come."""
    present = list(dict.fromkeys(datasets))
    known = [str(lock) for lock in published.names()["lock"] if lock in present]
    return known + [name for name in present if name not in known]
