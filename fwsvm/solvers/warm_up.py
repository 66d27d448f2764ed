"""Compile what a run needs before its clock starts, by some steps on a tiny problem."""

import threading
import time
from collections.abc import Callable, Hashable

import numpy as np
from scipy import sparse

from fwsvm.problems.binary import Binary
from fwsvm.solvers.solver import Solver

ROWS, FEATURES, STEPS = 24, 3, 64
GAPS = 13  # features that no row has: kernel values are then computed as those of sparse rows

_DONE: set[Hashable] = set()
_ONE_AT_A_TIME = threading.RLock()  # who waits for another's compiling counts that as its own


def once(what: Hashable, work: Callable[[], None]) -> float:
    """Have work done that compiles, once in a process; return the seconds, 0 if it was done before."""
    if what in _DONE:
        return 0.0
    started = time.perf_counter()
    with _ONE_AT_A_TIME:
        if what not in _DONE:
            work()
            _DONE.add(what)
    return time.perf_counter() - started


def tiny_problem(gaps: int = 0) -> Binary:
    """Return two classes that a line divides, dense or with features that no row has."""
    X = np.random.default_rng(0).normal(size=(ROWS, FEATURES))
    wide = sparse.csr_array(np.pad(X, ((0, 0), (0, gaps)))) if gaps else X
    return Binary(wide, np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(ROWS), (0,))


def some_steps(solver: Solver) -> None:
    """Take some steps, or all there are."""
    while solver.advance(8) == 8 and solver.counters.steps < STEPS:
        pass
