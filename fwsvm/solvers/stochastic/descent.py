"""One iteration of Wolfe's method, and of SCS on its present sample: subgradient, direction, step length."""

from typing import Any

import numpy as np

from fwsvm.numerics.compile import njit
from fwsvm.solvers.stochastic.acceptance import Kept
from fwsvm.solvers.stochastic.direction import turn
from fwsvm.solvers.stochastic.line_search import Constants, search
from fwsvm.solvers.stochastic.objective import measure, raise_bound, select, subgradient
from fwsvm.solvers.stochastic.state import State, inner, move

#: The part of the known gap that |d|^2 / (2 lambda) must still promise, or d is made of subgradients from too
#: far away.
SHORT = 1e-3


@njit
def turn_to(directions, s):
    """Set d from g, and the bound that comes with it."""
    now = s.now[0]
    now.gradient2 = inner(s, s.g, s.g, s.Q_g)
    turn(directions, s)
    now.fresh = 0
    now.length2 = inner(s, s.d, s.d, s.Q_d)
    raise_bound(s)


@njit
def short(s, eps):
    """Return whether d is shorter than ``eps``, or than the known gap leaves room for."""
    now = s.now[0]
    return now.length2 <= max(eps * eps, 2.0 * s.lam * SHORT * (now.value - now.lower))


@njit
def forget(s):
    """Let the next direction be -g at the incumbent, whatever came before."""
    now = s.now[0]
    now.fresh, now.ahead = 1, 0.0
    now.resets += 1


class Descent:
    """The iteration on a sample.

    Parameters
    ----------
    directions : TwoVectors or Bundle
    constants : Constants, of the line search
    state : State
    sums : Computed or Stored, sums over the sample at its own rows, and at the test's if one is kept
    eps : float, the length of a subgradient below which it counts as 0
    cached : Kept, optional, a test whose sums follow the point
    """

    def __init__(
        self,
        directions: Any,
        constants: Constants,
        state: State,
        sums: Any,
        eps: float,
        cached: Kept | None = None,
    ) -> None:
        self.directions, self.constants, self.state = directions, constants, state
        self.sums, self.eps, self.cached = sums, eps, cached

    def propose(self) -> bool:
        """Set g, d and t for the incumbent; return whether even -g there is short.

        A short d proves nothing: the shortest of a subgradient here and one from elsewhere can vanish far from the
        optimum (spec 10.7). So it is thrown away, and -g at the incumbent is looked at instead.
        """
        s = self.state
        measure(s)
        self.aim()
        if short(s, self.eps):
            forget(s)
            self.aim()
            if short(s, self.eps):
                s.now["step"] = 0.0
                return True
        search(self.constants, s)
        return False

    def aim(self) -> None:
        """Set g and d for the point ahead."""
        s, cached = self.state, self.cached
        select(s)
        flips = int(s.now["flips"][0])
        self._add(s.flipped[:flips], s.change[:flips], s.Q_inside, cached.inside if cached else None)
        subgradient(s)
        if cached:
            cached.subgradient(s)
        if s.euclid:
            n = int(s.now["rows"][0])
            self._add(np.arange(n), s.g[:n], s.Q_g, cached.g if cached else None)
        turn_to(self.directions, s)
        if cached:
            cached.turn(s)

    def _add(
        self, which: np.ndarray, weights: np.ndarray, here: np.ndarray, there: np.ndarray | None
    ) -> None:
        """Add sum_j weights[j] k(s_which[j], .) at the rows of the sample and of the test."""
        outs = [here[None]] if there is None else [here[None], there[None]]
        self.sums.add(which, weights[None], outs)

    def move(self) -> None:
        """Make the candidate the incumbent."""
        move(self.state)
        if self.cached:
            self.cached.move(self.state)


@njit
def closed(s, goal):
    """Return whether the gap on the sample is within ``goal`` times the value."""
    now = s.now[0]
    return now.value - now.lower <= goal * now.value
