"""Checks that claims are made of: comparisons on data sets, speed-ups along a series, tests of significance.

"All data sets" means all that were measured. Several methods in one argument are separated by spaces.
"""

import itertools
import math
import statistics
from collections.abc import Sequence

from fwsvm.analysis.claims.model import (
    CheckResult,
    Enough,
    Fact,
    Number,
    View,
    conclude,
    for_each_pair,
    is_decided,
    makes_check,
    of_growth,
    points,
)
from fwsvm.analysis.comparisons import Alternative, probability
from fwsvm.analysis.measures import measure, three_digits
from fwsvm.analysis.published import series, title
from fwsvm.analysis.statistics import friedman, wilcoxon

WEB = series("web")
ADULT = series("adult")
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


@for_each_pair
def better(
    view: View,
    first: str,
    second: str,
    name: str,
    on: Sequence[str],
    enough: Enough = "all",
    *,
    or_equal: bool = False,
    within: float = 0.0,
    except_on: Sequence[str] = (),
) -> CheckResult | None:
    """Check that ``first`` beats ``second`` in a measure on all or most of the data sets.

    ``within`` forgives that much in stored units (0.001 is a tenth of a point of accuracy). With ``except_on``, first
    must lose exactly there.
    """
    facts = []
    for dataset, mine, theirs in view.pairs(name, first, second, on):
        worse, best = (theirs, mine) if measure(name).better == "less" else (mine, theirs)
        gain = Number(worse.low - best.high + within, worse.high - best.low + within)
        value = mine.low - theirs.low if name == "accuracy" else theirs.low / (mine.low or math.nan)
        holds = gain.at_least(-1e-12 if or_equal else 1e-12)
        facts.append(Fact(view.title(dataset), value, holds if is_decided(mine, theirs) else None))
    what = f"{first} is {_RELATIONS[name][or_equal]} {second}"
    show = points if name == "accuracy" else three_digits
    return conclude(what, facts, enough, show=show, of=len(on), exceptions=map(title, except_on))


@of_growth
def growing_speedup(view: View, method: str, on: Sequence[str]) -> CheckResult | None:
    """Check that the speed-up over cvm grows from each data set of a series to the next."""
    found = view.speedups(method, on)
    if len(found) < LEAST_SPEEDUPS:
        return None
    facts = [
        Fact(view.title(later), found[later].low, found[earlier].below(found[later]))
        for earlier, later in itertools.pairwise(found)
    ]
    return conclude(f"{method}'s speed-up over cvm rises", facts, strict=True)


@of_growth
def peak_speedup(view: View, method: str, on: Sequence[str], *, at: str, least: float) -> CheckResult | None:
    """Check that the largest speed-up over cvm is on data set ``at`` and is at least ``least``."""
    found = view.speedups(method, on)
    if at not in found or len(found) < LEAST_SPEEDUPS:
        return None
    top = found.pop(at)
    facts = [Fact(view.title(d), speedup.low, top.at_least(speedup)) for d, speedup in found.items()]
    facts.append(Fact(f"least {least:g}", top.low, top.at_least(least)))
    what = f"{method}'s speed-up over cvm on {view.title(at)} ({three_digits(top.low)}) is the largest"
    return conclude(what, facts, strict=True)


@for_each_pair
def tenfold_speedup(view: View, fast: str, slow: str, on: Sequence[str]) -> CheckResult | None:
    """Check that the median speed-up of ``fast`` is at least ten times that of ``slow``.

    Both medians are over the data sets on which no time was cut short.
    """
    first, second = (view.speedups(method, on, exact=True) for method in (fast, slow))
    both = first.keys() & second.keys()
    if len(both) < LEAST_SPEEDUPS:
        return None
    a, b = (statistics.median(found[dataset].low for dataset in both) for found in (first, second))
    medians = f"{fast} {three_digits(a)}, {slow} {three_digits(b)}"
    return CheckResult(a >= 10 * b, f"median speed-ups over cvm on {len(both)} data sets: {medians}")


@makes_check
def alike(view: View, name: str, on: Sequence[str], most: float) -> CheckResult | None:
    """Check that the methods differ by at most so much: a difference of accuracies (stored units), or a factor."""
    facts = []
    for dataset in on:
        numbers = [n for m in view.methods if (n := view.number(dataset, m, name)) is not None and n.low > 0]
        if len(numbers) == len(view.methods):
            lows, highs = zip(*numbers, strict=True)
            largest, low = max(lows), min(highs)  # at least and at most: times may be cut short
            value = largest - low if name == "accuracy" else largest / low
            holds = False if value > most + 1e-12 else True if math.isfinite(max(highs)) else None
            facts.append(Fact(view.title(dataset), value, holds))
    show = points if name == "accuracy" else three_digits
    return conclude(f"the methods are alike in {name}", facts, show=show, of=len(on))


@for_each_pair
def significant(
    view: View,
    first: str,
    second: str,
    name: str,
    alternative: Alternative,
    level: float,
    *,
    stands: bool = False,
) -> CheckResult | None:
    """Check that Wilcoxon's exact test rejects equality at a level, or (``stands``) does not.

    None on so few data sets that no outcome is significant at that level.
    """
    pairs = [(x.low, y.low) for _, x, y in view.pairs(name, first, second, ALL) if is_decided(x, y)]
    if 2.0 ** -len(pairs) * (2 if alternative == "two-sided" else 1) > level:
        return None
    test = wilcoxon(*zip(*pairs, strict=True))
    p = test.p(alternative)
    said = f"{first} and {second}: W = {test.W:g}, exact p = {probability(p)}"
    said += f" ({alternative}) on {test.n} of {len(ALL)} data sets"
    return CheckResult((p > level) if stands else (p <= level), said)


@makes_check
def friedman_rejects(view: View, name: str) -> CheckResult | None:
    """Check that Friedman's test (Iman-Davenport's F) rejects at 0.01 that all methods perform alike."""
    found = ([view.number(dataset, method, name) for method in view.methods] for dataset in ALL)
    values = [[n.low for n in numbers if n and n.exact] for numbers in found]
    values = [row for row in values if len(row) == len(view.methods)]
    if len(values) < LEAST_DATASETS:
        return None
    f = friedman(values, largest_first=measure(name).better == "more")
    ranks = (f"{m} {rank:.2f}" for m, rank in zip(view.methods, f.mean_ranks, strict=True))
    said = f"{name}: F = {f.F:.3f}, p = {probability(f.p_F)} on {f.n} of {len(ALL)} data sets"
    return CheckResult(f.p_F <= 0.01, f"{said}; mean ranks {', '.join(ranks)}")


@makes_check
def quadratic_like_rbf(view: View, methods: str, name: str) -> CheckResult | None:
    """Check that the quadratic kernel's accuracies are within two points of RBF's, or its times within a tenfold."""
    facts = []
    of_time = name == "time"
    for dataset, method in itertools.product(["shuttle", "reuters", *WEB], methods.split()):
        a, b = (view.number(dataset, method, name, kernel) for kernel in ("quadratic", "rbf"))
        if a and b:
            value = (a / b).low if of_time else a.low - b.low
            near = 0.1 <= value <= 10 if of_time else abs(value) <= 0.02
            facts.append(
                Fact(f"{method} on {view.title(dataset)}", value, near if a.exact and b.exact else None)
            )
    if of_time:
        return conclude("times with the quadratic kernel are within a factor of ten of RBF's", facts)
    return conclude("quadratic minus RBF is within two points", facts, show=points)
