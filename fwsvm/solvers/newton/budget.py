"""How many steps swap-2o is given before Newton's first one and between Newton's, and how far a Newton step goes.

Methods with away or swap steps converge linearly on a polytope (Lacoste-Julien & Jaggi 2015): seen over many steps the
logarithm of swap-2o's gap falls along a line.
"""

from math import inf, log

import numpy as np

from fwsvm.solvers.frank_wolfe.state import SimplexState
from fwsvm.solvers.tuning import FACTOR_RATE, FIRST_SWAPS, NEWTON_OVERHEAD


class SwapBudget:
    """Steps of swap-2o that are left on a problem of so many rows.

    The first steps find most of the active rows. Then swap-2o has the time that a factor of the active rows takes: they
    may become more meanwhile, and the factor dearer. Then it may have as much again, while by the fall of its gap it
    needs less to the goal.

    Parameters
    ----------
    rows : int
    active : int, at the starting point
    warm : bool, whether that is where another run ended, which has found most of the active rows
    """

    def __init__(self, rows: int, active: int, *, warm: bool) -> None:
        self.rows = rows
        most = int(FIRST_SWAPS * rows)
        self.left = min(most, NEWTON_OVERHEAD + self._factor(active)) if warm else most
        self.after_look = self.left // 2  # how many of the steps left come after the next look at the gap
        self.seen = 0, 0.0  # steps and gap at the last look
        self.extensible = True

    def _factor(self, active: int) -> int:
        """Return how many steps take as long as a factor of so many rows."""
        return int(active**3 / (FACTOR_RATE * self.rows))

    @property
    def to_look(self) -> int:
        """Steps to the next look at the gap, or to the end."""
        return self.left - self.after_look

    def spend(self, steps: int, state: SimplexState) -> None:
        """Count steps that were taken to this state."""
        self.left -= steps
        if self.left == self.after_look > 0:
            self.seen, self.after_look = gap_seen(state), 0

    def give(self, steps: int) -> None:
        """Let so many steps be left, and no more be added."""
        self.left, self.after_look, self.extensible = steps, 0, False

    def extend(self, state: SimplexState, goal: float) -> bool:
        """Add steps where none are left, while they are worth it to reach the gap ``goal``; return whether any were."""
        if self.left or not self.extensible:
            return False
        (steps, gap), factor = gap_seen(state), self._factor(int(state.now["active"][0]))
        if steps < factor:
            self.left = factor - steps
            self.after_look = self.left // 2
        else:
            earlier, wider = self.seen
            fall = log(wider / gap) if wider > gap > 0.0 else 0.0
            to_e = (
                (steps - earlier) / fall if fall > 0.0 else inf
            )  # steps in which the gap falls by a factor of e
            to_goal = to_e * (log(gap / goal) if gap > goal > 0.0 else 0.0)
            if to_goal <= factor and steps <= 2 * factor:
                self.left = 1 + int(min(max(to_goal / 2.0, to_e), 2 * factor - steps))
                self.seen = steps, gap
        self.extensible = self.left > 0
        return self.extensible


def gap_seen(state: SimplexState) -> tuple[int, float]:
    """Return the steps to this state, whose q is complete, and the gap."""
    return int(state.now["steps"][0]), 2.0 * float(state.now["R"][0] - state.q.min())


ROUNDS = 60


def least_along(b: np.ndarray, f: np.ndarray, db: np.ndarray, df: np.ndarray, penalties: np.ndarray) -> float:
    """Return the step in [0, 1] of the least P(b + step db), with f = Q b and df = Q db, all of shape (m,).

    P' (t) = (b + t db)' df - sum_i C_i max(0, 1 - f_i - t df_i) df_i rises with t. Its zero is found by Newton's
    method kept inside a bracket: on the piece that holds the zero the next point is the zero itself.
    """

    def slope(t: float) -> tuple[float, float]:
        loss = 1.0 - f - t * df
        hurt = loss > 0.0
        weighted = penalties[hurt] * df[hurt]
        return float((b + t * db) @ df - weighted @ loss[hurt]), float(db @ df + weighted @ df[hurt])

    if slope(0.0)[0] >= 0.0:
        return 0.0
    t, (low, high) = 1.0, (0.0, 1.0)
    at, rise = slope(t)
    if at <= 0.0:
        return 1.0
    for _ in range(ROUNDS):
        newton = t - at / rise if rise > 0.0 else low
        t = newton if low < newton < high else 0.5 * (low + high)
        at, rise = slope(t)
        if at == 0.0 or high - low < 1e-12:
            break
        low, high = (t, high) if at < 0.0 else (low, t)
    return t
