"""A run in chunks on one two-class problem: runs of the inner method, and between two of them a look at all rows."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import column_cache
from fwsvm.kernels.rows import Rows, as_rows, in_precision, some_rows
from fwsvm.kernels.sums import weighted_sums
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import certificate, gradient, simplex_qp
from fwsvm.solvers.chunking.rounds import Rounds
from fwsvm.solvers.chunking.working_set import drawn, select_rows
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate, by_class
from fwsvm.solvers.memory import for_columns
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.solvers.warm_up import layouts, once, tiny_problem


class ChunkRun(Rounds):
    """A `Solver` on rows in memory.

    Rows are kept with the class +1 first, as the inner runs keep theirs: a chunk in ascending order is in theirs, too.
    """

    def __init__(self, problem: Binary, settings: Resolved, warm_start: WarmStart | None = None) -> None:
        self.stream = problem.stream
        self.order, self.rows = by_class(problem)
        plus = int(np.count_nonzero(problem.y > 0))
        self.y, self.penalties = problem.y[self.order], problem.penalties[self.order]
        for_columns(settings, len(self.y), np.float32)  # a later chunk may be all rows
        self.qp = simplex_qp(column_cache(settings.kernel, self.rows, 0), plus, self.penalties)
        before = Counters(compile_seconds=compile_looks(settings.kernel, self.rows))
        super().__init__(settings, float(self.qp.diagonal.max()), before)
        self.alpha = np.zeros(len(self.y))
        if warm_start is None:
            self._start(drawn(plus, len(self.y), np.random.default_rng(self.stream)))
        else:  # of a run with another penalty
            self.alpha = warm_start.weights[self.order]
            self._start(self._matters(self._survey(np.float32)))

    def _start(self, chunk: np.ndarray) -> None:
        self.chunk = chunk
        settings = self._of_chunk()
        problem = Binary(self._rows_of(chunk), self.y[chunk], self.penalties[chunk], self.stream)
        warm_start = WarmStart(self.alpha[chunk]) if self.alpha.any() else None
        self.inner = settings.family.start(problem, settings.rule, settings, warm_start)

    def _again(self) -> None:
        self._start(self.chunk)

    def _rows_of(self, chunk: np.ndarray) -> Rows:
        return self.rows if self._is_whole else some_rows(self.rows, chunk)

    @property
    def _is_whole(self) -> bool:
        return len(self.chunk) == len(self.y)

    def _end(self) -> SimplexIterate:
        last, before = self.iterate(), self.counters
        self.alpha, self.last, self.before = last.alpha[self.order], last, before
        self.found = self.outcome = self.inner = None
        return last

    def _survey(self, dtype: type = np.float64) -> np.ndarray:
        """Find the certificate of alpha, and return q (m,)."""
        q = gradient(self.qp, in_precision(self.rows, dtype), self.alpha, self.settings.threads)
        self.found = certificate(self.qp.ridge, self.qp.diagonal, self.alpha, q)
        return q

    def _outside(self, q: np.ndarray) -> float:
        R = float(self.alpha @ q)
        return 2.0 * (R - float(np.delete(q, self.chunk).min())) - self._goal(R)

    def _matters(self, q: np.ndarray) -> np.ndarray:
        """Return the next chunk, after a survey that returned q."""
        evaluations = self.before.kernel_evaluations + len(q) * int(np.count_nonzero(self.alpha))
        self.before = self.before._replace(kernel_evaluations=evaluations)
        R = float(self.alpha @ q)
        return select_rows((q - self.qp.ridge * self.alpha) / R, self.alpha, self.qp.plus)

    def _everything(self) -> np.ndarray:
        return np.arange(len(self.y))

    def iterate(self) -> SimplexIterate:
        """Return alpha over all rows, R and the support size, and the gap over all rows when they were last seen."""
        if self.inner is None:
            assert self.last is not None  # noqa: S101  (an inner run has ended)
            gap = self.last.gap if self.found is None else self.found.gap
            return replace(self.last, gap=gap, outcome=self.outcome)
        here, alpha = self.inner.iterate(), np.zeros(len(self.y))
        assert isinstance(here, SimplexIterate)  # noqa: S101  (of a method on the simplex)
        alpha[self.order[self.chunk]] = here.alpha
        gap = here.gap if self._is_whole else self.found.gap if self.found is not None else np.nan
        return replace(
            here, iterations=self.before.iterations + here.iterations, gap=gap, alpha=alpha,
            outcome=here.outcome if self._is_whole else None, warm_start=WarmStart(alpha),
        )  # fmt: skip


def compile_looks(kernel: Any, X: Rows) -> float:
    """Compile what looks at rows laid out as X need, in both precisions; return the seconds."""

    def work(gaps: int) -> None:
        rows = as_rows(tiny_problem(gaps).X)
        column_cache(kernel, rows, 0)
        rows = in_precision(rows, np.float32)
        weighted_sums(kernel, rows, np.arange(1), np.ones((1, 1)), rows)

    return sum(once(("looks", gaps, type(kernel)), partial(work, gaps)) for gaps in layouts(X))
