"""Compile Newton's compiled functions before timing starts, by solving two tiny linear systems."""

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache
from fwsvm.solvers.newton.active_set_system import ActiveSetSystem
from fwsvm.solvers.newton.cholesky_factor import CholeskyFactor
from fwsvm.solvers.newton.gram_rows import GramRows
from fwsvm.solvers.warm_up import once

ROWS = 24


def compile_systems(columns: ColumnCache) -> float:
    """Solve them, once in a process for the precision of the columns, with factors of both; return the seconds.

    The columns lend their types alone: the kernel values are those of the identity, which always has a factor.
    """
    dtype = columns.cached.dtype
    return once((ActiveSetSystem, dtype), lambda: _solve_two(columns, dtype))


def _solve_two(columns: ColumnCache, dtype: np.dtype) -> None:
    numbers, y, ridge = np.arange(ROWS, dtype=np.int32), np.ones(ROWS), np.ones(ROWS)
    there = columns._replace(cached=np.eye(ROWS, dtype=dtype), slot_of=numbers, row_of=numbers)
    lines, nothing = GramRows(there, y, 1), np.zeros(ROWS)
    face = ActiveSetSystem(lines, ridge)
    x, f = face.solve(np.arange(ROWS - 1), nothing, nothing, 1e-6)  # a factor
    face.solve(np.arange(1, ROWS), x, f, 1e-6)  # and a border: a row more, and one less
    CholeskyFactor(lines, np.arange(ROWS), ridge, np.dtype(np.float64)).product(ridge)
