"""What each setting of the authors' program does to speed-up, accuracy and gap (`fwsvm grid why`).

A picture a setting: data sets across; speed-up over the baseline, test accuracy and relative gap down. A method whose
program knows no such setting keeps its level: it shows what it is compared with.
"""

import math
from typing import TYPE_CHECKING

import pandas as pd

from fwsvm.analysis import variants
from fwsvm.analysis.cells import against_baseline
from fwsvm.analysis.figures.data import FigureData, cut_short, drawable, labels_of, methods_of, records
from fwsvm.analysis.figures.registry import Asked, figure
from fwsvm.analysis.figures.series import title_of
from fwsvm.analysis.figures.style import (
    HOLLOW_NOTE,
    INK,
    Drawing,
    PointRows,
    footnote,
    hollow,
    legend,
    log_axis,
    panels,
    set_titles,
    style_of,
)
from fwsvm.analysis.measures import Measure, measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@figure("settings", 5)
def draw(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw a picture of each setting that was run at two values or more."""
    cells = data.selected(data.cells)
    varied = variants.variants(cells) if {"search", "experiment"} <= {*cells.columns} else cells.head(0)
    if varied.empty:
        return []
    measures = [measure(name) for name in asked.plain or ("speedup", "accuracy", "gap")]
    found = ((setting, variants.values(varied, setting)) for setting in variants.SETTINGS.values())
    return [
        _picture(data, varied, setting, values, measures, asked.baseline)
        for setting, values in found
        if len(values) > 1
    ]


def _picture(
    data: FigureData,
    varied: pd.DataFrame,
    setting: variants.Setting,
    values: list[str],
    measures: list[Measure],
    baseline: str,
) -> Drawing:
    points = pd.concat(
        [
            drawable(against_baseline(variants.measured_at(varied, setting, value), baseline)).assign(
                place=float(place)
            )
            for place, value in enumerate(values)
        ]
    )
    changed = set(varied.loc[varied["setting"] == setting.name, "dataset"])
    order = [dataset for dataset in data.order(points) if dataset in changed]
    labels, methods = labels_of(order), methods_of(points)
    figure, axes = panels(len(order), len(measures), width=3.0, height=2.4)
    rows: PointRows = {}
    for line, kind in enumerate(measures):
        for column, dataset in enumerate(order):
            panel = axes[line * len(order) + column]
            rows |= _curves(panel, points[points["dataset"] == dataset], kind, methods, baseline)
            _name_values(panel, values, {setting.as_run(t) for t in varied["tolerance"].dropna()})
            set_titles(
                panel,
                labels[dataset] if line == 0 else "",
                setting.title if line == len(measures) - 1 else "",
                title_of(kind, baseline) if column == 0 else "",
            )
    some_cut = any(bool(cut_short(points, kind).any()) for kind in measures)
    legend(figure, axes, cut_short=some_cut)
    what = ", ".join(title_of(kind, baseline) for kind in measures)
    said = [
        "brackets mark the value that the authors' program has",
        _runs_of(points[points["dataset"].isin(order)]),
    ]
    footnote(figure, "; ".join(said))
    caption = f"{'; '.join([f'{setting.title}: {what}', *said])}{HOLLOW_NOTE if some_cut else ''}."
    return Drawing(f"settings-{setting.name}", caption[0].upper() + caption[1:], figure, rows)


def _curves(
    panel: "Axes", points: pd.DataFrame, kind: Measure, methods: list[str], baseline: str
) -> PointRows:
    rows: PointRows = {}
    for method in methods:
        mine = points[(points["method"] == method) & points[kind.column].notna()]
        if mine.empty or (kind.name == "speedup" and method == baseline):
            continue
        style = style_of(method, methods)
        (drawn,) = panel.plot(mine["place"], mine[kind.column] * kind.factor, **style)
        rows[drawn] = records(mine)
        cut = cut_short(mine, kind)
        hollow(panel, mine["place"][cut], mine[kind.column][cut] * kind.factor, style)
    if kind.name == "speedup":
        panel.axhline(1, color=INK, linewidth=0.8)
    if kind.log_axis:
        log_axis(panel, "y")
    return rows


def _runs_of(points: pd.DataFrame) -> str:
    """Say how many runs a point is the mean of."""
    counts = points["used"][points["used"] > 0]
    least, most = int(counts.min()), int(counts.max())
    if most == 1:
        return "each point is one run"
    return f"each point is the mean of {least if least == most else f'{least} to {most}'} runs"


def _name_values(panel: "Axes", values: list[str], as_run: set[str]) -> None:
    """Label the axis with the values, the one as run in brackets."""
    names = [f"[{value}]" if value in as_run else value for value in values]
    panel.set_xlim(-0.4, len(values) - 0.6)
    panel.set_xticks(
        range(len(values)), names, rotation=30 if max(map(len, names)) * math.sqrt(len(names)) > 12 else 0
    )
