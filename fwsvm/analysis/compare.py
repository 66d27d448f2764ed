"""What became better or worse between two results of one experiment, by how much, and how surely.

Runs are paired by data set, method, setting, seed and repetition. Accuracies differ by the mean difference of the
pairs, times by their geometric mean ratio. A change within the margin is none; one of six pairs or more must also be
significant (Wilcoxon's signed-rank test at 0.05, adjusted by Holm over the lines of a measure).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fwsvm.analysis.cells import cut_in_part, setting_labels
from fwsvm.analysis.measures import measure, plain
from fwsvm.analysis.names import short_names
from fwsvm.analysis.reported import REPEATED, final_rows, refuse_mixed_load
from fwsvm.analysis.results import DONE
from fwsvm.analysis.statistics import holm, wilcoxon
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError, counted, listed, shortened
from fwsvm.status import SEVERITY

KEY = ["dataset", "method", "kernel", "tolerance", "search", "stop", "width_rule", "degree", "coef0"]
SWEPT = ["C", "gamma_set"]
LINE = ["dataset", "method", "setting"]
LEAST_PAIRS = 6  # of which the signed-rank test can have p < 0.05, two-sided: 2 / 2^6
ALPHA = 0.05
#: The smallest changes that count, of accuracies and of logarithms of times.
MARGINS = {"accuracy": 0.005, "time": math.log(1.2)}


class Comparison(NamedTuple):
    """A table for each measure, sentences on what is worse and on what one side lacks, and other notices."""

    tables: list[Table]
    worse: list[str]
    only_old: list[str]
    only_new: list[str]
    notices: list[str]


def compare_results(
    old: pd.DataFrame, new: pd.DataFrame, measures: Sequence[str], *, mixed_load: bool
) -> Comparison:
    """Compare the reported runs of two results (rows of runs.csv).

    Times that were measured under different loads or on different machines are left out, with a notice, unless
    ``mixed_load``.

    Raises
    ------
    ResultsError
        The two have no run in common.
    """
    every = pd.concat(
        [final_rows(old).assign(side="old"), final_rows(new).assign(side="new")], ignore_index=True
    )
    key = KEY
    if every.duplicated(["side", *key, *REPEATED]).any():
        key = [*key, *SWEPT]  # a sweep; of single runs a search may have chosen another C
    every["setting"] = setting_labels(every, key[2:], key[:2])
    every["line"] = (every["dataset"] + " " + every["method"] + " " + every["setting"]).str.rstrip()
    before, after = (every[every["side"] == side] for side in ("old", "new"))
    both = before.merge(after, on=[*key, *REPEATED, "setting", "line"], suffixes=("_old", "_new"))
    if both.empty:
        unlike = [
            f"{name.removesuffix('_set')} is {listed(map(plain, before[name].unique()))} in the first, "
            f"{listed(map(plain, after[name].unique()))} in the second"
            for name in [*key, *REPEATED]
            if not before[name].isin(after[name]).any()
        ]
        raise ResultsError(f"no run is in both results: {'; '.join(unlike) or 'no data set and method is'}")
    other = both.loc[both["data_sha256_old"] != both["data_sha256_new"], "dataset"].unique()
    notices = [
        f"different data under the name {shortened(name)}; differences there may come from the data"
        for name in other
    ]
    if "time" in measures and not mixed_load:
        try:
            refuse_mixed_load(every.assign(experiment=every["side"]))
        except ResultsError as error:
            notices.append(f"times are not compared: {error}")
            measures = [name for name in measures if name != "time"]
    severity = {str(status): place for place, status in enumerate(SEVERITY)}  # the worst first
    ends = both[both["status_new"].map(severity) < both["status_old"].map(severity)]
    worse = [
        f"{line}: {counted(n, 'run')} {after_it}, previously {before_it}"
        for line, before_it, after_it, n in ends.groupby(["line", "status_old", "status_new"])
        .size()
        .reset_index()
        .values
    ]
    tables = []
    for name in measures:
        changes = _changes(both, name)
        if len(changes):
            tables.append(_table(changes, name))
            bad = changes.loc[changes["verdict"] == "worse", LINE]
            worse += [" ".join((name, *line)).rstrip() for line in bad.itertuples(index=False, name=None)]
    names = [{*side["line"]} for side in (before, after)]
    return Comparison(tables, worse, sorted(names[0] - names[1]), sorted(names[1] - names[0]), notices)


def _changes(both: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the change of each data set and method, of the pairs in which both runs have a value, times as logarithms.

    A time that was cut short is none, nor is the accuracy of a run on some pairs of classes.
    """
    known = both[LINE].copy()
    for side in ("old", "new"):
        status, values = both[f"status_{side}"], both[f"{measure(name).column}_{side}"].astype(float)
        lost = ~status.isin(DONE) | cut_in_part(status, both[f"subproblems_{side}"])
        if name == "time":
            lost |= (status == "time_limit") | ~(values > 0)
            values = values.where(~lost).map(math.log, na_action="ignore")
        known[side] = values.mask(lost)
    grouped = known.replace([np.inf, -np.inf], np.nan).dropna().groupby(LINE, sort=False)
    found = grouped.agg(pairs=("old", "size"), old=("old", "mean"), new=("new", "mean")).reset_index()
    found["p"] = math.nan
    found.loc[found["pairs"] >= LEAST_PAIRS, "p"] = holm(
        [wilcoxon(some["new"], some["old"]).p("two-sided") for _, some in grouped if len(some) >= LEAST_PAIRS]
    )
    change = found["new"] - found["old"]
    counts = change.abs().gt(MARGINS[name]) & ~(found["p"] >= ALPHA)
    better = np.where((change > 0) != (name == "time"), "better", "worse")
    return found.assign(verdict=np.where(counts, better, "same"))


def _table(changes: pd.DataFrame, name: str) -> Table:
    time, names = name == "time", short_names(changes["dataset"])
    rows = []
    for dataset, method, setting, pairs, *both, p, verdict in changes.itertuples(index=False, name=None):
        old, new = (math.exp(value) if time else 100 * value for value in both)
        change, form = (new / old, "{:.3g}") if time else (new - old, "{:.2f}")
        entries = (
            *(Entry(form.format(value), value=value) for value in (old, new)),
            Entry(f"x{change:.3g}" if time else f"{change:+.2f}", value=change),
            Entry(str(pairs)),
            Entry("" if math.isnan(p) else f"{p:.3f}", value=p),
            Entry(verdict),
        )
        rows.append(Row((names[dataset], method, setting), entries))
    counts = ", ".join(f"{(changes['verdict'] == word).sum()} {word}" for word in ("better", "same", "worse"))
    notes = (
        f"{counts}; a change below {'a factor of 1.2' if time else '0.5 points'} counts as same",
        *["old, new: geometric means, where `fwsvm table` has arithmetic ones"] * time,
        f"p: signed-rank test of lines with {LEAST_PAIRS} pairs or more, Holm; there a change counts if p < {ALPHA:g}",
    )
    heads = ("old", "new", "change", "pairs", "p", "verdict")
    return Table(
        f"{measure(name).title}, new against old",
        ("data set", "method", "setting"),
        heads,
        tuple(rows),
        notes,
    )
