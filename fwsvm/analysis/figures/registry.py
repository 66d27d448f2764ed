"""Kinds of figures by name. A kind is one file: a function from data and what was asked for to drawings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fwsvm.analysis.figures.data import FigureData
from fwsvm.analysis.figures.style import Drawing
from fwsvm.analysis.measures import MEASURES
from fwsvm.plugins import add_to_registry, entry_of

#: Columns of traces and what they are called on an axis; measures of these names are drawn against time.
TRACED = {
    "objective": "objective",
    "suboptimality": "objective above the lowest of all runs",
    "gap": "duality gap",
    "support_vectors": "support vectors",
}
LAST = 100


@dataclass(frozen=True)
class Asked:
    """What a user asks of figures.

    Attributes
    ----------
    measures : tuple of str
        What to draw; empty means what each kind draws by default.
    of_cells : bool
        Whether `objective` and `gap`, which traces have, are asked of cells as well.
    against : {"seconds", "iteration"}
        What traces are drawn against.
    window : int
        The first and last so many iterations of traces; 0 means all.
    baseline : str
        The method that speed-ups are over.
    alpha : float
        Level of the critical difference.
    """

    measures: tuple[str, ...] = ()
    of_cells: bool = False
    against: Literal["seconds", "iteration"] = "seconds"
    window: int = 0
    baseline: str = "cvm"
    alpha: float = 0.05

    @property
    def traced(self) -> tuple[str, ...]:
        """The measures that traces have."""
        return tuple(name for name in self.measures if name in TRACED)

    @property
    def plain(self) -> tuple[str, ...]:
        """The measures of cells, of `fwsvm.analysis.measures`."""
        return tuple(
            name for name in self.measures if name not in TRACED or (self.of_cells and name in MEASURES)
        )


DrawFunction = Callable[[FigureData, Asked], list[Drawing]]


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure: the function that draws it, where it stands among the others in a report, what it draws from.

    One that draws ``traces`` is the only one to draw where nothing but measures of traces is asked for.
    """

    draw: DrawFunction
    place: int
    traces: bool = False


FIGURES: dict[str, FigureKind] = {}


def figure(name: str, place: int = LAST, *, traces: bool = False) -> Callable[[DrawFunction], DrawFunction]:
    """Add a kind of figure to `FIGURES`: a function that returns the drawings that the data has the numbers for."""

    def add(draw: DrawFunction) -> DrawFunction:
        add_to_registry(FIGURES, "figure", name, FigureKind(draw, place, traces))
        return draw

    return add


def kinds() -> list[str]:
    """Return the names of all kinds in the order of reports."""
    return sorted(FIGURES, key=lambda name: (FIGURES[name].place, name))


def kind(name: str) -> FigureKind:
    """Return the kind of that name; `UsageError` with the names there are."""
    return entry_of(FIGURES, "figure", name, kinds())
