"""A measure on single data sets, a line each: Figures 5 and 6 of Frandi et al., 5 to 9 of Nanculef et al.

Dots, not bars: bars from zero hide differences between accuracies of 97 and 98, and have no meaning on a log axis.
"""

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import against_cvm, without_sweeps
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
from fwsvm.analysis.figures.style import GRID, Drawing, footnote, hollow, legend, panels, set_titles, style_of
from fwsvm.analysis.measures import Measure


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
