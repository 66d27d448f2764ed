"""Figures by matplotlib (the extra ``plots``), each kind a function that `figure` registers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fwsvm.analysis import published
from fwsvm.analysis.figures import convergence, ranks, selection, series, sweep  # noqa: F401 - they register
from fwsvm.analysis.figures.data import TRACED, Asked, FigureData, figure, kind_of, kinds
from fwsvm.analysis.figures.style import PICTURE_FORMATS, Drawing, footnote, require_matplotlib

__all__ = ["PICTURE_FORMATS", "TRACED", "Asked", "Drawing", "FigureData", "draw", "figure", "kinds"]


def draw(data: FigureData, names: Sequence[str] = (), **fields: Any) -> list[Drawing]:
    """Return the figures of these kinds, or of all, that the data has the numbers for.

    ``fields`` are those of `Asked`. Where all measures are of traces, no other figure is drawn.
    """
    require_matplotlib()
    data.refuse_unknown()
    asked = Asked(**fields, of_cells=bool(names))
    chosen = [kind_of(name) for name in names or kinds()]
    if asked.traced and not asked.plain:
        chosen = [each for each in chosen if each.traces]
    met: Counter[str] = Counter()
    drawings = []
    for drawing in (drawing for each in chosen for drawing in each.draw(data, asked)):
        met[drawing.name.lower()] += 1
        number = met[drawing.name.lower()]
        named = replace(drawing, name=f"{drawing.name}-{number}") if number > 1 else drawing
        drawings.append(_explained(named))
    return drawings


def _explained(drawing: Drawing) -> Drawing:
    """Return a picture that says, in itself and in its caption, what a dagger at a data set's name means."""
    from matplotlib.text import Text

    written = [drawing.caption, *(text.get_text() for text in drawing.figure.findobj(Text))]
    if not any(published.DAGGER in text for text in written):
        return drawing
    footnote(drawing.figure, published.MADE_HERE)
    return replace(drawing, caption=f"{drawing.caption.removesuffix('.')}; {published.MADE_HERE}.")
