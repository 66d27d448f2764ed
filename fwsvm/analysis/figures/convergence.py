"""Objective, gap and support size against time or iterations, from the traces, with bands over repetitions.

The line is the median over the repetitions of a method and setting, and the band their range. A run that has ended
keeps its last value, so that the band does not narrow when runs end.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwsvm.analysis.cells import with_short_method_names
from fwsvm.analysis.figures.data import TRACED, FigureData, drawable, labels_of
from fwsvm.analysis.figures.style import Drawing, band, legend, log_axis, panels, set_titles, style_of
from fwsvm.analysis.measures import plain
from fwsvm.analysis.names import method_names
from fwsvm.analysis.reported import SETTING, final_rows
from fwsvm.analysis.results import DONE
from fwsvm.results.reading import read_trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID_POINTS = 120
#: Objectives nearer to the lowest, as a part of it, are at the lowest: what is left is rounding.
AT_LOWEST = 1e-9
#: What runs on the same rows have in common if they minimise the same objective.
PROBLEM = ["kernel", "C", "lambda", "gamma", "degree", "coef0", "is_primal"]
Grid = NDArray[np.float64]
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
    draw_one = _draw_window if data.window else _draw_course
    return [
        draw_one(data, dataset, label, traces)
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
    traces: Traces = {}
    for name, least, trace in zip(_curve_names(rows), lowest, found.values(), strict=True):
        above = (trace["objective"] - least).clip(lower=0)
        above = above.mask(above <= AT_LOWEST * abs(least), 0.0)
        traces.setdefault(name, []).append(trace.assign(suboptimality=above))
    return traces


def _curve_names(rows: pd.DataFrame) -> list[str]:
    """Return the name of each run's curve: its method, and the settings that differ within one or, of C, at all."""
    setting = [name for name in SETTING if name not in {"dataset", "method", "lambda"}]
    apart = (rows.groupby("method")[setting].nunique(dropna=False) > 1).any()
    named = [name for name in setting if apart[name] or (name == "C" and rows["C"].nunique() > 1)]
    methods = method_names(rows["method"])
    found = []
    for row in rows.to_dict("records"):
        said = [f"{name} {plain(row[name])}" for name in named if row[name] != "" and not pd.isna(row[name])]
        # a method alone keeps the name that its style goes by
        found.append(", ".join([methods[row["method"]], *said]) if said else str(row["method"]))
    return found


def _draw_course(data: FigureData, dataset: str, label: str, traces: Traces) -> Drawing:
    """Draw each quantity over the whole runs."""
    every = pd.concat([trace for runs in traces.values() for trace in runs])
    asked = [name for name in data.measures if name in TRACED] or ["objective", "gap"]
    columns = [name for name in asked if every[name].notna().any()]
    figure, axes = panels(max(1, len(columns)))
    x = "training time (s)" if data.against == "seconds" else "iterations"
    for panel, column in zip(axes, columns, strict=False):
        for name, runs in traces.items():
            _draw_curve(panel, name, traces, *on_one_grid(runs, data.against, column), column)
        log_axis(panel, "x")
        _scale(panel, column)
        set_titles(panel, label, x, TRACED[column])
    legend(figure, axes)
    what = ", ".join(TRACED[column] for column in columns)
    axis = "time" if data.against == "seconds" else x
    return Drawing(f"convergence-{dataset}", f"{label}: {what} against {axis}; {_of_runs(traces)}.", figure)


def _draw_window(data: FigureData, dataset: str, label: str, traces: Traces) -> Drawing:
    """Draw a quantity over the first and the last iterations of every method, on one scale."""
    window, column = data.window, "objective" if "objective" in data.measures else "suboptimality"
    figure, axes = panels(2)
    axes[1].sharey(axes[0])
    for panel, end in zip(axes, ("first", "last"), strict=True):
        for name, runs in traces.items():
            curve = _window(runs, window, column, last=end == "last")
            _draw_curve(panel, name, traces, *curve, column)
        x = "iteration" if end == "first" else "iterations before the end"
        set_titles(panel, f"{label}, {end} {window} iterations", x, TRACED[column])
    for panel in axes:
        _scale(panel, column)
    axes[1].invert_xaxis()
    legend(figure, axes)
    caption = f"{label}: {TRACED[column]} over the first and last {window} iterations; {_of_runs(traces)}."
    return Drawing(f"window-{dataset}", caption, figure)


def _draw_curve(panel: "Axes", name: str, traces: Traces, x: Grid, values: Grid, column: str) -> None:
    """Draw median and range of the runs; zero, which no log axis has, is not drawn."""
    if not x.size:
        return
    style = style_of(name, list(traces)) | {"markevery": max(1, x.size // 8)}
    known = ~np.isnan(values).all(axis=0)
    x, values = x[known], values[:, known]
    median = np.nanmedian(values, axis=0)
    panel.plot(x, np.where((column != "suboptimality") | (median > 0), median, np.nan), **style)
    if len(values) > 1:
        band(panel, x, np.nanmin(values, axis=0), np.nanmax(values, axis=0), style)


def _scale(panel: "Axes", column: str) -> None:
    """Make the y axis logarithmic, of objectives where they are positive and span more than a decade."""
    low, high = panel.dataLim.intervaly
    if column in {"gap", "suboptimality"} or (low > 0 and high > 10 * low):
        log_axis(panel, "y")


def _of_runs(traces: Traces) -> str:
    """Return what lines and bands are."""
    counts = [len(runs) for runs in traces.values()]
    if max(counts) == 1:
        return "one run each"
    return f"median and range of {' to '.join(map(str, dict.fromkeys((min(counts), max(counts)))))} runs"


def on_one_grid(runs: list[pd.DataFrame], against: str, column: str) -> tuple[Grid, Grid]:
    """Return a grid of x ``(g,)`` and the runs' values on it ``(r, g)``: the last one known at each x.

    The grid is geometric from the first x that all runs have reached to the last that any has.
    """
    known = [run[[against, column]].dropna().sort_values(against) for run in runs]
    known = [run for run in (run[run[against] > 0] for run in known) if len(run)]
    if not known:
        return np.zeros(0), np.zeros((0, 0))
    first = max(float(run[against].iloc[0]) for run in known)
    last = max(float(run[against].iloc[-1]) for run in known)
    grid = np.geomspace(first, max(last, first * (1 + 1e-9)), GRID_POINTS)
    return grid, np.array([_last_known(run[against], run[column], grid * (1 + 1e-12)) for run in known])


def _window(runs: list[pd.DataFrame], window: int, column: str, *, last: bool) -> tuple[Grid, Grid]:
    """Return iterations (from the end for ``last``) and the runs' values there, NaN before a start."""
    grid = np.arange(window, dtype=float) + (not last)
    known = [run[run["objective"].notna()].sort_values("iteration") for run in runs]
    values = [
        _last_known(run["iteration"], run[column], run["iteration"].iloc[-1] - grid if last else grid)
        for run in known
        if len(run)
    ]
    return grid, np.array(values).reshape(-1, window)


def _last_known(x: "pd.Series[float]", values: "pd.Series[float]", places: Grid) -> Grid:
    """Return the last value at or before each place, NaN before the first."""
    found = np.searchsorted(x, places, side="right") - 1
    return np.where(found >= 0, values.to_numpy()[np.maximum(found, 0)], np.nan)
