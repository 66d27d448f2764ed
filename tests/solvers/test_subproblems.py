"""Several two-class problems solved at a time: the same solutions, and one end for all."""

import re
import threading
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from fwsvm.errors import UsageError
from fwsvm.solvers import Settings, fit, scheduler, subproblems
from fwsvm.solvers.frank_wolfe import iterate, run
from fwsvm.status import Status

CLASSES = ("a", "b", "c", "d")
PATIENCE = 200.0  # seconds that a thread waits for what another is to do; no machine is so busy


def clouds(sizes: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping classes of these sizes, in mixed order."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(codes), 3)) + codes[:, None], codes


def solve(X, codes, method: str = "swap-2o", **given):
    told = {"C": 10.0, "threads": 2, "tolerance": 1e-4, **given}
    return fit(X, codes, CLASSES[: codes.max() + 1], Settings(method=method, **told))


def told_elsewhere(monkeypatch: pytest.MonkeyPatch, longest: int, tell: Callable) -> None:
    """Let another thread than this solve the longest pair, which has this number, and call ``tell`` after its chunks.

    That is given what would be called otherwise, and the run.
    """
    begun, do, solved = threading.Event(), scheduler.Work.do, scheduler.solve

    def do_later(work, clock, me):
        assert me or begun.wait(
            PATIENCE
        )  # a waiting thread takes nothing, and another takes the longest first
        do(work, clock, me)

    def solve_so(problem, rows, number, total, resolved, limits, clock, told, *more):
        if number == longest:
            begun.set()
            told = partial(tell, told)
        return solved(problem, rows, number, total, resolved, limits, clock, told, *more)

    monkeypatch.setattr(scheduler.Work, "do", do_later)
    monkeypatch.setattr(scheduler, "solve", solve_so)


@pytest.mark.parametrize("method", ["swap-2o", "cvm", "newton", "pegasos", "scs", "liblinear"])
def test_threads_change_no_bit(method):
    X, codes = clouds((30, 40, 20, 25))
    limit = {"max_iterations": 50} if method in {"pegasos", "scs"} else {}
    one, three = (solve(X, codes, method, threads=threads, **limit) for threads in (1, 3))
    for name in ("objective", "gap", "iterations", "steps", "support_vectors", "status"):
        np.testing.assert_equal(getattr(one, name), getattr(three, name))
    np.testing.assert_array_equal(one.model.decision(X), three.model.decision(X))


def test_chunks_of_steps_grow_only_by_those_that_were_taken_whole(monkeypatch):
    """Sampled search comes back whenever it finds no violator; what is asked for next must not double each time."""
    chunks, real = [], run.SimplexRun.advance

    def advance(process, steps):
        taken = real(process, steps)
        chunks.append((steps, taken))
        return taken

    monkeypatch.setattr(run.SimplexRun, "advance", advance)
    X, codes = clouds((1500, 1500, 30))
    solve(X, codes, search="sampled", tolerance=1e-5, threads=1)
    assert sum(taken < steps for steps, taken in chunks) > 30
    assert max(steps for steps, _ in chunks) <= 2 * max(taken for _, taken in chunks)


@pytest.mark.parametrize("search", ["full", "sampled"])
def test_a_small_budget_for_columns_is_shared(search):
    X, codes = clouds((300, 400, 200))
    generous, tight = (solve(X, codes, search=search, cache_mib=mib) for mib in (64, 1))
    # with room for all columns sampled search goes over to all of q, which rounds in another order
    np.testing.assert_allclose(tight.objective, generous.objective, rtol=1e-8 if search == "sampled" else 0)
    assert tight.certified


def test_a_watcher_hears_in_its_own_thread_of_pairs_that_others_solve(monkeypatch):
    monkeypatch.setattr(subproblems, "WATCH_EVERY", 0.0)
    monkeypatch.setattr(scheduler, "WATCH_EVERY", 0.01)
    threads, heard = set(), threading.Event()

    def watch(progress):
        threads.add(threading.get_ident())
        if progress.subproblem == 2:  # the long pair is still at work, and the others are done
            heard.set()

    def tell_until_it_is_heard(tell, solver):
        for _ in range(int(PATIENCE / 0.01)):
            tell(solver)
            if solver is None or heard.wait(0.01):
                return
        pytest.fail("nobody hears of it")

    told_elsewhere(monkeypatch, 2, tell_until_it_is_heard)
    X, codes = clouds((3, 300, 300))
    settings = Settings("swap-2o", C=100.0, tolerance=1e-6, threads=3)
    assert fit(X, codes, CLASSES[:3], settings, watch=watch).certified
    assert heard.is_set()
    assert threads == {threading.get_ident()}


def test_an_interrupt_ends_all_and_keeps_what_there_is(monkeypatch):
    monkeypatch.setattr(subproblems, "WATCH_EVERY", 0.0)
    X, codes = clouds((200, 200, 200, 200))

    def interrupt(progress):
        raise KeyboardInterrupt

    result = fit(X, codes, CLASSES, Settings("swap-2o", C=1e4, tolerance=1e-12, threads=2), watch=interrupt)
    assert result.status is Status.INTERRUPTED
    assert not result.certified
    assert np.isfinite(result.model.decision(X)).all()


@pytest.mark.parametrize(
    ("owner", "place", "left"), [(iterate, "machine_of", 2), (run.SimplexRun, "__init__", 3)]
)
def test_an_interrupt_outside_the_loop_keeps_what_was_solved(monkeypatch, owner, place, left):
    """While a gap is recomputed, or the next pair is set up."""
    real, calls = getattr(owner, place), []

    def interrupted(*arguments, **named):
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments, **named)

    X, codes = clouds((40, 40, 40, 40))
    solve(X, codes, threads=1)  # compiled
    monkeypatch.setattr(owner, place, interrupted)
    result = solve(X, codes, threads=1)
    assert result.status is Status.INTERRUPTED
    assert not result.certified
    assert f"{left} of 6 subproblems were not reached" in result.message
    assert np.isfinite(result.model.decision(X)).all()


def test_an_interrupt_while_waiting_for_the_last_ends_them(monkeypatch):
    waited, ended = threading.Event(), []

    def interrupted(work, others):
        waited.set()
        raise KeyboardInterrupt

    def tell_until_it_is_ended(tell, solver):
        try:
            for _ in range(int(PATIENCE / 0.01)):
                tell(solver)
                if solver is None:
                    return
                time.sleep(0.01)
        except KeyboardInterrupt:
            ended.append(waited.is_set())
            raise
        pytest.fail("nothing ends it")

    monkeypatch.setattr(scheduler.Work, "wait_for", interrupted)
    told_elsewhere(monkeypatch, 5, tell_until_it_is_ended)
    X, codes = clouds(
        (3, 3, 100, 100)
    )  # here the first pairs are solved, and then there is nothing left to begin
    result = solve(X, codes, C=1e6, tolerance=1e-9, threads=6)
    assert ended == [True]
    assert result.status is Status.INTERRUPTED
    assert len(result.model.biases) == 6


def test_a_limit_of_time_ends_all():
    X, codes = clouds((200, 200, 200, 200))
    result = solve(X, codes, C=1e4, tolerance=1e-12, time_limit=1e-6)
    assert result.status is Status.TIME_LIMIT
    assert re.search("[45] of 6 subproblems were not reached", result.message)


def test_an_error_in_another_thread_is_told_here(monkeypatch):
    real, failed = scheduler.solve, threading.Event()

    def fails_elsewhere(*arguments):
        if threading.current_thread() is not threading.main_thread():
            failed.set()
            raise UsageError("no room")
        assert failed.wait(PATIENCE)  # this thread leaves a pair to the other
        return real(*arguments)

    monkeypatch.setattr(scheduler, "solve", fails_elsewhere)
    X, codes = clouds((20, 20, 20))
    with pytest.raises(UsageError, match="no room"):
        solve(X, codes)
