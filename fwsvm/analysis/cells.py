"""From runs to cells: one row for each data set, method and setting, with mean and deviation over repetitions.

Tables, tests, figures and claims all use cells. Published numbers have the same form (`fwsvm.analysis.published`).
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwsvm import promises
from fwsvm.analysis import published
from fwsvm.analysis.bounds import cut_in_part
from fwsvm.analysis.measures import BOUND_COLUMNS, MEASURED_COLUMNS, MEASURES, plain
from fwsvm.analysis.results import DONE
from fwsvm.errors import ResultsError
from fwsvm.results.kinds import listed, shortened
from fwsvm.status import SEVERITY

#: Columns that identify a cell; ``gamma_set`` is gamma if no rule derives it from the data, ``protocol`` is that of
#: `fwsvm.analysis.results.protocols`.
SETTING = (  # noqa: SIM905 - a list of names reads better unquoted
    "experiment profile dataset method kernel C lambda tolerance search stop width_rule degree coef0 "
    "gamma_set protocol"
).split()
#: Two thousand data sets with ten methods.
MAX_CELLS = 20_000
#: Columns that identify a run within its cell.
REPEATED = ["seed", "fold", "repetition"]


def final_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the reported runs (``role`` final), each repetition of a cell once.

    Of repeated runs the latest finished row counts, or the latest if none finished. The row of a run that never
    started (no data, no parameters selected) has only the requested settings: any finished row with the same values in
    these columns replaces it.
    """
    rows = frame[frame["role"] == "final"].copy()
    if "protocol" not in rows:
        rows["protocol"] = ""
    derived = rows["width_rule"].astype(str) != ""
    rows["gamma_set"] = rows["gamma"].where(~derived)
    rows["_finished"] = rows["status"].isin(DONE)
    rows = rows.sort_values("_finished", kind="stable")
    rows = rows.drop_duplicates([*SETTING, *REPEATED], keep="last").sort_index()
    return rows[~_superseded(rows)].drop(columns="_finished")


def _superseded(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return which unfinished rows have a finished one with the same values in all columns that they fill."""
    names = [*SETTING, *REPEATED]
    finished, unfinished = rows[rows["_finished"]], rows[~rows["_finished"]]
    said = (unfinished[names].notna() & (unfinished[names] != "")).to_numpy(dtype=bool)
    replaced: set[Hashable] = set()
    # row by row against all that finished would take hours for a large folder; few sets of columns occur
    for pattern in np.unique(said, axis=0):
        columns = [name for name, there in zip(names, pattern, strict=True) if there]
        alike = unfinished[(said == pattern).all(axis=1)]
        known = set(finished[columns].itertuples(index=False, name=None))
        asked = alike[columns].itertuples(index=False, name=None)
        replaced |= {index for index, what in zip(alike.index, asked, strict=True) if what in known}
    return pd.Series(rows.index.isin(list(replaced)), index=rows.index)


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
        "runs": len(group),
        "used": len(finished) - int(in_part.sum()) * (not in_part.all()),
        "status": str(present[0]),
        "statuses": ", ".join(f"{counts[status]} {status}" for status in reversed(present)),
        "censored": bool((finished["status"] == "time_limit").any()),
        "minimised": _minimised(finished),
        "finite": all(map(promises.is_finite, finished["objective"], finished["message"])),
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
    return promises.in_short(by_rule["relative_gap"].tolist(), by_rule["message"].tolist())


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
    choices = "; ".join(
        f"{name.removesuffix('_set')} {_listed(first[name].unique(), ' or ')}" for name in differing
    )
    raise ResultsError(
        f"several results for {place}: {choices or 'the same setting twice'}; "
        "choose with --where COLUMN=VALUE"
    )


def _listed(values: Iterable[object], between: str) -> str:
    """Return the first few values, and how many more there are."""
    return listed((f"{v:g}" if isinstance(v, float) else shortened(str(v)) for v in values), between, 8)


def against_baseline(cells: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Add ``speedup`` t_baseline / t and ``relative_accuracy`` (a_baseline - a) / a_baseline to each cell.

    003 section 5.3 and 000 section 6 (the sign of the second is inferred). If its own or the baseline's time was cut
    short by a limit, the quotient is a bound and the cell is marked as censored; ``cut_short`` keeps whether its own
    was. If both were, the quotient says nothing, and there is none.
    """
    if cells.empty:
        return _against_baseline(cells, baseline)
    each = cells.groupby(["experiment", "profile"], dropna=False, sort=False)
    return pd.concat([_against_baseline(some, baseline) for _, some in each])


def _against_baseline(cells: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Return `against_baseline` of one experiment."""
    problem = ["experiment", "profile", "protocol", "dataset", "kernel", "C"]
    own = cells[cells["method"] == baseline]
    for name in ("tolerance", "search", "stop", "width_rule", "gamma_set", "degree", "coef0"):
        # the methods may have been given values of their own, unless the baseline has several
        if name in own and own.groupby(problem, dropna=False)[name].nunique(dropna=False).gt(1).any():
            problem.append(name)
    base = cells.loc[cells["method"] == baseline, [*problem, "train_seconds", "test_accuracy", "censored"]]
    base = base.drop_duplicates(problem)
    joined = cells.merge(base, on=problem, how="left", suffixes=("", "_base")).set_axis(cells.index)
    joined["speedup"] = joined["train_seconds_base"] / joined["train_seconds"]
    joined["relative_accuracy"] = (joined["test_accuracy_base"] - joined["test_accuracy"]) / joined[
        "test_accuracy_base"
    ]
    joined["cut_short"] = joined["censored"].astype(bool)
    base_cut = joined["censored_base"].fillna(value=False).astype(bool)
    joined["speedup"] = joined["speedup"].mask(joined["cut_short"] & base_cut)
    joined["censored"] |= base_cut
    joined[["speedup_sd", "relative_accuracy_sd"]] = float("nan")
    return joined.drop(columns=["train_seconds_base", "test_accuracy_base", "censored_base"])


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


def refuse_mixed_load(frame: pd.DataFrame) -> None:
    """Raise `ResultsError` if the reported runs were not timed under the same load."""
    rows = final_rows(frame)
    rows = rows[rows["status"].isin(DONE)]
    for column in ("parallel_cells", "threads"):
        counts = rows[column].value_counts(dropna=False)
        if len(counts) > 1:
            held = _listed((f"{value:g} ({count} runs)" for value, count in counts.items()), ", ")
            raise ResultsError(
                f"times were measured under different loads: {column} is {held}; "
                "run them again alike, choose with --where, or accept with --mixed-load"
            )
    if rows["shared"].any():
        first = rows[rows["shared"]].iloc[0]
        raise ResultsError(
            f"{int(rows['shared'].sum())} runs took kernel values or a warm start from another cell "
            f"(first {shortened(first['dataset'])}, {shortened(first['method'])}), so their times mean little; "
            "accept with --mixed-load"
        )
    for dataset, here in rows.groupby("dataset"):
        machines = sorted({f"{m} ({c})" for m, c in zip(here["machine"], here["cpu"], strict=True)})
        if len(machines) > 1:
            raise ResultsError(
                f"the times on {shortened(str(dataset))} come from different machines: "
                f"{_listed(machines, ', ')}; "
                "choose with --where machine=NAME, or accept with --mixed-load"
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
