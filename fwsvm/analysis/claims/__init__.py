"""The papers' results as named checks, put to our cells and to the papers' own printed numbers.

A claim is one entry in its paper's list: a name that begins with the paper's number, the place, the statement
in our words, the methods it is about, and a check (from `vocabulary`, or a function of a `View`). To add one,
add an entry; the command line, the report and the tests find it there.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.claims import paper_000, paper_002, paper_003, paper_004
from fwsvm.analysis.claims.model import Claim, Finding, View
from fwsvm.errors import UsageError

CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for paper in (paper_003, paper_000, paper_002, paper_004)
    for claim in paper.CLAIMS
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim with what was found in our cells and in the printed numbers; None if there was nothing."""

    claim: Claim
    ours: Finding | None
    printed: Finding | None

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
    """Put the claims (all, or those whose names begin as one of ``chosen``) to cells and printed numbers."""
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
def _on_printed_numbers(name: str) -> Finding | None:
    """Return what a claim's check finds in the printed numbers, which never change."""
    claim = CLAIMS[name]
    return claim.check(_printed(str(claim.printed), claim.methods))


@functools.cache
def _printed(paper: str, methods: tuple[str, ...]) -> View:
    return View(published.cells(paper), methods)


def caveats(cells: pd.DataFrame) -> list[str]:
    """Return what stands between these cells and the papers' runs: sizes, limits, runs that did not finish."""
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
