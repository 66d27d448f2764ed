"""Checking the papers' claims on our cells and on the papers' own printed numbers.

A claim has three verdicts: in the printed numbers, on runs as printed (protocol paper), and on runs as the authors made
them (protocol fw-svms).
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.claims.model import CheckResult, Claim, View
from fwsvm.analysis.measures import BOUND_COLUMNS, MEASURED_COLUMNS
from fwsvm.analysis.papers import CLAIMS
from fwsvm.errors import UsageError, counted, listed
from fwsvm.papers import PAPERS, by_author

#: Protocols of runs as printed; methods without any, and rows from before there was another, have none.
AS_PRINTED, AS_RUN = ("paper", ""), "fw-svms"
#: The experiment that changes one setting of the authors' program at a time: its runs are neither.
WHY = "why"


class Verdict(NamedTuple):
    """A claim with what its check finds in the printed numbers, on our runs as printed, and on those as run.

    A finding is None where there are no numbers that it needs.
    """

    claim: Claim
    printed: CheckResult | None
    ours: CheckResult | None
    as_run: CheckResult | None

    @property
    def findings(self) -> list[tuple[str, str]]:
        """Return verdict and evidence in print (and whose numbers, if another paper's), as printed and as run."""
        in_print = "no printed numbers"
        if self.printed is not None:
            in_print = f"{'holds' if self.printed.holds else 'does not hold'} in the printed numbers"
            if self.claim.printed != self.claim.paper:
                in_print += f" of {PAPERS[self.claim.printed].cited}"
        words = [in_print] + [
            "not run" if found is None else "reproduced" if found.holds else "not reproduced"
            for found in (self.ours, self.as_run)
        ]
        return [(word, found.evidence if found else "") for word, found in zip(words, self[1:], strict=True)]


def check_claims(cells: pd.DataFrame | None, chosen: Sequence[str] = ()) -> list[Verdict]:
    """Check the claims (all, or those whose names start with one of ``chosen``) on cells and printed numbers."""
    for name in chosen:
        if not any(full.startswith(by_author(name)) for full in CLAIMS):
            raise UsageError(f"no claim's name begins with {name}; fwsvm claims lists them all")
    begins = tuple(map(by_author, chosen)) or ("",)
    # the claims of a paper share their methods, and the views of these
    views = functools.cache(lambda methods: _views(cells, methods))
    verdicts = []
    for claim in (claim for name, claim in CLAIMS.items() if name.startswith(begins)):
        printed = _printed_view(claim.printed, claim.methods) if claim.printed else None
        found = (None if view is None else claim.check(view) for view in (printed, *views(claim.methods)))
        verdicts.append(Verdict(claim, *found))
    return verdicts


def _views(cells: pd.DataFrame | None, methods: Sequence[str]) -> tuple[View | None, View | None]:
    """Return the runs as printed, or if these methods have none, of protocols that no paper has; and those as run.

    Of runs that were cut short only the costs count.
    """
    if cells is None:
        return None, None
    cells = cells[cells["method"].isin(methods) & (cells["experiment"] != WHY)].copy()
    others = [column for column in MEASURED_COLUMNS if column not in BOUND_COLUMNS]
    cells.loc[cells["censored"].astype(bool), others] = float("nan")
    as_run = cells["protocol"] == AS_RUN
    as_printed = cells["protocol"].isin(AS_PRINTED)
    return View(cells[as_printed if as_printed.any() else ~as_run], methods), View(cells[as_run], methods)


@functools.cache
def _printed_view(paper: str, methods: tuple[str, ...]) -> View:
    return View(published.cells(paper), methods)


def caveats(cells: pd.DataFrame) -> list[str]:
    """Return how these cells differ from the papers' runs: fewer rows, limits, other protocols, unfinished runs."""
    found = published.unlike_published(cells)
    for protocol, here in cells[~cells["protocol"].isin([*AS_PRINTED, AS_RUN])].groupby("protocol"):
        found.append(
            f"{counted(len(here), 'cell')} of the protocol {protocol}, neither paper nor fw-svms: counted as printed "
            "for claims on methods that have no others"
        )
    linear = cells.loc[cells["method"].isin(CLAIMS["glasmachers-same-solution"].methods), "dataset"]
    others = [published.title(name) for name in linear.unique() if name not in published.series("linear")]
    said = f"claims of Glasmachers and Dogan count problems that are not theirs: {listed(others)}"
    return found + [said] * bool(others)
