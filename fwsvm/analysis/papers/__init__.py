"""The papers, a module each: claims, design of the statistical tests, and tables.

A claim, a table or a design is an entry in its paper's module, which the command line and the tests find here. The
printed numbers are in `fwsvm.analysis.published`.
"""

from fwsvm.analysis.claims.model import Claim
from fwsvm.analysis.comparisons import Design
from fwsvm.analysis.layouts import Layout
from fwsvm.analysis.papers import p000, p002, p003, p004

_PAPERS = (p003, p000, p002, p004)  # the largest study first
CLAIMS: dict[str, Claim] = {claim.name: claim for paper in _PAPERS for claim in paper.CLAIMS}
DESIGNS: dict[str, Design] = {"003": p003.DESIGN, "000": p000.DESIGN}
LAYOUTS: dict[str, Layout] = p003.LAYOUTS | p000.LAYOUTS | p002.LAYOUTS | p004.LAYOUTS
