"""Threads of BLAS beside ours, and what is left of work that was shared out."""

import importlib
import threading
import time

import pytest
import scipy.linalg  # noqa: F401 - it has a BLAS of its own, which must be there from the beginning
from threadpoolctl import threadpool_info, threadpool_limits

from fwsvm.numerics.threads import blas_on, together
from fwsvm.solvers import Settings, fit
from tests.solvers.test_auto import classes_of


def blas_threads() -> set[int]:
    """Return how many threads each library of matrix routines takes now."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _three_before_and_after():
    before = threadpool_limits(3, user_api="blas")  # no block: within one no other thread has a say
    if blas_threads() != {3}:
        pytest.skip("this BLAS takes no limit")
    yield
    assert blas_threads() == {3}
    before.restore_original_limits()


def test_a_fit_leaves_blas_one_thread(monkeypatch):
    module = importlib.import_module("fwsvm.solvers.fit")
    seen = []
    solve_all = module.solve_all

    def looked(*given):
        seen.append(blas_threads())
        return solve_all(*given)

    monkeypatch.setattr(module, "solve_all", looked)
    X, codes = classes_of(0, (30, 30, 30))
    fit(X, codes, ("a", "b", "c"), Settings(method="swap-2o", C=10.0, threads=2))
    assert seen == [{1}]


def test_two_at_a_time_leave_it_as_it_was():
    inside = threading.Event()
    leave = threading.Event()

    def other() -> None:
        with blas_on(1):
            inside.set()
            leave.wait(600)

    thread = threading.Thread(target=other)
    with blas_on(1):
        thread.start()
        assert inside.wait(600)
    leave.set()
    thread.join()  # what it left is looked at by the fixture


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_is_raised_once_all_parts_that_began_have_ended(failing):
    begun = []
    ended = []

    def work(part):
        begun.append(part)
        if part == failing:
            raise ValueError(part)
        time.sleep(0.05)
        ended.append(part)

    with pytest.raises(ValueError, match=str(failing)):
        together(work, 3)
    assert sorted(begun) == sorted([*ended, failing])
