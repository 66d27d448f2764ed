"""Which method is best on how many problems, and by how much: what summaries say and draw of results."""

import numpy as np
import pandas as pd

from fwsvm.analysis.cells import in_sweeps
from fwsvm.analysis.measures import measure
from fwsvm.analysis.published import without_made_here

#: What is one problem: methods are compared on the same data set and kernel, of a sweep also at the same C, and where a
#: method has several tolerances also at the same tolerance.
PROBLEM = ["experiment", "profile", "dataset", "kernel"]
#: A method nearer to the best than this is best, too: printed accuracies have two decimals of a per cent.
BEST = {"accuracy": 5e-3, "time": 1.0}


def behind_best(cells: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return how far methods are behind the best: times over the shortest, or points of accuracy below the highest.

    There is a row for each problem with values of two methods or more, and a column for each method. NaN is what has no
    value, several, one that is not finite, or a time that was cut short. Data sets that are made here count only
    where there are no others.
    """
    column = measure(name).column
    cells = without_made_here(cells)
    several = cells.groupby([*PROBLEM, "method"], dropna=False)["tolerance"].nunique().gt(1).any()
    problem = [*PROBLEM, "C", *["tolerance"] * bool(several)]
    cells = cells.assign(C=cells["C"].where(in_sweeps(cells)))
    good = np.isfinite(cells[column]) & cells["finite"].astype(bool)
    if name == "time":
        good &= (cells[column] > 0) & ~cells["censored"].astype(bool)
    number = cells.groupby(problem, dropna=False).ngroup()
    known = cells.assign(number=number)[good & ~cells.duplicated([*problem, "method"], keep=False)]
    values: pd.DataFrame = (
        known.pivot(index="number", columns="method", values=column)
        .reindex(columns=cells["method"].unique())
        .dropna(thresh=2)
        .dropna(axis=1, how="all")
    )
    best = values.min(axis=1) if name == "time" else values.max(axis=1)
    return values.div(best, axis=0) if name == "time" else values.rsub(best, axis=0).mul(100)
