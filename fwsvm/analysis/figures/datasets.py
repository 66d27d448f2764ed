"""Dots for data sets: a measure on each, as Figures 5 and 6 of Frandi et al., and how far methods are behind the best.

Dots, not bars: bars from zero hide differences between accuracies of 97 and 98, and have no meaning on a log axis.
"""

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_cvm, without_sweeps
from fwsvm.analysis.contests import contest
from fwsvm.analysis.figures.curves import members, series_cells
from fwsvm.analysis.figures.data import (
    FigureData,
    compared,
    cut_short,
    drawable,
    finish_axis,
    labels_of,
    notes_of,
    settings_apart,
    whiskers,
)
from fwsvm.analysis.figures.style import (
    GRID,
    INK,
    Drawing,
    footnote,
    hollow,
    legend,
    panels,
    scale_axis,
    set_titles,
    style_of,
)
from fwsvm.analysis.measures import Measure

BEHIND = {"time": "time over the shortest", "accuracy": "accuracy below the highest (points)"}


def draw_datasets(data: FigureData) -> list[Drawing]:
    """Draw each measure in one picture: data sets down, means as markers, deviations as whiskers."""
    cells = without_sweeps(data.cells)
    for _, every in series_cells(data):  # a series has a picture of its own, and names there what it lacks
        for name in members(every[every["used"] > 0]):
            of = every["dataset"].replace(published.made_here()).isin(published.series(name))
            cells = cells.drop(index=every.index[of], errors="ignore")
    several = cells.loc[cells["kernel"] != "", "kernel"].nunique() > 1
    drawings = []
    for kernel, here in cells.groupby("kernel", sort=False):
        suffix = "" if kernel in {"rbf", "linear", ""} else f"-{kernel}"
        words = [f"{kernel} kernel"] * bool(kernel and (suffix or several))
        for said, part in settings_apart(against_cvm(here)):
            for kind in data.kinds("accuracy", "time", "speedup", "size"):
                shown = drawable(part)
                if shown[kind.column].notna().any():
                    place = ", ".join(filter(None, [*words, said]))
                    drawings.append(_picture(shown, kind, suffix, place))
    return drawings


def _picture(cells: pd.DataFrame, kind: Measure, suffix: str, said: str) -> Drawing:
    known = cells[cells[kind.column].notna()]
    labels, methods = labels_of(known), compared(cells, kind)
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
    finish_axis(panel, "x", kind)
    set_titles(panel, "", kind.title, "")
    legend(figure, [panel])
    notes = notes_of(cells, known, kind)
    footnote(figure, *notes)
    caption = f"{kind.title} on single data sets{said and f', {said}'}"
    return Drawing(f"datasets-{kind.name}{suffix}", f"{'; '.join([caption, *notes])}.", figure)


def draw_summary(data: FigureData) -> list[Drawing]:
    """Draw a dot for each method and problem, a panel each for time and accuracy; a stroke marks the mean."""
    contests = [found for name in BEHIND if (found := contest(data.cells, name)) is not None]
    methods = list(dict.fromkeys(str(method) for one in contests for method in one.behind))
    if data.measures or len(methods) < 2:
        return []
    figure, axes = panels(len(contests), height=0.32 * len(methods) + 0.8)
    labels = [style_of(method, methods)["label"] for method in methods]
    for panel, one in zip(axes, contests, strict=True):
        for place, method in enumerate(methods):
            if method in one.behind:
                style = style_of(method, methods) | {"linestyle": "none", "alpha": 0.75}
                behind = one.behind[method].dropna()
                panel.plot(behind, [float(place)] * len(behind), **style)
            if method in one.typical:
                panel.plot([one.typical[method]] * 2, [place - 0.35, place + 0.35], color=INK, linewidth=1.6)
        panel.set_yticks(range(len(methods)), labels)
        panel.set_ylim(len(methods) - 0.5, -0.5)
        if one.measure.name == "time":
            scale_axis(panel, "x", one.measure)
        set_titles(panel, "", BEHIND[one.measure.name], "")
    problems = max(len(one.behind) for one in contests)
    caption = (
        f"How far each method is behind the best, a dot for each problem ({problems}); strokes are means "
        "(geometric for times) over the problems that all methods finished in time."
    )
    return [Drawing("summary", caption, figure)]
