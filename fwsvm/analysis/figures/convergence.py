"""Objective, gap and support size against time or iterations, from the traces, with bands over seeds.

The line is the median over the repetitions of a method and setting, and the band their range. A run that has ended
keeps its last value, so that the band does not narrow when runs end.
"""

from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwsvm.analysis.cells import with_short_method_names
from fwsvm.analysis.figures.above_lowest import ALIKE, ENDS, SAMPLED, curves_of, ends_as_reported, lowest_of
from fwsvm.analysis.figures.data import FigureData, drawable, labels_of
from fwsvm.analysis.figures.registry import TRACED, Asked, figure
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
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.analysis.reported import SETTING, final_rows
from fwsvm.analysis.results import DONE
from fwsvm.results.reading import read_trace

Axis = Literal["seconds", "iteration"]
GRID_POINTS = 120


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
    drawings = []
    order = data.datasets_in(rows)
    labels = labels_of(order)
    for dataset in order:
        traces, sampled = _traces(rows[rows["dataset"] == dataset])
        if not traces:
            continue
        label = labels[dataset]
        names = _of_window(traces, asked) if asked.window else asked.traced
        if asked.window:
            drawn = _first_and_last(dataset, label, traces, asked.window, *names)
        else:
            drawn = _picture(dataset, label, traces, names, asked.against)
        drawings.append(_with_note(drawn, SAMPLED) if sampled and "suboptimality" in names else drawn)
    return drawings


def _with_note(drawing: Drawing, said: str) -> Drawing:
    """Return a picture that says this in itself and in its caption."""
    footnote(drawing.figure, said)
    return replace(drawing, caption=f"{drawing.caption.removesuffix('.')}; {said}.")


def _traces(rows: pd.DataFrame) -> tuple[dict[str, list[pd.DataFrame]], bool]:
    """Return the traces of the repetitions of each method and setting, and whether any has objectives of samples.

    A column besides those of traces: ``suboptimality``, the objective above the lowest of all runs of the same problem.
    An objective on a sample may be below it.
    """
    found: list[tuple[tuple[object, ...], pd.DataFrame, float]] = []
    traced = []
    for place, row in enumerate(rows.to_dict("records")):
        trace = read_trace(Path(str(row["folder"])), str(row["run_id"]))
        if trace is not None and len(trace) > 1:
            found.append((_problem(row), drawable(trace), float(row["objective"])))
            traced.append(place)
    traces: dict[str, list[pd.DataFrame]] = {}
    if not found:
        return traces, False
    sampled = {problem for problem, trace, end in found if not ends_as_reported(trace, end)}
    lowest = {
        problem: lowest_of(
            [(trace, end) for its, trace, end in found if its == problem], reported=problem in sampled
        )
        for problem in dict.fromkeys(problem for problem, *_ in found)
    }
    for name, (problem, trace, _) in zip(_curves(rows.iloc[traced]), found, strict=True):
        above = trace["objective"] - lowest[problem]
        if problem in sampled:
            above = above.mask(above.abs() <= ALIKE * abs(lowest[problem]), 0.0)
        traces.setdefault(name, []).append(trace.assign(suboptimality=above))
    return traces, bool(sampled)


def _curves(rows: pd.DataFrame) -> list[str]:
    """Return the name of each run's curve: its method, and the settings that differ within one or, of C, at all.

    Runs of one name are repetitions: alike in all of `SETTING`.
    """
    rows = with_short_method_names(rows)
    setting = [name for name in SETTING if name not in {"dataset", "method"}]
    apart = (rows.groupby("method")[setting].nunique(dropna=False) > 1).any()
    named = [name for name in setting if apart[name] or (name == "C" and rows["C"].nunique() > 1)]
    if "C" in named and "lambda" in named:  # 1 / (C m): says the same
        named.remove("lambda")
    found = []
    for row in rows.to_dict("records"):
        said = [
            _said(name, row[name]) for name in named if row[name] not in {None, ""} and not pd.isna(row[name])
        ]
        method = str(row["method"])
        found.append(", ".join([METHOD_NAMES.get(method, method), *said]) if said else method)
    return found


def _said(name: str, value: object) -> str:
    return f"{name} {value:.9g}" if isinstance(value, float) else f"{name} {value}"


def _problem(row: dict[Hashable, Any]) -> tuple[object, ...]:
    """Return what runs on the same rows have in common if they minimise the same objective."""
    setting = ("kernel", "C", "lambda", "gamma", "degree", "coef0")
    return (*(str(row[name]) for name in setting), row["objective"] == row["primal"])


def _picture(
    dataset: str, label: str, traces: dict[str, list[pd.DataFrame]], names: tuple[str, ...], against: Axis
) -> Drawing:
    columns = [name for name in (names or ("objective", "gap")) if any(
        trace[name].notna().any() for runs in traces.values() for trace in runs)]  # fmt: skip
    figure, axes = panels(max(1, len(columns)))
    ended = False
    for panel, column in zip(axes, columns, strict=False):
        found = {method: on_one_grid(runs, against, column) for method, runs in traces.items()}
        curves = curves_of({method: known for method, known in found.items() if known[0].size}, column)
        for method, curve in curves.items():
            ended |= curve.ended
            style = style_of(method, list(traces)) | {"markevery": max(1, curve.x.size // 8)}
            panel.plot(curve.x, curve.middle, **style)
            if len(traces[method]) > 1:
                band(panel, curve.x, curve.least, curve.most, style)
        log_axis(panel, "x")
        if column != "objective" or _positive(traces, column):
            log_axis(panel, "y")
        set_titles(
            panel, label, "training time (s)" if against == "seconds" else "iterations", TRACED[column]
        )
    legend(figure, axes)
    what = ", ".join(TRACED[column] for column in columns)
    axis = "time" if against == "seconds" else "iterations"
    caption = f"{label}: {what} against {axis}; {_of_runs(traces)}."
    drawing = Drawing(f"convergence-{dataset}", caption, figure)
    return _with_note(drawing, ENDS) if ended else drawing


def _of_runs(traces: dict[str, list[pd.DataFrame]]) -> str:
    """Say what lines and bands are."""
    counts = sorted({len(runs) for runs in traces.values()})
    if counts == [1]:
        return "one run each"
    return f"median and range of {' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} runs"


def _positive(traces: dict[str, list[pd.DataFrame]], column: str) -> bool:
    """Return whether the values are positive and span more than a decade, so that a log axis is better."""
    values = pd.concat([trace[column] for runs in traces.values() for trace in runs]).dropna()
    return bool(len(values) and values.min() > 0 and values.max() > 10 * values.min())


def on_one_grid(
    runs: list[pd.DataFrame], against: str, column: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


def _of_window(traces: dict[str, list[pd.DataFrame]], asked: Asked) -> tuple[str]:
    """Return the measure that a window shows: objectives if asked for, and where none is above the lowest."""
    above = any((trace["suboptimality"] > 0).any() for runs in traces.values() for trace in runs)
    return ("objective",) if "objective" in asked.traced or not above else ("suboptimality",)


def _first_and_last(
    dataset: str, label: str, traces: dict[str, list[pd.DataFrame]], window: int, column: str
) -> Drawing:
    """Draw a column over the first and the last ``window`` iterations of every method, on one scale."""
    figure, axes = panels(2)
    axes[1].sharey(axes[0])
    found = {
        (method, last): _window(runs, window, column, last=last)
        for method, runs in traces.items()
        for last in (False, True)
    }
    curves = curves_of({key: known for key, known in found.items() if known[1].size}, column)
    for (method, last), curve in curves.items():
        style = style_of(method, list(traces)) | {"markevery": max(1, window // 8)}
        axes[last].plot(curve.x, curve.middle, **style)
        band(axes[last], curve.x, curve.least, curve.most, style)
    low = min(panel.dataLim.intervaly[0] for panel in axes)
    high = max(panel.dataLim.intervaly[1] for panel in axes)
    if low > 0 and (column == "suboptimality" or high > 10 * low):
        log_axis(axes[0], "y")
    what = TRACED[column]
    set_titles(axes[0], f"{label}, first {window} iterations", "iteration", what)
    set_titles(axes[1], f"{label}, last {window} iterations", "iterations before the end", what)
    axes[1].invert_xaxis()
    legend(figure, axes)
    caption = f"{label}: {what} over the first and last {window} iterations; {_of_runs(traces)}."
    drawing = Drawing(f"window-{dataset}", caption, figure)
    return _with_note(drawing, ENDS) if any(curve.ended for curve in curves.values()) else drawing


def _window(
    runs: list[pd.DataFrame], window: int, column: str, *, last: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return iterations (from the end for ``last``) and the runs' values there, NaN before a start."""
    grid = np.arange(window, dtype=np.float64) if last else np.arange(1, window + 1, dtype=np.float64)
    values = []
    for run in runs:
        known = run[run["objective"].notna()].sort_values("iteration")
        if known.empty:
            continue
        wanted = float(known["iteration"].iloc[-1]) - grid if last else grid
        place = np.searchsorted(known["iteration"], wanted, side="right") - 1
        values.append(np.where(place >= 0, known[column].to_numpy()[np.maximum(place, 0)], np.nan))
    reached = np.array([~np.isnan(column).all() for column in np.array(values).T], dtype=bool)
    return (grid[reached], np.array(values)[:, reached]) if values else (np.zeros(0), np.zeros((0, 0)))
