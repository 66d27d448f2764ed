"""Cells beside those of a baseline method: speed-up and relative accuracy (003 section 5.3)."""

import pandas as pd


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
