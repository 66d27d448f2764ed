"""Measures over the penalty C, as in Figure 1 of Glasmachers and Dogan, and Figures 7 and 8 of Frandi et al."""

import math

import pandas as pd

from fwsvm.analysis.cells import sweeps
from fwsvm.analysis.figures.data import (
    FigureData,
    draw_curves,
    finish_panel,
    labels_of,
    notes_of,
    settings_apart,
)
from fwsvm.analysis.figures.style import Drawing, footnote, legend, panels, set_titles, tick_text
from fwsvm.analysis.measures import Measure, measure

MAX_TICKS = 7


def draw_sweeps(data: FigureData) -> list[Drawing]:
    """Draw each measure in one picture, a panel per data set; dashed lines have the smaller tolerance."""
    drawings = []
    selected = data.selected(data.cells)
    lacking = selected[selected.groupby("dataset")["used"].transform("max") == 0]
    for said, cells in settings_apart(sweeps(selected), within=("tolerance", "C")):
        linear = cells["method"].isin(["liblinear", "avsf"]).all()
        for kind in map(measure, data.plain or ("accuracy", "time", *(["steps"] if linear else []))):
            if kind.column in cells and cells[kind.column].notna().any():
                known = cells[cells[kind.column].notna()]
                drawings.append(_sweep_picture(data, known, lacking, kind, said))
    return drawings


def _sweep_picture(
    data: FigureData, cells: pd.DataFrame, lacking: pd.DataFrame, kind: Measure, said: str
) -> Drawing:
    from matplotlib.ticker import NullLocator

    labels, methods = labels_of(cells), data.compared(cells, kind)
    tolerances = sorted(cells["tolerance"].dropna().unique(), reverse=True)
    columns = 2 if len(labels) in {2, 4} else min(3, len(labels))
    figure, axes = panels(columns, math.ceil(len(labels) / columns), width=3.0, height=2.4)
    for panel in axes[len(labels) :]:
        panel.set_visible(False)
    for panel, (dataset, label) in zip(axes, labels.items(), strict=False):
        points = cells[cells["dataset"] == dataset]
        panel.set_xscale("log")
        if len(tolerances) < 2:
            draw_curves(panel, points, "C", kind, methods)
        for place, tolerance in enumerate(tolerances if len(tolerances) > 1 else ()):
            mine = points[points["tolerance"] == tolerance]
            look = {"linestyle": (0, (4, 2)) if place else "-", "label": f", tolerance {tolerance:g}"}
            draw_curves(panel, mine, "C", kind, methods, **look)
        finish_panel(panel, "y", points, kind, "C")
        values = sorted(points["C"].unique())
        ticks = values[:: math.ceil(len(values) / MAX_TICKS)]
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xticks(ticks, [tick_text(float(value)) for value in ticks])
        set_titles(panel, label, "C", kind.title)
    legend(figure, axes[: len(labels)])
    notes = notes_of(pd.concat([cells, lacking]), cells, kind)
    footnote(figure, *notes)
    caption = f"{kind.title} against the penalty C{said and f', {said}'}"
    return Drawing(f"sweep-{kind.name}", f"{'; '.join([caption, *notes])}.", figure)
