"""The strong Wolfe line search within a ball (004 eq. 6 and Algorithm 2).

    L = { t > 0 : f(alpha + t d) - f(alpha) <= -m1 t |d|^2 }      enough decrease
    R = { t > 0 : 0 > <g(t), d> >= -m2 |d|^2 }                    enough increase of the slope

L and R intersect for a function bounded below (Wolfe 1975), but not always here: the ball may end before R begins, and
at a kink the slope may jump across R. In the first case the step goes to the boundary, in the second to the best t in L
that was tried.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.numerics.compile import njit
from fwsvm.solvers.stochastic.objective import along_line
from fwsvm.solvers.stochastic.state import dot

MAX_TRIALS = 60  # halvings that a double has room for


class Constants(NamedTuple):
    """0 < m1 < m2 < 1/2 and n > 1 of Algorithm 2."""

    m1: float
    m2: float
    n: float


def checked_constants(rule: Any) -> Constants:
    """Return a rule's constants for the line search; `UsageError` unless 0 < m1 < m2 < 1/2 and n > 1."""
    if not (0 < rule.m1 < rule.m2 < 0.5 and rule.n > 1):
        raise UsageError(
            f"the line search needs 0 < m1 < m2 < 1/2 and n > 1, not {rule.m1}, {rule.m2} and {rule.n}"
        )
    return Constants(rule.m1, rule.m2, rule.n)


@njit
def line_search(constants, s):
    """Set ``now.step`` to t_k, or to 0 where no t above b/n is in L, and ``now.value_after``.

    b = min(delta / |d|, |d|^2 / (lambda d' Q d)): beyond the second bound phi' >= -|d|^2 + t lambda d' Q d is not
    negative, whatever the hinge losses. ``now.ahead`` becomes the smallest t tried whose slope is above -m2 |d|^2; a
    null step takes its subgradient there.
    """
    now = s.now[0]
    n = now.rows
    linear = s.lam * dot(n, s.alpha, s.Q_d)
    now.curvature = s.lam * dot(n, s.d, s.Q_d)
    size2 = now.length2
    start, _ = along_line(s, 0.0, linear)
    longest = min(now.ball / np.sqrt(size2), size2 / now.curvature)
    low, high, t = 0.0, longest, longest
    best, lowest = 0.0, start
    for _ in range(MAX_TRIALS):
        now.trials += 1
        value, slope = along_line(s, t, linear)
        decreases = value - start <= -constants.m1 * t * size2
        if decreases and value < lowest:
            best, lowest = t, value
        if decreases and slope < 0.0 and (slope >= -constants.m2 * size2 or t == longest):
            best, lowest = t, value
            break
        if decreases and slope < 0.0:
            low = t
        else:
            high = t
        t = 0.5 * (low + high)
        if t <= longest / constants.n or high - low <= 1e-12 * longest:
            break
    now.step = best
    now.value_after = now.value + (lowest - start)
    now.ahead = 0.0 if best > 0.0 else high
