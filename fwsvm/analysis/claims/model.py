"""Claims, the results of their checks, and the view of cells that checks use."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import is_certain, unique_cells, without_sweeps
from fwsvm.analysis.measures import measure


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether a claim holds in these numbers, and the numbers as evidence."""

    holds: bool
    evidence: str


#: A check returns None when the cells do not have what it needs.
Check = Callable[["View"], CheckResult | None]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a paper, in our words, with a check that can be carried out on any cells."""

    name: str
    place: str
    statement: str
    methods: tuple[str, ...]
    check: Check
    printed: str | None = (
        None  # the paper whose printed numbers the claim can be checked on; None: figures only
    )

    @property
    def paper(self) -> str:
        """Return the paper's number, with which every claim's name begins."""
        return self.name.partition("-")[0]


class View:
    """Cells by data set and method, without sweeps.

    If several experiments ran a data set, all its cells are those of the experiment with most of the claim's methods,
    so that times of different experiments are never compared.
    """

    def __init__(self, cells: pd.DataFrame, methods: Sequence[str]) -> None:
        self.methods = methods
        self.all = of_methods(cells, methods)
        self._plain = without_sweeps(self.all)
        self._found: dict[str, dict[tuple[str, str], pd.DataFrame]] = {}
        self._cells: dict[tuple[str, str, str], dict[str, object]] = {}

    def value(self, dataset: str, method: str, name: str, kernel: str = "rbf") -> float:
        """Return the mean of a measure, NaN where it was not measured."""
        cell = self.cell(dataset, method, kernel)
        value = float("nan") if cell is None else cell.get(measure(name).column, float("nan"))
        return float(value) if isinstance(value, int | float) else float("nan")

    def cell(self, dataset: str, method: str, kernel: str = "rbf") -> dict[str, object] | None:
        """Return the cell of a data set and method, or None; `ResultsError` where there are several."""
        if kernel not in self._found:
            self._found[kernel] = self._by_name(kernel)
        found, key = self._found[kernel].get((dataset, method)), (kernel, dataset, method)
        if found is not None and key not in self._cells:
            (cell,) = unique_cells(found, ["dataset", "method"]).to_dict("records")
            self._cells[key] = {str(name): value for name, value in cell.items()}
        return self._cells.get(key)

    def cut_short(self, dataset: str, method: str) -> bool:
        """Return whether a time limit makes this cell's time a lower bound."""
        cell = self.cell(dataset, method)
        return cell is not None and bool(cell["censored"])

    def pairs(
        self, name: str, first: str, second: str, on: Sequence[str]
    ) -> Iterator[tuple[str, float, float]]:
        """Yield (data set, first's value, second's) if both were measured and the comparison is certain.

        A time that was cut short is a lower bound: it is compared only with a time that it exceeds.
        """
        for dataset in on:
            a, b = self.value(dataset, first, name), self.value(dataset, second, name)
            if math.isnan(a) or math.isnan(b):
                continue
            if name == "time":
                bounds = self.cut_short(dataset, first), self.cut_short(dataset, second)
                if not is_certain(a, bounds[0], b, bounds[1]):
                    continue
            yield dataset, a, b

    def with_stand_ins(self) -> tuple["View", dict[str, str]]:
        """Return the view in which stand-ins have the names of published data sets that were not measured.

        The mapping names the stand-ins, each with the data set that it stands for.
        It is for checks of how something grows with the number of rows, and for no others.
        """
        measured = self.all[self.all["train_seconds"].notna()]
        places = published.standing_in(set(measured["dataset"]))
        if not places:
            return self, {}
        others = self.all[~self.all["dataset"].isin(places.values())]
        named = others.assign(dataset=others["dataset"].replace(places))
        return View(named, self.methods), dict(places)

    def _by_name(self, kernel: str) -> dict[tuple[str, str], pd.DataFrame]:
        here = self._plain[self._plain["kernel"].isin([kernel, ""])]
        found: dict[tuple[str, str], pd.DataFrame] = {}
        for dataset, cells in here[here["used"] > 0].groupby("dataset", sort=False):
            counts = cells.groupby("experiment", sort=False)["method"].nunique()
            of_one = cells[cells["experiment"] == counts.idxmax()]
            for method, same in of_one.groupby("method", sort=False):
                found[str(dataset), str(method)] = same
        return found


def of_methods(cells: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Return the cells of these methods.

    Where an experiment has a method in one variant alone, such as ``scs(growth=theory)``, that is the method, whatever
    variants other experiments have.
    """
    short = cells["method"].map(lambda name: str(name).partition("(")[0]).astype(object)
    experiment = [cells[name] for name in ("experiment", "profile") if name in cells]
    variants = cells["method"].groupby([*experiment, short], dropna=False).transform("nunique")
    alone = (variants == 1) & short.isin(methods)
    named = cells.assign(method=cells["method"].where(~alone, short))
    return named[named["method"].isin(methods)]


def of_growth(check: Check, on: Sequence[str]) -> Check:
    """Return a check of growth with the rows of ``on``, in which stand-ins count where a published set is lacking.

    In the evidence the name of a published set that a stand-in replaces has a dagger.
    """

    def filled(view: View) -> CheckResult | None:
        full, places = view.with_stand_ins()
        found, used = check(full), [made for made, of in places.items() if of in on]
        if found is None or not used:
            return found
        evidence = found.evidence
        for made in used:
            evidence = re.sub(
                rf"\b{re.escape(published.title(places[made]))}\b", rf"\g<0>{published.DAGGER}", evidence
            )
        return CheckResult(found.holds, f"{evidence} [with stand-ins made here: {listed_titles(used)}]")

    return filled


def listed_titles(datasets: Sequence[str], most: int = 6) -> str:
    """Return data set names as the papers print them, shortened to ``most``."""
    names = [published.title(dataset) for dataset in datasets]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
