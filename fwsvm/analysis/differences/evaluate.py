"""Two results of the same experiment against each other: what became better or worse, by how much, and how surely.

Runs are paired by data set, method, setting, seed and repetition. The accuracy of a data set and method differs by the
mean difference of its pairs, its time by their geometric mean ratio; of a method with six data sets or more these are
the pairs of one more comparison, over all of them. A difference within the margin is none. Lines are tested as well, by
Wilcoxon's signed-rank test with Holm's adjustment over the lines of single data sets, and over those of all; where the
pairs are so few, or the lines so many, that no outcome would be below 0.05, the margin decides alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from fwsvm.analysis.bounds import cut_in_part, is_certain
from fwsvm.analysis.differences.pairing import GROUP, KEYS, SIDES, paired_runs
from fwsvm.analysis.reported import final_rows, refuse_mixed_load
from fwsvm.analysis.results import DONE
from fwsvm.analysis.same_data import different_data
from fwsvm.analysis.statistics.holm import holm
from fwsvm.analysis.statistics.wilcoxon import Wilcoxon, wilcoxon
from fwsvm.errors import ResultsError, listed
from fwsvm.status import SEVERITY

Direction = Literal["better", "same", "worse"]
LEAST_PAIRS = 6  # of which the signed-rank test can have p < 0.05, two-sided: 2 / 2^6
ALPHA = 0.05
#: Labels, and the old and new values of the pairs, each (n,); logarithms of what is compared by ratios.
PairedMeasures = tuple[tuple[str, ...], np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """What is compared: a column, whether larger is better, and whether by ratios or by differences."""

    name: str
    column: str
    larger_is_better: bool
    ratio: bool


COMPARED = {
    "accuracy": ComparedColumn("accuracy", "test_accuracy", larger_is_better=True, ratio=False),
    "time": ComparedColumn("time", "train_seconds", larger_is_better=False, ratio=True),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """How a measure of a data set and method differs.

    Attributes
    ----------
    labels : tuple of str
        Data set and method, and what else sets it apart from others of these names.
    measure : str
    old, new : float
        Means over the pairs, geometric for ratios.
    effect : float
        Mean of new - old, or geometric mean of new / old.
    pairs : int
    p : float
        Of the signed-rank test, adjusted by Holm; nan where no outcome would be below `ALPHA`.
    rank_biserial : float
        Effect size of the pairs, -1 to 1: what part of the ranks speaks for larger new values, less what part against.
    verdict : "better", "same" or "worse"
    """

    labels: tuple[str, ...]
    measure: str
    old: float
    new: float
    effect: float
    pairs: int
    p: float
    rank_biserial: float
    verdict: Direction


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences; runs that end less well than before; labels that only one side has; sentences to say."""

    differences: tuple[Difference, ...]
    endings: tuple[str, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    notices: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """Whether anything is."""
        return bool(self.endings) or any(one.verdict == "worse" for one in self.differences)


def compare_results(
    old: pd.DataFrame, new: pd.DataFrame, measures: Sequence[str], margins: dict[str, float], *, mixed_load: bool
) -> Comparison:  # fmt: skip
    """Compare the reported runs of two results (rows of runs.csv).

    ``margins`` are the smallest accuracy difference and time ratio that count. Times that were measured under different
    loads or on different machines are left out, with a notice, unless ``mixed_load``.

    Raises
    ------
    ResultsError
        No run is in both.
    """
    both, sides = paired_runs(final_rows(old), final_rows(new))
    if both.empty:
        raise ResultsError(
            "no run is in both results: data sets, methods or settings differ; give two runs of the same experiment"
        )
    named = _labels(pd.concat([side[GROUP] for side in sides]).drop_duplicates())
    paired = [
        (side, rows[[*KEYS, "data_sha256"]].to_dict("records"))
        for side, rows in zip(SIDES, sides, strict=True)
    ]
    notices = [
        f"{said}; differences there may come from the data"
        for said in different_data(((row, side) for side, rows in paired for row in rows), KEYS)
    ]
    if "time" in measures and not mixed_load:
        try:
            apart = [frame.assign(experiment=side) for side, frame in zip(SIDES, (old, new), strict=True)]
            refuse_mixed_load(pd.concat(apart, ignore_index=True))
        except ResultsError as error:
            notices.append(f"times are not compared: {error}")
            measures = [name for name in measures if name != "time"]
    done = both[both["status_old"].isin(DONE) & both["status_new"].isin(DONE)]
    known = {name: done[np.array(_known(done, COMPARED[name]), dtype=bool)] for name in measures}
    for name, pairs in known.items():
        notices += _left_open(done.drop(index=pairs.index), COMPARED[name], named)
        notices += _lost(pairs, COMPARED[name], named)
    found = [
        one
        for name, pairs in known.items()
        for one in _of_measure(pairs, COMPARED[name], margins[name], named)
    ]
    groups = [set(side[[*GROUP, "place"]].itertuples(index=False, name=None)) for side in sides]
    only_old, only_new = (
        tuple(sorted(_said((*named[tuple(group)], place)) for *group, place in lacking))
        for lacking in (groups[0] - groups[1], groups[1] - groups[0])
    )
    return Comparison(tuple(found), tuple(_endings(both, named)), only_old, only_new, tuple(notices))


def _said(labels: tuple[str, ...]) -> str:
    """Return labels as a sentence has them: data set and method, and settings in brackets."""
    dataset, method, *setting = labels
    return f"{dataset} {method}" + "".join(f" ({one})" for one in setting if one)


def _labels(groups: pd.DataFrame) -> dict[tuple[object, ...], tuple[str, ...]]:
    """Return what a table calls each group: data set, method, and the settings in which groups of that name differ."""
    found = {}
    varying = [
        name for name in GROUP[2:] if (groups.groupby(GROUP[:2], dropna=False)[name].nunique() > 1).any()
    ]
    for key in groups.itertuples(index=False, name=None):
        of = dict(zip(GROUP, key, strict=True))
        more = ", ".join(f"{name} {of[name]}" for name in varying if str(of[name]))
        found[key] = (str(of["dataset"]), str(of["method"]), *([more] if varying else []))
    return found


def _known(done: pd.DataFrame, measured: ComparedColumn) -> list[bool]:
    """Return which pairs tell something of a measure, although a time limit may have cut a run short.

    A time that was cut short is a lower bound. A run on several pairs of classes that was cut short has no machine.
    """
    if measured.column == "train_seconds":
        cut = [done[f"status_{side}"] == "time_limit" for side in SIDES]
        values = (done[f"{measured.column}_{side}"] for side in SIDES)
        return [is_certain(a, a_cut, b, b_cut) for a, b, a_cut, b_cut in zip(*values, *cut, strict=True)]
    old, new = (cut_in_part(done[f"status_{side}"], done[f"subproblems_{side}"]) for side in SIDES)
    return list(~(old | new))


def _runs_at(
    rows: pd.DataFrame, one: str, several: str, rest: str, named: dict[tuple[object, ...], tuple[str, ...]]
) -> list[str]:
    """Return a sentence on these rows that counts them and says which they are; none where there are none."""
    if rows.empty:
        return []
    groups = rows[GROUP].drop_duplicates().itertuples(index=False, name=None)
    where = listed((_said(named[key]) for key in groups), "; ")
    return [f"{one if len(rows) == 1 else f'{len(rows)} {several}'} {rest}: {where}"]


def _left_open(
    pairs: pd.DataFrame, measured: ComparedColumn, named: dict[tuple[object, ...], tuple[str, ...]]
) -> list[str]:
    """Return what to say of pairs of which a time limit leaves open what differs."""
    rest = f"of runs that a time limit cut short {'says' if len(pairs) == 1 else 'say'} nothing about {measured.name}"
    return _runs_at(pairs, "1 pair", "pairs", rest, named)


def _lost(
    done: pd.DataFrame, measured: ComparedColumn, named: dict[tuple[object, ...], tuple[str, ...]]
) -> list[str]:
    """Return what to say of runs that have a measure in the old result alone."""
    before, after = (np.isfinite(done[f"{measured.column}_{side}"].to_numpy(dtype=float)) for side in SIDES)
    rest = f"no {measured.name} in the new result, unlike in the old, so there is no verdict"
    return _runs_at(done[before & ~after], "1 run has", "runs have", rest, named)


def _of_measure(
    done: pd.DataFrame,
    measured: ComparedColumn,
    margin: float,
    named: dict[tuple[object, ...], tuple[str, ...]],
) -> list[Difference]:
    columns = [f"{measured.column}_{side}" for side in SIDES]
    usable = done[np.isfinite(done[columns].to_numpy(dtype=float)).all(axis=1)]
    if measured.ratio:
        usable = usable[(usable[columns] > 0).all(axis=1)]
    scale = np.log if measured.ratio else np.asarray
    paired: list[PairedMeasures] = []
    for key, group in usable.groupby(GROUP, sort=False, dropna=False):
        old, new = (scale(group[column].to_numpy(dtype=float)) for column in columns)
        paired.append((named[tuple(key)], old, new))
    return [one for lines in (paired, _over_data_sets(paired)) for one in _tested(measured, margin, lines)]


def _tested(measured: ComparedColumn, margin: float, lines: list[PairedMeasures]) -> list[Difference]:
    """Return the differences of lines that are adjusted together."""
    tests = [wilcoxon(new, old) for _, old, new in lines]
    ps = _adjusted(tests)
    return [_difference(measured, margin, *each) for each in zip(lines, tests, ps, strict=True)]


def _adjusted(tests: Sequence[Wilcoxon]) -> list[float]:
    """Return p adjusted by Holm over the tests of so many pairs that some outcome would be below `ALPHA`, else nan."""
    ps = np.full(len(tests), math.nan)
    pairs = np.array([test.n for test in tests])
    for least in sorted(set(pairs)):  # of n pairs the smallest p is 2 / 2^n
        chosen = pairs >= least
        if chosen.sum() * 2.0 ** (1 - least) < ALPHA:
            ps[chosen] = holm(
                [test.p_two_sided for test, tested in zip(tests, chosen, strict=True) if tested]
            )
            break
    return [float(p) for p in ps]


def _over_data_sets(paired: list[PairedMeasures]) -> list[PairedMeasures]:
    """Return, for each method on enough data sets, the means of these as pairs."""
    methods: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for (_, *method), old, new in paired:
        methods.setdefault(tuple(method), []).append((float(old.mean()), float(new.mean())))
    return [
        ((f"all {len(means)}", *method), *np.array(means).T)
        for method, means in methods.items()
        if len(means) >= LEAST_PAIRS
    ]


def _difference(
    measured: ComparedColumn, margin: float, paired: PairedMeasures, test: Wilcoxon, p: float
) -> Difference:
    labels, old, new = paired[0], float(paired[1].mean()), float(paired[2].mean())
    ranks = test.rank_sum_positive + test.rank_sum_negative
    signed = (test.rank_sum_positive - test.rank_sum_negative) / ranks if ranks else 0.0
    change = new - old
    beyond = abs(change) > (math.log(margin) if measured.ratio else margin)
    verdict: Direction = "same"
    if beyond and not p >= ALPHA:
        verdict = "better" if (change > 0) == measured.larger_is_better else "worse"
    if measured.ratio:
        old, new, change = math.exp(old), math.exp(new), math.exp(change)
    return Difference(labels, measured.name, old, new, change, test.n, p, signed, verdict)


def _endings(both: pd.DataFrame, named: dict[tuple[object, ...], tuple[str, ...]]) -> list[str]:
    """Return a sentence for each way in which runs end worse than before: by a severer status."""
    order = {str(status): place for place, status in enumerate(SEVERITY)}  # the worst first
    ranks = [both[f"status_{side}"].map(order).fillna(-1) for side in SIDES]
    worse = both[ranks[1] < ranks[0]]
    counts = worse.groupby([*GROUP, "status_old", "status_new"], sort=False, dropna=False).size()
    return [
        f"{' '.join(named[tuple(key[:-2])])}: {count} {'run' if count == 1 else 'runs'} {key[-1]}, previously {key[-2]}"
        for key, count in counts.items()
        if isinstance(key, tuple)
    ]
