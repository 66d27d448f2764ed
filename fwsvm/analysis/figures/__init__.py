"""Figures by matplotlib (the extra ``plots``): each kind is a function from data to drawings."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fwsvm.analysis.figures.convergence import draw_convergence
from fwsvm.analysis.figures.means import draw_datasets, draw_series, draw_summary, draw_sweeps
from fwsvm.analysis.figures.style import TRACED, Drawing, FigureData, require_matplotlib
from fwsvm.plugins import entry_of

__all__ = ["KINDS", "TRACED", "Drawing", "FigureData", "draw"]

KINDS: dict[str, Callable[[FigureData], Iterator[Drawing]]] = {
    "summary": draw_summary,
    "series": draw_series,
    "datasets": draw_datasets,
    "sweep": draw_sweeps,
    "convergence": draw_convergence,
}


def draw(data: FigureData, names: Sequence[str] = ()) -> list[Drawing]:
    """Return the figures of these kinds, or of all, that the data has the numbers for; a repeated name has a number."""
    require_matplotlib()
    chosen = [entry_of(KINDS, "figure", name) for name in names or KINDS]
    drawings: dict[str, Drawing] = {}
    for drawing in (drawing for kind in chosen for drawing in kind(data)):
        name, number = drawing.name, 2
        while name.lower() in drawings:
            name, number = f"{drawing.name}-{number}", number + 1
        drawings[name.lower()] = replace(drawing, name=name)
    return list(drawings.values())
