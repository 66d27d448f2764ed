"""A run in chunks on one two-class problem: runs of the inner method, and between two of them a look at all rows."""

from dataclasses import replace
from typing import Protocol

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm.kernels.rows import Rows
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import certificate
from fwsvm.solvers.chunking.in_memory import RowsInMemory
from fwsvm.solvers.chunking.mapped import MappedRows
from fwsvm.solvers.chunking.rounds import Rounds
from fwsvm.solvers.chunking.working_set import first_chunk, select_rows
from fwsvm.solvers.column_store import ColumnStore, SharedColumns
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate
from fwsvm.solvers.frank_wolfe.warm_start import SimplexStart
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.warm_start import WarmStart


def fits(support: int, rows: int, resolved: Resolved) -> bool:
    """Whether the kernel columns of so many support vectors, over so many rows, fit in the cache."""
    return 4 * support * rows <= resolved.cache_bytes


class AllRows(Protocol):
    """All rows of a two-class problem, those of the class +1 first, wherever they are.

    Attributes
    ----------
    order : ndarray of int, shape (m,), their numbers in the problem
    plus : int, rows of the class +1
    y, penalties, ridge, diagonal : ndarrays of float64, shape (m,), with 1 / C_i and K~_ii
    value_rounding : float, what kernel values are off by (`fwsvm.kernels.sums.value_rounding`)
    first_share : float, the part of each class in the first chunk
    compile_seconds : float
    """

    order: np.ndarray
    plus: int
    y: np.ndarray
    penalties: np.ndarray
    ridge: np.ndarray
    diagonal: np.ndarray
    value_rounding: float
    first_share: float
    compile_seconds: float

    def chunk(self, numbers: np.ndarray) -> Rows:
        """Return some rows, ascending."""

    def gradient(self, alpha: np.ndarray, dtype: type) -> np.ndarray:
        """Return q = K~ alpha (m,) from scratch, in a precision."""


class ChunkRun(Rounds):
    """A `Solver` on rows in memory or in a mapped file.

    Rows have the class +1 first, as the inner runs have theirs: a chunk in ascending order is in theirs, too.
    """

    passes_gradient = True

    def __init__(
        self, problem: Binary, settings: Resolved, warm_start: WarmStart | None = None,
        columns: SharedColumns | None = None, many: Resolved | None = None,
    ) -> None:  # fmt: skip
        self.many, self.matter = (
            many,
            0,
        )  # settings for all rows where columns of those that matter do not fit
        self.of_path: SharedColumns | None = None  # for all rows; each chunk is of other rows
        if columns is None or columns.keeps_values:
            self.of_path, columns = columns, ColumnStore(keeps_values=False).of(0)
        rows: AllRows = (MappedRows if is_mapped(problem.X) else RowsInMemory)(problem, settings, columns)
        super().__init__(settings, float(rows.diagonal.max()), Counters(compile_seconds=rows.compile_seconds))
        self.rows, self.stream, self.m = rows, problem.stream, len(rows.y)
        self.alpha, self.columns = np.zeros(self.m), columns
        if warm_start is None:
            random = np.random.default_rng(self.stream)
            self._start(first_chunk(rows.plus, self.m, random, rows.first_share))
        else:  # of a run with another penalty
            self.alpha = warm_start.weights[rows.order]
            self._start(self._next_chunk(self._survey(np.float32)))

    def _start(self, chunk: np.ndarray) -> None:
        self.chunk = chunk
        settings, rows = self._of_chunk(), self.rows
        if self.many is not None and self._is_whole and not fits(self.matter, self.m, self.many):
            settings = self.many
        problem = Binary(rows.chunk(chunk), rows.y[chunk], rows.penalties[chunk], self.stream)
        warm_start: WarmStart | None = None
        if self.exact:
            warm_start = SimplexStart(self.alpha[chunk], settings.kernel, self.q[chunk], rows.ridge[chunk])
        elif self.alpha.any():
            warm_start = WarmStart(self.alpha[chunk])
        columns = self.of_path if self.of_path is not None and self._is_whole else self.columns
        self.inner = settings.family.start(problem, settings.rule, settings, warm_start, columns)

    def _again(self) -> None:
        self._start(self.chunk)

    @property
    def _is_whole(self) -> bool:
        return len(self.chunk) == self.m

    def _end(self) -> SimplexIterate:
        last, before = self.iterate(), self.counters
        self.alpha, self.last, self.before = last.alpha[self.rows.order], last, before
        self.found = self.outcome = self.inner = None
        return last

    def _survey(self, dtype: type = np.float64) -> np.ndarray:
        """Find the certificate of alpha, and return q (m,)."""
        q = self.rows.gradient(self.alpha, dtype)
        self.found = certificate(self.rows.ridge, self.rows.diagonal, self.alpha, q, self.rows.value_rounding)
        self.q = q
        evaluations = self.before.kernel_evaluations + len(q) * int(np.count_nonzero(self.alpha))
        self.before = self.before._replace(kernel_evaluations=evaluations)
        return q

    def _excess_outside(self, q: np.ndarray) -> float:
        R = float(self.alpha @ q)
        return 2.0 * (R - float(np.delete(q, self.chunk).min())) - self._goal(R)

    def _next_chunk(self, q: np.ndarray) -> np.ndarray:
        """Return the next chunk, after a survey that returned q."""
        R = float(self.alpha @ q)
        f = (q - self.rows.ridge * self.alpha) / R
        self.matter = int(np.count_nonzero((self.alpha > 0.0) | (f < 1.0)))
        return select_rows(f, self.alpha, self.rows.plus)

    def _whole_chunk(self) -> np.ndarray:
        return np.arange(self.m)

    def iterate(self) -> SimplexIterate:
        """Return alpha over all rows, R and the support size, and the gap over all rows when they were last seen."""
        if self.inner is None:
            assert self.last is not None  # noqa: S101  (an inner run has ended)
            gap = self.last.gap if self.found is None else self.found.gap
            return replace(self.last, gap=gap, outcome=self.outcome)
        here, alpha = self.inner.iterate(), np.zeros(self.m)
        assert isinstance(here, SimplexIterate)  # noqa: S101  (of a method on the simplex)
        alpha[self.rows.order[self.chunk]] = here.alpha
        gap = here.gap if self._is_whole else self.found.gap if self.found is not None else np.nan
        return replace(
            here, iterations=self.before.iterations + here.iterations, gap=gap, alpha=alpha,
            outcome=here.outcome if self._is_whole else None, warm_start=WarmStart(alpha),
        )  # fmt: skip
