"""SWAP: Frank-Wolfe or a swap of weight between two vertices (000 Algorithm 4)."""

from enum import IntEnum
from typing import NamedTuple

from fwsvm.solvers.frank_wolfe.engine import choose
from fwsvm.solvers.frank_wolfe.moves import swap, toward, worst_active
from fwsvm.solvers.registry import register


class Compare(IntEnum):
    """Which improvement of the swap is held against that of the Frank-Wolfe step."""

    UNCONSTRAINED = 0  # as if a_j did not bound the step: the paper (footnote 6)
    CLIPPED = 1  # what the step will really bring: the authors' program


@register(
    "swap",
    family="simplex",
    paper="Nanculef et al. (2014), Algorithm 4",
    tolerance="the Frank-Wolfe gap 2 (R - min q)",
)
class Swap(NamedTuple):
    """Swap weight from j* = argmax of q on the active set to i* = argmin q if that promises more than Frank-Wolfe.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap. A tie goes to Frank-Wolfe.

    Parameters
    ----------
    compare : the improvement of the swap that is held against Frank-Wolfe's: unconstrained, as if a_j did not bound
        the step (the paper, footnote 6), or clipped, what the step will really bring (the authors' program)
    """

    compare: Compare = Compare.UNCONSTRAINED


@choose.implements(Swap)
def _choose(rule, s, i):
    fw = toward(s, i)
    sw = swap(s, i, worst_active(s))
    promise = sw.promise if rule.compare == Compare.UNCONSTRAINED else sw.decrease
    return sw if promise > fw.promise else fw
