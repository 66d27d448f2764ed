"""What became better or worse between two results of one experiment, by how much, and how surely.

Runs are paired by data set, method, setting, seed and repetition. Accuracies differ by the mean difference of the
pairs, times by their geometric mean ratio. A change within the margin is none; one of six pairs or more must also be
significant (Wilcoxon's signed-rank test at 0.05, adjusted by Holm over the lines of a measure).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fwsvm.analysis.cells import cut_in_part
from fwsvm.analysis.reported import REPEATED, final_rows, refuse_mixed_load
from fwsvm.analysis.results import DONE, different_data
from fwsvm.analysis.statistics import holm, wilcoxon
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError
from fwsvm.status import SEVERITY

SETTING = ["kernel", "tolerance", "search", "stop", "width_rule", "degree", "coef0"]
SWEPT = ["C", "gamma_set"]
LINE = ["dataset", "method", "setting"]
LEAST_PAIRS = 6  # of which the signed-rank test can have p < 0.05, two-sided: 2 / 2^6
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table for each measure, sentences on what is worse and on what one side lacks, and other notices."""

    tables: tuple[Table, ...]
    worse: tuple[str, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    notices: tuple[str, ...]


def compare_results(
    old: pd.DataFrame,
    new: pd.DataFrame,
    measures: Sequence[str],
    margins: Mapping[str, float],
    *,
    mixed_load: bool,
) -> Comparison:
    """Compare the reported runs of two results (rows of runs.csv).

    ``margins`` are the smallest accuracy difference and time ratio that count. Times that were measured under different
    loads or on different machines are left out, with a notice, unless ``mixed_load``.

    Raises
    ------
    ResultsError
        The two have no run in common.
    """
    sides = [final_rows(rows).assign(folder=name) for rows, name in ((old, "old"), (new, "new"))]
    key = ["dataset", "method", *SETTING]
    if any(side.duplicated([*key, *REPEATED]).any() for side in sides):
        key += SWEPT  # a sweep; of single runs a search may have chosen another C
    every = pd.concat(sides, ignore_index=True)
    every[key] = every[key].astype(object).where(every[key].notna(), "")  # '' is like itself, as NaN is not
    varying = [name for name in key[2:] if every.groupby(key[:2])[name].nunique().gt(1).any()]
    every["setting"] = [
        ", ".join(f"{name.removesuffix('_set')} {row[name]}" for name in varying if row[name] != "")
        for row in every.to_dict("records")
    ]
    place = [*key, *REPEATED, "setting"]
    before, after = (every[every["folder"] == side] for side in ("old", "new"))
    both = before.merge(after, on=place, suffixes=("_old", "_new"))
    if both.empty:
        raise ResultsError("no run is in both results: data sets, methods or settings differ")
    notices = [
        f"{said}; differences there may come from the data" for said in different_data(every, place[:-1])
    ]
    if "time" in measures and not mixed_load:
        try:
            refuse_mixed_load(every.assign(experiment=every["folder"]))
        except ResultsError as error:
            notices.append(f"times are not compared: {error}")
            measures = [name for name in measures if name != "time"]
    lines = {name: found for name in measures if len(found := _lines(both, name, margins[name]))}
    worse = [
        f"{name} {line.dataset} {line.method} {line.setting}".rstrip()
        for name, found in lines.items()
        for line in found[found["verdict"] == "worse"].itertuples()
    ]
    names = [
        set(side["dataset"] + " " + side["method"] + side["setting"].map(lambda one: one and f" ({one})"))
        for side in (before, after)
    ]
    return Comparison(
        tuple(_table(found, name, margins[name]) for name, found in lines.items()),
        (*_worse_endings(both), *worse),
        tuple(sorted(names[0] - names[1])),
        tuple(sorted(names[1] - names[0])),
        tuple(notices),
    )


def _lines(both: pd.DataFrame, name: str, margin: float) -> pd.DataFrame:
    """Return the changes of each data set and method, and of methods on `LEAST_PAIRS` sets those over all sets.

    A time that was cut short is a lower bound; a run on some pairs of classes that was cut short has no accuracy.
    """
    time = name == "time"
    column = "train_seconds" if time else "test_accuracy"
    old, new = (both[f"{column}_{side}"].astype(float) for side in ("old", "new"))
    done = both["status_old"].isin(DONE) & both["status_new"].isin(DONE)
    if time:
        old_cut, new_cut = (both[f"status_{side}"] == "time_limit" for side in ("old", "new"))
        done &= ~((old_cut & (new_cut | (old < new))) | (new_cut & (new < old)))
        old, new = (side.where(side > 0).map(math.log) for side in (old, new))
    else:
        for side in ("old", "new"):
            done &= ~cut_in_part(both[f"status_{side}"], both[f"subproblems_{side}"])
    known = both[LINE].assign(old=old, new=new)[done & (old - new).abs().lt(math.inf)]
    means = known.groupby(LINE, sort=False)[["old", "new"]].mean().reset_index()
    per_method = means.groupby(LINE[1:])["dataset"].transform("size")
    over_all = means.assign(dataset="all " + per_method.astype(str))[per_method >= LEAST_PAIRS]
    every = pd.concat([known, over_all])
    grouped = every.groupby(LINE, sort=False)
    found = grouped.agg(pairs=("old", "size"), old=("old", "mean"), new=("new", "mean")).reset_index()
    tested = found["pairs"] >= LEAST_PAIRS
    found["p"] = math.nan
    found.loc[tested, "p"] = holm(
        [
            wilcoxon(pairs["new"], pairs["old"]).p("two-sided")
            for _, pairs in grouped
            if len(pairs) >= LEAST_PAIRS
        ]
    )
    change = found["new"] - found["old"]
    counts = change.abs().gt(math.log(margin) if time else margin) & ~(found["p"] >= ALPHA)
    better = np.where((change > 0) != time, "better", "worse")
    return found.assign(verdict=np.where(counts, better, "same"))


def _table(lines: pd.DataFrame, name: str, margin: float) -> Table:
    time = name == "time"
    rows = []
    for line in lines.to_dict("records"):
        old, new = (math.exp(line[side]) if time else 100 * line[side] for side in ("old", "new"))
        change = (
            Entry(f"x{new / old:.3g}", value=new / old)
            if time
            else Entry(f"{new - old:+.2f}", value=new - old)
        )
        sides = [Entry(f"{value:.3g}" if time else f"{value:.2f}", value=value) for value in (old, new)]
        p = Entry("" if math.isnan(line["p"]) else f"{line['p']:.3f}", value=line["p"])
        entries = (*sides, change, Entry(str(line["pairs"])), p, Entry(line["verdict"]))
        rows.append(Row(tuple(line[label] for label in LINE), entries))
    counts = ", ".join(f"{(lines['verdict'] == word).sum()} {word}" for word in ("better", "same", "worse"))
    notes = (
        f"{counts}; a change below {f'a factor of {margin:g}' if time else f'{100 * margin:g} points'} counts as same",
        f"p: signed-rank test of lines with {LEAST_PAIRS} pairs or more, Holm; there a change counts if p < {ALPHA:g}",
    )
    title = f"{'training time (s)' if time else 'test accuracy (%)'}, new against old"
    heads = ("old", "new", "change", "pairs", "p", "verdict")
    return Table(title, ("data set", "method", "setting"), heads, tuple(rows), notes)


def _worse_endings(both: pd.DataFrame) -> list[str]:
    """Return a sentence for each way in which runs end worse than before: by a severer status."""
    order = {str(status): place for place, status in enumerate(SEVERITY)}  # the worst first
    worse = both[both["status_new"].map(order).fillna(-1) < both["status_old"].map(order).fillna(-1)]
    ways = worse.groupby([worse["dataset"] + " " + worse["method"], "status_old", "status_new"]).size()
    return [
        f"{name}: {count} {'run' if count == 1 else 'runs'} {after}, previously {before}"
        for name, before, after, count in ways.reset_index().itertuples(index=False, name=None)
    ]
