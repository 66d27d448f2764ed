"""The papers, a module each: claims, design of the statistical tests, and tables.

A claim, a table or a design is an entry in its paper's module, which the command line and the tests find here; a new
paper is a new module in `PAPERS`. Other packages register claims by entry points (group ``fwsvm.claims``,
docs/adding/claim.md). The printed numbers are in `fwsvm.analysis.published`.
"""

from fwsvm.analysis.claims.model import Claim
from fwsvm.analysis.comparisons import Design
from fwsvm.analysis.layouts import Layout
from fwsvm.analysis.papers import p000, p002, p003, p004
from fwsvm.plugins import add_to_registry, load_plugins

CLAIMS: dict[str, Claim] = {}
DESIGNS: dict[str, Design] = {"003": p003.DESIGN, "000": p000.DESIGN}
LAYOUTS: dict[str, Layout] = p003.LAYOUTS | p000.LAYOUTS | p002.LAYOUTS | p004.LAYOUTS


def register(*claims: Claim) -> None:
    """Add claims; ValueError where a name is taken or does not begin with its paper and a dash."""
    for claim in claims:
        if "-" not in claim.name:
            raise ValueError(
                f"{claim.name!r} is no name for a claim: it begins with its paper, as 003-time does"
            )
        add_to_registry(CLAIMS, "claim", claim.name, claim)


for _paper in (p003, p000, p002, p004):  # the largest study first
    register(*_paper.CLAIMS)
load_plugins("fwsvm.claims", "claim", CLAIMS)
