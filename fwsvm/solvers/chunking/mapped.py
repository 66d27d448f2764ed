"""A run in chunks on rows of a mapped file: a chunk is in memory, and a look at all rows passes over the file."""

import numpy as np

from fwsvm._mapped import picked
from fwsvm._memory import require
from fwsvm.kernels.rows import Rows, as_rows
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import SimplexQP, certificate, gradients_of_mapped, self_values_of_mapped
from fwsvm.solvers.chunking.rounds import Rounds
from fwsvm.solvers.chunking.run import ChunkRun, compile_looks
from fwsvm.solvers.chunking.working_set import drawn, share_far
from fwsvm.solvers.memory import Size, simplex, size_of
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.warm_start import WarmStart


class MappedRun(ChunkRun):
    """A `Solver`: all methods of the simplex on mapped rows, each solving on chunks of them.

    Vectors of m numbers are in memory, and the rows of a chunk: `UsageError` where a chunk does not fit.
    """

    def __init__(self, problem: Binary, settings: Resolved, warm_start: WarmStart | None = None) -> None:
        self.X, self.stream = problem.X, problem.stream
        self.size: Size = size_of(self.X)._replace(mapped=False)  # as of chunks, which are in memory
        self.order = np.argsort(-problem.y, kind="stable")
        plus = int(np.count_nonzero(problem.y > 0))
        self.y, self.penalties = problem.y[self.order], problem.penalties[self.order]
        ridge = 1.0 / self.penalties
        own = self_values_of_mapped(settings.kernel, self.X)
        self.qp = SimplexQP(None, plus, ridge, own[self.order] + 1.0 + ridge)  # type: ignore[arg-type]
        few = as_rows(picked(self.X, self.order[:1]))
        before = Counters(compile_seconds=compile_looks(settings.kernel, few))
        Rounds.__init__(self, settings, float(self.qp.diagonal.max()), before)
        self.alpha = np.zeros(len(self.y))
        if warm_start is None:
            m = len(self.y)
            self._start(drawn(plus, m, np.random.default_rng(self.stream), share_far(m)))
        else:
            self.alpha = warm_start.weights[self.order]
            self._start(self._matters(self._survey(np.float32)))

    def _rows_of(self, chunk: np.ndarray) -> Rows:
        count, m = len(chunk), len(self.y)
        require(
            simplex(self.size.part(count), self.settings),
            f"a chunk of {count:,} of the {m:,} rows, those that may be support vectors,",
            "take a smaller C or a wider kernel, which leave fewer support vectors, or use scs, which samples",
        )
        return as_rows(picked(self.X, self.order[chunk]))

    def _survey(self, dtype: type = np.float64) -> np.ndarray:
        """Find the certificate of alpha, and return q (m,)."""
        alpha, y = np.zeros(len(self.y)), np.empty(len(self.y))
        alpha[self.order], y[self.order] = self.alpha, self.y
        ridge = np.empty(len(self.y))
        ridge[self.order] = self.qp.ridge
        one = self.settings.kernel, self.X, y, alpha[:, None], ridge[:, None], self.settings.threads
        q = gradients_of_mapped(*one, dtype)[self.order, 0]
        self.found = certificate(self.qp.ridge, self.qp.diagonal, self.alpha, q)
        return q
