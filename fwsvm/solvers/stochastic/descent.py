"""One iteration of Wolfe's method, and of SCS on its current sample: subgradient, direction, step length."""

from typing import Any

import numpy as np

from fwsvm.numerics.compile import njit
from fwsvm.solvers.stochastic.acceptance import TrackedTest
from fwsvm.solvers.stochastic.direction import carry_direction, update_direction
from fwsvm.solvers.stochastic.line_search import Constants, line_search
from fwsvm.solvers.stochastic.objective import (
    evaluate_incumbent,
    list_margin_changes,
    raise_lower_bound,
    subgradient,
)
from fwsvm.solvers.stochastic.state import StochasticState, inner_product, move
from fwsvm.solvers.tuning import SHORT_FRACTION


@njit
def set_direction(directions, s):
    """Set d from g, and raise the lower bound by the dual value of the same combination."""
    now = s.now[0]
    now.gradient2 = inner_product(s, s.g, s.g, s.Q_g)
    update_direction(directions, s)
    now.fresh = 0
    now.length2 = inner_product(s, s.d, s.d, s.Q_d)
    raise_lower_bound(s)


@njit
def is_short(s, eps):
    """Return whether d is shorter than ``eps``, or so short that it is to be made anew (`SHORT_FRACTION`).

    In the kernel's space f - min f <= |g|^2 / (2 lambda), so the known gap says how long d must be. Euclidean lengths
    have no such bound: d is compared with g, which is as long as d after a reset, where ``eps`` alone counts.
    """
    now = s.now[0]
    least = (
        SHORT_FRACTION * now.gradient2 if s.euclid else 2.0 * s.lam * SHORT_FRACTION * (now.value - now.lower)
    )
    return now.length2 <= max(eps * eps, least)


@njit
def reset_direction(s):
    """Reset: the next direction is -g at the incumbent."""
    now = s.now[0]
    now.fresh, now.ahead = 1, 0.0
    now.resets += 1


class Descent:
    """The iteration on a sample.

    Parameters
    ----------
    directions : TwoVectors or Bundle
    constants : Constants, of the line search
    state : StochasticState
    sums : RecomputedSums or StoredMatrixSums, over the sample at its own rows, and at the test's if one is kept
    eps : float, the length of a subgradient below which it counts as 0
    tracked_test : TrackedTest, optional, whose sums follow the point
    """

    def __init__(
        self,
        directions: Any,
        constants: Constants,
        state: StochasticState,
        sums: Any,
        eps: float,
        tracked_test: TrackedTest | None = None,
    ) -> None:
        self.directions, self.constants, self.state = directions, constants, state
        self.sums, self.eps, self.tracked_test = sums, eps, tracked_test

    def propose(self) -> bool:
        """Set g, d and t for the incumbent; return whether even -g there is short.

        A short d proves nothing: a combination of a subgradient here with one from elsewhere can vanish far from the
        optimum. So the direction is reset to -g at the incumbent and tested again.
        """
        s = self.state
        evaluate_incumbent(s)
        self.aim()
        if is_short(s, self.eps):
            reset_direction(s)
            self.aim()
            if is_short(s, self.eps):
                s.now["step"] = 0.0
                return True
        line_search(self.constants, s)
        return False

    def aim(self) -> None:
        """Set g and d for the point ahead."""
        s, tracked_test = self.state, self.tracked_test
        list_margin_changes(s)
        flips = int(s.now["flips"][0])
        self._add(
            s.flipped[:flips], s.change[:flips], s.Q_inside, tracked_test.inside if tracked_test else None
        )
        subgradient(s)
        if tracked_test:
            tracked_test.subgradient(s)
        if s.euclid:
            n = int(s.now["rows"][0])
            self._add(np.arange(n), s.g[:n], s.Q_g, tracked_test.g if tracked_test else None)
        set_direction(self.directions, s)
        if tracked_test:
            tracked_test.turn(s)

    def carry(self, old: int) -> None:
        """Make the last direction one of the sample, which has grown from ``old`` rows."""
        s, n, tracked_test = self.state, int(self.state.now["rows"][0]), self.tracked_test
        which = old + np.flatnonzero(s.w[old:n] * s.Q_alpha[old:n] < 1.0)
        here, there = np.zeros(n), np.zeros(len(tracked_test.sample) if tracked_test else 0)
        self._add(which, s.w[which], here, there if tracked_test else None)
        share = carry_direction(s, old, which, here)
        if tracked_test:
            tracked_test.carry(share, there, n)

    def _add(
        self, which: np.ndarray, weights: np.ndarray, here: np.ndarray, there: np.ndarray | None
    ) -> None:
        """Add sum_j weights[j] k(s_which[j], .) at the rows of the sample and of the test."""
        outs = [here[None]] if there is None else [here[None], there[None]]
        self.sums.add(which, weights[None], outs)

    def move(self) -> None:
        """Make the candidate the incumbent."""
        move(self.state)
        if self.tracked_test:
            self.tracked_test.move(self.state)


@njit
def gap_closed(s, goal):
    """Return whether the gap on the sample is within ``goal`` times the value."""
    now = s.now[0]
    return now.value - now.lower <= goal * now.value
