"""Which method is best on how many problems, and by how much: what summaries say and draw of results."""

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
    """

    measure: Measure
    values: pd.DataFrame
    behind: pd.DataFrame

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
    several = cells.groupby([*PROBLEM, "method"], dropna=False)["tolerance"].nunique().gt(1).any()
    problem = [*PROBLEM, "C", *["tolerance"] * bool(several)]
    problems = cells.assign(C=cells["C"].where(cells.index.isin(sweeps(cells).index)))
    good = np.isfinite(cells[kind.column]) & cells["finite"].astype(bool)
    if name == "time":
        good &= (cells[kind.column] > 0) & ~cells["censored"].astype(bool)
    values = [
        here.set_index("method")[kind.column].rename(place)
        for place, here in problems[good].groupby(problem, dropna=False, sort=False)
        if len(here) > 1 and here["method"].is_unique
    ]
    if not values:
        return None
    matrix = pd.DataFrame(values)
    matrix = matrix[[method for method in dict.fromkeys(cells["method"]) if method in matrix]]
    best = matrix.min(axis=1) if name == "time" else matrix.max(axis=1)
    behind = matrix.div(best, axis=0) if name == "time" else 100 * matrix.rsub(best, axis=0)
    return Contest(kind, matrix, behind)
