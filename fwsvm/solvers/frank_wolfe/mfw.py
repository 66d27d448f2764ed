"""MFW: Frank-Wolfe with Wolfe's away steps (003 Algorithm 3, 000 Algorithm 3)."""

from typing import NamedTuple

from fwsvm.solvers.frank_wolfe.engine import choose
from fwsvm.solvers.frank_wolfe.moves import away, toward, worst_active
from fwsvm.solvers.registry import register


@register(
    "mfw",
    family="simplex",
    paper="Frandi et al. (2013), Algorithm 3",
    tolerance="the Frank-Wolfe gap 2 (R - min q)",
)
class MFW(NamedTuple):
    """Toward i* = argmin q or away from j* = argmax of q on the active set, whichever is steeper; ties toward.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap of the toward direction alone.
    """


@choose.implements(MFW)
def _choose(rule, s, i):
    j = worst_active(s)
    R = s.now.R
    if R - s.q[i] >= s.q[j] - R:
        return toward(s, i)
    return away(s, j)
