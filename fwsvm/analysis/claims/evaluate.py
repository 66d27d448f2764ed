"""Checking the papers' claims on our cells and on the papers' own printed numbers.

A claim has three verdicts: in the printed numbers, on runs as printed (protocol paper), and on runs as the authors made
them (protocol fw-svms). Where runs with one setting changed at a time show it, the setting on which the third turns is
named.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from fwsvm.analysis import published, variants
from fwsvm.analysis.claims.model import CheckResult, Claim, View, listed_titles, of_methods
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
        """Return whether the paper's statement holds in the printed numbers."""
        if self.printed is None:
            return "no printed numbers"
        return f"{'holds' if self.printed.holds else 'does not hold'} in the printed numbers"


def _word(found: CheckResult | None) -> str:
    return "not run" if found is None else "reproduced" if found.holds else "not reproduced"


def check_claims(cells: pd.DataFrame | None, chosen: Sequence[str] = ()) -> list[Verdict]:
    """Check the claims (all, or those whose names start with one of ``chosen``) on cells and printed numbers."""
    unknown = [begin for begin in chosen if not any(name.startswith(begin) for name in CLAIMS)]
    if unknown:
        raise UsageError(f"no claim's name begins with {' or '.join(unknown)}; fwsvm claims lists them all")
    claims = [claim for name, claim in CLAIMS.items() if not chosen or name.startswith(tuple(chosen))]
    kept = None if cells is None else _of_whole_runs(cells[~variants.of_why(cells)])
    printed_view, run_view = (
        functools.cache(lambda methods, choose=choose: View(choose(kept, methods), methods))
        for choose in (_as_printed, _as_run)
    )
    varied = None if cells is None else _of_whole_runs(variants.variants(cells))
    verdicts = []
    for claim in claims:
        as_printed, as_run = (
            None if cells is None else claim.check(view(claim.methods)) for view in (printed_view, run_view)
        )
        if as_printed is not None and kept is not None:
            as_printed = _saying_protocol(as_printed, _as_printed(kept, claim.methods), claim.methods)
        in_print = None if claim.printed is None else _on_printed_numbers(claim.name)
        turns = () if kept is None or varied is None or varied.empty else _turns(claim, as_run, kept, varied)
        verdicts.append(Verdict(claim, as_printed, in_print, as_run, turns))
    return verdicts


def _as_printed(cells: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Return the cells of runs as printed; if these methods have none, those of protocols that no paper has."""
    own = cells[cells["protocol"].isin(AS_PRINTED)]
    if len(of_methods(own, methods)):
        return own
    return cells[~cells["protocol"].isin([*AS_RUN, UNKNOWN])]


def _saying_protocol(found: CheckResult, cells: pd.DataFrame, methods: Sequence[str]) -> CheckResult:
    """Return the finding with a remark if its cells, of these methods, are of protocols that no paper has."""
    others = [
        name for name in dict.fromkeys(of_methods(cells, methods)["protocol"]) if name not in AS_PRINTED
    ]
    return replace(found, evidence=f"{found.evidence} [protocol {', '.join(others)}]") if others else found


def _as_run(cells: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:  # noqa: ARG001
    """Return the cells of runs as the authors made theirs."""
    return cells[cells["protocol"].isin(AS_RUN)]


def _turns(
    claim: Claim, as_run: CheckResult | None, cells: pd.DataFrame, varied: pd.DataFrame
) -> tuple[str, ...]:
    """Return the settings that change what a claim's check finds on a data set, with the values that do.

    ``as_run`` is what it finds on the ``cells`` as run. A data set where the runs with changed settings start from
    another finding than that, or than cells as run on the same data set, does not explain the verdict, and is left out.
    """
    starts: dict[str, CheckResult] = {}
    for dataset, here in varied.groupby("dataset", sort=False):
        before = claim.check(View(here[here["setting"] == ""], claim.methods))
        there = claim.check(View(_as_run(cells[cells["dataset"] == dataset], claim.methods), claim.methods))
        if before is not None and all(one is None or one.holds == before.holds for one in (as_run, there)):
            starts[str(dataset)] = before
    found = []
    for setting in variants.SETTINGS.values():
        for dataset, before in starts.items():
            here = varied[varied["dataset"] == dataset]
            once = " (one run a cell)" if here["used"].max() == 1 else ""
            turned = []
            for value in variants.values(here, setting):
                after = claim.check(View(variants.at(here, setting, value), claim.methods))
                turned += [value] if after is not None and after.holds != before.holds else []
            if turned:
                what = "does not hold" if before.holds else "holds"
                found.append(
                    f"{setting.title}: on {listed_titles([dataset])} it {what} with {', '.join(turned)}{once}"
                )
    return tuple(found)


def _of_whole_runs(varied: pd.DataFrame) -> pd.DataFrame:
    """Return the cells without what says nothing of runs that were cut short: all but their costs."""
    kept = varied.copy()
    others = [column for column in MEASURED_COLUMNS if column not in BOUND_COLUMNS]
    kept.loc[kept["censored"].astype(bool), others] = float("nan")
    return kept


@functools.cache
def _on_printed_numbers(name: str) -> CheckResult | None:
    """Return the finding of a claim's check in the printed numbers."""
    claim = CLAIMS[name]
    return claim.check(_printed(str(claim.printed), claim.methods))


@functools.cache
def _printed(paper: str, methods: tuple[str, ...]) -> View:
    return View(published.cells(paper), methods)


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
    return found
