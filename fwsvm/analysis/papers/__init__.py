"""The papers, a module or folder each: claims, design of the statistical tests, and tables.

To add a claim, a table or a design, add an entry to the paper's file; the command line, the report and the tests find
it here; a new paper is a new file ``pNNN.py``. Other packages register claims by entry points (group ``fwsvm.claims``,
docs/adding/claim.md). The printed numbers are in `fwsvm.analysis.published`.
"""

import importlib
import pkgutil
import re

from fwsvm.analysis.claims.model import Claim
from fwsvm.analysis.comparisons.design import Design
from fwsvm.analysis.papers.paper import Paper
from fwsvm.analysis.tables.layout import Layout
from fwsvm.analysis.tables.sizes import SizesTable
from fwsvm.errors import UsageError
from fwsvm.plugins import add_to_registry, load_plugins

_names = [module.name for module in pkgutil.iter_modules(__path__) if re.fullmatch(r"p\d+", module.name)]
_names.sort(key=lambda name: (name != "p003", name))  # the largest study first
PAPERS: tuple[Paper, ...] = tuple(importlib.import_module(f"{__name__}.{name}").PAPER for name in _names)
CLAIMS: dict[str, Claim] = {}
DESIGNS: dict[str, Design] = {paper.number: paper.design for paper in PAPERS if paper.design is not None}
LAYOUTS: dict[str, Layout] = {name: layout for paper in PAPERS for name, layout in paper.layouts.items()}
SIZES: dict[str, SizesTable] = dict(sorted(pair for paper in PAPERS for pair in paper.sizes.items()))


def design(name: str) -> Design:
    """Return a paper's design; `UsageError` lists the papers that have one."""
    if name not in DESIGNS:
        raise UsageError(f"there is no design {name}; known are {', '.join(DESIGNS)} and pairs")
    return DESIGNS[name]


def register(*claims: Claim) -> None:
    """Add claims; ValueError where a name is taken or does not begin with its paper and a dash."""
    for claim in claims:
        if "-" not in claim.name:
            raise ValueError(
                f"{claim.name!r} is no name for a claim: it begins with its paper, as 003-time does"
            )
        add_to_registry(CLAIMS, "claim", claim.name, claim)


for _paper in PAPERS:
    register(*_paper.claims)
load_plugins("fwsvm.claims", "claim", CLAIMS)
