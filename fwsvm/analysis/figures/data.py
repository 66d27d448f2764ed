"""The data of figures: cells, ours or printed, and for some kinds the runs themselves."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import unique_cells
from fwsvm.analysis.figures.style import CUT_SHORT, plain_label
from fwsvm.analysis.measures import EMPTY, Measure, measure, named, plain
from fwsvm.analysis.names import short_name, short_names
from fwsvm.analysis.published import METHOD_NAMES, in_order
from fwsvm.analysis.reported import SETTING
from fwsvm.errors import ResultsError, UsageError, listed, nearest, shortened, shown

MAX_PICTURES = 200
#: Data sets that a line in a picture names.
MOST_NAMED = 12
#: What a picture of one kernel has one point of.
CELL = ["dataset", "method"]
#: Settings whose runs are never compared with each other.
APART = ("experiment", "profile", "protocol")


@dataclass(frozen=True)
class FigureData:
    """Cells and runs; ``runs`` (rows of runs.csv, with their folder) is empty for printed numbers."""

    cells: pd.DataFrame
    runs: pd.DataFrame = field(default_factory=pd.DataFrame)
    datasets: tuple[str, ...] = ()  # draw only these; empty means all

    def selected(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the cells (or runs) of the chosen data sets, without numbers that no axis can show."""
        return drawable(cells[cells["dataset"].isin(self.datasets)] if self.datasets else cells)

    def refuse_unknown(self) -> None:
        """Raise `UsageError` if there is nothing of a chosen data set."""
        known = [
            str(name) for frame in (self.cells, self.runs) if len(frame) for name in frame["dataset"].unique()
        ]
        for name in self.datasets:
            if name not in known:
                held = f"there are {listed(map(shortened, dict.fromkeys(known)))}"
                raise UsageError(
                    f"--dataset {shown(name)}: not in these results; {nearest(name, known, held)}"
                )

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


def settings_apart(
    cells: pd.DataFrame, within: Sequence[str] = ("kernel",), said: str = ""
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield cells of which each data set and method has one, with the settings in words that set them apart.

    Settings are those of `SETTING` but C, and those that a figure draws ``within`` a picture: it then has one cell for
    each of their values. A method that has one value of a setting of which others have several stands beside each of
    these, unless it is of another experiment.

    Raises
    ------
    ResultsError
        Cells of one data set and method differ in C alone, and it is no sweep.
    """
    one = {*APART, *CELL, *within, "C", "lambda"}
    for name in (*APART, *(name for name in SETTING if name not in one)):
        counts = cells.groupby(CELL, dropna=False)[name].nunique(dropna=False)
        if not counts.gt(1).any():
            continue
        varied = cells["method"].isin(counts[counts > 1].index.get_level_values("method"))
        for value in cells.loc[varied, name].unique():
            here = cells[name].isna() if pd.isna(value) else cells[name] == value
            word = f"{name.removesuffix('_set')} {named(value)}"
            known = name in APART or named(value) != EMPTY
            yield from settings_apart(
                cells[here if name in APART else here | ~varied],
                within,
                ", ".join([said] * bool(said) + [word] * known),
            )
        return
    yield said, unique_cells(cells, [*CELL, *(name for name in within if name != "kernel")])


def drawable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the numbers that are infinite or of more than a hundred powers of ten."""
    numbers = frame.select_dtypes("number")
    size = numbers.abs()
    return frame.assign(**numbers.where((numbers == 0) | ((size > 1e-100) & (size < 1e100))))


def methods_of(cells: pd.DataFrame) -> list[str]:
    """Return the methods in the order of their first appearance."""
    return list(dict.fromkeys(str(method) for method in cells["method"]))


def cut_short(cells: pd.DataFrame, kind: Measure) -> "pd.Series[bool]":
    """Return which cells of `against_baseline` are drawn hollow: of comparisons also those whose baseline was cut."""
    return cells["censored" if kind.derived else "cut_short"].astype(bool)


def whiskers(cells: pd.DataFrame, kind: Measure) -> "tuple[pd.Series[float], pd.Series[float]]":
    """Return the ends, as printed, of one standard deviation about each mean, as far as the measure's axis goes.

    That is from 0 to 100 % for accuracies, and on a log axis, which has no zero, from a third of the mean.
    """
    values, spread = cells[kind.column], cells[f"{kind.column}_sd"].fillna(0)
    low, high = values - spread, values + spread
    if kind.name == "accuracy":
        low, high = low.clip(lower=0), high.clip(upper=1)
    if kind.log_axis:
        low = low.clip(lower=values / 3)
    return low * kind.factor, high * kind.factor


def is_noise(cells: pd.DataFrame, kind: Measure, by: str = "dataset") -> bool:
    """Return whether methods differ nowhere by more than the standard deviation of their repetitions.

    ``by`` is what the methods are compared at. Where a method ran once, its noise is not known.
    """
    at = cells.groupby(by)
    apart = at[kind.column].max() - at[kind.column].min()
    noise = at[f"{kind.column}_sd"].agg(lambda deviations: deviations.max(skipna=False))
    several = at["method"].nunique() > 1
    return bool(several.any() and (noise > 0)[several].all() and (apart <= noise)[several].all())


def without_number(cells: pd.DataFrame, drawn: Iterable[str]) -> list[str]:
    """Return sentences on the data sets of cells of `against_baseline` that are not drawn: a limit, or no data."""
    lacking = [name for name in in_order(cells["dataset"]) if name not in set(drawn)]
    cut = cells["cut_short"].astype(bool).groupby(cells["dataset"]).all()
    groups = {
        "": [label_of(name) for name in lacking if not cut[name]],
        f", {CUT_SHORT}": [label_of(name) for name in lacking if cut[name]],
    }
    return [f"no number for {listed(names, most=MOST_NAMED)}{why}" for why, names in groups.items() if names]


def never_finished(cells: pd.DataFrame) -> list[str]:
    """Return a sentence on the data sets of which no run finished, if any."""
    used = cells["used"].groupby(cells["dataset"]).max()
    lacking = [label_of(name) for name in in_order(cells["dataset"]) if used[name] == 0]
    return [f"no number for {listed(lacking, most=MOST_NAMED)}"] if lacking else []


def fewer_rows(cells: pd.DataFrame) -> list[str]:
    """Return a sentence on the data sets of which fewer rows were trained on than the papers have, if any."""
    sizes = {d: m for paper in ("002", "003", "004") for d, m in published.training_rows(paper).items()}
    rows = cells.groupby("dataset")["rows"].max()
    fewer = [
        f"{label_of(name)} {rows[name]:,.0f} of {sizes[name]:,.0f}"
        for name in in_order(cells["dataset"])
        if rows[name] < sizes.get(name, 0)
    ]
    return [f"fewer training rows than published: {listed(fewer, most=MOST_NAMED)}"] if fewer else []


def label_of(dataset: str) -> str:
    """Return a data set's short name as pictures print it."""
    return plain_label(short_name(dataset))


def labels_of(datasets: list[str]) -> dict[str, str]:
    """Return the labels of data sets that stand in one picture, no two alike."""
    return {dataset: plain_label(name) for dataset, name in short_names(datasets).items()}


#: The measures that the row of a point shows.
SHOWN = ("accuracy", "time", "size", "iterations", "gap")


def records(cells: pd.DataFrame) -> list[dict[str, str]]:
    """Return what to say of each cell that is a point of a picture: its setting, its measures and its runs."""
    found = []
    for cell in cells.to_dict("records"):
        said = {"data set": str(cell["dataset"])}
        said["method"] = METHOD_NAMES.get(str(cell["method"]), str(cell["method"]))
        for name in ("kernel", "C", "tolerance"):
            value = cell.get(name)
            if value not in {None, ""} and value == value:  # noqa: PLR0124 - NaN is unlike itself
                said[name] = plain(value)
        if pd.notna(cell.get("rows")):
            said["training rows"] = f"{cell['rows']:,.0f}"
        for kind in map(measure, SHOWN):
            value, deviation = cell.get(kind.column), cell.get(f"{kind.column}_sd")
            if pd.notna(value):
                spread = f" ± {kind.printed_deviation(value, deviation)}" if pd.notna(deviation) else ""
                said[kind.title] = f"{kind.printed(value)}{spread}"
        said["runs"] = str(cell.get("statuses", ""))
        found.append(said)
    return found
