"""Measures over one setting: the penalty C (002 Figure 1; 003 Figures 7, 8), and settings of the authors' program.

A method whose program knows no such setting keeps its level: it shows what it is compared with (`fwsvm grid why`).
"""

import math

import pandas as pd

from fwsvm.analysis import variants
from fwsvm.analysis.cells import against_baseline, sweeps
from fwsvm.analysis.figures.data import (
    Asked,
    FigureData,
    draw_curves,
    drawable,
    figure,
    finish_panel,
    labels_of,
    methods_of,
    notes_of,
    settings_apart,
    title_of,
)
from fwsvm.analysis.figures.style import Drawing, footnote, legend, panels, set_titles, tick_text
from fwsvm.analysis.measures import Measure, measure

MAX_TICKS = 7


@figure("sweep", 3)
def draw_sweeps(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw each measure in one picture, a panel per data set; dashed lines have the smaller tolerance."""
    drawings = []
    selected = data.selected(data.cells)
    lacking = selected[selected.groupby("dataset")["used"].transform("max") == 0]
    for said, cells in settings_apart(sweeps(selected), within=("tolerance", "C")):
        linear = cells["method"].isin(["liblinear", "avsf"]).all()
        for name in asked.plain or ("accuracy", "time", *(["steps"] if linear else [])):
            kind = measure(name)
            if kind.column in cells and cells[kind.column].notna().any():
                known = cells[cells[kind.column].notna()]
                drawings.append(_sweep_picture(known, lacking, kind, said))
    return drawings


def _sweep_picture(cells: pd.DataFrame, lacking: pd.DataFrame, kind: Measure, said: str) -> Drawing:
    from matplotlib.ticker import NullLocator

    labels, methods = labels_of(cells), methods_of(cells)
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
            dashes = (0, (4, 2)) if place else "-"
            mine = points[points["tolerance"] == tolerance]
            draw_curves(panel, mine, "C", kind, methods, linestyle=dashes, label=f", tolerance {tolerance:g}")
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


@figure("settings", 5)
def draw_settings(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw a picture of each setting that was run at two values or more: data sets across, measures down."""
    varied = variants.variants(data.selected(data.cells))
    measures = [measure(name) for name in asked.plain or ("speedup", "accuracy", "gap")]
    found = ((setting, variants.values(varied, setting)) for setting in variants.SETTINGS.values())
    return [
        _setting_picture(varied, setting, values, measures, asked.baseline)
        for setting, values in found
        if len(values) > 1
    ]


def _setting_picture(
    varied: pd.DataFrame, setting: variants.Setting, values: list[str], measures: list[Measure], baseline: str
) -> Drawing:
    points = pd.concat([
        drawable(against_baseline(variants.measured_at(varied, setting, value), baseline)).assign(place=float(place))
        for place, value in enumerate(values)
    ])  # fmt: skip
    changed = varied.loc[varied["setting"] == setting.name, "dataset"]
    points = points[points["dataset"].isin(changed)]
    labels, methods = labels_of(points), methods_of(points)
    as_run = {setting.as_run(tolerance) for tolerance in varied["tolerance"].dropna()}
    names = [f"[{value}]" if value in as_run else value for value in values]
    figure, axes = panels(len(labels), len(measures), width=3.0, height=2.4)
    for line, kind in enumerate(measures):
        compared = [method for method in methods if not (kind.name == "speedup" and method == baseline)]
        for column, (dataset, label) in enumerate(labels.items()):
            panel = axes[line * len(labels) + column]
            here = points[(points["dataset"] == dataset) & points["method"].isin(compared)]
            draw_curves(panel, here, "place", kind, methods, bands=False)
            finish_panel(panel, "y", here, kind, "place")
            panel.set_xlim(-0.4, len(values) - 0.6)
            crowded = max(map(len, names)) * math.sqrt(len(names)) > 12
            panel.set_xticks(range(len(values)), names, rotation=30 if crowded else 0)
            last = line == len(measures) - 1
            set_titles(panel, label if line == 0 else "", setting.title if last else "",
                       title_of(kind, baseline) if column == 0 else "")  # fmt: skip
    legend(figure, axes)
    notes = ["brackets mark the value that the authors' program has", *notes_of(points, points, measures[0])]
    footnote(figure, *notes)
    what = ", ".join(title_of(kind, baseline) for kind in measures)
    caption = f"{setting.title[0].upper()}{setting.title[1:]}: {what}"
    return Drawing(f"settings-{setting.name}", f"{'; '.join([caption, *notes])}.", figure)
