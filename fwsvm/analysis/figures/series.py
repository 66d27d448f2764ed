"""A measure on data sets: along a series against the number of rows, or single.

Series are Figures 3 and 4 of Frandi et al. and 2 to 4 of Nanculef et al. Single data sets (Figures 5 and 6, 5 to 9)
have a line each, with dots, not bars: bars from zero hide differences between accuracies of 97 and 98, and have no
meaning on a log axis.
"""

from collections.abc import Iterator

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_baseline, without_sweeps
from fwsvm.analysis.figures.data import (
    FigureData,
    cut_short,
    draw_curves,
    drawable,
    finish_panel,
    labels_of,
    notes_of,
    settings_apart,
    whiskers,
)
from fwsvm.analysis.figures.style import (
    GRID,
    Drawing,
    footnote,
    hollow,
    legend,
    log_axis,
    panels,
    set_titles,
    style_of,
)
from fwsvm.analysis.measures import Measure, measure

SERIES = {"web": "Web", "adult": "Adult"}
MEASURES = ("accuracy", "time", "speedup", "size")


def draw_series(data: FigureData) -> list[Drawing]:
    """Draw each measure in one picture, a panel per series of which two data sets or more were run."""
    return [
        _series_picture(data, cells, members, measure(name), said)
        for said, cells in _series_cells(data)
        for name in data.plain or MEASURES
        if (members := _members(cells, measure(name)))
    ]


def _series_cells(data: FigureData) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the cells of members of a series, of the rbf kernel where there is one."""
    cells = without_sweeps(data.selected(data.cells))
    cells = cells[cells["kernel"].isin(["rbf", ""])] if (cells["kernel"] == "rbf").any() else cells
    every = {name for one in SERIES for name in published.series(one)}
    cells = cells[cells["dataset"].replace(published.made_here()).isin(every)]
    for said, here in settings_apart(against_baseline(cells, data.baseline)):
        yield said, drawable(here)


def _members(cells: pd.DataFrame, kind: Measure) -> dict[str, pd.DataFrame]:
    """Return the cells with a number by series, with stand-ins where a set is lacking, if it has two sets or more."""
    known = cells[cells[kind.column].notna() & cells["rows"].notna()]
    stand_ins = published.standing_in(set(known["dataset"]))
    found = {}
    for name in SERIES:
        names = published.series(name)
        sets = {*names, *(made for made, of in stand_ins.items() if of in names)}
        here = known[known["dataset"].isin(sets)]
        if here["dataset"].nunique() > 1:
            found[name] = _placed(here)
    return found


def _placed(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of one series with each data set's place on the axis.

    That is its size, or its number in the series if sizes repeat, as they do where a profile caps the rows.
    """
    sizes = cells.groupby("dataset")["rows"].max().reindex(published.in_order(cells["dataset"]))
    places = sizes if sizes.is_unique else pd.Series(range(len(sizes)), sizes.index, dtype=float)
    placed = cells.assign(place=cells["dataset"].map(places), size=cells["dataset"].map(sizes))
    return placed.sort_values("place", kind="stable")


def _series_picture(
    data: FigureData, cells: pd.DataFrame, members: dict[str, pd.DataFrame], kind: Measure, said: str
) -> Drawing:
    from matplotlib.ticker import NullLocator

    methods = data.compared(cells, kind)
    figure, axes = panels(len(members))
    for panel, (name, points) in zip(axes, members.items(), strict=True):
        draw_curves(panel, points, "place", kind, methods)
        finish_panel(panel, "y", points[points["method"].isin(methods)], kind, "dataset")
        sets = points.drop_duplicates("dataset")
        if (sets["place"] == sets["size"]).all():
            log_axis(panel, "x")
        panel.xaxis.set_minor_locator(NullLocator())
        titles = sets["dataset"].map(published.title) + "\n" + sets["size"].map("{:,.0f}".format)
        panel.set_xticks(sets["place"].tolist(), titles.tolist())
        panel.tick_params(axis="x", labelsize=6)
        set_titles(panel, SERIES[name], "training rows m", data.title_of(kind))
    legend(figure, axes)
    known = pd.concat(members.values())
    replaced = published.standing_in(set(known["dataset"])).values()
    notes = notes_of(cells[~cells["dataset"].isin(replaced)], known, kind)
    footnote(figure, *notes)
    caption = f"{data.title_of(kind)} against the number of training rows{said and f', {said}'}"
    return Drawing(f"series-{kind.name}", f"{'; '.join([caption, *notes])}.", figure)


def draw_datasets(data: FigureData) -> list[Drawing]:
    """Draw each measure in one picture: data sets down, means as markers, deviations as whiskers."""
    cells = without_sweeps(data.selected(data.cells))
    several = cells.loc[cells["kernel"] != "", "kernel"].nunique() > 1
    in_series = [] if data.datasets else [here for _, here in _series_cells(data)]
    drawings = []
    for kernel, here in cells.groupby("kernel", sort=False):
        suffix = "" if kernel in {"rbf", "linear", ""} else f"-{kernel}"
        words = [f"{kernel} kernel"] * bool(kernel and (suffix or several))
        for said, part in settings_apart(against_baseline(here, data.baseline)):
            for kind in map(measure, data.plain or MEASURES):
                # a series has a picture of its own, and names there what it lacks
                drawn = [place for each in in_series for place in _drawn(each, kind)]
                shown = drawable(part).drop(index=drawn, errors="ignore")
                if shown[kind.column].notna().any():
                    place = ", ".join(filter(None, [*words, said]))
                    drawings.append(_datasets_picture(data, shown, kind, suffix, place))
    return drawings


def _drawn(cells: pd.DataFrame, kind: Measure) -> "pd.Index[int]":
    """Return the index of the cells of series that `draw_series` draws in a measure, with what these lack."""
    drawn = [name for series in _members(cells, kind) for name in published.series(series)]
    return cells.index[cells["dataset"].replace(published.made_here()).isin(drawn)]


def _datasets_picture(
    data: FigureData, cells: pd.DataFrame, kind: Measure, suffix: str, said: str
) -> Drawing:
    known = cells[cells[kind.column].notna()]
    labels, methods = labels_of(known), data.compared(cells, kind)
    figure, (panel,) = panels(1, width=5.4, height=(0.12 + 0.09 * len(methods)) * len(labels) + 0.9)
    panel.grid(visible=False, axis="y")
    for line in range(len(labels) - 1):
        panel.axhline(line + 0.5, color=GRID, linewidth=0.6)
    heights = {dataset: place for place, dataset in enumerate(labels)}
    for place, method in enumerate(methods):
        here = known[known["method"] == method]
        style = style_of(method, methods) | {"linestyle": "none", "markersize": 5.5}
        at = here["dataset"].map(heights) + 0.8 * (place - (len(methods) - 1) / 2) / len(methods)
        values, cut = here[kind.column] * kind.factor, cut_short(here, kind)
        panel.hlines(at, *whiskers(here, kind), color=style["color"], linewidth=1)
        if len(here):
            panel.plot(values, at, **style)
        hollow(panel, values[cut], at[cut], style)
    panel.set_yticks(range(len(labels)), list(labels.values()))
    panel.set_ylim(len(labels) - 0.5, -0.5)
    finish_panel(panel, "x", known, kind, "dataset")
    set_titles(panel, "", data.title_of(kind), "")
    legend(figure, [panel])
    notes = notes_of(cells, known, kind)
    footnote(figure, *notes)
    caption = f"{data.title_of(kind)} on single data sets{said and f', {said}'}"
    return Drawing(f"datasets-{kind.name}{suffix}", f"{'; '.join([caption, *notes])}.", figure)
