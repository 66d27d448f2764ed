"""The papers, a module or folder each: claims, design of the statistical tests, and tables.

To add a claim, a table or a design, add an entry to the paper's file; the command line, the report and the tests find
it here. The printed numbers are in `fwsvm.analysis.published`.
"""

from fwsvm.analysis.claims.model import Claim
from fwsvm.analysis.comparisons.design import Design
from fwsvm.analysis.papers import p000, p002, p003, p004
from fwsvm.analysis.tables.layout import Layout
from fwsvm.analysis.tables.sizes import SizesTable
from fwsvm.errors import UsageError

PAPERS = (p003.PAPER, p000.PAPER, p002.PAPER, p004.PAPER)
CLAIMS: dict[str, Claim] = {claim.name: claim for paper in PAPERS for claim in paper.claims}
DESIGNS: dict[str, Design] = {paper.number: paper.design for paper in PAPERS if paper.design is not None}
LAYOUTS: dict[str, Layout] = {name: layout for paper in PAPERS for name, layout in paper.layouts.items()}
SIZES: dict[str, SizesTable] = dict(sorted(pair for paper in PAPERS for pair in paper.sizes.items()))


def design(name: str) -> Design:
    """Return a paper's design; `UsageError` lists the papers that have one."""
    if name not in DESIGNS:
        raise UsageError(f"there is no design {name}; known are {', '.join(DESIGNS)} and pairs")
    return DESIGNS[name]
