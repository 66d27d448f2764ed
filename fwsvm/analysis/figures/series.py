"""A measure against the number of training rows along a series (003 Figures 3, 4; 000 Figures 2 to 4)."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_baseline, without_sweeps
from fwsvm.analysis.figures.data import FigureData, drawable, methods_of
from fwsvm.analysis.figures.registry import Asked, figure
from fwsvm.analysis.figures.style import (
    HOLLOW_NOTE,
    INK,
    Drawing,
    hollow_marker,
    legend,
    log_axis,
    panels,
    plain_label,
    set_titles,
    style_of,
)
from fwsvm.analysis.measures import Measure, measure
from fwsvm.analysis.published import METHOD_NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SERIES = {"web": "Web", "adult": "Adult"}
BAND = 0.18


@figure("series", 1)
def draw(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw each measure in one picture, a panel per series that has at least three data sets."""
    cells = without_sweeps(data.selected(data.cells))
    cells = cells[cells["kernel"].isin(["rbf", ""])] if (cells["kernel"] == "rbf").any() else cells
    cells = drawable(against_baseline(cells, asked.baseline))
    present = [name for name in SERIES if cells.loc[_inside(cells, name), "rows"].nunique() > 2]
    drawings = []
    for name in asked.plain or ("accuracy", "time", "speedup", "size"):
        kind = measure(name)
        if present and cells[kind.column].notna().any():
            drawings.append(_picture(cells, present, kind, asked.baseline))
    return drawings


def _inside(cells: pd.DataFrame, name: str) -> "pd.Series[bool]":
    return cells["dataset"].isin(published.series(name))


def _picture(cells: pd.DataFrame, present: list[str], kind: Measure, baseline: str) -> Drawing:
    figure, axes = panels(len(present))
    methods = [m for m in methods_of(cells) if not (kind.name == "speedup" and m == baseline)]
    for panel, name in zip(axes, present, strict=True):
        here = cells[_inside(cells, name)]
        sizes = here.groupby("dataset")["rows"].max().dropna().reindex(published.series(name)).dropna()
        places = _places(sizes)
        for method in methods:
            points = here[(here["method"] == method) & here["dataset"].isin(sizes.index)]
            points = points.dropna(subset=[kind.column])
            points = points.assign(place=[places[dataset] for dataset in points["dataset"]]).sort_values(
                "place"
            )
            _line(panel, points, kind, style_of(method, methods))
        if sizes.is_unique:
            log_axis(panel, "x")
        if kind.name != "accuracy":
            log_axis(panel, "y")
        if kind.name == "speedup":
            panel.axhline(1, color=INK, linewidth=0.8)
        _name_points(panel, sizes, places)
        set_titles(panel, SERIES[name], "training rows m", title_of(kind, baseline))
    legend(figure, axes)
    caption = f"{title_of(kind, baseline)} against the number of training rows"
    caption += "" if kind.derived else "; bands are one standard deviation"
    caption += f"{HOLLOW_NOTE}." if bool(cells["censored"].any()) else "."
    return Drawing(f"series-{kind.name}", caption, figure)


def _places(sizes: "pd.Series[float]") -> dict[object, float]:
    """Return the position of each data set on the axis: its size, or its number in the series if sizes repeat.

    A profile that caps the number of rows leaves several data sets with the same size.
    """
    return (
        dict(sizes.items())
        if sizes.is_unique
        else {dataset: float(i) for i, dataset in enumerate(sizes.index)}
    )


def _line(panel: "Axes", points: pd.DataFrame, kind: Measure, style: dict[str, Any]) -> None:
    """Draw one method's means with a band of one standard deviation."""
    values = points[kind.column] * kind.factor
    spread = points[f"{kind.column}_sd"].fillna(0) * kind.factor
    low = values - spread
    if kind.name != "accuracy":
        low = low.clip(lower=values / 3)  # a log axis has no room for bands that reach zero
    panel.plot(points["place"], values, **style)
    panel.fill_between(points["place"], low, values + spread, color=style["color"], alpha=BAND, linewidth=0)
    cut = points["censored"].astype(bool)
    panel.plot(points["place"][cut], values[cut], style["marker"], **hollow_marker(style))


def title_of(kind: Measure, baseline: str) -> str:
    """Return a measure's axis title, naming the baseline of a comparison."""
    return kind.title.replace("the baseline", METHOD_NAMES.get(baseline, plain_label(baseline)))


def _name_points(panel: "Axes", sizes: "pd.Series[float]", places: dict[object, float]) -> None:
    """Label the axis with the data sets themselves and their sizes: they are the points of the series."""
    from matplotlib.ticker import NullFormatter, NullLocator

    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.set_xticks([places[d] for d in sizes.index], [f"{d}\n{m:,.0f}" for d, m in sizes.items()])
    panel.tick_params(axis="x", labelsize=6)
