"""A measure against the number of training rows along a series (003 Figures 3, 4; 000 Figures 2 to 4)."""

from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_baseline, without_sweeps
from fwsvm.analysis.figures.data import (
    FigureData,
    cut_short,
    drawable,
    is_noise,
    methods_of,
    records,
    settings_apart,
    whiskers,
    without_number,
)
from fwsvm.analysis.figures.registry import Asked, figure
from fwsvm.analysis.figures.style import (
    HOLLOW_NOTE,
    INK,
    Drawing,
    PointRows,
    band,
    footnote,
    hollow,
    keep_within,
    legend,
    log_axis,
    panels,
    plain_label,
    say_noise,
    set_titles,
    style_of,
)
from fwsvm.analysis.measures import Measure, measure
from fwsvm.analysis.published import METHOD_NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SERIES = {"web": "Web", "adult": "Adult"}
#: Curves whose distance is a smaller part of their rise than this are drawn as differences too.
COINCIDE = 0.1


@figure("series", 1)
def draw(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw each measure in one picture, a panel per series of which two data sets or more were run."""
    drawings = []
    for setting, here in settings_apart(against_baseline(_members_in(data), asked.baseline)):
        compared = drawable(here)
        for name in asked.plain or ("accuracy", "time", "speedup", "size"):
            kind = measure(name)
            known, present = _known(compared, kind)
            if present:
                absent = without_number(compared[_of_series(compared, known, present)], known["dataset"])
                drawings.append(_picture(known, present, kind, asked.baseline, setting, absent))
    return drawings


def _members_in(data: FigureData) -> pd.DataFrame:
    """Return the cells of members of a series, of the rbf kernel where there is one."""
    cells = without_sweeps(data.selected(data.cells))
    cells = cells[cells["kernel"].isin(["rbf", ""])] if (cells["kernel"] == "rbf").any() else cells
    return cells[cells["dataset"].map(is_of_a_series).astype(bool)]


def _known(compared: pd.DataFrame, kind: Measure) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells with a number, and the series with two data sets or more among them."""
    known = compared[compared[kind.column].notna() & compared["rows"].notna()]
    return known, [one for one in SERIES if known.loc[_inside(known, one), "dataset"].nunique() > 1]


def drawn_cells(data: FigureData, asked: Asked, kind: Measure) -> "pd.Index[int]":
    """Return the index of the cells that `draw` shows in a measure, or names as lacking a number."""
    drawn: set[Hashable] = set()
    for _, here in settings_apart(against_baseline(_members_in(data), asked.baseline)):
        known, present = _known(drawable(here), kind)
        drawn |= set(here.index[_of_series(here, known, present)]) if present else set()
    return pd.Index(list(drawn))


def is_of_a_series(dataset: str) -> bool:
    """Whether a data set, or the one whose place it takes, is one of a series, be that one measured or not."""
    published_one = published.made_here().get(dataset) or dataset
    return any(published_one in published.series(name) for name in SERIES)


def _inside(cells: pd.DataFrame, name: str) -> "pd.Series[bool]":
    """Return which cells belong to a series; stand-ins do where the published data set is lacking."""
    return cells["dataset"].isin(members(name, set(cells["dataset"])))


def _of_series(cells: pd.DataFrame, known: pd.DataFrame, present: list[str]) -> "pd.Series[bool]":
    """Return which cells belong to series that are drawn, without those in whose place others are drawn."""
    measured = set(known["dataset"])
    drawn = {dataset for one in present for dataset in members(one, measured)}
    return cells["dataset"].isin(drawn - set(published.standing_in(measured).values()))


def members(name: str, datasets: Collection[str]) -> list[str]:
    """Return the data sets of a series, and those of ``datasets`` that stand in for others of it."""
    series = published.series(name)
    return [*series, *(made for made, of in published.standing_in(datasets).items() if of in series)]


def _picture(
    cells: pd.DataFrame, present: list[str], kind: Measure, baseline: str, setting: str, absent: list[str]
) -> Drawing:
    methods = [m for m in methods_of(cells) if not (kind.name == "speedup" and m == baseline)]
    points = {name: _points(cells[_inside(cells, name) & cells["method"].isin(methods)]) for name in present}
    differ = not kind.derived and any(_coincide(one, kind) for one in points.values())
    figure, axes = panels(len(present), 1 + differ)
    rows: PointRows = {}
    for place, name in enumerate(present):
        rows |= _curves(axes[place], points[name], kind, methods)
        if kind.name == "speedup":
            axes[place].axhline(1, color=INK, linewidth=0.8)
        if kind.log_axis:
            log_axis(axes[place], "y")
        keep_within(axes[place], "y", kind)
        if is_noise(points[name], kind):
            say_noise(axes[place])
        set_titles(axes[place], SERIES[name], "training rows m", title_of(kind, baseline))
        if differ:
            below = axes[len(present) + place]
            rows |= _differences(below, points[name], kind, methods)
            unit = "points" if kind.name == "accuracy" else "%"
            set_titles(below, f"{SERIES[name]}, differences", "training rows m", f"from the mean ({unit})")
    some_cut = any(bool(cut_short(one, kind).any()) for one in points.values())
    legend(figure, axes, cut_short=some_cut)
    caption = f"{title_of(kind, baseline)} against the number of training rows{setting and f', {setting}'}"
    caption += "" if kind.derived else "; bands are one standard deviation"
    caption += "; differences are from the mean of the methods" if differ else ""
    footnote(figure, *absent)
    caption = "; ".join([caption, *absent])
    caption += f"{HOLLOW_NOTE}." if some_cut else "."
    return Drawing(f"series-{kind.name}", caption, figure, rows)


def _points(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of one series in order, with each data set's place on the axis.

    That is its size, or its number in the series if sizes repeat, as they do where a profile caps the rows.
    """
    names = [name for name in published.names()["lock"] if name in set(cells["dataset"])]
    sizes = cells.groupby("dataset")["rows"].max().reindex(names)
    places = dict(sizes) if sizes.is_unique else {name: float(i) for i, name in enumerate(names)}
    placed = cells.assign(
        place=[places[name] for name in cells["dataset"]], size=[sizes[name] for name in cells["dataset"]]
    )
    return placed.sort_values("place", kind="stable")


def _coincide(points: pd.DataFrame, kind: Measure) -> bool:
    """Return whether the methods' curves lie so near to each other that nobody can tell them apart."""
    values = points[kind.column] if kind.name == "accuracy" else np.log(points[kind.column])
    if points["method"].nunique() < 2 or not np.isfinite(values).all():
        return False
    apart = values.groupby(points["dataset"])
    rise = float(values.max() - values.min())
    return rise > 0 and float((apart.max() - apart.min()).max()) < COINCIDE * rise


def _curves(panel: "Axes", points: pd.DataFrame, kind: Measure, methods: list[str]) -> PointRows:
    """Draw each method's means with a band of one standard deviation."""
    rows: PointRows = {}
    for method in methods:
        mine = points[points["method"] == method]
        style = style_of(method, methods)
        values = mine[kind.column] * kind.factor
        (line,) = panel.plot(mine["place"], values, **style)
        rows[line] = records(mine)
        band(panel, mine["place"], *whiskers(mine, kind), style)
        cut = cut_short(mine, kind)
        hollow(panel, mine["place"][cut], values[cut], style)
    _name_points(panel, points)
    return rows


def _differences(panel: "Axes", points: pd.DataFrame, kind: Measure, methods: list[str]) -> PointRows:
    """Draw each method's distance from the mean of the methods on the same data set."""
    rows: PointRows = {}
    mean = points.groupby("dataset")[kind.column].transform("mean")
    apart = points[kind.column] - mean if kind.name == "accuracy" else points[kind.column] / mean - 1
    for method in methods:
        mine = points["method"] == method
        style = style_of(method, methods)
        (line,) = panel.plot(points["place"][mine], 100 * apart[mine], **style)
        rows[line] = records(points[mine])
        cut = mine & cut_short(points, kind)
        hollow(panel, points["place"][cut], 100 * apart[cut], style)
    panel.axhline(0, color=INK, linewidth=0.8)
    _name_points(panel, points)
    return rows


def title_of(kind: Measure, baseline: str) -> str:
    """Return a measure's axis title, naming the baseline of a comparison."""
    return kind.title.replace("the baseline", METHOD_NAMES.get(baseline, plain_label(baseline)))


def _name_points(panel: "Axes", points: pd.DataFrame) -> None:
    """Label the axis with the data sets themselves and their sizes: they are the points of the series."""
    from matplotlib.ticker import NullFormatter, NullLocator

    named = points.drop_duplicates("dataset")
    if (named["place"] == named["size"]).all():
        log_axis(panel, "x")
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_minor_formatter(NullFormatter())
    titles = map(published.title, named["dataset"])
    labels = [f"{name}\n{rows:,.0f}" for name, rows in zip(titles, named["size"], strict=True)]
    panel.set_xticks(named["place"].tolist(), labels)
    panel.tick_params(axis="x", labelsize=6)
