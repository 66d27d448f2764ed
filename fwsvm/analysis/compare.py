"""What became better or worse between two results of one experiment, by how much, and how surely.

Runs are paired by data set, method, setting (with C in a sweep), seed and repetition. Accuracies differ by the mean
difference of the pairs, times by their geometric mean ratio. A change within the margin is none; one of six pairs or
more must also be significant (Wilcoxon's signed-rank test at 0.05, adjusted by Holm over the lines of a measure).
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fwsvm.analysis.cells import cut_in_part, setting_labels
from fwsvm.analysis.measures import measure, plain
from fwsvm.analysis.names import short_names
from fwsvm.analysis.reported import REPEATED, final_rows, refuse_mixed_load
from fwsvm.analysis.results import DONE
from fwsvm.analysis.statistics import holm, wilcoxon
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError, counted, listed
from fwsvm.status import SEVERITY

KEY = ["dataset", "method", "kernel", "tolerance", "search", "stop", "width_rule", "degree", "coef0"]
LINE = ["dataset", "method", "setting"]
LEAST_PAIRS, ALPHA = 6, 0.05  # two-sided, the signed-rank test of five pairs has no p below 2 / 2^5
#: The smallest changes that count, of accuracies and of logarithms of times.
MARGINS = {"accuracy": 0.005, "time": math.log(1.2)}


def compare_results(
    old: pd.DataFrame, new: pd.DataFrame, measures: Sequence[str], *, mixed_load: bool
) -> tuple[list[Table], list[str], list[str]]:
    """Return a table for each measure, sentences on what is worse, and notices, of two results (rows of runs.csv).

    Times that were measured under different loads or on different machines are left out, unless ``mixed_load``.
    Raises ResultsError if the two have no run in common.
    """
    sides = {"first": final_rows(old), "second": final_rows(new)}
    every = pd.concat([rows.assign(experiment=side) for side, rows in sides.items()], ignore_index=True)
    key = [*KEY, "C", "gamma_set"] if every.duplicated(["experiment", *KEY, *REPEATED]).any() else KEY
    every["setting"] = setting_labels(every, key[2:], key[:2])
    every["line"] = every[LINE].agg(" ".join, axis=1).str.rstrip()
    before, after = (every[every["experiment"] == side] for side in sides)
    both = before.merge(after, on=[*key, *REPEATED, "setting", "line"], suffixes=("_old", "_new"))
    both["other_data"] = both["data_sha256_old"] != both["data_sha256_new"]
    if both.empty:
        unlike = [
            f"{name.removesuffix('_set')} is {listed(map(plain, before[name].unique()))} in the first, "
            f"{listed(map(plain, after[name].unique()))} in the second"
            for name in [*key, *REPEATED]
            if not before[name].isin(after[name]).any()
        ]
        raise ResultsError(f"no run is in both results: {'; '.join(unlike) or 'no data set and method is'}")
    notices = [
        f"different data under the name {name}: times there are not compared, and accuracies may differ by it"
        for name in both.loc[both["other_data"], "dataset"].unique()
    ]
    for side, one, other in zip(sides, (before, after), (after, before), strict=True):
        alone = sorted({*one["line"]} - {*other["line"]})
        notices += [f"only in the {side}: {listed(alone, '; ', 10)}"] * bool(alone)
    if "time" in measures and not mixed_load:
        try:
            refuse_mixed_load(every)
        except ResultsError as error:
            notices.append(f"times are not compared: {error}")
            measures = [name for name in measures if name != "time"]
    severity = [*map(str, SEVERITY)].index  # the worst first
    ends = both[both["status_new"].map(severity) < both["status_old"].map(severity)]
    ends = ends.groupby(["line", "status_old", "status_new"]).size().reset_index()
    worse = [
        f"{line}: {counted(runs, 'run')} {ended}, previously {before_it}"
        for line, before_it, ended, runs in ends.values
    ]
    changes = {name: found for name in measures if len(found := _changes(both, name))}
    for name, found in changes.items():
        worse += [" ".join((name, *line)).rstrip() for line in found.index[found["verdict"] == "worse"]]
    return [_table(found, name) for name, found in changes.items()], worse, notices


def _changes(both: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the change of each line, of the pairs in which both runs have a value, times as logarithms.

    A time that was cut short is none, nor one on other data, nor the accuracy of a run on some pairs of classes.
    """
    known = both[LINE].copy()
    for side in ("old", "new"):
        status = both[f"status_{side}"]
        values = both[f"{measure(name).column}_{side}"].astype(float)
        values = values.mask(~status.isin(DONE) | cut_in_part(status, both[f"subproblems_{side}"]))
        if name == "time":
            untimed = (status == "time_limit") | (values <= 0) | both["other_data"]
            values = values.mask(untimed).map(math.log, na_action="ignore")
        known[side] = values
    grouped = known.dropna().groupby(LINE, sort=False)
    found = grouped.agg(pairs=("old", "size"), old=("old", "mean"), new=("new", "mean"))
    p_values = np.array([wilcoxon(each["new"], each["old"]).p("two-sided") for _, each in grouped])
    tested = found["pairs"] >= LEAST_PAIRS
    found.loc[tested, "p"] = holm(p_values[tested])
    change = found["new"] - found["old"]
    counts = change.abs().gt(MARGINS[name]) & ~(found["p"] >= ALPHA)
    better = (change > 0) != (name == "time")
    return found.assign(verdict=np.select([~counts, better], ["same", "better"], "worse"))


def _table(changes: pd.DataFrame, name: str) -> Table:
    time, names, rows = name == "time", short_names(changes.index.get_level_values("dataset")), []
    for (dataset, *setting), pairs, *both, p, verdict in changes.itertuples(name=None):
        old, new = np.exp(both) if time else np.multiply(both, 100)
        values = (old, new, new / old if time else new - old)
        forms = ("{:.3g}", "{:.3g}", "x{:.3g}") if time else ("{:.2f}", "{:.2f}", "{:+.2f}")
        entries = [Entry(form.format(value), value=value) for form, value in zip(forms, values, strict=True)]
        tested = Entry("" if math.isnan(p) else f"{p:.3f}", value=p)
        rows.append(Row((names[dataset], *setting), (*entries, Entry(str(pairs)), tested, Entry(verdict))))
    counts = ", ".join(f"{(changes['verdict'] == word).sum()} {word}" for word in ("better", "same", "worse"))
    notes = (
        f"{counts}; a change below {'a factor of 1.2' if time else '0.5 points'} counts as same",
        *["old, new: geometric means, where `fwsvm table` has arithmetic ones"] * time,
        f"p: signed-rank test of lines with {LEAST_PAIRS} pairs or more, Holm; there a change counts if p < {ALPHA:g}",
    )
    labels, heads = ("data set", "method", "setting"), ("old", "new", "change", "pairs", "p", "verdict")
    return Table(f"{measure(name).title}, new against old", labels, heads, tuple(rows), notes)
