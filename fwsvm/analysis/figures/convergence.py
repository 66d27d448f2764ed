"""Objective, gap and support size against time or iterations, from the traces, with bands over repetitions.

The line is the median over the repetitions of a method and setting, and the band their range. A run that has ended
keeps its last value, so that the band does not narrow when runs end.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from fwsvm.analysis.cells import setting_labels, with_short_method_names
from fwsvm.analysis.figures.style import (
    TRACED,
    Drawing,
    FigureData,
    footnote,
    labels_of,
    legend,
    log_axis,
    panels,
    set_titles,
    style_of,
)
from fwsvm.analysis.names import method_names
from fwsvm.analysis.published import MADE_HERE, made_here
from fwsvm.analysis.reported import SETTING, final_rows
from fwsvm.analysis.results import DONE
from fwsvm.results.reading import read_trace

POINTS = 300  # of a curve
#: Objectives nearer to the lowest, as a part of it, are at the lowest: what is left is rounding.
AT_LOWEST = 1e-9
#: What runs on the same rows have in common if they minimise the same objective.
PROBLEM = ["kernel", "C", "lambda", "gamma", "degree", "coef0", "is_primal"]
HEADS = {"seconds": "training time (s)", "iteration": "iterations", "left": "iterations before the end"}


def draw_convergence(data: FigureData) -> Iterator[Drawing]:
    """Yield one picture per data set, a panel per traced quantity.

    ``data.window`` n > 0 shows the first and the last n iterations in two panels, as Zhang and Sen's Figures 1 and 2
    do: of the objective above the lowest of all runs, or of the objective itself if that is asked for.
    """
    if data.runs.empty:
        return
    rows = final_rows(data.runs)
    rows = rows[rows["status"].isin(DONE)]
    for dataset, label in labels_of(rows).items():
        traces = _traces(rows[rows["dataset"] == dataset])
        if len(traces):
            yield _picture(data, dataset, label, traces)


def _traces(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the traces below each other, with columns ``method``, ``run``, ``suboptimality`` and ``left``.

    ``suboptimality`` is the objective above the lowest at the end of all runs of the same problem; during a run a
    stochastic method tracks the objective on its sample, which may be below it. ``left`` is the number of iterations
    to the end of the run.
    """
    rows = with_short_method_names(rows.assign(is_primal=rows["objective"] == rows["primal"]))
    rows = rows.reset_index(drop=True)
    read = (read_trace(Path(folder), run) for folder, run in zip(rows["folder"], rows["run_id"], strict=True))
    drawn = {place: trace for place, trace in enumerate(read) if trace is not None and len(trace) > 1}
    rows = rows.loc[[*drawn]]
    lowest = rows.groupby(PROBLEM, dropna=False)["objective"].transform("min")
    setting = [name for name in SETTING if name not in {"dataset", "method", "lambda"}]
    names = method_names(rows["method"])
    labels = setting_labels(rows, setting, ["method"])
    for place, trace in drawn.items():
        method, label, above = rows["method"][place], labels[place], trace["objective"] - lowest[place]
        trace["method"] = (
            f"{names[method]}, {label}" if label else method
        )  # alone it keeps the name of its style
        trace["run"] = place
        trace["suboptimality"] = above.where(above > AT_LOWEST * abs(lowest[place]), 0.0)
        trace["left"] = trace["iteration"].max() - trace["iteration"]
    return pd.concat(drawn.values()) if drawn else pd.DataFrame()


def _picture(data: FigureData, dataset: str, label: str, traces: pd.DataFrame) -> Drawing:
    """Draw quantities over the whole runs, or one over their first and their last iterations."""
    window = data.window
    if window:
        column = "objective" if "objective" in data.measures else "suboptimality"
        shown = [
            (column, "iteration", f"{label}, first {window} iterations"),
            (column, "left", f"{label}, last {window} iterations"),
        ]
        caption = f"{TRACED[column]} over the first and last {window} iterations"
        name = "window"
    else:
        asked = [name for name in data.measures if name in TRACED] or ["objective", "gap"]
        shown = [(column, data.against, label) for column in asked if traces[column].notna().any()]
        axis = "time" if data.against == "seconds" else "iterations"
        caption = f"{', '.join(TRACED[column] for column, *_ in shown)} against {axis}"
        name = "convergence"
    figure, axes = panels(max(1, len(shown)))
    methods = [*traces["method"].unique()]
    for panel, (column, x, title) in zip(axes, shown, strict=False):
        for method in methods:
            mine = traces[traces["method"] == method]
            values = course(mine, x, column, window)
            if column == "suboptimality":
                values = values[values > 0]  # the others no log axis has
            if len(values):
                style = style_of(method, methods) | {"markevery": max(1, len(values) // 8)}
                panel.plot(values.index, values.median(axis=1), **style)
                panel.fill_between(
                    values.index,
                    values.min(axis=1),
                    values.max(axis=1),
                    color=style["color"],
                    alpha=0.18,
                    linewidth=0,
                )
        set_titles(panel, title, HEADS[x], TRACED[column])
        low, high = panel.dataLim.intervaly
        if column in {"gap", "suboptimality"} or (low > 0 and high > 10 * low):
            log_axis(panel, "y")
        if not window:
            log_axis(panel, "x")
    if window:
        axes[1].sharey(axes[0])
        axes[1].invert_xaxis()
    legend(figure, axes)
    made = [MADE_HERE] * (dataset in made_here())
    footnote(figure, *made)
    said = [f"{label}: {caption}", "lines are medians of runs, bands their range", *made]
    return Drawing(f"{name}-{dataset.rpartition('/')[2]}", f"{'; '.join(said)}.", figure)


def course(traces: pd.DataFrame, x: str, column: str, window: int = 0) -> pd.DataFrame:
    """Return the value of each run, the last one known, at each x from the first that all runs have reached.

    With a ``window`` these are the x up to there.
    """
    values = traces[traces[x] >= 0].pivot_table(column, x, "run", "last")
    if window:
        values = values.reindex(values.index.union([window]))
    values = values.sort_index(ascending=x != "left").ffill().dropna()
    if window:
        return values[values.index <= window]
    places = np.unique(np.geomspace(1, max(1, len(values)), POINTS).astype(int)) - 1
    return values.iloc[places[: len(values)]]
