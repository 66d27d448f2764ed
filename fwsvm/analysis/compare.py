"""What became better or worse between two results of one experiment, by how much, and how surely.

Runs are paired by data set, method, setting, seed and repetition. Accuracies differ by the mean difference of the
pairs, times by their geometric mean ratio. A change within the margin is none; one of six pairs or more must also be
significant (Wilcoxon's signed-rank test at 0.05, adjusted by Holm over the lines of a measure).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fwsvm.analysis.cells import cut_in_part, is_certain
from fwsvm.analysis.reported import REPEATED, final_rows, refuse_mixed_load
from fwsvm.analysis.results import DONE, different_data
from fwsvm.analysis.statistics import holm, wilcoxon
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError
from fwsvm.status import SEVERITY

GROUP = ["dataset", "method", "kernel", "tolerance", "search", "stop", "width_rule", "degree", "coef0"]
SIDES = ("old", "new")
COLUMNS = {"accuracy": "test_accuracy", "time": "train_seconds"}
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
    old: pd.DataFrame, new: pd.DataFrame, measures: Sequence[str], margins: Mapping[str, float], *, mixed_load: bool
) -> Comparison:  # fmt: skip
    """Compare the reported runs of two results (rows of runs.csv).

    ``margins`` are the smallest accuracy difference and time ratio that count. Times that were measured under different
    loads or on different machines are left out, with a notice, unless ``mixed_load``.

    Raises
    ------
    ResultsError
        The two have no run in common.
    """
    sides = [_keyed(rows).assign(folder=name) for rows, name in ((old, "old"), (new, "new"))]
    group = GROUP
    if any(side.duplicated([*GROUP, *REPEATED]).any() for side in sides):
        group = [*GROUP, "C", "gamma_set"]  # a sweep; of single runs a search may have chosen another C
    varying = [name for name in group[2:] if pd.concat(sides).groupby(group[:2])[name].nunique().gt(1).any()]
    sides = [side.assign(setting=_settings(side, varying)) for side in sides]
    both = sides[0].merge(sides[1], on=[*group, *REPEATED, "setting"], suffixes=("_old", "_new"))
    if both.empty:
        raise ResultsError("no run is in both results: data sets, methods or settings differ")
    alike = [*group, *REPEATED]
    notices = [
        f"{said}; differences there may come from the data"
        for said in different_data(pd.concat(sides), alike)
    ]
    if "time" in measures and not mixed_load:
        try:
            refuse_mixed_load(pd.concat([side.assign(experiment=side["folder"]) for side in sides]))
        except ResultsError as error:
            notices.append(f"times are not compared: {error}")
            measures = [name for name in measures if name != "time"]
    lines = {name: found for name in measures if len(found := _lines(both, name, margins[name]))}
    names = [set(_names(side)) for side in sides]
    worse = [f"{name} {line.dataset} {line.method} {line.setting}".rstrip()
             for name, found in lines.items() for line in found[found["verdict"] == "worse"].itertuples()]  # fmt: skip
    return Comparison(
        tuple(_table(found, name, margins[name]) for name, found in lines.items()),
        (*_worse_endings(both), *worse),
        tuple(sorted(names[0] - names[1])),
        tuple(sorted(names[1] - names[0])),
        tuple(notices),
    )


def _keyed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the reported runs with '' where a setting has no value, which is unlike itself as NaN."""
    final = final_rows(rows)
    names = [*GROUP, *REPEATED, "C", "gamma_set"]
    return final.assign(**{name: final[name].astype(object).where(final[name].notna(), "") for name in names})


def _settings(rows: pd.DataFrame, varying: Sequence[str]) -> list[str]:
    """Return in words the settings of each run that set it apart from others of its data set and method."""
    records = rows[[*varying]].to_dict("records")
    return [", ".join(f"{str(name).removesuffix('_set')} {value}" for name, value in record.items() if value != "")
            for record in records] if varying else [""] * len(rows)  # fmt: skip


def _names(rows: pd.DataFrame) -> list[str]:
    return [
        f"{dataset} {method}{setting and f' ({setting})'}"
        for dataset, method, setting in rows[["dataset", "method", "setting"]].itertuples(index=False)
    ]


def _lines(both: pd.DataFrame, name: str, margin: float) -> pd.DataFrame:
    """Return the changes of each data set and method, and of methods on `LEAST_PAIRS` sets those over all sets.

    A time that was cut short is a lower bound; a run on some pairs of classes that was cut short has no accuracy.
    """
    old, new = (both[f"{COLUMNS[name]}_{side}"].to_numpy(dtype=float) for side in SIDES)
    done = (both["status_old"].isin(DONE) & both["status_new"].isin(DONE)).to_numpy()
    if name == "time":
        cut = ((both[f"status_{side}"] == "time_limit").tolist() for side in SIDES)
        done = done & np.array(
            [is_certain(a, a_cut, b, b_cut) for a, b, a_cut, b_cut in zip(old, new, *cut, strict=True)],
            dtype=bool,
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            old, new = np.log(old), np.log(new)
    else:
        for side in SIDES:
            done = done & ~cut_in_part(both[f"status_{side}"], both[f"subproblems_{side}"]).to_numpy()
    known = both.assign(old=old, new=new)[done & np.isfinite(old) & np.isfinite(new)]
    paired = list(known.groupby(["dataset", "method", "setting"], sort=False)[["old", "new"]])
    means = known.groupby(["dataset", "method", "setting"], sort=False)[["old", "new"]].mean().reset_index()
    paired += [((f"all {len(some)}", *key), some) for key, some in means.groupby(["method", "setting"], sort=False)
               if len(some) >= LEAST_PAIRS]  # fmt: skip
    found = pd.DataFrame(
        [(*key, len(pairs), pairs["old"].mean(), pairs["new"].mean(),
          wilcoxon(pairs["new"], pairs["old"]).p("two-sided") if len(pairs) >= LEAST_PAIRS else math.nan)
         for key, pairs in paired],
        columns=["dataset", "method", "setting", "pairs", "old", "new", "p"],
    )  # fmt: skip
    tested = found["p"].notna()
    found.loc[tested, "p"] = holm(found.loc[tested, "p"])
    change = found["new"] - found["old"]
    counts = change.abs().gt(math.log(margin) if name == "time" else margin) & ~(found["p"] >= ALPHA)
    verdict = np.where((change > 0) == (name == "accuracy"), "better", "worse")
    found["verdict"] = np.where(counts, verdict, "same")
    return found


def _table(lines: pd.DataFrame, name: str, margin: float) -> Table:
    time = name == "time"
    rows = []
    for line in lines.to_dict("records"):
        old, new = (math.exp(line[side]) if time else 100 * line[side] for side in SIDES)
        texts = (f"{old:.3g}", f"{new:.3g}", f"x{new / old:.3g}") if time else (
            f"{old:.2f}", f"{new:.2f}", f"{new - old:+.2f}")  # fmt: skip
        values = (old, new, new / old if time else new - old)
        entries = [Entry(text, value=value) for text, value in zip(texts, values, strict=True)]
        p = "" if math.isnan(line["p"]) else f"{line['p']:.3f}"
        entries += [Entry(str(line["pairs"])), Entry(p, value=line["p"]), Entry(line["verdict"])]
        rows.append(Row((line["dataset"], line["method"], line["setting"]), tuple(entries)))
    counts = ", ".join(f"{(lines['verdict'] == word).sum()} {word}" for word in ("better", "same", "worse"))
    notes = (
        f"{counts}; a change below {f'a factor of {margin:g}' if time else f'{100 * margin:g} points'} counts as same",
        f"p: signed-rank test of lines with {LEAST_PAIRS} pairs or more, Holm; there a change counts if p < {ALPHA:g}",
    )
    title = f"{'training time (s)' if time else 'test accuracy (%)'}, new against old"
    heads = ("old", "new", "change", "pairs", "p", "verdict")
    return Table(title, ("data set", "method", "setting"), heads, tuple(rows), notes)


def _worse_endings(both: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for each way in which runs end worse than before: by a severer status."""
    order = {str(status): place for place, status in enumerate(SEVERITY)}  # the worst first
    ranks = [both[f"status_{side}"].map(order).fillna(-1) for side in SIDES]
    worse = both[ranks[1] < ranks[0]]
    for (name, before, after), some in worse.groupby(
        [worse["dataset"] + " " + worse["method"], "status_old", "status_new"]
    ):
        yield f"{name}: {len(some)} {'run' if len(some) == 1 else 'runs'} {after}, previously {before}"
