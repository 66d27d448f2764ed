"""Compile what a run needs before its clock starts, by some steps on a tiny problem."""

import functools
import logging
import threading
import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from fwsvm import phases
from fwsvm._mapped import RowMatrix, is_mapped
from fwsvm.kernels.dense_tiles import DENSE
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.compile import is_cache_empty
from fwsvm.problems.binary import Binary
from fwsvm.solvers import certify
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Solver

ROWS, FEATURES, STEPS = 24, 3, 64
FEW = 4096  # rows of a mapped file that show how its rows are laid out
GAPS = 13  # features that no row has: kernel values are then computed as those of sparse rows

_DONE: set[Hashable] = set()
_ONE_AT_A_TIME = threading.RLock()  # who waits for another's compiling counts that as its own
_HERE = threading.local()  # of this thread: whether it runs what is run for the sake of compiling alone


def once(what: Hashable, work: Callable[[], None]) -> float:
    """Have work done that compiles, once in a process; return the seconds, 0 if it was done before."""
    if what in _DONE:
        return 0.0
    started = time.perf_counter()
    with _ONE_AT_A_TIME:
        if what not in _DONE:
            before, _HERE.compiling = is_compiling(), True
            try:
                work()
            finally:
                _HERE.compiling = before
            _DONE.add(what)
    return time.perf_counter() - started


@functools.cache
def announce_compiling() -> None:
    """Log once in a process that everything has to be compiled, where no display says it."""
    if is_cache_empty() and not phases.is_listened_to():
        logging.getLogger("fwsvm").warning("fwsvm: compiling for this computer (once)")


def is_compiling() -> bool:
    """Whether this thread runs a tiny problem in the place of another, for the sake of compiling."""
    return getattr(_HERE, "compiling", False)


def tiny_problem(gaps: int = 0, mapped: np.dtype | None = None) -> Binary:
    """Return two classes that a line divides, dense or with features that no row has; or as ``mapped`` rows lie."""
    X = np.random.default_rng(0).normal(size=(ROWS, FEATURES))
    wide: Any = sparse.csr_array(np.pad(X, ((0, 0), (0, gaps)))) if gaps else X
    if mapped is not None:
        starts = FEATURES * np.arange(ROWS + 1, dtype=np.int64)
        wide = Rows(X.astype(mapped).reshape(-1), None, starts, FEATURES)  # type: ignore[arg-type]
    return Binary(wide, np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(ROWS), (0,))


def layouts(X: RowMatrix | Rows) -> tuple[int, ...]:
    """Return the ``gaps`` of tiny problems whose rows are laid out as those of X (m, n), or some of them, are.

    Stochastic methods take the rows of an array as dense, whatever they hold.
    """
    if isinstance(X, np.ndarray):
        some = X[:FEW] if is_mapped(X) else X  # of which a pass would read the whole file
        stored, dense = np.count_nonzero(some, axis=1), True
    else:
        stored, dense = np.diff(X.starts if isinstance(X, Rows) else X.indptr), False
    enough = DENSE * X.shape[1]
    return (0,) * bool(dense or stored.max() >= enough) + (GAPS,) * bool(stored.min() < enough)


def some_steps(solver: Solver) -> None:
    """Take some steps, or all there are."""
    while solver.advance(8) == 8 and solver.counters.steps < STEPS:
        pass


def compile_runs(resolved: Resolved, X: RowMatrix) -> float:
    """Run the method on tiny problems, so that compiling is no part of any time reported; return its seconds.

    Once in a process for all that is compiled apart, and only for the layouts of rows that training on X (m, n) comes
    to.
    """
    kinds = (
        resolved.method.name,
        resolved.rule,
        type(resolved.kernel),
        resolved.search,
        resolved.protocol,
        resolved.stop,
    )
    found: list[tuple[int, Any]] = [(gaps, None) for gaps in layouts(X)]
    if resolved.family.name == "linear" and isinstance(X, np.ndarray) and is_mapped(X):
        found = [(0, X.dtype)]
    return sum(once(("runs", *layout, *kinds), partial(_run, resolved, *layout)) for layout in found)


@np.errstate(all="ignore")  # a kernel for small values may overflow here
def _run(resolved: Resolved, gaps: int, mapped: np.dtype | None) -> None:
    """Run the method on a tiny problem, and compute its certificate."""
    problem = tiny_problem(gaps, mapped)
    solver = resolved.family.start(problem, resolved.rule, resolved)
    some_steps(solver)
    resolved.family.certify([certify.Candidate(problem, resolved, solver.iterate())], exact=True)
