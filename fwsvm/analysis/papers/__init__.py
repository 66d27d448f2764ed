"""The papers, a module each: claims, design of the statistical tests, and tables.

A claim, a table or a design is an entry in its paper's module, which the command line and the tests find here. The
printed numbers are in `fwsvm.analysis.published`.
"""

from fwsvm.analysis.claims.model import Claim
from fwsvm.analysis.comparisons import Design
from fwsvm.analysis.layouts import Layout
from fwsvm.analysis.papers import p000, p002, p003, p004

CLAIMS: dict[str, Claim] = p003.CLAIMS | p000.CLAIMS | p002.CLAIMS | p004.CLAIMS  # the largest study first
DESIGNS: dict[str, Design] = {"frandi": p003.DESIGN, "nanculef": p000.DESIGN}
LAYOUTS: dict[str, Layout] = p003.LAYOUTS | p000.LAYOUTS | p002.LAYOUTS | p004.LAYOUTS
