"""Threads that share the passes over all rows take the very steps of one thread."""

import numpy as np
import pytest

from fwsvm.solvers import Settings, fit
from fwsvm.solvers.frank_wolfe import thread_team
from fwsvm.status import Status
from tests.solvers.frank_wolfe.running import SIMPLEX, clouds

CLASSES = ("1", "-1")


@pytest.fixture(autouse=True)
def small_shares(monkeypatch):
    monkeypatch.setattr(thread_team, "ROWS_A_THREAD", 16)


def train(X, codes, method: str = "swap-2o", **given):
    told = {"C": 10.0, "gamma": 0.5, "tolerance": 1e-5, **given}
    return fit(X, codes, CLASSES, Settings(method=method, **told))


def rows(plus: int, m: int = 203) -> tuple[np.ndarray, np.ndarray]:
    """Return m rows of which so many are of the first class."""
    X, _ = clouds(plus, m)
    return X, (np.arange(m) >= plus).astype(int)


def same_bits(one, other):
    for name in ("objective", "gap", "iterations", "steps", "kernel_evaluations", "status"):
        np.testing.assert_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.model.coefficients, other.model.coefficients)


@pytest.mark.parametrize("method", SIMPLEX)
def test_threads_change_no_bit(method):
    limit = {"max_iterations": 3000}
    one, two, three = (train(*rows(90), method, threads=threads, **limit) for threads in (1, 2, 3))
    same_bits(one, two)
    same_bits(one, three)


@pytest.mark.parametrize("plus", [1, 8, 96, 100, 104, 202])
def test_wherever_the_classes_meet(plus):
    same_bits(*(train(*rows(plus), threads=threads) for threads in (1, 2)))


@pytest.mark.parametrize(
    "given", [{"tolerance": 1e-13}, {"search": "sampled", "tolerance": 1e-6}], ids=["double", "sampled"]
)
def test_in_double_precision_and_where_sampled_search_keeps_all_of_q(given):
    same_bits(*(train(*rows(90), threads=threads, C=1e3, **given) for threads in (1, 2)))


def test_shares_are_made_where_they_are_worth_a_thread():
    assert len(thread_team.thread_team(203, 3).claimed) == 3 * thread_team.CACHE_LINE
    assert len(thread_team.thread_team(40, 3).claimed) == 2 * thread_team.CACHE_LINE
    assert len(thread_team.thread_team(31, 3).claimed) == 0
    assert len(thread_team.thread_team(203, 1).claimed) == 0


def test_an_interrupt_sends_the_assistants_home(monkeypatch):
    def interrupt(progress):
        raise KeyboardInterrupt

    monkeypatch.setattr("fwsvm.solvers.subproblems.WATCH_EVERY", 0.0)
    X, codes = rows(90)
    result = fit(X, codes, CLASSES, Settings("swap-2o", C=1e4, tolerance=1e-12, threads=2), watch=interrupt)
    assert result.status is Status.INTERRUPTED
    assert train(X, codes, threads=2).certified  # the threads are free again
