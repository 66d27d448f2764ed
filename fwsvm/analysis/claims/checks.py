"""Checks that claims are made of: comparisons on data sets, speed-ups along a series, tests of significance.

Each function returns a check. "All data sets" means all that were measured. Several methods in one argument are
separated by spaces: the check is made for each pair.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Sequence

import pandas as pd

from fwsvm.analysis.claims.model import (
    Check,
    CheckResult,
    Enough,
    Fact,
    Number,
    View,
    all_hold,
    conclude,
    is_decided,
    of_growth,
    points,
)
from fwsvm.analysis.comparisons import Alternative, compare_methods, probability
from fwsvm.analysis.measures import measure, three_digits
from fwsvm.analysis.published import METHOD_NAMES, series, title
from fwsvm.analysis.statistics import wilcoxon
from fwsvm.errors import ResultsError

WEB, ADULT = series("web"), series("adult")
MEDIUM, LARGE, PROTEIN = series("medium"), series("large"), series("protein")
SINGLE = [*MEDIUM, *PROTEIN, *LARGE]
ALL = [*ADULT, *WEB, *SINGLE]

#: Friedman's test takes this many: F's distribution is that of many, and on fewer that agree its p-value is 0.
LEAST_DATASETS = 5
LEAST_SPEEDUPS = 3

#: A measure's comparison in words, strict and not.
_RELATIONS = {
    "time": ("faster than", "at least as fast as"),
    "accuracy": ("more accurate than", "at least as accurate as"),
    "size": ("smaller than", "no larger than"),
    "objective": ("lower in objective than", "no higher in objective than"),
}


def for_each_pair(first: str, second: str, check: Callable[[str, str], Check]) -> Check:
    """Return the check that holds for each of the first methods with each of the second."""
    return all_hold(*(check(a, b) for a in first.split() for b in second.split()))


def better(
    first: str,
    second: str,
    name: str,
    on: Sequence[str],
    enough: Enough = "all",
    *,
    or_equal: bool = False,
    within: float = 0.0,
    except_on: Sequence[str] | None = None,
) -> Check:
    """Return the check that ``first`` beats ``second`` in a measure on all or most of the data sets.

    ``within`` forgives that much in stored units (0.001 is a tenth of a point of accuracy). With ``except_on``, first
    must lose exactly there.
    """
    less, least = measure(name).better == "less", -1e-12 if or_equal else 1e-12

    def of_pair(a: str, b: str) -> Check:
        def facts(view: View) -> list[Fact]:
            found = []
            for dataset, mine, theirs in view.pairs(name, a, b, on):
                worse, best = (theirs, mine) if less else (mine, theirs)
                gain = Number(worse.low - best.high + within, worse.high - best.low + within)
                lost = None if name == "time" and not is_decided(mine, theirs) else gain.below(least)
                value = mine.low - theirs.low if name == "accuracy" else theirs.low / (mine.low or math.nan)
                found.append(Fact(view.title(dataset), value, None if lost is None else not lost))
            return found

        what = f"{METHOD_NAMES[a]} is {_RELATIONS[name][or_equal]} {METHOD_NAMES[b]}"
        where = None if except_on is None else [title(dataset) for dataset in except_on]
        show = points if name == "accuracy" else three_digits
        return lambda view: conclude(what, facts(view), enough, show=show, of=len(on), exceptions=where)

    return for_each_pair(first, second, of_pair)


def growing_speedup(method: str, on: Sequence[str]) -> Check:
    """Return the check that the speed-up over CVM grows from each data set of a series to the next."""

    def check(view: View) -> CheckResult | None:
        found = view.speedups(method, on)
        if len(found) < LEAST_SPEEDUPS:
            return None
        facts = [
            Fact(view.title(later), found[later].low, found[earlier].below(found[later]))
            for earlier, later in itertools.pairwise(found)
        ]
        return conclude(f"{METHOD_NAMES[method]}'s speed-up over CVM rises", facts, strict=True)

    return of_growth(check, on)


def peak_speedup(method: str, on: Sequence[str], *, at: str, least: float) -> Check:
    """Return the check that the largest speed-up over CVM is on data set ``at`` and is at least ``least``."""

    def check(view: View) -> CheckResult | None:
        found = view.speedups(method, on)
        if at not in found or len(found) < LEAST_SPEEDUPS:
            return None
        facts = [
            Fact(view.title(dataset), speedup.low, inverted(found[at].below(speedup)))
            for dataset, speedup in found.items()
            if dataset != at
        ]
        facts.append(Fact(f"least {least:g}", found[at].low, inverted(found[at].below(least))))
        place = f"{view.title(at)} ({three_digits(found[at].low)})"
        what = f"{METHOD_NAMES[method]}'s speed-up over CVM on {place} is the largest"
        return conclude(what, facts, strict=True)

    return of_growth(check, on)


def inverted(known: bool | None) -> bool | None:
    """Return the contrary of what is known."""
    return None if known is None else not known


def exact_speedups(view: View, method: str, on: Sequence[str]) -> dict[str, float]:
    """Return the speed-ups over CVM of data sets on which no time was cut short."""
    return {dataset: found.low for dataset, found in view.speedups(method, on).items() if found.exact}


def median_speedup(fast: str, slow: str, on: Sequence[str], *, factor: float) -> Check:
    """Return the check that the median speed-up of ``fast`` is at least ``factor`` times that of ``slow``.

    Both medians are over the data sets on which no time was cut short.
    """

    def of_pair(quick: str, other: str) -> Check:
        def check(view: View) -> CheckResult | None:
            first, second = (exact_speedups(view, method, on) for method in (quick, other))
            both = first.keys() & second.keys()
            if len(both) < LEAST_SPEEDUPS:
                return None
            a, b = (statistics.median(found[dataset] for dataset in both) for found in (first, second))
            medians = f"{METHOD_NAMES[quick]} {three_digits(a)}, {METHOD_NAMES[other]} {three_digits(b)}"
            return CheckResult(
                a >= factor * b, f"median speed-ups over CVM on {len(both)} data sets: {medians}"
            )

        return check

    return for_each_pair(fast, slow, of_pair)


def alike(
    methods: Sequence[str],
    name: str,
    on: Sequence[str],
    *,
    difference: float = math.inf,
    factor: float = math.inf,
) -> Check:
    """Return the check that the methods differ by at most a difference (stored units) or a factor."""

    def facts(view: View) -> list[Fact]:
        found = []
        for dataset in on:
            numbers = [n for m in methods if (n := view.number(dataset, m, name)) is not None and n.low > 0]
            if len(numbers) == len(methods):
                low, high = min(number.high for number in numbers), max(number.high for number in numbers)
                largest = max(number.low for number in numbers)  # at least: times may be cut short
                apart = largest - low > difference + 1e-12 or largest / low > factor
                holds = False if apart else True if math.isfinite(high) else None
                value = largest - min(n.low for n in numbers) if difference < math.inf else largest / low
                found.append(Fact(view.title(dataset), value, holds))
        return found

    show = points if difference < math.inf else three_digits
    return lambda view: conclude(f"the methods are alike in {name}", facts(view), show=show, of=len(on))


def significant(
    name: str,
    first: str,
    second: str,
    alternative: Alternative,
    level: float,
    *,
    stands: bool = False,
) -> Check:
    """Return the check that Wilcoxon's exact test rejects equality at a level, or (``stands``) does not.

    None on so few data sets that no outcome is significant at that level.
    """

    def of_pair(a: str, b: str) -> Check:
        def check(view: View) -> CheckResult | None:
            pairs = [
                (x.low, y.low)
                for _, x, y in view.pairs(name, a, b, ALL)
                if name != "time" or is_decided(x, y)
            ]
            if 2.0 ** -len(pairs) * (2 if alternative == "two-sided" else 1) > level:
                return None
            test = wilcoxon(*zip(*pairs, strict=True))
            p = test.p(alternative)
            said = f"{METHOD_NAMES[a]} and {METHOD_NAMES[b]}: W = {test.W:g}, exact p = {probability(p)}"
            said += f" ({alternative}) on {test.n} of {len(ALL)} data sets"
            return CheckResult((p > level) if stands else (p <= level), said)

        return check

    return for_each_pair(first, second, of_pair)


def friedman_rejects(methods: Sequence[str], names: str, level: float) -> Check:
    """Return the check that Friedman's test (Iman-Davenport's F) rejects that all methods perform alike."""

    def of_measure(name: str) -> Check:
        def check(view: View) -> CheckResult | None:
            cells = [
                view.cell(dataset, method)
                for dataset in ALL
                if all(view.number(dataset, method, name) for method in methods)
                for method in methods
            ]
            if not cells:
                return None
            try:
                f = compare_methods(pd.DataFrame(cells), list(methods), name).friedman
            except ResultsError:  # of too few data sets has every method a value that is no bound
                return None
            if f.n < LEAST_DATASETS:
                return None
            ranks = (f"{METHOD_NAMES[m]} {rank:.2f}" for m, rank in zip(methods, f.mean_ranks, strict=True))
            said = f"{name}: F = {f.F:.3f}, p = {probability(f.p_F)} on {f.n} of {len(ALL)} data sets"
            return CheckResult(f.p_F <= level, f"{said}; mean ranks {', '.join(ranks)}")

        return check

    return all_hold(*map(of_measure, names.split()))


def with_quadratic(
    name: str,
    methods: Sequence[str],
    on: Sequence[str],
    compare: Callable[[Number, Number], Fact],
    what: str,
    show: Callable[[float], str],
) -> Check:
    """Return the check that compares a measure with the quadratic kernel with that of the RBF kernel."""

    def facts(view: View) -> list[Fact]:
        numbers = [
            (
                f"{METHOD_NAMES[method]} on {view.title(dataset)}",
                view.number(dataset, method, name, "quadratic"),
                view.number(dataset, method, name),
            )
            for dataset in on
            for method in methods
        ]
        return [compare(a, b)._replace(where=where) for where, a, b in numbers if a and b]

    return lambda view: conclude(what, facts(view), show=show)


def quadratic_like_rbf(methods: Sequence[str], on: Sequence[str]) -> Check:
    """Return the check that the quadratic kernel's accuracies are within two points of the RBF kernel's."""

    def compare(a: Number, b: Number) -> Fact:
        return Fact("", a.low - b.low, abs(a.low - b.low) <= 0.02)

    what = "quadratic minus RBF is within two points"
    return with_quadratic("accuracy", methods, on, compare, what, points)
