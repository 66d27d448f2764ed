"""Checks that claims are made of: comparisons on data sets, speed-ups along a series, tests of significance.

Each function returns a check. "All data sets" means all that were measured, and the evidence says how many of the
claim's data sets these are.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Literal

from fwsvm.analysis.claims.model import Check, CheckResult, View, listed_titles, of_growth
from fwsvm.analysis.comparisons import Hypothesis, compare_methods, probability
from fwsvm.analysis.measures import measure, three_digits
from fwsvm.analysis.published import METHOD_NAMES, series
from fwsvm.analysis.statistics import wilcoxon
from fwsvm.errors import ResultsError

WEB, ADULT = series("web"), series("adult")
MEDIUM, LARGE, PROTEIN = series("medium"), series("large"), series("protein")
SINGLE = [*MEDIUM, *PROTEIN, *LARGE]
ALL = [*ADULT, *WEB, *SINGLE]

#: Friedman's test takes this many: F's distribution is that of many, and on fewer that agree its p-value is 0.
LEAST_DATASETS = 5

Extent = Literal["all", "most"]

#: A measure's comparison in words, strict and not.
_RELATIONS = {
    "time": ("faster than", "at least as fast as"),
    "accuracy": ("more accurate than", "at least as accurate as"),
    "size": ("smaller than", "no larger than"),
    "objective": ("lower in objective than", "no higher in objective than"),
}


def better(
    first: str,
    second: str,
    name: str,
    on: Sequence[str],
    enough: Extent = "all",
    *,
    or_equal: bool = False,
    within: float = 0.0,
    except_on: Sequence[str] | None = None,
) -> Check:
    """Return the check that ``first`` beats ``second`` in a measure on all or most of the data sets.

    ``within`` forgives that much in stored units (0.001 is a tenth of a point of accuracy). With
    ``except_on``, first must lose exactly there.
    """
    kind = measure(name)

    def check(view: View) -> CheckResult | None:
        pairs = list(view.pairs(name, first, second, on))
        if not pairs:
            return None
        gains = {d: (b - a if kind.better == "less" else a - b) + within for d, a, b in pairs}
        won = [d for d, gain in gains.items() if gain > 1e-12 or (or_equal and gain > -1e-12)]
        lost = [d for d in gains if d not in won]
        if except_on is not None:
            holds = set(lost) == {d for d in except_on if d in gains}
        else:
            holds = not lost if enough == "all" else 2 * len(won) > len(gains)
        relation = f"{METHOD_NAMES[first]} is {_RELATIONS[name][or_equal]} {METHOD_NAMES[second]}"
        said = f"{relation} on {len(won)} of {len(gains)} data sets" + coverage(len(gains), on)
        said += quotient_range(name, pairs) + cut_losers(view, name, first, second, pairs)
        return CheckResult(holds, said + (f"; not on {listed_titles(lost)}" if lost else ""))

    return check


def quotient_range(name: str, pairs: Sequence[tuple[str, float, float]]) -> str:
    """Return the range of the quotients (times, sizes) or differences (accuracies), second against first."""
    if name == "accuracy":
        differences = [100 * (a - b) for _, a, b in pairs]
        return f" (differences {min(differences):+.2f} to {max(differences):+.2f} points)"
    quotients = [b / a for _, a, b in pairs if a]
    return f" (factors {three_digits(min(quotients))} to {three_digits(max(quotients))})" if quotients else ""


def cut_losers(
    view: View, name: str, first: str, second: str, pairs: Sequence[tuple[str, float, float]]
) -> str:
    """Return on how many of the pairs a time limit cut the slower method short, in words, or ''."""
    cut = [
        d for d, _, _ in pairs if name == "time" and (view.cut_short(d, first) or view.cut_short(d, second))
    ]
    return f", {len(cut)} with the loser's time cut short" if cut else ""


def coverage(n: int, on: Sequence[str]) -> str:
    """Return a remark if not all of the claim's data sets were measured."""
    return "" if n == len(on) else f" (of the claim's {len(on)}, {n} were measured)"


def all_hold(*checks: Check) -> Check:
    """Return the check that all of these hold; None if the cells lack what one of them needs."""

    def check(view: View) -> CheckResult | None:
        findings = [one(view) for one in checks]
        if any(finding is None for finding in findings):
            return None
        sure = [finding for finding in findings if finding is not None]
        return CheckResult(all(f.holds for f in sure), "; ".join(f.evidence for f in sure))

    return check


def speedups(view: View, method: str, on: Sequence[str], baseline: str = "cvm") -> dict[str, float]:
    """Return t_baseline / t by data set (003, section 5.3)."""
    return {dataset: b / a for dataset, a, b in view.pairs("time", method, baseline, on) if a > 0}


def is_bound(view: View, method: str, dataset: str) -> bool:
    """Return whether a time limit makes the speed-up over CVM on a data set a bound."""
    return view.cut_short(dataset, method) or view.cut_short(dataset, "cvm")


def reaches(view: View, method: str, dataset: str, speedup: float, factor: float) -> bool | None:
    """Return whether a speed-up over CVM is at least ``factor``; None where a time limit leaves that open."""
    reached = speedup >= factor
    return None if view.cut_short(dataset, method if reached else "cvm") else reached


def growing_speedup(method: str, on: Sequence[str]) -> Check:
    """Return the check that the speed-up over CVM grows from each data set of a series to the next.

    A speed-up is a lower bound where CVM was cut short, an upper one where the method was; None where that leaves open
    what holds.
    """

    def is_sure(view: View, lower: str, upper: str) -> bool:
        """Return whether the speed-up on one data set is surely below that on another where it seems to be."""
        return not (view.cut_short(lower, "cvm") or view.cut_short(upper, method))

    def check(view: View) -> CheckResult | None:
        found = speedups(view, method, on)
        if len(found) < 3:
            return None
        values = list(found.values())
        steps = list(zip(found, list(found)[1:], strict=False))
        drops = [d for before, d in steps if found[d] <= found[before] and is_sure(view, d, before)]
        rises = [d for before, d in steps if found[d] > found[before] and is_sure(view, before, d)]
        if not drops and len(rises) < len(steps):
            return None
        said = f"{METHOD_NAMES[method]}'s speed-ups are {', '.join(map(three_digits, values))}"
        return CheckResult(
            not drops,
            said + coverage(len(found), on) + (f"; falls at {listed_titles(drops)}" if drops else ""),
        )

    return of_growth(check, on)


def peak_speedup(method: str, on: Sequence[str], *, at: str, least: float) -> Check:
    """Return the check that the largest speed-up over CVM is on data set ``at`` and is at least ``least``.

    Where CVM was cut short its speed-up is a lower bound; None where that leaves open what holds.
    """

    def check(view: View) -> CheckResult | None:
        found = speedups(view, method, on)
        if at not in found or len(found) < 3:
            return None
        below = found[at] < least or any(found[dataset] > found[at] for dataset in found)
        might_change_that = [at] if below else [dataset for dataset in found if dataset != at]
        if any(is_bound(view, method, dataset) for dataset in might_change_that):
            return None
        top = max(found, key=lambda dataset: found[dataset])
        said = f"{METHOD_NAMES[method]}'s speed-up over CVM on {listed_titles([at])} is {three_digits(found[at])}; "
        said += f"its largest speed-up is {three_digits(found[top])}, on {listed_titles([top])}"
        return CheckResult(top == at and found[at] >= least, said + coverage(len(found), on))

    return of_growth(check, on)


def median_speedup(fast: str, slow: str, on: Sequence[str], *, factor: float) -> Check:
    """Return the check that the median speed-up of ``fast`` is at least ``factor`` times that of ``slow``.

    Both medians are over the data sets on which no time was cut short.
    """

    def check(view: View) -> CheckResult | None:
        first, second = speedups(view, fast, on), speedups(view, slow, on)
        both = [
            dataset
            for dataset in on
            if dataset in first and dataset in second
            if not any(is_bound(view, method, dataset) for method in (fast, slow))
        ]
        if len(both) < 3:
            return None
        a, b = (statistics.median(found[dataset] for dataset in both) for found in (first, second))
        medians = f"{METHOD_NAMES[fast]} {three_digits(a)}, {METHOD_NAMES[slow]} {three_digits(b)}"
        said = f"median speed-ups over CVM: {medians}"
        return CheckResult(a >= factor * b, said + coverage(len(both), on))

    return check


def alike(
    methods: Sequence[str],
    name: str,
    on: Sequence[str],
    *,
    difference: float = math.inf,
    factor: float = math.inf,
) -> Check:
    """Return the check that the methods differ by at most a difference (stored units) or a factor.

    A data set on which a time limit leaves that open is left out.
    """

    def is_known(view: View, dataset: str, values: list[float]) -> bool:
        cut = [
            value for value, method in zip(values, methods, strict=True) if view.cut_short(dataset, method)
        ]
        if name != "time" or not cut:
            return True
        return min(values) < min(cut) and max(values) / min(values) > factor

    def check(view: View) -> CheckResult | None:
        values = {d: [view.value(d, method, name) for method in methods] for d in on}
        values = {d: v for d, v in values.items() if not any(map(math.isnan, v)) and min(v) > 0}
        values = {d: v for d, v in values.items() if is_known(view, d, v)}
        if not values:
            return None
        apart = [
            d for d, v in values.items() if max(v) - min(v) > difference + 1e-12 or max(v) / min(v) > factor
        ]
        widest = max(values.values(), key=lambda v: max(v) / min(v))
        shown = (f"{100 * (max(widest) - min(widest)):.2f} points" if name == "accuracy"
                 else f"a factor of {three_digits(max(widest) / min(widest))}")  # fmt: skip
        said = f"the widest spread of {name} is {shown}" + coverage(len(values), on)
        return CheckResult(not apart, said + (f"; too far apart on {listed_titles(apart)}" if apart else ""))

    return check


def wilcoxon_rejects(
    hypothesis: Hypothesis, level: float, *, stands: bool = False, on: Sequence[str] = tuple(ALL)
) -> Check:
    """Return the check that Wilcoxon's exact test rejects equality at a level, or (``stands``) does not.

    None on so few data sets that no outcome is significant at that level.
    """

    def check(view: View) -> CheckResult | None:
        pairs = list(view.pairs(hypothesis.measure, hypothesis.first, hypothesis.second, on))
        least_p = 2.0 ** -len(pairs) * (2 if hypothesis.alternative == "two-sided" else 1)
        if least_p > level:
            return None
        test = wilcoxon([a for _, a, _ in pairs], [b for _, _, b in pairs])
        p = test.p(hypothesis.alternative)
        said = f"W = {test.W:g}, exact p = {probability(p)} ({hypothesis.alternative}) on {test.n} data sets"
        said += cut_losers(view, hypothesis.measure, hypothesis.first, hypothesis.second, pairs)
        return CheckResult((p > level) if stands else (p <= level), said + coverage(len(pairs), on))

    return check


def friedman_rejects(methods: Sequence[str], name: str, level: float) -> Check:
    """Return the check that Friedman's test (Iman-Davenport's F) rejects that all methods perform alike."""

    def check(view: View) -> CheckResult | None:
        datasets = [d for d in ALL if all(not math.isnan(view.value(d, m, name)) for m in methods)]
        cells = [view.cell(d, m) for d in datasets for m in methods]
        if len(datasets) < LEAST_DATASETS or any(cell is None for cell in cells):
            return None
        import pandas as pd

        try:
            f = compare_methods(pd.DataFrame(cells), list(methods), name).friedman
        except ResultsError:  # of too few data sets has every method a value that is no bound
            return None
        if f.n < LEAST_DATASETS:
            return None
        said = f"F = {f.F:.3f}, p = {probability(f.p_F)} on {f.n} data sets; mean ranks " + ", ".join(
            f"{METHOD_NAMES[m]} {rank:.2f}" for m, rank in zip(methods, f.mean_ranks, strict=True))  # fmt: skip
        return CheckResult(f.p_F <= level, said + coverage(f.n, ALL))

    return check


def quadratic_like_rbf(methods: Sequence[str], on: Sequence[str]) -> Check:
    """Return the check that the quadratic kernel's accuracies are within two points of the RBF kernel's."""

    def check(view: View) -> CheckResult | None:
        gaps = {}
        for dataset in on:
            for method in methods:
                gap = view.value(dataset, method, "accuracy", "quadratic") - view.value(
                    dataset, method, "accuracy"
                )
                if not math.isnan(gap):
                    gaps[dataset, method] = gap
        if not gaps:
            return None
        far = [d for (d, _), gap in gaps.items() if abs(gap) > 0.02]
        said = f"quadratic minus RBF: {100 * min(gaps.values()):+.2f} to {100 * max(gaps.values()):+.2f} points in "
        return CheckResult(
            not far,
            said + f"{len(gaps)} comparisons" + (f"; beyond two on {listed_titles(far)}" if far else ""),
        )

    return check
