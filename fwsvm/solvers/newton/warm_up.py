"""Compile Newton's compiled functions before timing starts, by solving two tiny linear systems."""

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache
from fwsvm.solvers.newton.active_set_system import ActiveSetSystem
from fwsvm.solvers.newton.cholesky_factor import CholeskyFactor
from fwsvm.solvers.newton.gram_rows import GramRows
from fwsvm.solvers.warm_up import once

ROWS = 24


def compile_systems(columns: ColumnCache) -> float:
    """Solve them, once in a process for the precision of the columns, which is that of the factor; return the seconds.

    Of the columns only the types matter: the kernel values are those of the identity, which always has a factor.
    """
    return once((ActiveSetSystem, columns.cached.dtype), lambda: _solve_two(_identity(columns)))


def compile_double_factor(columns: ColumnCache) -> float:
    """Make a factor in float64 over these columns, once in a process for their precision; return the seconds."""
    return once((CholeskyFactor, columns.cached.dtype), lambda: _factor_in_double(_identity(columns)))


def _identity(columns: ColumnCache) -> GramRows:
    numbers = np.arange(ROWS, dtype=np.int32)
    values = np.eye(ROWS, dtype=columns.cached.dtype)
    return GramRows(columns._replace(cached=values, slot_of=numbers, row_of=numbers), np.ones(ROWS), 1)


def _solve_two(lines: GramRows) -> None:
    nothing = np.zeros(ROWS)
    system = ActiveSetSystem(lines, np.ones(ROWS))
    x, f = system.solve(np.arange(ROWS - 1), nothing, nothing, 1e-6)  # a factor
    system.solve(np.arange(1, ROWS), x, f, 1e-6)  # and a border: a row more, and one less


def _factor_in_double(lines: GramRows) -> None:
    factor = CholeskyFactor(lines, np.arange(ROWS), np.ones(ROWS), np.dtype(np.float64))
    factor.product(np.ones(ROWS))
