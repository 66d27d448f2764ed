"""Glasmachers and Dogan (2013): AVSF against liblinear's dual coordinate descent; claims and tables."""

import itertools
import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from fwsvm.analysis import published
from fwsvm.analysis.claims.model import (
    Check,
    CheckResult,
    Fact,
    Number,
    View,
    claims_of,
    conclude,
    is_decided,
    number_of,
    per_cent,
)
from fwsvm.analysis.layouts import Layout
from fwsvm.analysis.measures import three_digits
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.errors import listed

METHODS = ("liblinear", "avsf")
LARGE_C, TEN = 10, 9.5  # "an order of magnitude" is about ten


class Pair(NamedTuple):
    """Both solvers' numbers at one C and tolerance of a problem."""

    dataset: str
    tolerance: float
    C: float
    liblinear: Number
    avsf: Number

    @property
    def speedup(self) -> Number:
        """Return liblinear's number over AVSF's."""
        return self.liblinear / self.avsf

    def fact(self, value: float, holds: bool | None) -> Fact:
        """Return a fact about this pair."""
        where = f"{published.title(self.dataset)} C={self.C:g} eps={self.tolerance:g}"
        return Fact(where, value, holds)


def _pairs(view: View, name: str = "time") -> list[Pair]:
    """Return the pairs in a measure; all of a data set are of the experiment that has most of them."""
    runs: dict[str, list[list[Pair]]] = {}
    for _, cells in view.cells.groupby(["dataset", "experiment", "profile"], sort=False):
        both: dict[tuple[str, float, float], dict[str, Number | None]] = {}
        for cell in cells.to_dict("records"):
            place = cell["dataset"], cell["tolerance"], cell["C"]
            both.setdefault(place, {})[cell["method"]] = number_of(cell, name)
        pairs = [
            Pair(*place, a, b)
            for place, numbers in both.items()
            for a, b in [map(numbers.get, METHODS)]
            if a and b
        ]
        runs.setdefault(str(cells["dataset"].iloc[0]), []).append(pairs)
    found = (max(pairs, key=len) for pairs in runs.values())
    return list(itertools.chain(*found))


def _grids(view: View) -> list[list[Pair]]:
    """Return the pairs by C of each data set and tolerance, where they are two or more."""
    grids: dict[tuple[str, float], list[Pair]] = {}
    for pair in sorted(_pairs(view), key=lambda pair: pair.C):
        grids.setdefault(pair[:2], []).append(pair)
    return [pairs for pairs in grids.values() if len(pairs) > 1]


def _times_by_C(view: View) -> Iterator[tuple[str, list[float], list[Number]]]:  # noqa: N802 - C is the penalty
    """Yield (place, values of C, times there) of each solver and grid."""
    for pairs in _grids(view):
        for method in METHODS:
            where = f"{published.title(pairs[0].dataset)} {METHOD_NAMES[method]} eps={pairs[0].tolerance:g}"
            yield where, [pair.C for pair in pairs], [getattr(pair, method) for pair in pairs]


def _all(
    what: str, facts: Callable[[View], Iterable[Fact]], *, show: Callable[[float], str] = three_digits
) -> Check:
    """Return the check that all facts of a view are as claimed."""
    return lambda view: conclude(what, facts(view), show=show)


def _wins(winner: str, counts: Callable[[Pair], bool]) -> Check:
    """Return the check that a solver is faster in the pairs that count."""

    def facts(view: View) -> Iterator[Fact]:
        for pair in filter(counts, _pairs(view)):
            first, second = (
                (pair.liblinear, pair.avsf) if winner == "liblinear" else (pair.avsf, pair.liblinear)
            )
            yield pair.fact(pair.liblinear.low / pair.avsf.low, first.below(second))

    return _all(f"{METHOD_NAMES[winner]} is faster (liblinear over AVSF)", facts)


def _same_solution(view: View) -> Iterator[Fact]:
    """Yield whether the two solvers' primal objectives agree to 1%, at every converged pair."""
    whole = {pair[:3] for pair in _pairs(view) if pair.speedup.exact}
    for pair in _pairs(view, "objective"):
        if pair[:3] in whole:
            a, b = pair.liblinear.low, pair.avsf.low
            apart = abs(a - b) / max(abs(a), abs(b))
            yield pair.fact(apart, apart <= 0.01)


def _largest(speedups: Iterable[Number]) -> Number:
    lows, highs = zip(*speedups, strict=True)
    return Number(max(lows), max(highs))


def _order_of_magnitude(view: View) -> CheckResult | None:
    """Check that the largest speed-up is about ten or more on most problems."""
    found: dict[str, list[Number]] = {}
    for pair in _pairs(view):
        found.setdefault(pair.dataset, []).append(pair.speedup)
    tops = {dataset: _largest(speedups) for dataset, speedups in found.items()}
    facts = [Fact(published.title(name), top.low, top.at_least(TEN)) for name, top in tops.items()]
    return conclude("the largest speed-up is about ten or more", facts, "most")


def _largest_for_large_C(view: View) -> Iterator[Fact]:  # noqa: N802 - C is the penalty
    """Yield whether the largest speed-up falls at C of 10 or more, for every problem but cover type."""
    for pairs in _grids(view):
        large = [pair.speedup for pair in pairs if pair.C >= LARGE_C]
        small = [pair.speedup for pair in pairs if pair.C < LARGE_C]
        if pairs[0].dataset != "covtype" and large and small:
            best = max(pairs, key=lambda pair: pair.speedup.low)
            yield best.fact(best.speedup.low, _largest(large).at_least(_largest(small)))


def _covtype_difference(view: View) -> Iterator[Fact]:
    """Yield whether on cover type liblinear's advantage at the largest C is smaller than at the smallest."""
    for pairs in _grids(view):
        sure = [pair.avsf / pair.liblinear for pair in pairs if is_decided(pair.liblinear, pair.avsf)]
        if pairs[0].dataset == "covtype" and len(sure) > 1:
            yield Fact(f"eps={pairs[0].tolerance:g}", sure[-1].low / sure[0].low, sure[-1].below(sure[0]))


def _covtype_tolerance(view: View) -> Iterator[Fact]:
    """Yield whether on cover type the two tolerances take nearly the same time (within 15%)."""
    found = {(pair.tolerance, pair.C): pair for pair in _pairs(view) if pair.dataset == "covtype"}
    for (tolerance, C), fine in found.items():
        rough = found.get((0.01, C))
        if tolerance == 0.001 and rough is not None:
            for method in METHODS:
                ratio = getattr(fine, method) / getattr(rough, method)
                longer, shorter = Number(1.15, 1.15).below(ratio), ratio.below(1 / 1.15)
                holds = False if longer or shorter else None if None in {longer, shorter} else True
                yield Fact(f"{METHOD_NAMES[method]} C={C:g}", ratio.low, holds)


def _grows_with_C(view: View) -> Iterator[Fact]:  # noqa: N802 - C is the penalty
    """Yield whether times at the largest C are at least ten times those at the smallest, for both solvers."""
    for where, _, times in _times_by_C(view):
        factor = times[-1] / times[0]
        yield Fact(where, factor.low, factor.at_least(10))


def _dominated_by_largest_C(view: View) -> Iterator[Fact]:  # noqa: N802 - C is the penalty
    """Yield whether the largest C takes at least half of the time of the whole grid, for both solvers."""
    for where, values, (*others, last) in _times_by_C(view):
        if values[-1] >= 1000:
            rest = Number(*map(sum, zip(*others, strict=True)))
            yield Fact(where, last.low / (last.low + rest.low), last.at_least(rest))


def _steps_cost_more(view: View) -> CheckResult | None:
    """Check that in the median a step of AVSF takes longer than one of liblinear, but not twice as long."""
    steps = {pair[:3]: pair.liblinear.low / pair.avsf.low for pair in _pairs(view, "steps")}
    timed = [pair for pair in _pairs(view) if pair[:3] in steps]
    ratios = [pair.avsf.low / pair.liblinear.low * steps[pair[:3]] for pair in timed]
    if not ratios:
        return None
    median = statistics.median(ratios)
    said = f"seconds per step, AVSF over liblinear: median {median:.2f}, "
    said += f"{min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} pairs"
    return CheckResult(1 < median < 2, said)


def _finishes_first(view: View) -> Iterator[Fact]:
    """Yield whether where one of the two was cut short, and not the other, it was liblinear."""
    for pair in _pairs(view):
        if pair.liblinear.exact != pair.avsf.exact:
            yield pair.fact(pair.liblinear.low / pair.avsf.low, pair.avsf.exact)


def _remarked(check: Check) -> Check:
    """Return the check with a remark if it was put to other problems than the paper's."""

    def remarked(view: View) -> CheckResult | None:
        finding = check(view)
        others = [d for d in view.cells["dataset"].unique() if d not in published.series("linear")]
        if finding is None or not others:
            return finding
        said = f"with problems not the paper's: {listed(map(published.title, others))}"
        return CheckResult(finding.holds, f"{finding.evidence} [{said}]")

    return remarked


_ON_COVER_TYPE = {
    "covtype-baseline": _wins("liblinear", lambda pair: pair.dataset == "covtype"),
    "covtype-diminishes": _all(
        "AVSF over liblinear is smaller at the largest C than at the smallest", _covtype_difference
    ),
    "covtype-tolerance": _all("the time at eps=0.001 is within 15% of that at eps=0.01", _covtype_tolerance),
}
_ON_ALL = {
    "same-solution": _all("objectives agree to 1%", _same_solution, show=lambda x: f"{100 * x:.3g}%"),
    "baseline-at-small-C": _wins("liblinear", lambda pair: pair.C <= 0.01),
    "avsf-at-large-C": _wins("avsf", lambda pair: pair.C >= 100 and pair.dataset != "covtype"),
    "order-of-magnitude": _order_of_magnitude,
    "largest-for-large-C": _all("the largest speed-up is at C of 10 or more", _largest_for_large_C),
    "time-grows-with-C": _all("the time grows tenfold over the grid", _grows_with_C),
    "grid-dominated": _all(
        "the largest C takes half of the time or more", _dominated_by_largest_C, show=per_cent
    ),
    "steps-cost-more": _steps_cost_more,
    "avsf-finishes": _all("liblinear alone was cut short (liblinear over AVSF)", _finishes_first),
}
CLAIMS = claims_of(
    "glasmachers", METHODS, _ON_COVER_TYPE | {name: _remarked(check) for name, check in _ON_ALL.items()}
)
LAYOUTS = {
    f"glasmachers-{number}": Layout(
        f"Glasmachers and Dogan (2013), Table {number}, epsilon {tolerance:g}",
        ("time", "steps"),
        "glasmachers",
        METHODS,
        tolerance=tolerance,
    )
    for number, tolerance in ((2, 0.01), (3, 0.001))
}
