"""A measure on single data sets, one line each (003 Figures 5, 6; 000 Figures 5 to 9): dots, not bars.

Bars from zero hide differences between accuracies of 97 and 98, and have no meaning on a log axis.
"""

import pandas as pd

from fwsvm.analysis.cells import against_baseline, without_sweeps
from fwsvm.analysis.figures.data import (
    FigureData,
    cut_short,
    drawable,
    fewer_rows,
    is_noise,
    labels_of,
    methods_of,
    records,
    settings_apart,
    whiskers,
    without_number,
)
from fwsvm.analysis.figures.registry import Asked, figure
from fwsvm.analysis.figures.series import drawn_cells, title_of
from fwsvm.analysis.figures.style import (
    GRID,
    HOLLOW_NOTE,
    INK,
    Drawing,
    PointRows,
    footnote,
    hollow,
    keep_within,
    legend,
    log_axis,
    owned,
    panels,
    say_noise,
    set_titles,
    style_of,
)
from fwsvm.analysis.measures import Measure, measure


@figure("datasets", 2)
def draw(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw each measure in one picture: data sets down, means as markers, deviations as whiskers."""
    cells = without_sweeps(data.selected(data.cells))
    if cells.empty:
        return []
    drawings = []
    names = asked.plain or ("accuracy", "time", "speedup", "size")
    in_series = {name: drawn_cells(data, asked, measure(name)) for name in names}
    several = cells.loc[cells["kernel"] != "", "kernel"].nunique() > 1
    for kernel, here in cells.groupby("kernel", sort=False):
        suffix = "" if kernel in {"rbf", "linear", ""} else f"-{kernel}"
        said = f"{kernel!s} kernel" if kernel and (suffix or several) else ""
        for setting, part in settings_apart(against_baseline(here, asked.baseline), said=said):
            compared = drawable(part)
            for name in names:
                kind = measure(name)
                # a series has a picture of its own
                shown = compared if data.datasets else compared.drop(index=in_series[name], errors="ignore")
                if shown[kind.column].notna().any():
                    drawings.append(_picture(shown, data, kind, asked.baseline, suffix, setting))
    return drawings


def _picture(
    cells: pd.DataFrame, data: FigureData, kind: Measure, baseline: str, suffix: str, setting: str
) -> Drawing:
    known = cells[cells[kind.column].notna()]
    order = data.order(known)
    labels = labels_of(order)
    methods = [m for m in methods_of(cells) if not (kind.name == "speedup" and m == baseline)]
    figure, axes = panels(1, width=5.4, height=(0.12 + 0.09 * len(methods)) * len(order) + 0.9)
    panel = axes[0]
    panel.grid(visible=False, axis="y")
    for line in range(len(order) - 1):
        panel.axhline(line + 0.5, color=GRID, linewidth=0.6)
    rows: PointRows = {}
    for place, method in enumerate(methods):
        here = known[known["method"] == method]
        style = style_of(method, methods) | {"linestyle": "none", "markersize": 5.5}
        offset = 0.8 * (place - (len(methods) - 1) / 2) / max(1, len(methods))
        heights = [order.index(dataset) + offset for dataset in here["dataset"]]
        values = here[kind.column] * kind.factor
        panel.hlines(heights, *whiskers(here, kind), color=style["color"], linewidth=1,
                     label=owned(style["label"]))  # fmt: skip
        (points,) = panel.plot(values, heights, **style)
        rows[points] = records(here)
        cut = cut_short(here, kind)
        hollow(panel, values[cut], [h for h, c in zip(heights, cut, strict=True) if c], style)
    panel.set_yticks(range(len(order)), [labels[dataset] for dataset in order])
    panel.set_ylim(len(order) - 0.5, -0.5)
    if kind.name == "speedup":
        panel.axvline(1, color=INK, linewidth=0.8)
    if kind.log_axis:
        log_axis(panel, "x")
    keep_within(panel, "x", kind)
    if is_noise(known, kind):
        say_noise(panel)
    title = title_of(kind, baseline)
    set_titles(panel, "", title, "")
    some_cut = bool(cut_short(known, kind).any())
    legend(figure, axes, cut_short=some_cut)
    spread = bool(known[f"{kind.column}_sd"].gt(0).any())
    said = (
        ["whiskers are one standard deviation, as far as the axis goes"] * spread
        + without_number(cells, order)
        + fewer_rows(known)
    )
    footnote(figure, *said)
    caption = "; ".join([f"{title} on single data sets{setting and f', {setting}'}", *said])
    return Drawing(
        f"datasets-{kind.name}{suffix}", f"{caption}{HOLLOW_NOTE if some_cut else ''}.", figure, rows
    )
