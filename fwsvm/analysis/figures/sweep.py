"""Measures over one setting: the penalty C, and settings of the authors' program.

C is that of Figure 1 of Glasmachers and Dogan, and of Figures 7 and 8 of Frandi et al. A method whose program knows no
such setting keeps its level: it shows what it is compared with (`fwsvm grid why`).
"""

import math

import pandas as pd

from fwsvm.analysis import variants
from fwsvm.analysis.cells import against_baseline, sweeps
from fwsvm.analysis.figures.data import (
    FigureData,
    draw_curves,
    drawable,
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


def draw_settings(data: FigureData) -> list[Drawing]:
    """Draw a picture of each setting that was run at two values or more: data sets across, measures down."""
    varied = variants.variants(data.selected(data.cells))
    found = ((setting, variants.values(varied, setting)) for setting in variants.SETTINGS.values())
    return [_setting_picture(data, varied, setting, values) for setting, values in found if len(values) > 1]


def _setting_picture(
    data: FigureData, varied: pd.DataFrame, setting: variants.Setting, values: list[str]
) -> Drawing:
    measures = [measure(name) for name in data.plain or ("speedup", "accuracy", "gap")]
    points = pd.concat(
        drawable(against_baseline(variants.measured_at(varied, setting, value), data.baseline)).assign(
            place=float(place)
        )
        for place, value in enumerate(values)
    )
    changed = varied.loc[varied["setting"] == setting.name, "dataset"]
    points = points[points["dataset"].isin(changed)]
    labels = labels_of(points)
    as_run = {setting.as_run(tolerance) for tolerance in varied["tolerance"].dropna()}
    names = [f"[{value}]" if value in as_run else value for value in values]
    crowded = max(map(len, names)) * math.sqrt(len(names)) > 12
    figure, axes = panels(len(labels), len(measures), width=3.0, height=2.4)
    for line, kind in enumerate(measures):
        methods = data.compared(points, kind)
        for column, (dataset, label) in enumerate(labels.items()):
            panel = axes[line * len(labels) + column]
            here = points[(points["dataset"] == dataset) & points["method"].isin(methods)]
            draw_curves(panel, here, "place", kind, methods)
            finish_panel(panel, "y", here, kind, "place")
            panel.set_xlim(-0.4, len(values) - 0.6)
            panel.set_xticks(range(len(values)), names, rotation=30 if crowded else 0)
            last = line == len(measures) - 1
            y = data.title_of(kind) if column == 0 else ""
            set_titles(panel, label if line == 0 else "", setting.title if last else "", y)
    legend(figure, axes)
    notes = ["brackets mark the value that the authors' program has", *notes_of(points, points, measures[0])]
    footnote(figure, *notes)
    what = ", ".join(map(data.title_of, measures))
    caption = f"{setting.title[0].upper()}{setting.title[1:]}: {what}"
    return Drawing(f"settings-{setting.name}", f"{'; '.join([caption, *notes])}.", figure)
