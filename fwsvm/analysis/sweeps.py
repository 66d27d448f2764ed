"""Sweeps: several values of C for one problem, told from the one value that comparisons are made at."""

import pandas as pd

from fwsvm.analysis.results import DONE
from fwsvm.errors import listed, shortened


def without_sweeps(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells without sweeps over C, that is, without several values of C for the same problem."""
    return cells[_values_of_C(cells) == 1]


def sweeps(cells: pd.DataFrame) -> pd.DataFrame:
    """Return only the cells of sweeps over C."""
    return cells[_values_of_C(cells) > 1]


def _values_of_C(cells: pd.DataFrame) -> "pd.Series[int]":  # noqa: N802 - C is the penalty
    problem = ["experiment", "profile", "dataset", "method", "kernel", "tolerance"]
    return cells.groupby(problem, dropna=False)["C"].transform(lambda c: c.nunique(dropna=False))


def some_read_as_sweeps(frame: pd.DataFrame) -> list[str]:
    """Return what to say where some data sets of an experiment have several C and the others one.

    So it is where a search was made again and chose otherwise: comparisons at one C leave out what looks like a sweep.
    """
    rows = frame[(frame["role"] == "final") & frame["status"].isin(DONE)]
    said = []
    for (experiment, *_), here in rows.groupby(
        ["experiment", "profile", "kernel", "tolerance"], dropna=False
    ):
        counts = here.groupby(["dataset", "method"])["C"].nunique()
        several = counts[counts > 1].reset_index()
        if len(several) and (counts == 1).any():
            names = listed(f"{cell['dataset']}/{cell['method']}" for cell in several.to_dict("records"))
            said.append(
                f"{shortened(str(experiment))}: several values of C for {names}, and one for the others; "
                "comparisons at one C leave these out; choose with --where C=VALUE"
            )
    return said
