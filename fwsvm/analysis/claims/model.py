"""Claims, the facts that their checks are made of, and the view of cells that checks use."""

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import in_sweeps, unique_cells
from fwsvm.analysis.measures import measure, three_digits
from fwsvm.errors import listed


class Number(NamedTuple):
    """A measured value between two ends; a time that was cut short has no upper end."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the value is known."""
        return self.low == self.high

    def __truediv__(self, other: "Number") -> "Number":
        """Return the quotient of two positive numbers."""
        return Number(self.low / other.high, self.high / other.low)

    def at_least(self, other: "Number | float") -> bool | None:
        """Return whether this number is not the smaller one; None where the ends leave that open."""
        low, high = other if isinstance(other, Number) else (other, other)
        return False if self.high < low else True if self.low >= high else None

    def below(self, other: "Number | float") -> bool | None:
        """Return whether this number is the smaller one; None where the ends leave that open."""
        known = self.at_least(other)
        return None if known is None else not known


Cell = Mapping[Hashable, Any]


class CheckResult(NamedTuple):
    """Whether a claim holds in these numbers, and the numbers as evidence."""

    holds: bool
    evidence: str


#: A check returns None when the cells do not have what it needs.
Check = Callable[["View"], CheckResult | None]
Enough = Literal["all", "most", "any"]


class Fact(NamedTuple):
    """One comparison: its place, its number, and whether it is as claimed; None where a time limit leaves that open."""

    where: str
    value: float
    holds: bool | None


def conclude(
    what: str,
    facts: Iterable[Fact],
    enough: Enough = "all",
    *,
    show: Callable[[float], str] = three_digits,
    of: int = 0,
    strict: bool = False,
    exceptions: Iterable[str] = (),
) -> CheckResult | None:
    """Return whether all, most or any facts are as claimed, with their range and those that are not.

    Facts that are open are left out; if ``strict``, they leave the whole open unless the others decide. ``of`` is the
    number of data sets of the claim. Just the ``exceptions`` must not be as claimed, where all others must.
    """
    each = list(facts)
    known = [fact for fact in each if fact.holds is not None]
    lost = [fact for fact in known if not fact.holds]
    left = [fact for fact in each if fact.holds is None]
    won = len(known) - len(lost)
    if not known or (strict and left and not (won if enough == "any" else lost)):
        return None
    as_excepted = {fact.where for fact in lost} == {fact.where for fact in known} & {*exceptions}
    holds = {"all": as_excepted, "most": won > len(lost), "any": won > 0}[enough]
    said = f"{what} in {won} of {len(known)} comparisons"
    said += f" (of the claim's {of} data sets)" if of not in {0, len(known)} else ""
    said += f": {show(min(fact.value for fact in known))} to {show(max(fact.value for fact in known))}"
    for words, some in (("not on", lost), ("left open by time limits:", left)):
        places = listed((f"{fact.where} ({show(fact.value)})" for fact in some), most=6)
        said += f"; {words} {places}" * bool(some)
    return CheckResult(holds, said)


def points(value: float) -> str:
    """Return a difference of accuracies in points."""
    return f"{100 * value:+.2f} points"


def per_cent(value: float) -> str:
    """Return a share in per cent."""
    return f"{100 * value:.0f}%"


def all_of(results: Iterable[CheckResult | None]) -> CheckResult | None:
    """Return whether all hold; None if one is lacking, or there are none."""
    each = list(results)
    found = [one for one in each if one is not None]
    if not found or len(found) < len(each):
        return None
    return CheckResult(all(one.holds for one in found), "; ".join(one.evidence for one in found))


def all_hold(*checks: Check) -> Check:
    """Return the check that all of these hold; None if the cells lack what one of them needs."""
    return lambda view: all_of(check(view) for check in checks)


def every(what: str, facts: Callable[["View"], Iterable[Fact]], enough: Enough = "all", **how: Any) -> Check:
    """Return the check that all or most facts of a view are as claimed; ``how`` goes to `conclude`."""
    return lambda view: conclude(what, facts(view), enough, **how)


def makes_check(function: Callable[..., CheckResult | None]) -> Callable[..., Check]:
    """Return a function that takes what a claim fixes, and returns the check of a view."""
    return lambda *args, **kwargs: lambda view: function(view, *args, **kwargs)


def for_each_pair(function: Callable[..., CheckResult | None]) -> Callable[..., Check]:
    """Return the same for two methods, or several separated by spaces: each pair must hold."""

    def check(view: "View", first: str, second: str, *args: Any, **kwargs: Any) -> CheckResult | None:
        pairs = itertools.product(first.split(), second.split())
        return all_of(function(view, *pair, *args, **kwargs) for pair in pairs)

    return makes_check(check)


def of_growth(function: Callable[..., CheckResult | None]) -> Callable[..., Check]:
    """Return the same for a check of growth with the rows of data sets, its last argument.

    Stand-ins replace in it, and in no others, the data sets that were not measured.
    """

    def check(view: "View", *args: Any, **kwargs: Any) -> CheckResult | None:
        measured = set(view.cells.loc[view.cells["train_seconds"].notna(), "dataset"])
        places = {made: of for made, of in published.standing_in(measured).items() if of in args[-1]}
        others = view.cells[~view.cells["dataset"].isin(places.values())]
        named = others.assign(dataset=others["dataset"].replace(places))
        full = View(named, view.methods, {of: made for made, of in places.items()})
        found = function(full, *args, **kwargs)
        if found is None or not full.stand_ins:
            return found
        said = f"{found.evidence}; with {', '.join(map(full.title, full.stand_ins))}"
        return CheckResult(found.holds, said)

    return makes_check(check)


class Claim(NamedTuple):
    """One statement of a paper, in our words, with a check that can be carried out on any cells.

    ``printed`` is the paper whose printed numbers the claim can be checked on; '': figures only.
    """

    paper: str
    name: str
    place: str
    printed: str
    statement: str
    methods: tuple[str, ...]
    check: Check


def claims_of(paper: str, methods: tuple[str, ...], checks: Mapping[str, Check]) -> dict[str, Claim]:
    """Return the claims of a paper by name: their texts, in the order of ``papers/claims.csv``, with these checks."""
    texts = published.read_table("papers/claims")
    return {
        name: Claim(paper, name, place, printed, statement, methods, checks[name.removeprefix(f"{paper}-")])
        for name, place, printed, statement in texts.itertuples(index=False, name=None)
        if name.startswith(f"{paper}-")
    }


class View:
    """Cells by data set and method, without sweeps, which are in ``swept``.

    If several experiments ran a data set, all its cells are those of the experiment with most of the claim's methods,
    so that times of different experiments are never compared.
    """

    def __init__(
        self, cells: pd.DataFrame, methods: Sequence[str], stand_ins: dict[str, str] | None = None
    ) -> None:
        self.methods = methods
        self.cells = cells[cells["method"].isin(methods)]
        self.stand_ins = stand_ins or {}
        swept = in_sweeps(self.cells)
        self.swept = self.cells[swept]
        plain = self.cells[~swept & (self.cells["used"] > 0)]
        plain = plain.assign(kernel=plain["kernel"].replace("", "rbf"))
        problem = ["kernel", "dataset"]
        methods_run = plain.groupby([*problem, "experiment"])["method"].transform("nunique")
        plain = plain.loc[methods_run.sort_values(ascending=False, kind="stable").index]
        plain = plain[plain["experiment"] == plain.groupby(problem)["experiment"].transform("first")]
        same = plain.groupby(["kernel", "dataset", "method"])
        self._found = {place: found.to_dict("records") for place, found in same}

    def cell(self, dataset: str, method: str, kernel: str = "rbf") -> Cell | None:
        """Return the cell of a data set and method, or None; `ResultsError` where there are several."""
        found = self._found.get((kernel, dataset, method), [])
        if len(found) > 1:
            unique_cells(pd.DataFrame(found), ["dataset", "method"])
        return found[0] if found else None

    def number(self, dataset: str, method: str, name: str, kernel: str = "rbf") -> Number | None:
        """Return the mean of a measure; None where it was not measured."""
        cell = self.cell(dataset, method, kernel)
        return None if cell is None else number_of(cell, name)

    def rows(self, dataset: str, method: str) -> float:
        """Return the number of training rows of a cell that is known to be there."""
        return float((self.cell(dataset, method) or {})["rows"])

    def pairs(
        self, name: str, first: str, second: str, on: Sequence[str]
    ) -> Iterator[tuple[str, Number, Number]]:
        """Yield (data set, first's number, second's) where both were measured."""
        for dataset in on:
            a = self.number(dataset, first, name)
            b = self.number(dataset, second, name)
            if a is not None and b is not None:
                yield dataset, a, b

    def speedups(self, method: str, on: Sequence[str], *, exact: bool = False) -> dict[str, Number]:
        """Return t_cvm / t by data set where it is known which time is shorter (Frandi et al., section 5.3).

        If ``exact``, only where no time was cut short.
        """
        pairs = self.pairs("time", method, "cvm", on)
        found = {d: b / a for d, a, b in pairs if a.low > 0 and b.low > 0 and is_decided(a, b)}
        return {d: speedup for d, speedup in found.items() if speedup.exact or not exact}

    def title(self, dataset: str) -> str:
        """Return a data set's name as the papers print it, or that of its stand-in."""
        return published.title(self.stand_ins.get(dataset, dataset))


def is_decided(a: Number, b: Number) -> bool:
    """Return whether it is known which of two times is shorter, or that they are equal."""
    return a.below(b) is not None or b.below(a) is not None


def number_of(cell: Cell, name: str) -> Number | None:
    """Return the number of a measure of a cell; None where it was not measured."""
    value = float(cell[measure(name).column])
    if math.isnan(value):
        return None
    return Number(value, math.inf if name == "time" and cell["censored"] else value)


def measured_by_C(  # noqa: N802 - C is the penalty
    cells: pd.DataFrame, name: str = "time"
) -> dict[tuple[str, str, str, float], dict[str, dict[float, Number]]]:
    """Return a measure by experiment, profile, data set and tolerance, then by method and by C, which rises."""
    found: dict[tuple[str, str, str, float], dict[str, dict[float, Number]]] = {}
    for cell in cells.sort_values("C", kind="stable").to_dict("records"):
        number = number_of(cell, name)
        if number is not None:
            place = cell["experiment"], cell["profile"], cell["dataset"], cell["tolerance"]
            found.setdefault(place, {}).setdefault(cell["method"], {})[cell["C"]] = number
    return found
