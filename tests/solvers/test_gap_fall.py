"""What a run tells of the steps ahead from two gaps that it saw: exact where the gap falls along an exponential."""

from math import exp, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwsvm.solvers import Settings, fit
from fwsvm.solvers.newton import run as newton_run
from fwsvm.solvers.newton import swap_budget
from fwsvm.solvers.newton.gap_fall import Outlook, Seen, outlook

steps = st.integers(1, 10**6)


@given(first=st.floats(1e-6, 1e6), to_e=steps, begun=steps, later=steps, rest=steps)
def test_the_steps_ahead_are_those_of_an_exponential(first, to_e, begun, later, rest):
    ends = [begun, begun + later, begun + later + rest]
    gaps = [first * exp(-(at - begun) / to_e) for at in ends]
    if gaps[1] >= gaps[0] * (1 - 1e-9) or gaps[2] < 1e-300:
        return
    found = outlook(Seen(ends[0], gaps[0]), Seen(ends[1], gaps[1]), gaps[2])
    assert found.to_e == pytest.approx(to_e, rel=1e-4)
    assert found.to_goal == pytest.approx(rest, rel=1e-3, abs=1e-3 * to_e)


@pytest.mark.parametrize("now", [1.0, 2.0, 0.0])
def test_a_gap_that_does_not_fall_has_no_end(now):
    found = outlook(Seen(0, 1.0), Seen(10, now), 0.5)
    assert found.to_e == inf
    assert found.to_goal == inf or now <= 0.5


def test_a_goal_that_is_reached_is_no_step_ahead():
    assert outlook(Seen(0, 1.0), Seen(10, 0.1), 0.2).to_goal == 0.0


def steps_before_newton(monkeypatch: pytest.MonkeyPatch, ahead: float) -> tuple[int, int]:
    """Return after how many steps a run begins Newton's, and the price of its factor, as long as `outlook` says."""
    price, begun = 0, []

    def look(earlier: Seen, now: Seen, goal: float) -> Outlook:
        assert earlier.steps < now.steps
        assert earlier.gap > 0.0 < goal
        return Outlook(ahead, 100.0)

    begin = newton_run.NewtonRun._begin

    def note(self: newton_run.NewtonRun) -> None:
        nonlocal price
        now = self.simplex.state.now[0]
        begun.append(int(now["steps"]))
        price = int(int(now["active"]) ** 3 / (swap_budget.FACTOR_RATE * len(self.y)))
        begin(self)

    monkeypatch.setattr(swap_budget, "outlook", look)
    monkeypatch.setattr(newton_run.NewtonRun, "_begin", note)
    monkeypatch.setattr(swap_budget, "FACTOR_RATE", 10.0)
    monkeypatch.setattr(swap_budget, "FIRST_SWAPS", 0.5)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    codes = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    result = fit(X, codes, ("a", "b"), Settings("newton", C=1e3, gamma=0.2, tolerance=1e-6, threads=1))
    assert result.certified
    return begun[0], price


def test_swaps_go_on_after_the_time_of_a_factor_while_the_goal_is_nearer_than_another(monkeypatch):
    far, price = steps_before_newton(monkeypatch, np.inf)
    assert 0.7 * price < far < 1.3 * price  # the active rows become fewer meanwhile
    near, price = steps_before_newton(monkeypatch, price / 2)
    assert (
        2 * price < near < 3 * price
    )  # and no longer: where the gap falls ever more slowly it stays as near
