"""AVSF: coordinate descent with adaptive variable selection frequencies (002 Algorithms 3, 4 and 5)."""

import math
from typing import NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.numerics.compile import njit
from fwsvm.numerics.random import uniform
from fwsvm.problems.box_qp import Loss
from fwsvm.solvers.dual_coordinate.engine import begin, end, is_at_rest, shuffle_rows, update_preference
from fwsvm.solvers.registry import register


@register(
    "avsf",
    family="linear",
    paper="Glasmachers and Dogan (2013), Algorithm 3",
    tolerance="relative: (P - D) / P; gap: P - D; eps: the largest violation of optimality seen in a sweep "
    "over all rows, each looked at once (the paper's rule)",
)
class AVSF(NamedTuple):
    """Visit rows more often the more their steps have gained, compared with a fading average.

    Problem: the dual of the linear SVM, 0 <= alpha <= C. A sweep is m visits, row i on average m p_i / sum p
    of them (Algorithm 4). A step that gains Delta multiplies p_i by exp(c (Delta / Delta_ref - 1)), within
    [p_min, p_max] (Algorithm 5; the formula in the paper's text, exp(c (Delta - Delta_ref)), depends on the
    scale of the data and is not what its algorithm does). No row is ever left out: one with p_min is looked
    at rarely. Stops on the gap or, by `eps`, on the largest violation in a sweep over all rows.

    Parameters
    ----------
    loss : hinge (the paper) or squared_hinge
    bias : value of a constant feature; 0 for none (the paper)
    c : how fast preferences follow gains; 1/5 in the paper
    p_min, p_max : bounds of the preferences; 1/20 and 20 in the paper
    """

    loss: Loss = Loss.HINGE
    bias: float = 0.0
    c: float = 0.2
    p_min: float = 0.05
    p_max: float = 20.0

    def first_epsilon(self) -> float:
        """Return epsilon where the gap ends the run, 0: the preferences, which start at 1, are then never reset.

        Raises
        ------
        UsageError
            Constants that make no sense.
        """
        if not (0.0 < self.p_min <= 1.0 <= self.p_max < math.inf and 0.0 < self.c <= 1.0):
            raise UsageError(
                f"avsf needs 0 < p_min <= 1 <= p_max and 0 < c <= 1, not p_min={self.p_min:g}, "
                f"p_max={self.p_max:g}, c={self.c:g}"
            )
        return 0.0

    @staticmethod
    def violation(least: float, most: float) -> float:
        """Return what epsilon bounds, from the range of the projected gradient."""
        return max(most, -least)


@njit
def schedule(s, order, random):
    """Algorithm 4: fill ``order`` with row numbers, row i about m p_i / sum p times."""
    preferences = s.preferences
    m = len(preferences)
    left, free = preferences.sum(), float(m)  # places are counted in float: no conversion to wait for
    for i in range(m - 1):
        if free == 0.0:
            return
        share = preferences[i] / left * free
        # floor(share), and one more with the probability of its fraction
        n = min(np.floor(share + uniform(random)), free)
        j = m - int(free)
        order[j] = i  # overwritten if n is 0, so that the processor need not guess whether it is
        for k in range(j + 1, j + int(n)):
            order[k] = i
        free -= n
        left -= preferences[i]
    order[m - int(free) :] = m - 1


@begin.implements(AVSF)
def _begin(rule, s):
    now = s.now
    now.least = now.most = 0.0
    now.size = len(s.order)
    now.share = 1.0 / max(now.size, 1)
    now.fade = math.exp(-rule.c)
    schedule(s, s.order, s.random)
    shuffle_rows(s)


@is_at_rest.implements(AVSF)
def _rests(rule, s, i):
    return s.now.distance < s.coordinates[i].slack


@update_preference.implements(AVSF)
def _learn(rule, s, i, gain):
    """Algorithm 5."""
    now = s.now
    if now.sweeps == 0:
        now.reference += gain * now.share
        return
    if gain == 0.0:
        factor = now.fade
    elif now.reference > 0.0:
        factor = math.exp(min(rule.c * (gain / now.reference - 1.0), 50.0))
    else:
        factor = math.exp(50.0)
    s.preferences[i] = min(max(factor * s.preferences[i], rule.p_min), rule.p_max)
    now.reference += (gain - now.reference) * now.share


@end.implements(AVSF)
def _end(rule, s):
    """Stop if no violation reached epsilon in a sweep over every row once, else arrange for such a sweep."""
    now = s.now
    if max(now.most, -now.least) >= now.epsilon:
        now.can_stop = 0
        return False
    if now.can_stop:
        return True
    s.preferences[:] = 1.0
    now.can_stop = 1
    return False
