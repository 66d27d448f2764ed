"""All rows of a run in chunks, in memory."""

from functools import partial
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import column_cache
from fwsvm.kernels.rows import Rows, as_rows, in_precision, some_rows
from fwsvm.kernels.sums import value_rounding, weighted_sums
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import gradient, simplex_qp
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.iterate import sorted_by_class
from fwsvm.solvers.memory import for_columns
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.tuning import FIRST_CHUNK
from fwsvm.solvers.warm_up import layouts, once, tiny_problem


class RowsInMemory:
    """An `AllRows` in memory."""

    first_share = FIRST_CHUNK

    def __init__(self, problem: Binary, settings: Resolved, columns: SharedColumns) -> None:
        self.order, self.rows = sorted_by_class(problem)
        self.y, self.penalties = problem.y[self.order], problem.penalties[self.order]
        self.plus, self.threads = int(np.count_nonzero(problem.y > 0)), settings.threads
        # a later chunk may be all rows
        for_columns(settings, len(self.y), np.float32, held=columns.held)
        self.qp = simplex_qp(column_cache(settings.kernel, self.rows, 0), self.plus, self.penalties)
        self.ridge, self.diagonal = self.qp.ridge, self.qp.diagonal
        self.value_rounding = value_rounding(settings.kernel, self.rows)
        self.compile_seconds = compile_looks(settings.kernel, self.rows)

    def chunk(self, numbers: np.ndarray) -> Rows:
        """Return some rows, ascending."""
        return self.rows if len(numbers) == len(self.y) else some_rows(self.rows, numbers)

    def gradient(self, alpha: np.ndarray, dtype: type) -> np.ndarray:
        """Return q = K~ alpha (m,) from scratch, in a precision."""
        return gradient(self.qp, in_precision(self.rows, dtype), alpha, self.threads)


def compile_looks(kernel: Any, X: Rows) -> float:
    """Compile what looks at rows laid out as X need, in both precisions; return the seconds."""

    def work(gaps: int) -> None:
        rows = as_rows(tiny_problem(gaps).X)
        column_cache(kernel, rows, 0)
        rows = in_precision(rows, np.float32)
        weighted_sums(kernel, rows, np.arange(1), np.ones((1, 1)), rows)

    return sum(once(("looks", gaps, type(kernel)), partial(work, gaps)) for gaps in layouts(X))
