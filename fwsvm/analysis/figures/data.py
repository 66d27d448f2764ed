"""The data of figures: cells, ours or printed, and for some kinds the runs themselves."""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.figures.style import plain_label
from fwsvm.analysis.tables.layout import in_order
from fwsvm.errors import ResultsError

MAX_PICTURES = 200


@dataclass(frozen=True)
class FigureData:
    """Cells and runs; ``runs`` (rows of runs.csv, with their folder) is empty for printed numbers."""

    cells: pd.DataFrame
    runs: pd.DataFrame = field(default_factory=pd.DataFrame)
    datasets: tuple[str, ...] = ()  # draw only these; empty means all

    def selected(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the cells (or runs) of the chosen data sets, without numbers that no axis can show."""
        return drawable(cells[cells["dataset"].isin(self.datasets)] if self.datasets else cells)

    def order(self, cells: pd.DataFrame) -> list[str]:
        """Return the data sets of these cells in the papers' order."""
        return in_order(cells["dataset"])

    def datasets_in(self, cells: pd.DataFrame) -> list[str]:
        """Return the data sets of these cells in order, if there may be a picture of each; else ResultsError."""
        order = self.order(cells)
        if len(order) > MAX_PICTURES:
            raise ResultsError(
                f"pictures of {len(order):,} data sets, and at most {MAX_PICTURES} are drawn at a time; "
                "choose with --dataset NAME"
            )
        return order


def drawable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the numbers that are infinite or of more than a hundred powers of ten."""
    numbers = frame.select_dtypes("number")
    size = numbers.abs()
    return frame.assign(**numbers.where((numbers == 0) | ((size > 1e-100) & (size < 1e100))))


def methods_of(cells: pd.DataFrame) -> list[str]:
    """Return the methods in the order of their first appearance."""
    return list(dict.fromkeys(str(method) for method in cells["method"]))


def label_of(dataset: str) -> str:
    """Return a data set's name as pictures print it: the papers', or of a synthetic set its kind and rows."""
    kind, _, numbers = dataset.removeprefix("synthetic:").partition("?")
    rows = dict(parse_qsl(numbers)).get("rows", "")
    return plain_label(
        f"{kind} {rows}".strip() if dataset.startswith("synthetic:") else published.title(dataset)
    )
