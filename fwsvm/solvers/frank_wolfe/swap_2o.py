"""SWAP-2o: SWAP whose partner j is chosen by second-order information (000 Algorithm 5)."""

from typing import NamedTuple

from fwsvm.solvers.frank_wolfe.engine import choose
from fwsvm.solvers.frank_wolfe.moves import NOBODY, best_partner, swap, toward
from fwsvm.solvers.frank_wolfe.swap import Compare
from fwsvm.solvers.registry import register


@register(
    "swap-2o",
    family="simplex",
    paper="Nanculef et al. (2014), Algorithm 5",
    tolerance="the Frank-Wolfe gap 2 (R - min q)",
)
class Swap2o(NamedTuple):
    """As SWAP, with j maximising (q_j - q_i)^2 / (K~_ii - 2 K~_ij + K~_jj) over the active set.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap. A tie goes to Frank-Wolfe.

    Parameters
    ----------
    compare : the improvement of the swap that is held against Frank-Wolfe's, unconstrained or clipped, as for swap
    """

    compare: Compare = Compare.UNCONSTRAINED


@choose.implements(Swap2o)
def _choose(rule, s, i):
    fw = toward(s, i)
    j = best_partner(s, i)
    if j == NOBODY:
        return fw
    sw = swap(s, i, j)
    promise = sw.promise if rule.compare == Compare.UNCONSTRAINED else sw.decrease
    return sw if promise > fw.promise else fw
