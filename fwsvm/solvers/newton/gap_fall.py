"""How fast the gap falls, by which a run tells how many more steps it needs.

Methods with away or swap steps converge linearly on a polytope (Lacoste-Julien & Jaggi 2015): seen over many steps the
logarithm of swap-2o's gap falls along a line.
"""

from math import inf, log
from typing import NamedTuple


class Seen(NamedTuple):
    """A gap that was seen after some steps."""

    steps: int
    gap: float


class Outlook(NamedTuple):
    """Steps to a goal, and steps in which the gap falls by a factor of e; inf where it does not fall."""

    to_goal: float
    to_e: float


def outlook(earlier: Seen, now: Seen, goal: float) -> Outlook:
    """Return how many steps are ahead if the gap goes on falling as it did between two points."""
    fall = log(earlier.gap / now.gap) if earlier.gap > now.gap > 0.0 else 0.0
    to_e = (now.steps - earlier.steps) / fall if fall > 0.0 else inf
    ahead = log(now.gap / goal) if now.gap > goal > 0.0 else 0.0
    return Outlook(to_e * ahead, to_e)
