"""003 (Frandi et al.): FW and MFW against CVM; claims, design, tables and their statistics."""

from fwsvm.analysis.papers.p003.claims import CLAIMS
from fwsvm.analysis.papers.p003.design import DESIGN, LAYOUTS, SIZES
from fwsvm.analysis.papers.paper import Paper

PAPER = Paper("003", CLAIMS, LAYOUTS, DESIGN, SIZES)
