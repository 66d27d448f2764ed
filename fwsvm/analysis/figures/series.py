"""A measure against the number of training rows along a series (003 Figures 3, 4; 000 Figures 2 to 4)."""

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_baseline, without_sweeps
from fwsvm.analysis.figures.source import Source, methods_of
from fwsvm.analysis.figures.style import Drawing, legend, log_axis, look, panels, titled
from fwsvm.analysis.measures import Measure, measure
from fwsvm.analysis.tables.layouts import HEADS

SERIES = {"web": "Web", "adult": "Adult"}
BAND = 0.18


def draw(source: Source, names: tuple[str, ...], baseline: str) -> list[Drawing]:
    """Draw each measure in one picture, a panel per series that has at least three data sets."""
    cells = without_sweeps(source.shown(source.cells))
    cells = cells[cells["kernel"].isin(["rbf", ""])] if (cells["kernel"] == "rbf").any() else cells
    cells = against_baseline(cells, baseline)
    present = [name for name in SERIES if cells.loc[_inside(cells, name), "rows"].nunique() > 2]
    drawings = []
    for name in names or ("accuracy", "time", "speedup", "size"):
        kind = measure(name)
        if present and cells[kind.column].notna().any():
            drawings.append(_picture(cells, present, kind, baseline))
    return drawings


def _inside(cells: pd.DataFrame, name: str) -> "pd.Series[bool]":
    return cells["dataset"].isin(published.series(name))


def _picture(cells: pd.DataFrame, present: list[str], kind: Measure, baseline: str) -> Drawing:
    figure, axes = panels(len(present))
    methods = [m for m in methods_of(cells) if not (kind.name == "speedup" and m == baseline)]
    for panel, name in zip(axes, present, strict=True):
        here = cells[_inside(cells, name)]
        for method in methods:
            points = here[here["method"] == method].dropna(subset=[kind.column]).sort_values("rows")
            values = points[kind.column] * kind.factor
            style = look(method, methods)
            panel.plot(points["rows"], values, **style)
            spread = points[f"{kind.column}_sd"].fillna(0) * kind.factor
            low = values - spread
            if kind.name != "accuracy":
                low = low.clip(lower=values / 3)  # a log axis has no room for bands that reach zero
            panel.fill_between(
                points["rows"], low, values + spread, color=style["color"], alpha=BAND, linewidth=0
            )
        log_axis(panel, "x")
        if kind.name != "accuracy":
            log_axis(panel, "y")
        if kind.name == "speedup":
            panel.axhline(1, color="#222222", linewidth=0.8)
        _name_points(panel, here)
        titled(panel, SERIES[name], "training rows m", title_of(kind, baseline))
    legend(figure, axes)
    caption = f"{title_of(kind, baseline)} against the number of training rows"
    caption += "." if kind.derived else "; bands are one standard deviation."
    return Drawing(f"series-{kind.name}", caption, figure)


def title_of(kind: Measure, baseline: str) -> str:
    """Return a measure's axis title, naming the baseline of a comparison."""
    return kind.title.replace("the baseline", HEADS.get(baseline, baseline))


def _name_points(panel, here: pd.DataFrame) -> None:  # type: ignore[no-untyped-def]
    """Label the axis with the data sets themselves, at their sizes: they are the points of the series."""
    from matplotlib.ticker import NullFormatter, NullLocator

    sizes = here.drop_duplicates("dataset").sort_values("rows")
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.set_xticks(
        list(sizes["rows"]), [f"{d}\n{m:,.0f}" for d, m in zip(sizes["dataset"], sizes["rows"], strict=True)]
    )
    panel.tick_params(axis="x", labelsize=6)
