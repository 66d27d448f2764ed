"""What figures are drawn from: cells, ours or printed, for some kinds the runs, and what a user asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from fwsvm.analysis.cells import unique_cells
from fwsvm.analysis.figures.style import HOLLOW, INK, band, hollow, plain_label, scale_axis, style_of
from fwsvm.analysis.measures import MEASURES, Measure, measure, named
from fwsvm.analysis.names import short_names
from fwsvm.analysis.published import MADE_HERE, in_order, made_here, smaller_than_published
from fwsvm.analysis.reported import SETTING
from fwsvm.errors import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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

    def selected(self) -> "FigureData":
        """Return the data without numbers that no axis can show."""
        return replace(self, cells=drawable(self.cells), runs=drawable(self.runs))

    def kinds(self, *default: str) -> list[Measure]:
        """Return the measures of cells that were asked for, or the default ones."""
        names = [name for name in self.measures if name not in TRACED or name in MEASURES]
        return [measure(name) for name in (names if self.measures else default)]


def compared(cells: pd.DataFrame, kind: Measure) -> list[str]:
    """Return the methods in the order of their first appearance; of speed-ups over CVM without it."""
    return [m for m in dict.fromkeys(cells["method"]) if (kind.name, m) != ("speedup", "cvm")]


def setting_labels(rows: pd.DataFrame, names: Sequence[str], within: list[str]) -> "pd.Series[str]":
    """Return in words, for each row, the settings that vary ``within`` what has these columns alike."""
    varying = [
        name for name in names if (rows.groupby(within, dropna=False)[name].nunique(dropna=False) > 1).any()
    ]
    words = rows[varying].apply(lambda values: values.name.removesuffix("_set") + " " + values.map(named))
    return words.agg(", ".join, axis=1) if varying else pd.Series("", rows.index)


def settings_apart(cells: pd.DataFrame, within: Sequence[str] = ()) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield cells of which each data set and method has one, with the settings in words that set them apart.

    Kernel and C are the caller's business, as are settings ``within`` a picture.
    """
    names = [name for name in SETTING if name not in {"dataset", "method", "kernel", "C", "lambda", *within}]
    for said, here in cells.groupby(setting_labels(cells, names, ["dataset", "method"]), sort=False):
        yield str(said), unique_cells(here, ["dataset", "method", *within])


def drawable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the numbers that no axis can show: above 1e100."""
    numbers = frame.select_dtypes("number")
    return frame.assign(**numbers.where(numbers.abs() < 1e100))


def labels_of(cells: pd.DataFrame) -> dict[str, str]:
    """Return the labels of data sets that stand in one picture, in the papers' order, no two alike."""
    return {dataset: plain_label(name) for dataset, name in short_names(in_order(cells["dataset"])).items()}


def cut_short(cells: pd.DataFrame, kind: Measure) -> "pd.Series[bool]":
    """Return which cells are drawn hollow: of speed-ups also those where CVM was cut short."""
    return cells["cut_short" if "cut_short" in cells and not kind.derived else "censored"].astype(bool)


def whiskers(cells: pd.DataFrame, kind: Measure) -> "tuple[pd.Series[float], pd.Series[float]]":
    """Return the ends, as printed, of one standard deviation about each mean, as far as the measure's axis goes.

    That is from 0 to 100 % for accuracies, and on a log axis, which has no zero, from a third of the mean.
    """
    values, spread = cells[kind.column], cells[f"{kind.column}_sd"].fillna(0)
    least = values / 3 if kind.log_axis else 0 if kind.name == "accuracy" else -np.inf
    most = 1 if kind.name == "accuracy" else np.inf
    return (values - spread).clip(lower=least) * kind.factor, (values + spread).clip(upper=most) * kind.factor


def draw_curves(
    panel: "Axes", points: pd.DataFrame, x: str, kind: Measure, methods: list[str], **look: Any
) -> None:
    """Draw each method's means over a column, with bands of one standard deviation and hollow bounds.

    ``look`` replaces parts of a method's style; a ``label`` in it is added to the method's.
    """
    for method in methods:
        mine = points[(points["method"] == method) & points[kind.column].notna()].sort_values(
            x, kind="stable"
        )
        if len(mine):
            own = style_of(method, methods)
            style = own | look | {"label": own["label"] + look.get("label", "")}
            values, cut = mine[kind.column] * kind.factor, cut_short(mine, kind)
            panel.plot(mine[x], values, **style)
            band(panel, mine[x], *whiskers(mine, kind), style)
            hollow(panel, mine[x][cut], values[cut], style)


def finish_axis(panel: "Axes", which: Literal["x", "y"], kind: Measure) -> None:
    """Scale the axis of a measure, and mark 1 among speed-ups; after drawing."""
    if kind.name == "speedup":
        (panel.axvline if which == "x" else panel.axhline)(1, color=INK, linewidth=0.8)
    scale_axis(panel, which, kind)


def notes_of(cells: pd.DataFrame, known: pd.DataFrame, kind: Measure) -> list[str]:
    """Return what is to be said below a picture of the ``known`` ones of these cells."""
    said = ["bands and whiskers: one standard deviation"] * bool(known[f"{kind.column}_sd"].gt(0).any())
    said += [HOLLOW] * bool(cut_short(known, kind).any())
    lacking = [label for name, label in labels_of(cells).items() if name not in set(known["dataset"])]
    said += [f"no number for {listed(lacking, most=12)}"] * bool(lacking)
    said += smaller_than_published(known)
    return said + [MADE_HERE] * bool(known["dataset"].isin(made_here()).any())
