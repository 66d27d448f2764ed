"""Figures by matplotlib (the extra ``plots``): each kind is a function from data to drawings."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from fwsvm.analysis.figures.convergence import draw_convergence
from fwsvm.analysis.figures.curves import draw_series, draw_sweeps
from fwsvm.analysis.figures.data import TRACED, FigureData
from fwsvm.analysis.figures.datasets import draw_datasets, draw_summary
from fwsvm.analysis.figures.style import Drawing, require_matplotlib
from fwsvm.plugins import entry_of

__all__ = ["KINDS", "TRACED", "Drawing", "FigureData", "draw"]

KINDS: dict[str, Callable[[FigureData], list[Drawing]]] = {
    "summary": draw_summary,
    "series": draw_series,
    "datasets": draw_datasets,
    "sweep": draw_sweeps,
    "convergence": draw_convergence,
}


def draw(data: FigureData, names: Sequence[str] = ()) -> list[Drawing]:
    """Return the figures of these kinds, or of all, that the data has the numbers for.

    Where all measures are of traces, no other figure is drawn unless it is named.
    """
    require_matplotlib()
    data = data.selected()
    of_traces = bool(data.measures) and {*data.measures} <= {*TRACED}
    chosen = [entry_of(KINDS, "figure", name) for name in names or KINDS]
    if of_traces and not names:
        chosen = [draw_convergence]
    drawings: dict[str, Drawing] = {}
    for drawing in (drawing for kind in chosen for drawing in kind(data)):
        name, number = drawing.name, 2
        while name.lower() in drawings:
            name, number = f"{drawing.name}-{number}", number + 1
        drawings[name.lower()] = replace(drawing, name=name)
    return list(drawings.values())
