"""Two tiny linear systems, and columns lent, so that nothing which Newton's steps need is compiled on the clock."""

import numpy as np

from fwsvm.kernels.columns import Columns, take_over
from fwsvm.solvers.active_face.face import Face
from fwsvm.solvers.active_face.lines import Lines
from fwsvm.solvers.active_face.square import Square
from fwsvm.solvers.warming import once

ROWS = 24


def compile_systems(columns: Columns) -> float:
    """Solve them, once in a process, for all precisions of columns and factors; return the seconds.

    The columns lend their types alone: the kernel values are those of the identity, which always has a factor.
    """
    return once(Face, lambda: _solve_two(columns))


def _solve_two(columns: Columns) -> None:
    numbers, y, ridge = np.arange(ROWS, dtype=np.int32), np.ones(ROWS), np.ones(ROWS)
    for dtype in (np.float32, np.float64):
        there = columns._replace(kept=np.eye(ROWS, dtype=dtype), slot_of=numbers, owner=numbers)
        lines, nothing = Lines(there, y, 1), np.zeros(ROWS)
        face = Face(lines, ridge)
        x, f = face.solve(np.arange(ROWS - 1), nothing, nothing, 1e-6)  # a factor
        face.solve(np.arange(1, ROWS), x, f, 1e-6)  # and a border: a row more, and one less
        Square(lines, np.arange(ROWS), ridge, np.dtype(np.float64))
        nobody = np.full(ROWS, -1, np.int32)
        some = columns._replace(kept=np.empty((ROWS, ROWS), np.float32), slot_of=nobody, owner=nobody.copy(),
                                counts=np.zeros(3, np.int64))  # fmt: skip
        take_over(some, there, np.arange(ROWS))
