"""liblinear: dual coordinate descent with hard shrinking (002 Algorithm 2; Hsieh et al. 2008, Alg. 3)."""

from typing import NamedTuple

import numpy as np

from fwsvm.problems.box_qp import Loss
from fwsvm.solvers.dual_coordinate.engine import begin, end, is_shrunk, shuffle_rows
from fwsvm.solvers.registry import register


@register(
    "liblinear",
    family="linear",
    paper="Glasmachers and Dogan (2013), Algorithm 2",
    tolerance="relative: (P - D) / P; gap: P - D; eps: largest minus smallest projected gradient seen in a "
    "sweep over all rows (LIBLINEAR's -e, without its limit on the number of sweeps)",
)
class Liblinear(NamedTuple):
    """Sweeps in random order over an active set, which a row leaves when its gradient pushes it against its bound.

    Problem: the dual of the linear SVM, 0 <= alpha <= C. A row at a bound leaves if its gradient points
    outward by more than any violation of the sweep before; when the active rows are solved to epsilon all
    rows return. The range of violations is taken over the projected gradient, as the program does and the
    paper's pseudo-code does not: read literally, that stops after the first sweep, when all alpha_i were 0 as
    they were looked at.

    Under `relative` and `gap` the rule's epsilon starts at 0.1, LIBLINEAR's default, and falls by a factor of
    ten whenever it would have stopped too early.

    Parameters
    ----------
    loss : hinge (the paper) or squared_hinge
    bias : value of a constant feature; 0 for none (the paper)
    """

    loss: Loss = Loss.HINGE
    bias: float = 0.0

    def first_epsilon(self) -> float:
        """Epsilon to begin with where the gap ends the run."""
        return 0.1

    @staticmethod
    def violation(least: float, most: float) -> float:
        """Return what epsilon bounds, from the range of the projected gradient."""
        return most - least


@begin.implements(Liblinear)
def _begin(rule, s):
    now = s.now
    now.least = np.inf
    now.most = -np.inf
    now.idle = 0  # no row rests here, so surveys spare nothing
    shuffle_rows(s)


@is_shrunk.implements(Liblinear)
def _leaves(rule, s, i, g):
    now = s.now
    alpha = s.coordinates[i].alpha
    return (alpha == 0.0 and g < now.least_before) or (alpha == s.qp.points[i].upper and g > now.most_before)


@end.implements(Liblinear)
def _end(rule, s):
    now = s.now
    if now.most - now.least < now.epsilon:
        whole = now.size == len(s.order)
        now.size = len(s.order)
        now.least_before = -np.inf
        now.most_before = np.inf
        if whole and not now.by_own_rule:
            now.epsilon *= 0.1
        return whole
    now.least_before = now.least if now.least < 0.0 else -np.inf
    now.most_before = now.most if now.most > 0.0 else np.inf
    return False
