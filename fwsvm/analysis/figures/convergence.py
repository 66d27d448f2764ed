"""Objective, gap and support size against time or iterations, from the traces, with bands over repetitions.

The line is the median over the repetitions of a method and setting, and the band their range. A run that has ended
keeps its last value, so that the band does not narrow when runs end.
"""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwsvm.analysis.cells import with_short_method_names
from fwsvm.analysis.figures.data import (
    TRACED,
    Asked,
    FigureData,
    drawable,
    figure,
    labels_of,
    refuse_too_many,
)
from fwsvm.analysis.figures.style import Drawing, band, legend, log_axis, panels, set_titles, style_of
from fwsvm.analysis.names import method_names
from fwsvm.analysis.reported import SETTING, final_rows
from fwsvm.analysis.results import DONE
from fwsvm.results.reading import read_trace

GRID_POINTS = 120
#: Objectives nearer to the lowest, as a part of it, are at the lowest: what is left is rounding.
AT_LOWEST = 1e-9
Grid = NDArray[np.float64]
Traces = dict[str, list[pd.DataFrame]]


@figure("convergence", 4, traces=True)
def draw(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw one picture per data set, a panel per traced quantity.

    ``asked.window`` n > 0 shows the first and the last n iterations in two panels, as 004 Figures 1 and 2 do: of the
    objective above the lowest of all runs, or of the objective itself if that is asked for.
    """
    if data.runs.empty:
        return []
    rows = data.selected(final_rows(data.runs))
    rows = rows[rows["status"].isin(DONE)]
    refuse_too_many(rows)
    drawings = []
    for dataset, label in labels_of(rows).items():
        traces = _traces(rows[rows["dataset"] == dataset])
        if traces and asked.window:
            column = "objective" if "objective" in asked.traced else "suboptimality"
            drawings.append(_window_picture(dataset, label, traces, asked.window, column))
        elif traces:
            drawings.append(_picture(dataset, label, traces, asked))
    return drawings


def _traces(rows: pd.DataFrame) -> Traces:
    """Return the traces of the repetitions of each method and setting.

    A column besides those of traces: ``suboptimality``, the objective above the lowest at the end of all runs of the
    same problem. During a run a stochastic method tracks the objective on its sample, which may be below it.
    """
    found = []
    for place, row in enumerate(rows.to_dict("records")):
        trace = read_trace(Path(str(row["folder"])), str(row["run_id"]))
        if trace is not None and len(trace) > 1:
            found.append((place, _problem(row), drawable(trace)))
    traces: Traces = {}
    if not found:
        return traces
    traced = rows.iloc[[place for place, *_ in found]]
    lowest = traced.groupby([problem for _, problem, _ in found])["objective"].min()
    for name, (_, problem, trace) in zip(_curve_names(traced), found, strict=True):
        above = (trace["objective"] - lowest[problem]).clip(lower=0)
        above = above.mask(above <= AT_LOWEST * abs(lowest[problem]), 0.0)
        traces.setdefault(name, []).append(trace.assign(suboptimality=above))
    return traces


def _problem(row: Mapping[Hashable, Any]) -> str:
    """Return what runs on the same rows have in common if they minimise the same objective."""
    setting = ("kernel", "C", "lambda", "gamma", "degree", "coef0")
    return "|".join([*(str(row[name]) for name in setting), str(row["objective"] == row["primal"])])


def _curve_names(rows: pd.DataFrame) -> list[str]:
    """Return the name of each run's curve: its method, and the settings that differ within one or, of C, at all."""
    rows = with_short_method_names(rows)
    setting = [name for name in SETTING if name not in {"dataset", "method", "lambda"}]
    apart = (rows.groupby("method")[setting].nunique(dropna=False) > 1).any()
    named = [name for name in setting if apart[name] or (name == "C" and rows["C"].nunique() > 1)]
    methods = method_names(rows["method"])
    found = []
    for row in rows.to_dict("records"):
        said = [f"{name} {row[name]:.9g}" if isinstance(row[name], float) else f"{name} {row[name]}"
                for name in named if row[name] != "" and not pd.isna(row[name])]  # fmt: skip
        found.append(", ".join([methods[str(row["method"])], *said]) if said else str(row["method"]))
    return found


def _picture(dataset: str, label: str, traces: Traces, asked: Asked) -> Drawing:
    every = pd.concat([trace for runs in traces.values() for trace in runs])
    columns = [name for name in asked.traced or ("objective", "gap") if every[name].notna().any()]
    figure, axes = panels(max(1, len(columns)))
    for panel, column in zip(axes, columns, strict=False):
        found = {name: on_one_grid(runs, asked.against, column) for name, runs in traces.items()}
        _draw_curves(panel, found, column, list(traces), GRID_POINTS // 8)
        log_axis(panel, "x")
        _scale(panel, every[column], column)
        axis = "training time (s)" if asked.against == "seconds" else "iterations"
        set_titles(panel, label, axis, TRACED[column])
    legend(figure, axes)
    what = ", ".join(TRACED[column] for column in columns)
    axis = "time" if asked.against == "seconds" else "iterations"
    return Drawing(f"convergence-{dataset}", f"{label}: {what} against {axis}; {_of_runs(traces)}.", figure)


def _draw_curves(
    panel: Any, found: dict[str, tuple[Grid, Grid]], column: str, among: list[str], every: int
) -> None:
    """Draw median and range of the runs' values ``(r, g)`` at ``(g,)`` places; on a log axis zero is not drawn."""
    medians = {name: np.nanmedian(values, axis=0) for name, (x, values) in found.items() if x.size}
    above = np.concatenate([*medians.values(), np.zeros(0)])
    bottom = 0.1 * min(above[above > 0], default=0.0) if column == "suboptimality" else -np.inf
    for name, median in medians.items():
        x, values = found[name]
        style = style_of(name, among) | {"markevery": max(1, every)}
        panel.plot(x, np.where(median > bottom, median, np.nan), **style)
        if len(values) > 1:
            least, most = (np.maximum(end(values, axis=0), bottom) for end in (np.nanmin, np.nanmax))
            band(panel, x, least, most, style)


def _scale(panel: Any, values: "pd.Series[float]", column: str) -> None:
    """Make the y axis logarithmic, of objectives where they are positive and span more than a decade."""
    known = values.dropna()
    if column not in {"objective", "support_vectors"} or (
        len(known) and known.min() > 0 and known.max() > 10 * known.min()
    ):
        log_axis(panel, "y")


def _of_runs(traces: Traces) -> str:
    """Say what lines and bands are."""
    counts = sorted({len(runs) for runs in traces.values()})
    if counts == [1]:
        return "one run each"
    return f"median and range of {' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} runs"


def on_one_grid(runs: list[pd.DataFrame], against: str, column: str) -> tuple[Grid, Grid]:
    """Return a grid of x ``(g,)`` and the runs' values on it ``(r, g)``: the last one known at each x.

    The grid is geometric from the first x that all runs have reached to the last that any has.
    """
    known = [run[[against, column]].dropna() for run in runs]
    known = [run[run[against] > 0].sort_values(against) for run in known]
    known = [run for run in known if len(run)]
    if not known:
        return np.zeros(0), np.zeros((0, 0))
    first = max(float(run[against].iloc[0]) for run in known)
    last = max(float(run[against].iloc[-1]) for run in known)
    grid = np.geomspace(first, max(last, first * (1 + 1e-9)), GRID_POINTS)
    places = [np.searchsorted(run[against], grid * (1 + 1e-12), side="right") - 1 for run in known]
    return grid, np.array([run[column].to_numpy()[place] for run, place in zip(known, places, strict=True)])


def _window_picture(dataset: str, label: str, traces: Traces, window: int, column: str) -> Drawing:
    """Draw a column over the first and the last ``window`` iterations of every method, on one scale."""
    figure, axes = panels(2)
    axes[1].sharey(axes[0])
    for last, panel in enumerate(axes):
        found = {name: _window(runs, window, column, last=bool(last)) for name, runs in traces.items()}
        _draw_curves(panel, found, column, list(traces), window // 8)
    shown = pd.Series(
        np.concatenate([line.get_ydata() for panel in axes for line in panel.lines]), dtype=float
    )
    if (shown > 0).any():
        _scale(axes[0], shown, column)
    set_titles(axes[0], f"{label}, first {window} iterations", "iteration", TRACED[column])
    set_titles(axes[1], f"{label}, last {window} iterations", "iterations before the end", TRACED[column])
    axes[1].invert_xaxis()
    legend(figure, axes)
    caption = f"{label}: {TRACED[column]} over the first and last {window} iterations; {_of_runs(traces)}."
    return Drawing(f"window-{dataset}", caption, figure)


def _window(runs: list[pd.DataFrame], window: int, column: str, *, last: bool) -> tuple[Grid, Grid]:
    """Return iterations (from the end for ``last``) and the runs' values there, NaN before a start."""
    grid = np.arange(window, dtype=float) + (not last)
    values = []
    for run in runs:
        known = run[run["objective"].notna()].sort_values("iteration")
        if len(known):
            wanted = float(known["iteration"].iloc[-1]) - grid if last else grid
            place = np.searchsorted(known["iteration"], wanted, side="right") - 1
            values.append(np.where(place >= 0, known[column].to_numpy()[np.maximum(place, 0)], np.nan))
    reached = ~np.isnan(np.array(values)).all(axis=0) if values else np.zeros(window, dtype=bool)
    return (grid[reached], np.array(values)[:, reached]) if values else (np.zeros(0), np.zeros((0, 0)))
