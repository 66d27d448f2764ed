"""Pictures by matplotlib (the extra ``plots``), each kind one module with a function ``draw``."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from fwsvm.analysis.figures import convergence, datasets, ranks, selection, series, sweep
from fwsvm.analysis.figures.data import FigureData
from fwsvm.analysis.figures.style import FORMATS, Drawing, require_matplotlib

KINDS = ("series", "datasets", "sweep", "convergence", "selection", "ranks")
__all__ = ["FORMATS", "KINDS", "Drawing", "FigureData", "draw"]


def draw(
    data: FigureData,
    kinds: Sequence[str] = KINDS,
    *,
    measures: tuple[str, ...] = (),
    against: Literal["seconds", "iteration"] = "seconds",
    window: int = 0,
    baseline: str = "cvm",
    alpha: float = 0.05,
) -> list[Drawing]:
    """Return the figures of these kinds that the data has the numbers for."""
    require_matplotlib()
    traced = tuple(name for name in measures if name in convergence.SHOWN)
    plain = tuple(name for name in measures if name not in convergence.SHOWN)
    makers: dict[str, Callable[[], list[Drawing]]] = {
        "series": lambda: series.draw(data, plain, baseline),
        "datasets": lambda: datasets.draw(data, plain, baseline),
        "sweep": lambda: sweep.draw(data, plain),
        "convergence": lambda: convergence.draw(data, traced, against, window),
        "selection": lambda: selection.draw(data),
        "ranks": lambda: ranks.draw(data, plain, alpha=alpha),
    }
    return _with_own_names([drawing for kind in kinds for drawing in makers[kind]()])


def _with_own_names(drawings: list[Drawing]) -> list[Drawing]:
    """Return the figures, with numbers appended to file names that occurred before."""
    met: Counter[str] = Counter()
    named = []
    for drawing in drawings:
        met[drawing.name.lower()] += 1
        number = met[drawing.name.lower()]
        named.append(drawing if number == 1 else replace(drawing, name=f"{drawing.name}-{number}"))
    return named
