"""Time and accuracy against C (002 Figure 1; 003 Figures 7, 8); a run cut short is a hollow marker."""

import math
from typing import TYPE_CHECKING

import pandas as pd

from fwsvm.analysis.cells import sweeps
from fwsvm.analysis.figures.data import (
    FigureData,
    fewer_rows,
    is_noise,
    labels_of,
    methods_of,
    never_finished,
    records,
    settings_apart,
)
from fwsvm.analysis.figures.registry import Asked, figure
from fwsvm.analysis.figures.style import (
    HOLLOW_NOTE,
    Drawing,
    PointRows,
    footnote,
    hollow,
    keep_within,
    legend,
    log_axis,
    panels,
    say_noise,
    set_titles,
    style_of,
    tick_text,
)
from fwsvm.analysis.measures import Measure, measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_TICKS = 7


@figure("sweep", 3)
def draw(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw each measure in one picture, a panel per data set; dashed lines have the smaller tolerance."""
    drawings = []
    asked_for = data.selected(data.cells)
    absent = never_finished(asked_for)
    for setting, cells in settings_apart(sweeps(asked_for), within=("tolerance", "C")):
        for name in asked.plain or ("accuracy", "time", "steps"):
            kind = measure(name)
            here = cells[cells[kind.column].notna()] if kind.column in cells else cells.head(0)
            if not (here.empty or (name == "steps" and not asked.plain and not _linear(here))):
                notes = [*absent, *fewer_rows(here)]
                drawings.append(_picture(here, data.order(here), kind, setting, notes))
    return drawings


def _picture(cells: pd.DataFrame, order: list[str], kind: Measure, setting: str, notes: list[str]) -> Drawing:
    columns = 2 if len(order) in {2, 4} else min(3, len(order))
    figure, axes = panels(columns, math.ceil(len(order) / columns), width=3.0, height=2.4)
    for panel in axes[len(order) :]:
        panel.set_visible(False)
    labels = labels_of(order)
    rows: PointRows = {}
    for panel, dataset in zip(axes, order, strict=False):
        rows |= _curves(panel, cells[cells["dataset"] == dataset], kind, methods_of(cells))
        _name_values(panel, cells.loc[cells["dataset"] == dataset, "C"])
        if kind.log_axis:
            log_axis(panel, "y")
        keep_within(panel, "y", kind)
        if is_noise(cells[cells["dataset"] == dataset], kind, "C"):
            say_noise(panel)
        set_titles(panel, labels[dataset], "C", kind.title)
    cut_short = bool(cells["censored"].any())
    legend(figure, axes[: len(order)], cut_short=cut_short)
    footnote(figure, *notes)
    what = "; ".join([f"{kind.title} against the penalty C{setting and f', {setting}'}", *notes])
    return Drawing(f"sweep-{kind.name}", f"{what}{HOLLOW_NOTE if cut_short else ''}.", figure, rows)


def _name_values(panel: "Axes", values: "pd.Series[float]") -> None:
    """Put the ticks of a log axis at the values of C that were run, or at every second, third ... of many."""
    from matplotlib.ticker import NullLocator

    panel.set_xscale("log")
    panel.xaxis.set_minor_locator(NullLocator())
    found = sorted(values.unique())
    ticks = found[:: math.ceil(len(found) / MOST_TICKS)]
    panel.set_xticks(ticks, [tick_text(float(value)) for value in ticks])


def _linear(cells: pd.DataFrame) -> bool:
    return bool(cells["method"].isin(["liblinear", "avsf"]).all())


def _curves(panel: "Axes", cells: pd.DataFrame, kind: Measure, methods: list[str]) -> PointRows:
    """Draw a curve for each method and tolerance; return what to say of their points."""
    rows: PointRows = {}
    tolerances = sorted(cells["tolerance"].dropna().unique(), reverse=True)
    for method in methods:
        for tolerance in tolerances or [float("nan")]:
            mine = cells[(cells["method"] == method) & ((cells["tolerance"] == tolerance) | (not tolerances))]
            mine = mine.sort_values("C")
            if mine.empty:
                continue
            style = style_of(method, methods)
            if len(tolerances) > 1:
                style["linestyle"] = "-" if tolerance == tolerances[0] else (0, (4, 2))
                style["label"] += f", tolerance {tolerance:g}"
            (line,) = panel.plot(mine["C"], mine[kind.column] * kind.factor, **style)
            rows[line] = records(mine)
            cut = mine[mine["censored"].astype(bool)]
            hollow(panel, cut["C"], cut[kind.column] * kind.factor, style)
    return rows
