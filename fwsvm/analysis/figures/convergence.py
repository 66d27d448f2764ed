"""Objective, gap and support size against time or iterations, from the traces, with bands over repetitions.

The line is the median over the repetitions of a method and setting, and the band their range. A run that has ended
keeps its last value, so that the band does not narrow when runs end.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fwsvm.analysis.cells import with_short_method_names
from fwsvm.analysis.figures.data import TRACED, FigureData, drawable, labels_of, setting_labels
from fwsvm.analysis.figures.style import (
    Drawing,
    band,
    footnote,
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

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 300  # of a curve
#: Objectives nearer to the lowest, as a part of it, are at the lowest: what is left is rounding.
AT_LOWEST = 1e-9
#: What runs on the same rows have in common if they minimise the same objective.
PROBLEM = ["kernel", "C", "lambda", "gamma", "degree", "coef0", "is_primal"]
Traces = dict[str, list[pd.DataFrame]]  # of the repetitions of each method and setting


def draw_convergence(data: FigureData) -> list[Drawing]:
    """Draw one picture per data set, a panel per traced quantity.

    ``data.window`` n > 0 shows the first and the last n iterations in two panels, as Zhang and Sen's Figures 1 and 2
    do: of the objective above the lowest of all runs, or of the objective itself if that is asked for.
    """
    if data.runs.empty:
        return []
    rows = final_rows(data.runs)
    rows = rows[rows["status"].isin(DONE)]
    return [
        _picture(data, dataset, label, traces)
        for dataset, label in labels_of(rows).items()
        if (traces := _traces(rows[rows["dataset"] == dataset]))
    ]


def _traces(rows: pd.DataFrame) -> Traces:
    """Return the traces with a column ``suboptimality``.

    That is the objective above the lowest at the end of all runs of the same problem. During a run a stochastic method
    tracks the objective on its sample, which may be below it.
    """
    rows = with_short_method_names(rows.assign(is_primal=rows["objective"] == rows["primal"]))
    read = [read_trace(Path(folder), run) for folder, run in zip(rows["folder"], rows["run_id"], strict=True)]
    found = {
        place: drawable(trace) for place, trace in enumerate(read) if trace is not None and len(trace) > 1
    }
    rows = rows.iloc[[*found]]
    lowest = rows.groupby(PROBLEM, dropna=False)["objective"].transform("min")
    setting = [name for name in SETTING if name not in {"dataset", "method", "lambda"}]
    names, labels = method_names(rows["method"]), setting_labels(rows, setting, ["method"])
    traces: Traces = {}
    for method, label, least, trace in zip(rows["method"], labels, lowest, found.values(), strict=True):
        name = f"{names[method]}, {label}" if label else method  # a method alone keeps the name of its style
        above = (trace["objective"] - least).clip(lower=0)
        above = above.mask(above <= AT_LOWEST * abs(least), 0.0)
        traces.setdefault(name, []).append(trace.assign(suboptimality=above))
    return traces


def _picture(data: FigureData, dataset: str, label: str, traces: Traces) -> Drawing:
    """Draw quantities over the whole runs, or one over their first and their last iterations."""
    against, window = data.against, data.window
    every = pd.concat([trace for runs in traces.values() for trace in runs])
    if window:
        column = "objective" if "objective" in data.measures else "suboptimality"
        shown = [(column, f"{label}, {end} {window} iterations") for end in ("first", "last")]
        heads = ["iteration", "iterations before the end"]
        caption, name = f"{TRACED[column]} over the first and last {window} iterations", "window"
    else:
        asked = [name for name in data.measures if name in TRACED] or ["objective", "gap"]
        shown = [(column, label) for column in asked if every[column].notna().any()]
        heads = ["training time (s)" if against == "seconds" else "iterations"] * len(shown)
        axis = "time" if against == "seconds" else "iterations"
        caption, name = f"{', '.join(TRACED[column] for column, _ in shown)} against {axis}", "convergence"
    figure, axes = panels(max(1, len(shown)))
    for place, (panel, (column, title), head) in enumerate(zip(axes, shown, heads, strict=False)):
        for method, runs in traces.items():
            values = (
                _window(runs, window, column, last=place > 0) if window else course(runs, against, column)
            )
            _draw_curve(panel, style_of(method, list(traces)), values, column)
        set_titles(panel, title, head, TRACED[column])
        low, high = panel.dataLim.intervaly
        if column in {"gap", "suboptimality"} or (low > 0 and high > 10 * low):
            log_axis(panel, "y")
        if not window:
            log_axis(panel, "x")
    if window:
        axes[1].sharey(axes[0])
        axes[1].invert_xaxis()
    legend(figure, axes)
    counts = sorted({len(runs) for runs in traces.values()})
    runs_said = f"median and range of {' to '.join(map(str, [counts[0], *counts[1:][-1:]]))} runs"
    runs_said = "one run each" if counts == [1] else runs_said
    made = [MADE_HERE] * (dataset in made_here())
    footnote(figure, *made)
    return Drawing(f"{name}-{dataset}", f"{'; '.join([f'{label}: {caption}', runs_said, *made])}.", figure)


def _draw_curve(panel: "Axes", style: dict[str, Any], values: pd.DataFrame, column: str) -> None:
    """Draw median and range of the runs; zero, which no log axis has, is not drawn."""
    values = values.dropna(how="all")
    if values.empty:
        return
    x, median = values.index.to_numpy(), values.median(axis=1)
    if column == "suboptimality":
        median = median.where(median > 0)
    panel.plot(x, median, **style | {"markevery": max(1, len(x) // 8)})
    if values.shape[1] > 1:
        band(panel, x, values.min(axis=1), values.max(axis=1), style)


def course(runs: list[pd.DataFrame], against: str, column: str) -> pd.DataFrame:
    """Return the value of each run, the last one known, at each x from the first that all runs have reached."""
    known = [run.loc[run[against] > 0, [against, column]].dropna() for run in runs]
    each = [run.groupby(against)[column].last() for run in known if len(run)]
    values = pd.concat(each, axis=1).sort_index().ffill().dropna() if each else pd.DataFrame()
    places = np.unique(np.geomspace(1, max(1, len(values)), POINTS).astype(int)) - 1
    return values.iloc[places[: len(values)]]


def _window(runs: list[pd.DataFrame], window: int, column: str, *, last: bool) -> pd.DataFrame:
    """Return the value of each run at the first iterations, or so many before its end."""
    places = pd.RangeIndex(window) + (not last)
    each = []
    for run in runs:
        known = run[run["objective"].notna()].groupby("iteration")[column].last()
        if len(known):
            at = known.index[-1] - places if last else places
            each.append(known.reindex(at, method="ffill").set_axis(places))
    return pd.concat(each, axis=1) if each else pd.DataFrame()
