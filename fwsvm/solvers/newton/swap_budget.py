"""How many steps swap-2o is given before Newton's first one, and between Newton's."""

from fwsvm.solvers.frank_wolfe.state import SimplexState
from fwsvm.solvers.newton.gap_fall import Seen, outlook
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
        self.seen = Seen(0, 0.0)  # at the last look
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
        now, factor = gap_seen(state), self._factor(int(state.now["active"][0]))
        if now.steps < factor:
            self.left = factor - now.steps
            self.after_look = self.left // 2
        else:
            ahead = outlook(self.seen, now, goal)
            if ahead.to_goal <= factor and now.steps <= 2 * factor:
                self.left = 1 + int(min(max(ahead.to_goal / 2.0, ahead.to_e), 2 * factor - now.steps))
                self.seen = now
        self.extensible = self.left > 0
        return self.extensible


def gap_seen(state: SimplexState) -> Seen:
    """Return the gap at this state, whose q is complete, and the steps to it."""
    return Seen(int(state.now["steps"][0]), 2.0 * float(state.now["R"][0] - state.q.min()))
