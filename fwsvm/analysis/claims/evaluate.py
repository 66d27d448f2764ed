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
from fwsvm.analysis.claims.model import CheckResult, Claim, View, of_methods
from fwsvm.analysis.measures import BOUND_COLUMNS, MEASURED_COLUMNS
from fwsvm.analysis.papers import CLAIMS
from fwsvm.analysis.results import UNKNOWN
from fwsvm.errors import UsageError

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
        return f"{word} of {published.PAPERS[str(self.claim.printed)].cited}" if borrowed else word


def _word(found: CheckResult | None) -> str:
    return "not run" if found is None else "reproduced" if found.holds else "not reproduced"


def check_claims(cells: pd.DataFrame | None, chosen: Sequence[str] = ()) -> list[Verdict]:
    """Check the claims (all, or those whose names start with one of ``chosen``) on cells and printed numbers."""
    begins = tuple(map(published.by_author, chosen))
    unknown = [name for name, begin in zip(chosen, begins, strict=True)
               if not any(full.startswith(begin) for full in CLAIMS)]  # fmt: skip
    if unknown:
        raise UsageError(f"no claim's name begins with {' or '.join(unknown)}; fwsvm claims lists them all")
    claims = [claim for name, claim in CLAIMS.items() if not begins or name.startswith(begins)]
    printed = [None if claim.printed is None else _in_print(claim.name) for claim in claims]
    if cells is None:
        return [Verdict(claim, None, found) for claim, found in zip(claims, printed, strict=True)]
    kept, varied = _of_whole_runs(cells[~variants.of_why(cells)]), _of_whole_runs(variants.variants(cells))
    views = functools.cache(
        lambda methods: (View(_as_printed(kept, methods), methods), View(_as_run(kept), methods))
    )
    verdicts = []
    for claim, in_print in zip(claims, printed, strict=True):
        ours, as_run = (claim.check(view) for view in views(claim.methods))
        verdicts.append(Verdict(claim, ours, in_print, as_run, _turns(claim, as_run, kept, varied)))
    return verdicts


def _as_printed(cells: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Return the cells of runs as printed; if these methods have none, those of protocols that no paper has."""
    own = cells[cells["protocol"].isin(AS_PRINTED)]
    if len(of_methods(own, methods)):
        return own
    return cells[~cells["protocol"].isin([*AS_RUN, UNKNOWN])]


def _as_run(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of runs as the authors made theirs."""
    return cells[cells["protocol"].isin(AS_RUN)]


def _turns(
    claim: Claim, as_run: CheckResult | None, cells: pd.DataFrame, varied: pd.DataFrame
) -> tuple[str, ...]:
    """Return the settings that change what a claim's check finds on a data set, with the values that do.

    ``as_run`` is what it finds on the ``cells`` as run. A data set where the runs with changed settings start from
    another finding than that, or than cells as run on the same data set, does not explain the verdict, and is left out.
    """
    found: dict[str, list[str]] = {name: [] for name in variants.SETTINGS}
    for dataset, here in varied.groupby("dataset", sort=False):
        before = claim.check(View(here[here["setting"] == ""], claim.methods))
        there = claim.check(View(_as_run(cells[cells["dataset"] == dataset]), claim.methods))
        if before is None or any(one is not None and one.holds != before.holds for one in (as_run, there)):
            continue
        for setting in variants.SETTINGS.values():
            turned = [
                value
                for value in variants.values(here, setting)
                if (after := claim.check(View(variants.at(here, setting, value), claim.methods))) is not None
                and after.holds != before.holds
            ]
            if turned:
                what = "does not hold" if before.holds else "holds"
                once = " (one run a cell)" if here["used"].max() == 1 else ""
                where = f"{setting.title}: on {published.title(str(dataset))}"
                found[setting.name].append(f"{where} it {what} with {', '.join(turned)}{once}")
    return tuple(said for each in found.values() for said in each)


def _of_whole_runs(varied: pd.DataFrame) -> pd.DataFrame:
    """Return the cells without what says nothing of runs that were cut short: all but their costs."""
    kept = varied.copy()
    others = [column for column in MEASURED_COLUMNS if column not in BOUND_COLUMNS]
    kept.loc[kept["censored"].astype(bool), others] = float("nan")
    return kept


@functools.cache
def _in_print(name: str) -> CheckResult | None:
    """Return the finding of a claim's check in the printed numbers."""
    claim = CLAIMS[name]
    return claim.check(View(published.cells(str(claim.printed)), claim.methods))


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
