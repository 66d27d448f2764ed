"""From runs to cells: one row for each data set, method and setting, with mean and deviation over repetitions.

Tables, tests, figures and claims all use cells. Published numbers have the same form (`fwsvm.analysis.published`).
A sweep is several values of C for one problem; comparisons are made at one value.
"""

import shlex
from collections.abc import Iterable

import numpy as np
import pandas as pd

from fwsvm.analysis.measures import BOUND_COLUMNS, EMPTY, MEASURED_COLUMNS, named, plain
from fwsvm.analysis.reported import SETTING, final_rows
from fwsvm.analysis.results import DONE
from fwsvm.errors import ResultsError, listed
from fwsvm.status import FIRST_USE, NOT_FINITE_FLAG, SEVERITY, in_short

#: Several values of C for what is alike in these are a sweep.
SWEPT_PROBLEM = ["experiment", "profile", "dataset", "method", "kernel", "tolerance"]


def cells_of_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the reported runs among ``frame`` (rows of runs.csv).

    Columns: the setting, ``rows``, every measured column with its ``_sd`` (n - 1; empty where all agree), ``runs``,
    ``sigma2`` (mean), ``chosen`` (what ``auto`` came to, if always the same), ``used`` (finished runs that are
    averaged), ``status``, ``statuses`` (in words), ``censored`` (a time limit cut a run short, so its time is a lower
    bound), ``minimised`` (the primal, or R on the simplex), ``finite`` (all numbers
    are), ``void`` (in words, why the results promise little, see `fwsvm.status`), ``first_use`` (the data file has
    no published checksum). Of a run of several subproblems that was cut short only the costs count, since it has no
    model for the remaining subproblems.
    """
    rows = final_rows(frame)
    if rows.empty:
        raise ResultsError("these results hold no final runs (role=final), only parameter search or nothing")
    cell = rows.groupby(SETTING, dropna=False, sort=False).ngroup()
    cells = rows.loc[~cell.duplicated(), SETTING].reset_index(drop=True)
    done = rows["status"].isin(DONE)
    cut = rows["status"] == "time_limit"
    in_part = cut_in_part(rows["status"], rows["subproblems"])
    numbers = rows[MEASURED_COLUMNS].astype(float)
    numbers[~done] = np.nan
    numbers.loc[in_part, [name for name in MEASURED_COLUMNS if name not in BOUND_COLUMNS]] = np.nan
    grouped = numbers.groupby(cell)
    with np.errstate(invalid="ignore", over="ignore"):  # objectives may be infinite
        means = grouped.mean()
        deviations = grouped.std()
    deviations = deviations.mask(grouped.max() == grouped.min())  # one value repeated: no spread is measured
    sizes = rows[["rows", "features", "classes", "subproblems"]].groupby(cell).max()
    counts = rows["status"].groupby(cell).value_counts().unstack(fill_value=0)
    present = [str(status) for status in SEVERITY if status in counts]  # the worst first
    counts = counts[present]
    finite = ~done | ~(np.isinf(rows["objective"]) | rows["flags"].str.contains(NOT_FINITE_FLAG))
    known = done & rows["objective"].notna()
    primal = (rows["objective"] == rows["primal"])[known].groupby(cell).all()
    by_rule = rows[rows["status"].isin(["converged", "sampled_stop"])].groupby(cell)
    void = {place: in_short([*some["relative_gap"]], [*some["flags"]]) for place, some in by_rule}
    whole = (done & ~in_part).groupby(cell).sum()
    chosen = rows["chosen"].groupby(cell).agg(lambda some: some.iloc[0] if some.nunique() == 1 else "")
    cells = pd.concat([cells, means, deviations.add_suffix("_sd"), sizes], axis=1).assign(
        sigma2=rows["sigma2"].groupby(cell).mean(),
        chosen=chosen,
        runs=counts.sum(axis=1),
        used=whole.where(whole > 0, done.groupby(cell).sum()),
        status=counts.gt(0).idxmax(axis=1),
        statuses=[
            ", ".join(f"{line[name]} {name}" for name in reversed(present) if line[name])
            for line in counts.to_dict("records")
        ],
        censored=cut.groupby(cell).any(),
        minimised=primal.map({True: "primal", False: "R"}).reindex(cells.index, fill_value=""),
        finite=finite.groupby(cell).all(),
        void=pd.Series(void, dtype=object).reindex(cells.index, fill_value=""),
        first_use=rows["flags"].str.contains(FIRST_USE).groupby(cell).any(),
    )
    return with_short_method_names(cells)


def with_short_method_names(cells: pd.DataFrame) -> pd.DataFrame:
    """Shorten method names such as ``scs(metric=rkhs)`` to ``scs`` where an experiment has one variant only.

    The parameters move to the column ``parameters``.
    """
    split = cells["method"].str.partition("(")
    variants = cells.groupby(["experiment", "profile", split[0]])["method"].transform("nunique")
    return cells.assign(
        method=cells["method"].where(variants > 1, split[0]),
        parameters=split[2].str.rstrip(")").where(variants == 1, ""),
    )


def cut_in_part(status: "pd.Series[str]", subproblems: "pd.Series[float]") -> "pd.Series[bool]":
    """Return which runs a time limit ended before all pairs of classes were solved, so that they have no model."""
    return (status == "time_limit") & (subproblems > 1)


def unique_cells(cells: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Return the cells if ``key`` is unique; else `ResultsError` says what differs and how to choose."""
    doubled = cells[cells.duplicated(key, keep=False)]
    if doubled.empty:
        return cells
    first = doubled[(doubled[key] == doubled.iloc[0][key]).all(axis=1)]
    differing = [name for name in SETTING if name not in key and first[name].nunique(dropna=False) > 1]
    words = [
        f"{name.removesuffix('_set')} {listed(map(named, first[name].unique()), ' or ', 8)}"
        for name in differing
    ]
    name = differing[0].removesuffix("_set")
    value = named(first[differing[0]].iloc[0]).removesuffix(EMPTY)
    raise ResultsError(
        f"several results for {', '.join(map(str, first.iloc[0][key]))}: "
        f"{'; '.join(words)}; choose with --where {shlex.quote(f'{name}={value}')}"
    )


def varying(rows: pd.DataFrame, names: Iterable[str], within: list[str]) -> list[str]:
    """Return those of these settings that vary ``within`` what has these columns alike."""
    groups = rows.groupby(within, dropna=False)
    return [name for name in names if (groups[name].nunique(dropna=False) > 1).any()]


def setting_labels(rows: pd.DataFrame, names: Iterable[str], within: list[str]) -> "pd.Series[str]":
    """Return in words, for each row, the settings that vary ``within`` what has these columns alike."""
    found = rows[varying(rows, names, within)]
    words = found.apply(lambda values: values.name.removesuffix("_set") + " " + values.map(named))
    return words.agg(", ".join, axis=1) if len(found.columns) else pd.Series("", rows.index)


def settings_in_words(cells: pd.DataFrame) -> str:
    """Return the settings of these cells, of each at most three values."""
    words = []
    for name in ("profile", "kernel", "C", "tolerance", "search", "stop", "width_rule", "protocol"):
        values = list(filter(None, map(plain, sorted(cells[name].dropna().unique()))))
        words += [f"{name} {'/'.join(values)}"] * (0 < len(values) <= 3)
    chosen = cells.loc[cells["parameters"] != "", ["method", "parameters"]].drop_duplicates()
    return ", ".join([*words, *(f"{row.method} with {row.parameters}" for row in chosen.itertuples())])


def in_sweeps(cells: pd.DataFrame) -> "pd.Series[bool]":
    """Return which cells belong to sweeps over C, that is, have several values of C for the same problem."""
    values = cells["C"].fillna(-1.0)  # an empty C is a value too
    return values.groupby([cells[name] for name in SWEPT_PROBLEM], dropna=False).transform("nunique") > 1


def against_cvm(cells: pd.DataFrame) -> pd.DataFrame:
    """Add ``speedup`` t_cvm / t and ``relative_accuracy`` (a_cvm - a) / a_cvm to each cell.

    Frandi et al., section 5.3, and Nanculef et al., section 6 (the sign of the second is inferred). If its own or the
    time of CVM was cut short by a limit, the quotient is a bound and the cell is marked as censored; ``cut_short``
    keeps whether its own was. If both were, the quotient says nothing, and there is none.
    """
    place = ["experiment", "profile", "protocol", "dataset", "kernel", "C"]
    own = cells[cells["method"] == "cvm"]
    if own.duplicated(place).any():  # CVM has several settings: each belongs to the methods that have it too
        place += ["tolerance", "search", "stop", "width_rule", "gamma_set", "degree", "coef0"]
    base = own[[*place, "train_seconds", "test_accuracy", "censored"]].drop_duplicates(place)
    base = base.rename(columns=lambda name: name if name in place else f"{name}_base")
    joined = cells[place].merge(base, on=place, how="left").set_axis(cells.index)
    accuracy = joined["test_accuracy_base"]
    own_cut = cells["censored"].astype(bool)
    base_cut = joined["censored_base"].fillna(value=False).astype(bool)
    return cells.assign(
        speedup=(joined["train_seconds_base"] / cells["train_seconds"]).mask(own_cut & base_cut),
        relative_accuracy=(accuracy - cells["test_accuracy"]) / accuracy,
        cut_short=own_cut,
        censored=own_cut | base_cut,
        speedup_sd=np.nan,
        relative_accuracy_sd=np.nan,
    )
