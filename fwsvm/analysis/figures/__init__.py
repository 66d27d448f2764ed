"""Figures by matplotlib (the extra ``plots``): each kind is a function from data to drawings."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fwsvm.analysis import published
from fwsvm.analysis.figures.convergence import draw_convergence
from fwsvm.analysis.figures.data import TRACED, FigureData
from fwsvm.analysis.figures.ranks import draw_ranks, draw_summary
from fwsvm.analysis.figures.series import draw_datasets, draw_series
from fwsvm.analysis.figures.style import Drawing, footnote, require_matplotlib
from fwsvm.analysis.figures.sweep import draw_sweeps
from fwsvm.plugins import entry_of

__all__ = ["KINDS", "TRACED", "Drawing", "FigureData", "draw"]

KINDS: dict[str, Callable[[FigureData], list[Drawing]]] = {
    "summary": draw_summary,
    "series": draw_series,
    "datasets": draw_datasets,
    "sweep": draw_sweeps,
    "convergence": draw_convergence,
    "ranks": draw_ranks,
}


def draw(data: FigureData, names: Sequence[str] = (), **asked: Any) -> list[Drawing]:
    """Return the figures of these kinds, or of all, that the data has the numbers for.

    ``asked`` are fields of `FigureData`. Where all measures are of traces, no other figure is drawn.
    """
    require_matplotlib()
    data = replace(data, **asked, of_cells=bool(names))
    data.refuse_unknown()
    chosen = [entry_of(KINDS, "figure", name) for name in names or KINDS]
    if data.traced and not data.plain:
        chosen = [kind for kind in chosen if kind is draw_convergence]
    met: Counter[str] = Counter()
    drawings = []
    for drawing in (drawing for kind in chosen for drawing in kind(data)):
        met[drawing.name.lower()] += 1
        number = met[drawing.name.lower()]
        name = f"{drawing.name}-{number}" if number > 1 else drawing.name
        drawings.append(_explained(replace(drawing, name=name)))
    return drawings


def _explained(drawing: Drawing) -> Drawing:
    """Return a picture that says, in itself and in its caption, what a dagger at a data set's name means."""
    from matplotlib.text import Text

    written = [drawing.caption, *(text.get_text() for text in drawing.figure.findobj(Text))]
    if not any(published.DAGGER in text for text in written):
        return drawing
    footnote(drawing.figure, published.MADE_HERE)
    return replace(drawing, caption=f"{drawing.caption.removesuffix('.')}; {published.MADE_HERE}.")
