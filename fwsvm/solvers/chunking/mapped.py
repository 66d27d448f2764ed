"""All rows of a run in chunks, in a mapped file: a chunk is in memory, and a look at all rows passes over the file."""

import numpy as np

from fwsvm._mapped import picked
from fwsvm._memory import require
from fwsvm.kernels.rows import Rows, as_rows
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import gradients_of_mapped, self_values_of_mapped, value_rounding_of_mapped
from fwsvm.solvers.chunking.in_memory import compile_looks
from fwsvm.solvers.chunking.working_set import share_far
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.memory import Size, simplex, size_of
from fwsvm.solvers.resolve import Resolved


class MappedRows:
    """An `AllRows` that are mapped; vectors of m numbers are in memory, and the rows of a chunk."""

    def __init__(self, problem: Binary, settings: Resolved, columns: SharedColumns) -> None:
        self.X, self.settings, self.columns = problem.X, settings, columns
        self.size: Size = size_of(self.X)._replace(mapped=False)  # as of chunks, which are in memory
        self.order = np.argsort(-problem.y, kind="stable")
        self.plus = int(np.count_nonzero(problem.y > 0))
        self.y, self.penalties = problem.y[self.order], problem.penalties[self.order]
        self.ridge = 1.0 / self.penalties
        self.diagonal = self_values_of_mapped(settings.kernel, self.X)[self.order] + 1.0 + self.ridge
        self.value_rounding = value_rounding_of_mapped(settings.kernel, self.X)
        self.first_share = share_far(len(self.y))
        self.compile_seconds = compile_looks(settings.kernel, as_rows(picked(self.X, self.order[:1])))

    def chunk(self, numbers: np.ndarray) -> Rows:
        """Return some rows, ascending; `UsageError` where they do not fit in memory."""
        count, m = len(numbers), len(self.y)
        require(
            simplex(self.size.part(count), self.settings),
            f"a chunk of {count:,} of the {m:,} rows, those that may be support vectors,",
            "take a smaller C or a wider kernel, which leave fewer support vectors, or use scs, which samples",
            held=self.columns.nbytes,
        )
        return as_rows(picked(self.X, self.order[numbers]))

    def gradient(self, alpha: np.ndarray, dtype: type) -> np.ndarray:
        """Return q = K~ alpha (m,) from scratch, in a precision."""
        weights, y, ridge = np.zeros(len(alpha)), np.empty(len(alpha)), np.empty(len(alpha))
        weights[self.order], y[self.order], ridge[self.order] = alpha, self.y, self.ridge
        one = self.settings.kernel, self.X, y, weights[:, None], ridge[:, None], self.settings.threads
        return gradients_of_mapped(*one, dtype)[self.order, 0]
