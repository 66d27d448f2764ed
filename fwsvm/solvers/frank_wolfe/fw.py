"""FW: the plain Frank-Wolfe method (003 Algorithm 2, 000 Algorithm 1)."""

from typing import NamedTuple

from fwsvm.solvers.frank_wolfe.engine import choose
from fwsvm.solvers.frank_wolfe.moves import toward
from fwsvm.solvers.registry import register


@register(
    "fw",
    family="simplex",
    paper="Frandi et al. (2013), Algorithm 2",
    tolerance="the Frank-Wolfe gap 2 (R - min q)",
)
class FW(NamedTuple):
    """Every step goes toward the ascent vertex i* = argmin q, by exact line search.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap. Weights never become zero again.
    """


@choose.implements(FW)
def _choose(rule, s, i):
    return toward(s, i)
