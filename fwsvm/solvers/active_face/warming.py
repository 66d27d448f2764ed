"""Two tiny linear systems, so that nothing which Newton's steps need is compiled on the clock."""

import threading
import time
from typing import Any

import numpy as np

from fwsvm.kernels.columns import columns_of
from fwsvm.kernels.rows import as_rows
from fwsvm.solvers.active_face.face import Face
from fwsvm.solvers.active_face.lines import Lines
from fwsvm.solvers.active_face.square import Square
from fwsvm.solvers.warming import tiny_problem

_ONE_AT_A_TIME = threading.Lock()  # who waits for another's compiling counts that as its own
_DONE: set[str] = set()


def compile_systems(kernel: Any) -> float:
    """Solve the systems once in a process, for all precisions of columns and factors; return the seconds.

    No code here depends on the kernel, which only has to be one.
    """
    if _DONE:
        return 0.0
    started = time.perf_counter()
    with _ONE_AT_A_TIME:
        if not _DONE:
            for dtype in (np.float32, np.float64):
                _solve_two(kernel, dtype)
            _DONE.add("all")
    return time.perf_counter() - started


def _solve_two(kernel: Any, dtype: type) -> None:
    problem = tiny_problem()
    m, ridge = len(problem.y), 1.0 / problem.penalties
    lines = Lines(columns_of(kernel, as_rows(problem.X, dtype), 1 << 20), problem.y, 1)
    face, nothing = Face(lines, ridge), np.zeros(m)
    x, f = face.solve(np.arange(m - 1), nothing, nothing, 1e-6)  # a factor
    face.solve(np.arange(1, m), x, f, 1e-6)  # and a border: a row more, and one less
    Square(lines, np.arange(m), ridge, np.dtype(np.float64))
