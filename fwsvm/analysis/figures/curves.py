"""A measure as curves: along a series of growing data sets, or over the penalty C.

Series are Figures 3 and 4 of Frandi et al. and 2 to 4 of Nanculef et al.; C is that of Figure 1 of Glasmachers and
Dogan, and of Figures 7 and 8 of Frandi et al.
"""

import math
from collections.abc import Callable, Iterator

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_cvm, sweeps, without_sweeps
from fwsvm.analysis.figures.data import (
    FigureData,
    compared,
    draw_curves,
    drawable,
    finish_axis,
    labels_of,
    notes_of,
    settings_apart,
)
from fwsvm.analysis.figures.style import Drawing, footnote, legend, log_axis, panels, set_titles
from fwsvm.analysis.measures import Measure

SERIES = {"web": "Web", "adult": "Adult"}
MAX_TICKS = 7
#: Places of ticks on the x axis, and their labels.
Ticks = Callable[[pd.DataFrame], tuple[list[float], list[str]]]


def draw_series(data: FigureData) -> list[Drawing]:
    """Draw each measure in one picture, a panel per series of which two data sets or more were run."""
    drawings = []
    for said, cells in series_cells(data):
        for kind in data.kinds("accuracy", "time", "speedup", "size"):
            known = cells[cells[kind.column].notna() & cells["rows"].notna()]
            parts = {SERIES[name]: _placed(here) for name, here in members(known).items()}
            if parts:
                drawn = pd.concat(parts.values())
                replaced = published.standing_in(set(drawn["dataset"])).values()
                notes = notes_of(cells[~cells["dataset"].isin(replaced)], drawn, kind)
                caption = f"{kind.title} against the number of training rows{said and f', {said}'}"
                drawings.append(_picture(parts, kind, "place", f"series-{kind.name}", caption, notes, _sizes))
    return drawings


def series_cells(data: FigureData) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the cells of members of a series, of the rbf kernel where there is one."""
    cells = without_sweeps(data.cells)
    cells = cells[cells["kernel"].isin(["rbf", ""])] if (cells["kernel"] == "rbf").any() else cells
    every = {name for one in SERIES for name in published.series(one)}
    cells = cells[cells["dataset"].replace(published.made_here()).isin(every)]
    for said, here in settings_apart(against_cvm(cells)):
        yield said, drawable(here)


def members(known: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the cells by series, with stand-ins where a set is lacking, if it has two sets or more."""
    stand_ins = published.standing_in(set(known["dataset"]))
    found = {}
    for name in SERIES:
        names = published.series(name)
        here = known[
            known["dataset"].isin({*names, *(made for made, of in stand_ins.items() if of in names)})
        ]
        if here["dataset"].nunique() > 1:
            found[name] = here
    return found


def _placed(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of one series with each data set's place on the axis.

    That is its size, or its number in the series if sizes repeat, as they do where a profile caps the rows.
    """
    sizes = cells.groupby("dataset")["rows"].max().reindex(published.in_order(cells["dataset"]))
    places = sizes if sizes.is_unique else pd.Series(range(len(sizes)), sizes.index, dtype=float)
    placed = cells.assign(place=cells["dataset"].map(places), size=cells["dataset"].map(sizes))
    return placed.sort_values("place", kind="stable")


def _sizes(points: pd.DataFrame) -> tuple[list[float], list[str]]:
    sets = points.drop_duplicates("dataset")
    titles = sets["dataset"].map(published.title) + "\n" + sets["size"].map("{:,.0f}".format)
    return sets["place"].tolist(), titles.tolist()


def draw_sweeps(data: FigureData) -> list[Drawing]:
    """Draw each measure over C in one picture, a panel per data set; dashed lines have the smaller tolerance."""
    drawings = []
    lacking = data.cells[data.cells.groupby("dataset")["used"].transform("max") == 0]
    for said, cells in settings_apart(sweeps(data.cells), within=("tolerance", "C")):
        linear = cells["method"].isin(["liblinear", "avsf"]).all()
        for kind in data.kinds("accuracy", "time", *(["steps"] if linear else [])):
            if kind.column in cells and cells[kind.column].notna().any():
                known = cells[cells[kind.column].notna()]
                parts = {label: known[known["dataset"] == name] for name, label in labels_of(known).items()}
                notes = notes_of(pd.concat([known, lacking]), known, kind)
                caption = f"{kind.title} against the penalty C{said and f', {said}'}"
                drawings.append(_picture(parts, kind, "C", f"sweep-{kind.name}", caption, notes, _penalties))
    return drawings


def _penalties(points: pd.DataFrame) -> tuple[list[float], list[str]]:
    values = sorted(points["C"].unique())
    ticks = values[:: math.ceil(len(values) / MAX_TICKS)]
    return ticks, [f"{value:g}" for value in ticks]


def _picture(
    parts: dict[str, pd.DataFrame],
    kind: Measure,
    x: str,
    name: str,
    caption: str,
    notes: list[str],
    ticks: Ticks,
) -> Drawing:
    """Draw a panel for each part, with a curve for each method and, of several, tolerance."""
    from matplotlib.ticker import NullLocator

    cells = pd.concat(parts.values())
    methods = compared(cells, kind)
    tolerances = sorted(cells["tolerance"].dropna().unique(), reverse=True) if x == "C" else []
    columns = 2 if len(parts) in {2, 4} else min(3, len(parts))
    figure, axes = panels(columns, math.ceil(len(parts) / columns))
    for panel in axes[len(parts) :]:
        panel.set_visible(False)
    for panel, (title, points) in zip(axes, parts.items(), strict=False):
        for place, tolerance in enumerate(tolerances if len(tolerances) > 1 else [None]):
            mine = points if tolerance is None else points[points["tolerance"] == tolerance]
            look = {"linestyle": (0, (4, 2))} if place else {}
            label = "" if tolerance is None else f", tolerance {tolerance:g}"
            draw_curves(panel, mine, x, kind, methods, label=label, **look)
        finish_axis(panel, "y", kind)
        if x == "C" or (points["place"] == points["size"]).all():
            log_axis(panel, "x")
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xticks(*ticks(points))
        panel.tick_params(axis="x", labelsize=6)
        set_titles(panel, title, "C" if x == "C" else "training rows m", kind.title)
    legend(figure, axes[: len(parts)])
    footnote(figure, *notes)
    return Drawing(name, f"{'; '.join([caption, *notes])}.", figure)
