"""Figures by matplotlib (the extra ``plots``), each kind one file with a function that `figure` registers.

Every module of the folder is imported; so are those of other packages (entry point group ``fwsvm.figures``).
"""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fwsvm.analysis import published
from fwsvm.analysis.figures.data import FigureData
from fwsvm.analysis.figures.registry import FIGURES, TRACED, Asked, figure, kind, kinds
from fwsvm.analysis.figures.style import PICTURE_FORMATS, Drawing, footnote, require_matplotlib, texts
from fwsvm.plugins import load_plugins

__all__ = ["PICTURE_FORMATS", "TRACED", "Asked", "Drawing", "FigureData", "draw", "figure", "kinds"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

load_plugins("fwsvm.figures", "figure", FIGURES)


def draw(data: FigureData, names: Sequence[str] = (), **fields: Any) -> list[Drawing]:
    """Return the figures of these kinds, or of all, that the data has the numbers for.

    ``fields`` are those of `Asked`. Where all measures are of traces, no other figure is drawn.
    """
    require_matplotlib()
    data.refuse_unknown()
    asked = Asked(**fields, of_cells=bool(names))
    chosen = [kind(name) for name in names or kinds()]
    if asked.traced and not asked.plain:
        chosen = [each for each in chosen if each.traces]
    drawings = [drawing for each in chosen for drawing in each.draw(data, asked)]
    return _with_own_names([_explained(drawing) for drawing in drawings])


def _explained(drawing: Drawing) -> Drawing:
    """Return a picture that says, in itself and in its caption, what a dagger at a data set's name means."""
    if not any(published.DAGGER in text for text in texts(drawing)):
        return drawing
    footnote(drawing.figure, published.MADE_HERE)
    return replace(drawing, caption=f"{drawing.caption} {published.MADE_HERE}")


def _with_own_names(drawings: list[Drawing]) -> list[Drawing]:
    """Return the figures, with numbers appended to file names that occurred before."""
    met: Counter[str] = Counter()
    named = []
    for drawing in drawings:
        met[drawing.name.lower()] += 1
        number = met[drawing.name.lower()]
        named.append(drawing if number == 1 else replace(drawing, name=f"{drawing.name}-{number}"))
    return named
