"""From runs to cells: one row for each data set, method and setting, with mean and deviation over repetitions.

Tables, tests, figures and claims all use cells. Published numbers have the same form (`fwsvm.analysis.published`).
"""

import shlex
from collections.abc import Collection, Hashable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwsvm import promises
from fwsvm.analysis.bounds import cut_in_part
from fwsvm.analysis.measures import BOUND_COLUMNS, EMPTY, MEASURED_COLUMNS, named, plain
from fwsvm.analysis.reported import SETTING, final_rows
from fwsvm.analysis.results import DONE
from fwsvm.errors import ResultsError, listed, shortened
from fwsvm.status import SEVERITY

#: Two thousand data sets with ten methods.
MAX_CELLS = 20_000


def cells_of_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the reported runs among ``frame`` (rows of runs.csv).

    Columns: the setting, ``rows``, every measured column with its ``_sd`` (n - 1; empty for a single run), ``runs``,
    ``used`` (finished runs that are averaged), ``status``, ``statuses`` (in words), ``censored`` (a time limit cut a
    run short, so its time is a lower bound), ``finite`` (all numbers are), ``void`` (in words, why the results promise
    little, see `fwsvm.promises`). Of a run of several subproblems that was cut short, only the costs count, since it
    has no machine for the remaining subproblems.
    """
    rows = final_rows(frame)
    if rows.empty:
        raise ResultsError("these results hold no final runs (role=final), only parameter search or nothing")
    number = rows.groupby(SETTING, dropna=False, sort=False).ngroups
    if number > MAX_CELLS:
        raise ResultsError(
            f"{number:,} cells (data sets, methods and settings), and at most {MAX_CELLS:,} are averaged; "
            "choose with --where COLUMN=VALUE"
        )
    cells = pd.DataFrame(
        [_cell(group, key) for key, group in rows.groupby(SETTING, dropna=False, sort=False)]
    )
    return with_short_method_names(cells)


def with_short_method_names(cells: pd.DataFrame) -> pd.DataFrame:
    """Shorten method names such as ``scs(metric=rkhs)`` to ``scs`` if there is one variant only.

    The parameters move to the column ``parameters``.
    """
    split = cells["method"].str.partition("(")
    variants = cells.groupby(split[0])["method"].transform("nunique")
    alone = variants == 1
    return cells.assign(
        method=cells["method"].where(~alone, split[0]),
        parameters=split[2].str.rstrip(")").where(alone, ""),
    )


def _cell(group: pd.DataFrame, key: tuple[object, ...]) -> dict[str, object]:
    cell: dict[str, object] = dict(zip(SETTING, key, strict=True))
    finished = group[group["status"].isin(DONE)]
    in_part = cut_in_part(finished["status"], finished["subproblems"])
    whole = ~in_part.to_numpy(dtype=bool)
    for column, numbers in zip(
        MEASURED_COLUMNS, finished[MEASURED_COLUMNS].to_numpy(dtype=float).T, strict=True
    ):
        values = numbers[~np.isnan(numbers) & (whole | (column in BOUND_COLUMNS))]
        with np.errstate(invalid="ignore", over="ignore"):  # objectives may be infinite
            cell[column] = float(values.mean()) if values.size else float("nan")
            cell[f"{column}_sd"] = _deviation(values)
    counts = group["status"].value_counts()
    present = [status for status in SEVERITY if status in counts.index]  # the worst first
    cell |= {
        "rows": group["rows"].max(),
        "features": group["features"].max(),
        "classes": group["classes"].max(),
        "subproblems": group["subproblems"].max(),
        "runs": len(group),
        "used": len(finished) - int(in_part.sum()) * (not in_part.all()),
        "status": str(present[0]),
        "statuses": ", ".join(f"{counts[status]} {status}" for status in reversed(present)),
        "censored": bool((finished["status"] == "time_limit").any()),
        "minimised": _minimised(finished),
        "finite": all(map(promises.is_finite, finished["objective"], finished["flags"])),
        "void": _weak_promise(finished),
    }
    return cell


def _minimised(finished: pd.DataFrame) -> str:
    """Return what the objective of these runs is: the primal, or R on the simplex; '' where it is not known."""
    known = finished[finished["objective"].notna()]
    return "" if known.empty else "primal" if (known["objective"] == known["primal"]).all() else "R"


def _weak_promise(finished: pd.DataFrame) -> str:
    """Return in a few words why runs that ended by their stopping rule promise little, or ''.

    Runs that a limit ended are not considered: their status says that the gap may be large.
    """
    by_rule = finished[finished["status"].isin(["converged", "sampled_stop"])]
    return promises.in_short(by_rule["relative_gap"].tolist(), by_rule["flags"].tolist())


def _deviation(values: NDArray[np.float64]) -> float:
    """Return the standard deviation (n - 1): none for a single run, exactly 0 for equal ones."""
    if values.size < 2:
        return float("nan")
    return 0.0 if (values == values[0]).all() else float(values.std(ddof=1))


def unique_cells(cells: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Return the cells if ``key`` is unique; else `ResultsError` says what differs and how to choose."""
    doubled = cells[cells.duplicated(key, keep=False)]
    if doubled.empty:
        return cells
    first = doubled[(doubled[key] == doubled.iloc[0][key]).all(axis=1)]
    differing = [name for name in SETTING if name not in key and first[name].nunique(dropna=False) > 1]
    place = ", ".join(shortened(str(first.iloc[0][name])) for name in key)
    values = {name.removesuffix("_set"): [named(v) for v in first[name].unique()] for name in differing}
    choices = "; ".join(f"{name} {listed(map(shortened, some), ' or ', 8)}" for name, some in values.items())
    raise ResultsError(
        f"several results for {place}: {choices or 'the same setting twice'}; "
        f"choose with --where {_example(values)}"
    )


def _example(values: Mapping[str, list[str]]) -> str:
    """Return what to type after --where for one value of a setting, and for its empty one."""
    if not values:
        return "COLUMN=VALUE"
    name, some = next(iter(values.items()))
    filled = [shlex.quote(f"{name}={value}") for value in some if value != EMPTY]
    typed = [*filled[:1], *([f"{name}="] if EMPTY in some else [])]
    return " or --where ".join(map(shortened, typed))


def several_kinds(cells: pd.DataFrame) -> str:
    """Return in words the profiles and protocols of finished cells, of those of which there are several, or ''.

    Numbers of different profiles or protocols are hardly comparable.
    """
    finished = cells[cells["used"] > 0]
    kinds = {
        name: [named(v) for v in finished[name].unique() if v != ""]
        for name in ("profile", "protocol")
        if name in cells
    }
    return "; ".join(
        f"several {name}s: {listed(some, ', ', 8)}" for name, some in kinds.items() if len(some) > 1
    )


def cell_names(some: pd.DataFrame, among: pd.DataFrame, settings: Collection[str] = ()) -> list[str]:
    """Return where cells are, as set/method, and as the set alone for all of its methods ``among`` cells.

    Of ``settings`` that tell cells of a set and method apart the values are named, unless all of its cells are meant.
    """
    methods = {data: set(group["method"]) for data, group in among.groupby("dataset", sort=False)}
    numbers = among.groupby(["dataset", "method"], sort=False).size()
    found: list[str] = []
    for data, group in some.groupby("dataset", sort=False):
        parts = dict(list(group.groupby("method", sort=False)))
        complete = [name for name, part in parts.items() if not settings or len(part) == numbers[data, name]]
        if len(complete) > 1 and set(complete) == methods[data]:
            found.append(str(data))
            continue
        for name, part in parts.items():
            said = [""] if name in complete else [setting_words(c, settings) for c in part.to_dict("records")]
            found += [f"{data!s}/{name!s}{words}" for words in said]
    return found


def setting_words(cell: Mapping[Hashable, object], settings: Collection[str]) -> str:
    """Return the values of these settings as they stand behind the name of a cell, or ''."""
    said = [f"{name.removesuffix('_set')} {plain(cell[name])}" for name in settings if cell[name] != ""]
    return f" at {', '.join(said)}" if said else ""
