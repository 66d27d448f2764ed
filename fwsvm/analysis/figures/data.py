"""What figures are drawn from: cells, ours or printed, for some kinds the runs, and what a user asked for."""

from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from fwsvm.analysis.figures.style import plain_label
from fwsvm.analysis.measures import MEASURES, Measure, measure
from fwsvm.analysis.names import short_names
from fwsvm.analysis.published import in_order

#: Columns of traces and what they are called on an axis.
TRACED = {
    "objective": "objective",
    "suboptimality": "objective above the lowest of all runs",
    "gap": "duality gap",
    "support_vectors": "support vectors",
}


@dataclass(frozen=True)
class FigureData:
    """Cells and runs, and what a user asks of figures.

    Attributes
    ----------
    cells, runs : DataFrame
        ``runs`` (rows of runs.csv, with their folder) is empty for printed numbers.
    measures : tuple of str
        What to draw; empty means what each kind draws by default.
    against : {"seconds", "iteration"}
        What traces are drawn against.
    window : int
        The first and last so many iterations of traces; 0 means all.
    """

    cells: pd.DataFrame
    runs: pd.DataFrame = field(default_factory=pd.DataFrame)
    measures: tuple[str, ...] = ()
    against: Literal["seconds", "iteration"] = "seconds"
    window: int = 0

    def kinds(self, *default: str) -> list[Measure]:
        """Return the measures of cells that were asked for, or the default ones."""
        names = [name for name in self.measures if name not in TRACED or name in MEASURES]
        return [measure(name) for name in (names if self.measures else default)]


def labels_of(cells: pd.DataFrame) -> dict[str, str]:
    """Return the labels of data sets that stand in one picture, in the papers' order, no two alike."""
    return {dataset: plain_label(name) for dataset, name in short_names(in_order(cells["dataset"])).items()}
