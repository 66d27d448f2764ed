"""All results in one picture: how far each method is behind the best on each problem, in time and in accuracy."""

from typing import TYPE_CHECKING

import pandas as pd

from fwsvm.analysis.contests import Contest, contest
from fwsvm.analysis.figures.data import FigureData
from fwsvm.analysis.figures.registry import Asked, figure
from fwsvm.analysis.figures.style import (
    INK,
    Drawing,
    PointRows,
    log_axis,
    owned,
    panels,
    set_titles,
    style_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_METHODS = 40
TITLES = {"time": "time over the shortest", "accuracy": "accuracy below the highest (points)"}


@figure("summary", 0)
def draw(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw a dot for each method and problem, a panel each for time and accuracy; a stroke marks the mean."""
    if asked.measures:
        return []
    cells = data.selected(data.cells)
    contests = [found for name in TITLES if (found := contest(_with_finite(cells), name)) is not None]
    if not contests:
        return []
    methods = list(dict.fromkeys(str(method) for one in contests for method in one.behind))
    if not 2 <= len(methods) <= MOST_METHODS:
        return []
    figure, axes = panels(len(contests), height=0.32 * len(methods) + 0.8)
    rows: PointRows = {}
    for panel, one in zip(axes, contests, strict=True):
        rows |= _dots(panel, one, methods)
    problems = max(len(one.behind) for one in contests)
    caption = (
        f"How far each method is behind the best, a dot for each problem ({problems}); strokes are means "
        "(geometric for times) over the problems that all methods finished in time."
    )
    return [Drawing("summary", caption, figure, rows)]


def _with_finite(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the column ``finite``, which printed numbers lack: they are."""
    return cells if "finite" in cells else cells.assign(finite=True)


def _dots(panel: "Axes", one: Contest, methods: list[str]) -> PointRows:
    rows: PointRows = {}
    typical = one.typical
    for place, method in enumerate(methods):
        if method not in one.behind:
            continue
        behind = one.behind[method]
        known = behind.notna()
        style = style_of(method, methods) | {"linestyle": "none", "markersize": 5, "alpha": 0.75}
        (line,) = panel.plot(behind[known], [float(place)] * int(known.sum()), **style)
        rows[line] = [
            {"data set": str(problem[2]), "method": style["label"], "kernel": str(problem[3]),
             one.measure.title: one.measure.printed(value), TITLES[one.measure.name]: f"{far:.3g}"}
            for problem, value, far in zip(
                one.values.index[known], one.values[method][known], behind[known], strict=True)
        ]  # fmt: skip
        if method in typical:
            panel.plot([typical[method]] * 2, [place - 0.35, place + 0.35], color=INK, linewidth=1.6,
                       label=owned(style["label"]))  # fmt: skip
    panel.set_yticks(range(len(methods)), [style_of(method, methods)["label"] for method in methods])
    panel.set_ylim(len(methods) - 0.5, -0.5)
    if one.measure.name == "time":
        log_axis(panel, "x")
    set_titles(panel, "", TITLES[one.measure.name], "")
    return rows
