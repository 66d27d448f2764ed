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
    every,
    is_decided,
    measured_by_C,
    per_cent,
)
from fwsvm.analysis.layouts import Layout

METHODS = ("liblinear", "avsf")
LARGE_C, TEN = 10, 9.5  # "an order of magnitude" is about ten


class Pair(NamedTuple):
    """Both solvers' numbers at one C of a problem, which the other settings are."""

    experiment: str
    profile: str
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
        return Fact(f"{published.title(self.dataset)} C={self.C:g} eps={self.tolerance:g}", value, holds)


def _pairs(view: View, name: str = "time") -> list[Pair]:
    """Return the pairs in a measure, those of a problem together by C."""
    return [
        Pair(*problem, C, a, found["avsf"][C])
        for problem, found in measured_by_C(view.cells, name).items()
        for C, a in found.get("liblinear", {}).items()
        if C in found.get("avsf", {})
    ]


def _grids(view: View) -> list[list[Pair]]:
    """Return the pairs by C of each problem, where they are two or more."""
    grids = [[*pairs] for _, pairs in itertools.groupby(_pairs(view), lambda pair: pair[:4])]
    return [pairs for pairs in grids if len(pairs) > 1]


def _times_by_C(view: View) -> Iterator[tuple[str, float, list[Number]]]:  # noqa: N802 - C is the penalty
    """Yield (place, largest C, times) of each solver and grid."""
    for pairs in _grids(view):
        for method in METHODS:
            where = f"{published.title(pairs[0].dataset)} {method} eps={pairs[0].tolerance:g}"
            yield where, pairs[-1].C, [getattr(pair, method) for pair in pairs]


def _wins(winner: str, counts: Callable[[Pair], bool]) -> Check:
    """Return the check that a solver is faster in the pairs that count."""
    loser = METHODS[winner == "liblinear"]
    return every(
        f"{winner} is faster (liblinear over avsf)",
        lambda view: (
            pair.fact(pair.liblinear.low / pair.avsf.low, getattr(pair, winner).below(getattr(pair, loser)))
            for pair in _pairs(view)
            if counts(pair)
        ),
    )


def _same_solution(view: View) -> Iterator[Fact]:
    """Yield whether the two solvers' primal objectives agree to 1%, at every converged pair."""
    whole = {pair[:5] for pair in _pairs(view) if pair.speedup.exact}
    for pair in _pairs(view, "objective"):
        if pair[:5] in whole:
            a = pair.liblinear.low
            b = pair.avsf.low
            apart = abs(a - b) / max(abs(a), abs(b))
            yield pair.fact(apart, apart <= 0.01)


def _largest(speedups: Iterable[Number]) -> Number:
    lows, highs = zip(*speedups, strict=True)
    return Number(max(lows), max(highs))


def _order_of_magnitude(view: View) -> Iterator[Fact]:
    """Yield whether the largest speed-up of a data set is about ten or more."""
    found: dict[str, list[Number]] = {}
    for pair in _pairs(view):
        found.setdefault(pair.dataset, []).append(pair.speedup)
    for dataset, speedups in found.items():
        top = _largest(speedups)
        yield Fact(published.title(dataset), top.low, top.at_least(TEN))


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
                longer = Number(1.15, 1.15).below(ratio)
                shorter = ratio.below(1 / 1.15)
                holds = False if longer or shorter else None if None in {longer, shorter} else True
                yield Fact(f"{method} C={C:g}", ratio.low, holds)


def _grows_with_C(view: View) -> Iterator[Fact]:  # noqa: N802 - C is the penalty
    """Yield whether times at the largest C are at least ten times those at the smallest, for both solvers."""
    for where, _, times in _times_by_C(view):
        factor = times[-1] / times[0]
        yield Fact(where, factor.low, factor.at_least(10))


def _dominated_by_largest_C(view: View) -> Iterator[Fact]:  # noqa: N802 - C is the penalty
    """Yield whether the largest C takes at least half of the time of the whole grid, for both solvers."""
    for where, largest, (*others, last) in _times_by_C(view):
        if largest >= 1000:
            rest = Number(*map(sum, zip(*others, strict=True)))
            yield Fact(where, last.low / (last.low + rest.low), last.at_least(rest))


def _steps_cost_more(view: View) -> CheckResult | None:
    """Check that in the median a step of AVSF takes longer than one of liblinear, but not twice as long."""
    steps = {pair[:5]: pair.liblinear.low / pair.avsf.low for pair in _pairs(view, "steps")}
    timed = [pair for pair in _pairs(view) if pair[:5] in steps]
    ratios = [pair.avsf.low / pair.liblinear.low * steps[pair[:5]] for pair in timed]
    if not ratios:
        return None
    median = statistics.median(ratios)
    said = f"seconds per step, avsf over liblinear: median {median:.2f}, "
    said += f"{min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} pairs"
    return CheckResult(1 < median < 2, said)


def _finishes_first(view: View) -> Iterator[Fact]:
    """Yield whether where one of the two was cut short, and not the other, it was liblinear."""
    for pair in _pairs(view):
        if pair.liblinear.exact != pair.avsf.exact:
            yield pair.fact(pair.liblinear.low / pair.avsf.low, pair.avsf.exact)


CLAIMS = claims_of(
    "glasmachers",
    METHODS,
    {
        "covtype-baseline": _wins("liblinear", lambda pair: pair.dataset == "covtype"),
        "covtype-diminishes": every(
            "avsf over liblinear is smaller at the largest C than at the smallest", _covtype_difference
        ),
        "covtype-tolerance": every(
            "the time at eps=0.001 is within 15% of that at eps=0.01", _covtype_tolerance
        ),
        "same-solution": every("objectives agree to 1%", _same_solution, show=lambda x: f"{100 * x:.3g}%"),
        "baseline-at-small-C": _wins("liblinear", lambda pair: pair.C <= 0.01),
        "avsf-at-large-C": _wins("avsf", lambda pair: pair.C >= 100 and pair.dataset != "covtype"),
        "order-of-magnitude": every("the largest speed-up is about ten or more", _order_of_magnitude, "most"),
        "largest-for-large-C": every("the largest speed-up is at C of 10 or more", _largest_for_large_C),
        "time-grows-with-C": every("the time grows tenfold over the grid", _grows_with_C),
        "grid-dominated": every(
            "the largest C takes half of the time or more", _dominated_by_largest_C, show=per_cent
        ),
        "steps-cost-more": _steps_cost_more,
        "avsf-finishes": every("liblinear alone was cut short (liblinear over avsf)", _finishes_first),
    },
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
