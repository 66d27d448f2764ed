"""Checking the papers' claims on our cells and on the papers' own printed numbers.

A claim has three verdicts: in the printed numbers, on runs as printed (protocol paper), and on runs as the authors made
them (protocol fw-svms). Where runs with one setting changed at a time show it, the setting on which the third turns is
named.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from fwsvm.analysis import published, variants
from fwsvm.analysis.claims.model import Cell, CheckResult, Claim, View, of_methods
from fwsvm.analysis.measures import BOUND_COLUMNS, MEASURED_COLUMNS
from fwsvm.analysis.papers import CLAIMS
from fwsvm.analysis.results import UNKNOWN
from fwsvm.errors import UsageError
from fwsvm.papers import PAPERS, by_author

#: Protocols of runs as printed; methods without any, and rows from before there was another, have none.
AS_PRINTED, AS_RUN = ("paper", ""), ("fw-svms",)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim with what its check finds; None where there are no numbers that it needs.

    Attributes
    ----------
    claim : Claim
    ours : CheckResult or None
        On our runs as printed.
    printed : CheckResult or None
        In the printed numbers.
    as_run : CheckResult or None
        On our runs as the authors made theirs.
    turns_on : tuple of str
        Settings that change the verdict as run by themselves, each with the values that do.
    """

    claim: Claim
    ours: CheckResult | None
    printed: CheckResult | None
    as_run: CheckResult | None = None
    turns_on: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """Return reproduced, not reproduced or not run, as printed."""
        return _word(self.ours)

    @property
    def as_run_word(self) -> str:
        """Return reproduced, not reproduced or not run, as the authors ran it."""
        return _word(self.as_run)

    @property
    def printed_word(self) -> str:
        """Return whether the statement holds in the printed numbers, and whose these are if another paper's."""
        if self.printed is None:
            return "no printed numbers"
        word = f"{'holds' if self.printed.holds else 'does not hold'} in the printed numbers"
        borrowed = self.claim.printed not in {None, self.claim.paper}
        return f"{word} of {PAPERS[str(self.claim.printed)].cited}" if borrowed else word


def _word(found: CheckResult | None) -> str:
    return "not run" if found is None else "reproduced" if found.holds else "not reproduced"


def check_claims(cells: pd.DataFrame | None, chosen: Sequence[str] = ()) -> list[Verdict]:
    """Check the claims (all, or those whose names start with one of ``chosen``) on cells and printed numbers."""
    begins = tuple(map(by_author, chosen))
    unknown = [
        name
        for name, begin in zip(chosen, begins, strict=True)
        if not any(full.startswith(begin) for full in CLAIMS)
    ]
    if unknown:
        raise UsageError(f"no claim's name begins with {' or '.join(unknown)}; fwsvm claims lists them all")
    claims = [claim for name, claim in CLAIMS.items() if not begins or name.startswith(begins)]
    printed = [None if claim.printed is None else _in_print(claim.name) for claim in claims]
    if cells is None:
        return [Verdict(claim, None, found) for claim, found in zip(claims, printed, strict=True)]
    kept = _records(cells[~variants.of_why(cells)])
    varied = variants.variants(cells)
    # the claims of a paper share their methods, and the views of these
    views = functools.cache(
        lambda methods: (View(_as_printed(kept, methods), methods), View(_as_run(kept), methods))
    )
    varied_views = functools.cache(lambda methods: _varied_views(varied, kept, methods))
    verdicts = []
    for claim, in_print in zip(claims, printed, strict=True):
        ours, as_run = (claim.check(view) for view in views(claim.methods))
        turns = _turns(claim, as_run, varied_views(claim.methods))
        verdicts.append(Verdict(claim, ours, in_print, as_run, turns))
    return verdicts


@dataclass(frozen=True, slots=True)
class _Varied:
    """A data set that was run with changed settings: as run among these, as run, and with each value of a setting."""

    where: str
    once: str
    before: View
    there: View
    after: dict[str, dict[str, View]]  # by title of the setting, and value


def _varied_views(varied: pd.DataFrame, kept: Sequence[Cell], methods: Sequence[str]) -> list[_Varied]:
    found = []
    for dataset, here in varied[varied["method"].isin(methods)].groupby("dataset", sort=False):
        records = dict(zip(here.index, _records(here), strict=True))
        narrow = here[["dataset", "method", "setting", "value", "tolerance"]]
        after = {
            setting.title: {
                value: View([records[place] for place in variants.at(narrow, setting, value).index], methods)
                for value in variants.values(narrow, setting)
            }
            for setting in variants.SETTINGS.values()
        }
        before = View((cell for cell in records.values() if not cell["setting"]), methods)
        there = View(_as_run([cell for cell in kept if cell["dataset"] == dataset]), methods)
        once = " (one run a cell)" if here["used"].max() == 1 else ""
        found.append(_Varied(published.title(str(dataset)), once, before, there, after))
    return found


def _as_printed(records: Sequence[Cell], methods: Sequence[str]) -> list[Cell]:
    """Return the cells of runs as printed; if these methods have none, those of protocols that no paper has."""
    own = [cell for cell in records if cell["protocol"] in AS_PRINTED]
    if of_methods(own, methods):
        return own
    return [cell for cell in records if cell["protocol"] not in {*AS_RUN, UNKNOWN}]


def _as_run(records: Sequence[Cell]) -> list[Cell]:
    """Return the cells of runs as the authors made theirs."""
    return [cell for cell in records if cell["protocol"] in AS_RUN]


def _turns(claim: Claim, as_run: CheckResult | None, varied: Sequence[_Varied]) -> tuple[str, ...]:
    """Return the settings that change what a claim's check finds on a data set, with the values that do.

    ``as_run`` is what it finds on the cells as run. A data set where the runs with changed settings start from another
    finding than that, or than cells as run on the same data set, does not explain the verdict, and is left out.
    """
    found: dict[str, list[str]] = {setting.title: [] for setting in variants.SETTINGS.values()}
    for one in varied:
        before = claim.check(one.before)
        starts = (as_run, claim.check(one.there))
        if before is None or any(start is not None and start.holds != before.holds for start in starts):
            continue
        for title, views in one.after.items():
            after = {value: claim.check(view) for value, view in views.items()}
            turned = [value for value, result in after.items() if result and result.holds != before.holds]
            if turned:
                what = "does not hold" if before.holds else "holds"
                found[title].append(f"{title}: on {one.where} it {what} with {', '.join(turned)}{one.once}")
    return tuple(said for each in found.values() for said in each)


def _records(cells: pd.DataFrame) -> list[Cell]:
    """Return the cells without what says nothing of runs that were cut short: all but their costs."""
    others = [column for column in MEASURED_COLUMNS if column not in BOUND_COLUMNS]
    kept = cells.copy()
    kept.loc[kept["censored"].astype(bool), others] = float("nan")
    return list(kept.to_dict("records"))


@functools.cache
def _printed(paper: str) -> list[Cell]:
    return list(published.cells(paper).to_dict("records"))


@functools.cache
def _in_print(name: str) -> CheckResult | None:
    """Return the finding of a claim's check in the printed numbers."""
    claim = CLAIMS[name]
    return claim.check(View(_printed(str(claim.printed)), claim.methods))


def caveats(cells: pd.DataFrame) -> list[str]:
    """Return how these cells differ from the papers' runs: fewer rows, limits, other protocols, unfinished runs."""
    found = published.smaller_than_published(cells)
    unknown = cells[cells["protocol"] == UNKNOWN]
    if len(unknown):
        found.append(
            f"{len(unknown)} cells count for no claim: their folder has no configuration of their experiment "
            f"({', '.join(dict.fromkeys(unknown['experiment']))}), so their protocol is not known; add that "
            "configuration as experiment-2.yaml"
        )
    others = cells[~cells["protocol"].isin([*AS_PRINTED, *AS_RUN, UNKNOWN])]
    if len(others):
        found.append(
            f"{len(others)} cells of the protocol {', '.join(dict.fromkeys(others['protocol']))}, which is neither as "
            "printed (paper) nor as run (fw-svms), count as printed for claims on methods that have no others"
        )
    for status in ("time_limit", "max_iterations", "missing", "error"):
        here = cells[cells["status"] == status]
        names = dict.fromkeys(here["dataset"] + "/" + here["method"])
        found += [f"{status} in {', '.join(names)}"] * bool(names)
    made = cells["dataset"].isin(published.made_here()).any()
    return [*found, published.MADE_HERE] if made else found
