"""Checking the papers' claims on our cells and on the papers' own printed numbers."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.claims.model import CheckResult, Claim, View
from fwsvm.analysis.papers import CLAIMS
from fwsvm.errors import UsageError


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim with the findings in our cells and in the printed numbers; None if these lack what it needs."""

    claim: Claim
    ours: CheckResult | None
    printed: CheckResult | None

    @property
    def word(self) -> str:
        """Return reproduced, not reproduced or not run."""
        return "not run" if self.ours is None else "reproduced" if self.ours.holds else "not reproduced"

    @property
    def printed_word(self) -> str:
        """Return whether the paper's statement holds in the printed numbers."""
        if self.printed is None:
            return "no printed numbers"
        return "holds as printed" if self.printed.holds else "does not hold as printed"


def evaluate(cells: pd.DataFrame | None, chosen: Sequence[str] = ()) -> list[Verdict]:
    """Check the claims (all, or those whose names start with one of ``chosen``) on cells and printed numbers."""
    claims = [claim for name, claim in CLAIMS.items() if not chosen or name.startswith(tuple(chosen))]
    if not claims:
        raise UsageError(f"no claim's name begins with {' or '.join(chosen)}; fwsvm claims lists them all")
    view = functools.cache(lambda methods: View(pd.DataFrame() if cells is None else cells, methods))
    return [
        Verdict(
            claim,
            None if cells is None else claim.check(view(claim.methods)),
            None if claim.printed is None else _on_printed_numbers(claim.name),
        )
        for claim in claims
    ]


@functools.cache
def _on_printed_numbers(name: str) -> CheckResult | None:
    """Return the finding of a claim's check in the printed numbers."""
    claim = CLAIMS[name]
    return claim.check(_printed(str(claim.printed), claim.methods))


@functools.cache
def _printed(paper: str, methods: tuple[str, ...]) -> View:
    return View(published.cells(paper), methods)


def caveats(cells: pd.DataFrame) -> list[str]:
    """Return how these cells differ from the papers' runs: fewer rows, limits, runs that did not finish."""
    sizes = {d: m for paper in ("002", "003", "004") for d, m in published.training_rows(paper).items()}
    rows = cells.groupby("dataset", sort=False)["rows"].max().dropna()
    fewer = [
        f"{published.title(str(d))} {m:.0f} of {sizes[str(d)]:.0f}"
        for d, m in rows.items()
        if str(d) in sizes and m < sizes[str(d)]
    ]
    found = [f"ours have fewer training rows than the papers': {', '.join(fewer)}"] if fewer else []
    for status in ("time_limit", "max_iterations", "missing", "error"):
        here = cells[cells["status"] == status]
        if len(here):
            places = dict.fromkeys(f"{c['dataset']}/{c['method']}" for c in here.to_dict("records"))
            found.append(f"{status} in {', '.join(places)}")
    return found
