"""One measure as a table of data sets x methods, for tests between methods."""

import math
from collections.abc import Hashable
from typing import Any

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import unique_cells
from fwsvm.analysis.measures import BOUND_COLUMNS, MEASURES
from fwsvm.errors import ResultsError


def method_matrix(
    cells: pd.DataFrame, column: str, methods: list[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the data sets x methods table of one measure, and the data sets left out, each with the reason.

    A data set counts only if every method has a finished, uncensored value on it, and if it is not made here.
    """
    chosen = unique_cells(cells[cells["method"].isin(methods)], ["dataset", "method"])
    if column == "objective" and "minimised" in chosen and len({*chosen["minimised"]} - {""}) > 1:
        raise ResultsError(
            "some of these methods minimise R on the simplex and some the primal, so their objectives do not compare; "
            "choose methods of one kind, or accuracy or time"
        )
    columns = ["dataset", "method", column, "status", "statuses", "used", "censored"]
    columns += {"finite"} & {*chosen.columns}
    found = {(cell["dataset"], cell["method"]): cell for cell in chosen[columns].to_dict("records")}
    rows: dict[str, list[float]] = {}
    left_out: dict[str, str] = {}
    for dataset in dict.fromkeys(chosen["dataset"]):
        here = [found.get((dataset, method)) for method in methods]
        reasons = [_unusable(cell, method, column) for cell, method in zip(here, methods, strict=True)]
        if dataset in published.made_here():
            reasons.insert(0, "made here, no published data set")
        if any(reasons):
            left_out[dataset] = next(reason for reason in reasons if reason)
        else:
            rows[dataset] = [cell[column] for cell in here if cell is not None]
    values = pd.DataFrame.from_dict(rows, orient="index", columns=pd.Index(methods), dtype=float)
    return values, left_out


def _unusable(cell: dict[Hashable, Any] | None, method: str, column: str) -> str:
    """Return why a cell cannot be compared, or ''."""
    if cell is None:
        return f"{method} was not run"
    if pd.isna(cell[column]):
        ended = cell["used"] and not cell["censored"] and cell["status"] != "time_limit"
        return f"{method}: {f'no {_words(column)}' if ended else cell['statuses']}"
    if not math.isfinite(cell[column]):
        return f"{method}: {cell[column]}"
    if not cell.get("finite", True):
        return f"{method}: numbers that are not finite"
    if column in BOUND_COLUMNS and cell["censored"]:
        return f"{method} stopped at its time limit"
    return ""


def _words(column: str) -> str:
    """Return the title of a column's measure, without its unit."""
    titles = (kind.title for kind in MEASURES.values() if kind.column == column)
    return next(titles, column).partition(" (")[0]
