"""Which method is best on how many problems, and by how much: what summaries say and draw of results."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fwsvm.analysis.cells import sweeps
from fwsvm.analysis.measures import Measure, measure
from fwsvm.analysis.published import without_made_here

#: What is one problem: methods are compared on the same data set and kernel, of a sweep also at the same C, and where a
#: method has several tolerances also at the same tolerance.
PROBLEM = ["experiment", "profile", "dataset", "kernel"]
#: Two values nearer than this to each other are alike: printed accuracies have two decimals of a per cent.
ALIKE = {"accuracy": 5e-5, "time": 0.0}


@dataclass(frozen=True, slots=True)
class Contest:
    """The methods on all problems in one measure, time or accuracy.

    Attributes
    ----------
    measure : Measure
        Which.
    values : DataFrame
        Means (NaN: none, or not finite, or a time cut short), a row for each problem with two of them or more, a
        column for each method.
    behind : DataFrame
        The same as distances from the best: times over the shortest, points of accuracy below the highest.
    uncertain : int
        On how many problems the best two differ by less than two standard errors of their difference.
    judged : int
        On how many problems the best two ran more than once, so that this is known.
    """

    measure: Measure
    values: pd.DataFrame
    behind: pd.DataFrame
    uncertain: int
    judged: int

    @property
    def won(self) -> "pd.Series[int]":
        """On how many problems each method is best, alone or with others; the most first."""
        near = self.behind <= (1 if self.measure.name == "time" else 100 * ALIKE["accuracy"])
        return near.sum().sort_values(ascending=False, kind="stable")

    @property
    def typical(self) -> "pd.Series[float]":
        """How far each method is behind, where all have a value: geometric mean of times, mean of points."""
        whole = self.behind.dropna()
        if whole.empty:
            return pd.Series(dtype=float)
        return np.exp(np.log(whole).mean()) if self.measure.name == "time" else whole.mean()


def contest(cells: pd.DataFrame, name: str) -> Contest | None:
    """Compare the methods in ``time`` or ``accuracy``; None if no problem has values of two methods.

    A problem that a method solved at several settings is left out: which of them counts is not known. Data sets that
    are made here count only where there are no others.
    """
    kind = measure(name)
    cells = without_made_here(cells)
    swept = cells.index.isin(sweeps(cells).index)
    single = cells[~swept].groupby([*PROBLEM, "method"], dropna=False)["tolerance"].transform("nunique")
    several = (single > 1).groupby([cells[one] for one in PROBLEM], dropna=False).transform("any")
    apart = several.reindex(cells.index, fill_value=True).astype(bool)
    problems = cells.assign(C=cells["C"].where(swept), tolerance=cells["tolerance"].where(apart))
    good = np.isfinite(cells[kind.column]) & cells["finite"].astype(bool)
    if name == "time":
        good &= (cells[kind.column] > 0) & ~cells["censored"].astype(bool)
    values, uncertain, judged = [], 0, 0
    for problem, here in problems[good].groupby([*PROBLEM, "C", "tolerance"], dropna=False, sort=False):
        if len(here) > 1 and here["method"].is_unique:
            values.append(here.set_index("method")[kind.column].rename(problem))
            sure = _told_apart(here, kind)
            judged += sure is not None
            uncertain += sure is False
    if not values:
        return None
    matrix = pd.DataFrame(values)
    matrix = matrix[[method for method in dict.fromkeys(cells["method"]) if method in matrix]]
    best = matrix.min(axis=1) if name == "time" else matrix.max(axis=1)
    behind = matrix.div(best, axis=0) if name == "time" else 100 * matrix.rsub(best, axis=0)
    return Contest(kind, matrix, behind, uncertain, judged)


def _told_apart(here: pd.DataFrame, kind: Measure) -> bool | None:
    """Return whether the best two are more than two standard errors apart; None if one of them ran but once."""
    order = here.sort_values(kind.column, ascending=kind.better == "less", kind="stable").head(2)
    first, second = order.to_dict("records")
    errors = [
        cell[f"{kind.column}_sd"] / math.sqrt(cell["used"]) for cell in (first, second) if cell["used"] > 1
    ]
    if len(errors) < 2 or any(map(math.isnan, errors)):
        return None
    return bool(abs(first[kind.column] - second[kind.column]) > 2 * math.hypot(*errors))
