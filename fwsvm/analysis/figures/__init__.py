"""Figures by matplotlib (the extra ``plots``): each kind is a function from data to drawings."""

import re
from collections.abc import Callable, Iterator, Sequence

from fwsvm.analysis.figures.convergence import draw_convergence
from fwsvm.analysis.figures.means import draw_datasets, draw_series, draw_summary, draw_sweeps
from fwsvm.analysis.figures.style import TRACED, Drawing, FigureData
from fwsvm.analysis.names import distinct
from fwsvm.errors import UsageError
from fwsvm.plugins import entry_of

__all__ = ["KINDS", "TRACED", "Drawing", "FigureData", "draw"]

MAX_NAME = 100  # characters of a file's name
KINDS: dict[str, Callable[[FigureData], Iterator[Drawing]]] = {
    "summary": draw_summary,
    "series": draw_series,
    "datasets": draw_datasets,
    "sweep": draw_sweeps,
    "convergence": draw_convergence,
}


def draw(data: FigureData, names: Sequence[str] = ()) -> list[Drawing]:
    """Return the figures of these kinds, or of all, that the data has the numbers for; a repeated name has a number."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError:
        raise UsageError("drawing needs matplotlib: pip install 'fwsvm[plots]'") from None
    chosen = [entry_of(KINDS, "figure", name) for name in names or KINDS]
    drawings = [drawing for kind in chosen for drawing in kind(data)]
    # a data set may be a path, or synthetic; labels have escapes
    fit = (re.sub(r"[^\w.-]+", "-", drawing.name).strip("-.")[:MAX_NAME] for drawing in drawings)
    return [
        drawing._replace(name=name, caption=drawing.caption.replace(r"\$", "$"))
        for drawing, name in zip(drawings, distinct(fit, "{}-{}"), strict=True)
    ]
