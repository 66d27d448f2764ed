"""chunking: solve on a chunk of the rows, look at all of them, take the next chunk (ours; none of the papers' methods).

A row that is no support vector of the solution could as well not be there, and one that lies far outside the margin,
f_t = y_t (<w, phi(x_t)> + b) well above 1, will hardly become one. Vapnik (1982) and Osuna, Freund & Girosi (1997,
"Support vector machines: training and applications") solve on a part of the rows, look at the others with the machine
found, and exchange rows that cannot matter for rows that violate their condition; SVM-light and LIBSVM set rows aside
on the way (shrinking). Here:

1. Solve on an eighth of the rows, drawn at random class by class, to the goal by the q = K~ alpha that the run keeps.
2. Compute q at the rows outside the chunk from scratch in single precision. Where no row surely keeps the gap
   2 (R - min q) above the goal, compute it in double at all rows: first in the chunk, where the run may have to go on.
   If the gap is within the goal, that was the certificate: done.
3. The rows that matter are the support vectors of alpha and those with f_t < 1. Take half as many again, those of least
   f, as the next chunk; take all rows where that is more than half of them.
4. Solve on the chunk to the goal, from alpha; go to 2 (unless the chunk was all rows: done).

alpha, with zeros for rows outside the chunk, is feasible for the whole problem and has the same R there. A chunk holds
the support of alpha and the row of least q: where 2 does not end the run there is a way down from alpha on the next
chunk, and as in Osuna's proof no chunk comes back. Should rounding, or a gap that the inner run left, keep R from
falling all the same, the next chunk is all rows. Objective and gap reported are those of the whole problem.

It pays where support vectors are few among many rows: a step passes over the chunk, not over all rows, and kernel
columns are as short. Where they are many, what the first chunk cost, a few per cent, buys a starting point.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm.errors import UsageError, not_one_of
from fwsvm.kernels.column_cache import ColumnStore
from fwsvm.problems.binary import Binary
from fwsvm.solvers.frank_wolfe.iterate import AllRows, SimplexIterate, on_simplex
from fwsvm.solvers.frank_wolfe.state import SimplexStart
from fwsvm.solvers.registry import FAMILIES, METHODS, register
from fwsvm.solvers.resolve import Resolved, with_method
from fwsvm.solvers.solver import Counters, Outcome, Solver, WarmStart
from fwsvm.solvers.tuning import (
    CHUNK_SPARE,
    FIRST_CHUNK,
    LARGEST_CHUNK,
    MOST_FIRST_ROWS,
    SMALL_CLASS,
)
from fwsvm.status import Status


@register(
    "chunking",
    family="chunking",
    paper="ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q) over all rows, recomputed from scratch after each chunk",
)
class Chunking(NamedTuple):
    """Solve on a few of the rows, then on those that matter, until no other row matters. For few support vectors.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap, over all rows.

    Parameters
    ----------
    inner : the method that solves on a chunk, any other one of the simplex; its parameters have their defaults
    fewest : rows of the smallest two-class problem that is not solved in one piece
    """

    inner: str = "swap-2o"
    fewest: int = 4096

    def check(self) -> None:
        """Refuse an inner method that does not solve this problem, and a negative number, with `UsageError`."""
        problem = FAMILIES["chunking"].problem
        known = [
            name
            for name, method in METHODS.items()
            if method.family not in {"chunking", "auto"} and FAMILIES[method.family].problem == problem
        ]
        if self.inner not in known:
            raise UsageError(not_one_of("inner of chunking", sorted(known), self.inner))
        if self.fewest < 0:
            raise UsageError(f"fewest of chunking must be 0 or more, not {self.fewest}")


SINGLE_ROUNDING = 4e-6  # of the largest K~_ii: what single precision may add to a gap, for alpha sums to 1


def fits(support: int, rows: int, resolved: Resolved) -> bool:
    """Whether the kernel columns of so many support vectors, over so many rows, fit in the cache."""
    return 4 * support * rows <= resolved.cache_bytes


class ChunkRun:
    """A `Solver`: the present chunk and the inner run on it, or alpha alone between two of them.

    Parameters
    ----------
    problem : Binary, whose X may be a `RowSource`
    settings : Resolved, of the inner method
    warm_start : WarmStart, optional
    columns : ColumnStore, optional
    many : Resolved, optional
        Settings for all rows where the columns of those that matter do not fit in the cache.

    Attributes
    ----------
    lowest : float, R at the look before
    below : float, a number that the optimum is not below, by the looks so far
    end : SimplexIterate, what the last inner run ended at
    before : Counters, what all before the present inner run did
    is_alone : bool, whether by single precision no row outside the chunk violates the goal
    """

    def __init__(
        self,
        problem: Binary,
        settings: Resolved,
        warm_start: WarmStart | None,
        columns: ColumnStore | None,
        many: Resolved | None = None,
    ) -> None:
        self.settings, self.many, self.problem = settings, many, problem
        self.matter = 0  # rows that matter by the last look
        self.columns = columns  # for all rows; each chunk is of other rows
        self.all_rows = AllRows(problem, settings)
        self.source, self.m, self.y = self.all_rows.source, len(problem.y), problem.y
        self.before = Counters()
        self.inner: Any = None
        self.lowest = np.inf
        self.below = 0.0
        self.alpha = np.zeros(self.m)
        if warm_start is None:
            share = min(FIRST_CHUNK, MOST_FIRST_ROWS / self.m)
            self._start(first_chunk(self.y, np.random.default_rng(problem.stream), share))
        else:  # of a run with another penalty
            self.alpha = warm_start.weights
            self._start(self._next_chunk(self._look(np.float32)[0]))

    # ---------------------------------------------------------------- chunks

    @property
    def _is_whole(self) -> bool:
        return len(self.chunk) == self.m

    def _start(self, chunk: np.ndarray) -> None:
        """Let the inner method begin on a chunk, at alpha if there is one."""
        self.chunk = chunk = chunk[np.argsort(-self.y[chunk], kind="stable")]  # in the order of the inner run
        settings = self.settings
        if self.many is not None and self._is_whole and not fits(self.matter, self.m, self.many):
            settings = self.many
        settings = replace(settings, deferred=not self._is_whole)
        self.is_alone = False
        problem = Binary(
            self.source.take(chunk), self.y[chunk], self.problem.penalties[chunk], self.problem.stream
        )
        warm_start = WarmStart(self.alpha[chunk]) if self.alpha.any() else None
        columns = self.columns if self._is_whole else None
        self.inner = settings.family.start(problem, settings.rule, settings, warm_start, columns)

    def _next_chunk(self, q: np.ndarray) -> np.ndarray:
        """Return the next chunk, after a look that returned q."""
        f = (q - self.all_rows.ridge * self.alpha) / (self.alpha @ q)
        self.matter = int(np.count_nonzero((self.alpha > 0.0) | (f < 1.0)))
        return select_rows(f, self.alpha, self.y)

    # ---------------------------------------------------------------- looks at other rows

    def _look(self, dtype: type) -> tuple[np.ndarray, Outcome]:
        """Return q (m,), from scratch where the inner run does not hold it, and what alpha is worth by it."""
        q = np.empty(self.m)
        rows = np.arange(self.m)
        start = self.inner and self.inner.iterate().warm_start
        if isinstance(start, SimplexStart):
            q[self.chunk] = start.gradient
            rows = np.delete(rows, self.chunk)
        q[rows] = self.all_rows.gradient(self.alpha, dtype, rows)
        found = self.all_rows.outcome(self.alpha, q)
        self.below = max(self.below, found.objective - found.gap)
        evaluations = len(rows) * int(np.count_nonzero(self.alpha))
        self.before = self.before.plus(Counters(kernel_evaluations=evaluations))
        return q, found

    def _excess_outside(self, q: np.ndarray) -> float:
        """Return by how much the gap of rows outside the chunk is above the goal."""
        R = self.alpha @ q
        return 2.0 * (R - np.delete(q, self.chunk).min()) - self.all_rows.goal(R)

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` of the inner method's steps."""
        return self.inner.advance(steps)

    def check_stop(self) -> Status | None:
        """Ask the inner run; where it has ended look at other rows, and end or begin on the next chunk."""
        ended = self.inner.check_stop()
        if ended is None or self._is_whole:
            return ended
        self.end = self.iterate()
        self.alpha = self.end.alpha
        if not self.is_alone:
            q, _ = self._look(np.float32)
            self.is_alone = self._excess_outside(q) <= SINGLE_ROUNDING * self.all_rows.widest
            if self.is_alone and ended is Status.CONVERGED and self.inner.iterate().outcome is None:
                self.inner.confirm()
                return None
        if self.is_alone:
            q, outcome = self._look(np.float64)
            if outcome.within and not self.settings.final_gap:
                return Status.SAMPLED_STOP
            if outcome.within or self._excess_outside(q) <= 0.0:  # no other row would help
                self.end = replace(self.end, gap=outcome.gap, outcome=outcome)
                self.before = self.counters
                self.inner = None
                return Status.CONVERGED if outcome.within else Status.STALLED
        self.before = self.counters
        self.inner = None
        falls = self.lowest > self.end.objective
        self.lowest = self.end.objective
        # R falls from chunk to chunk, or rounding has the last word, which must not go round in circles
        self._start(self._next_chunk(q) if falls else np.arange(self.m))
        return None

    def iterate(self) -> SimplexIterate:
        """Return alpha over all rows, R and the support size, and how far R is above what the optimum is not below."""
        if self.inner is None:
            return self.end
        here = self.inner.iterate()
        alpha = np.zeros(self.m)
        alpha[self.chunk] = here.alpha
        there = replace(
            here,
            iterations=self.before.iterations + here.iterations,
            alpha=alpha,
            warm_start=WarmStart(alpha),
        )
        return there if self._is_whole else replace(there, gap=here.objective - self.below, outcome=None)

    @property
    def counters(self) -> Counters:
        """What was done so far, on all chunks, and between them."""
        return self.before if self.inner is None else self.before.plus(self.inner.counters)


def first_chunk(y: np.ndarray, random: np.random.Generator, share: float) -> np.ndarray:
    """Return the rows of a first chunk, ascending: a share of each class."""
    chunk = []
    for rows in (np.flatnonzero(y > 0), np.flatnonzero(y < 0)):
        size = max(min(len(rows), SMALL_CLASS), int(share * len(rows)))
        chunk.append(random.choice(rows, size, replace=False))
    return np.sort(np.concatenate(chunk))


def select_rows(f: np.ndarray, alpha: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the rows of the next chunk, ascending, or all rows.

    Parameters
    ----------
    f : ndarray, shape (m,), y_t times the decision value: rows below 1 matter
    alpha : ndarray, shape (m,); so do those with weight
    y : ndarray, shape (m,), the classes 1 and -1, of each of which there is one row at least
    """
    wanted = int(CHUNK_SPARE * np.count_nonzero((alpha > 0.0) | (f < 1.0))) + 2
    if wanted > LARGEST_CHUNK * len(f):
        return np.arange(len(f))
    order = np.where(alpha > 0.0, -np.inf, f)
    for sign in (1.0, -1.0):
        order[np.where(y == sign, order, np.inf).argmin()] = -np.inf
    return np.sort(np.argpartition(order, wanted - 1)[:wanted])


def _start(
    problem: Binary,
    rule: Any,
    resolved: Resolved,
    warm_start: WarmStart | None,
    columns: ColumnStore | None,
) -> Solver:
    rule.check()
    settings = with_method(resolved, rule.inner)
    if len(problem.y) < rule.fewest and not is_mapped(problem.X):
        return settings.family.start(problem, settings.rule, settings, warm_start, columns)
    return ChunkRun(problem, settings, warm_start, columns)


FAMILIES["chunking"] = on_simplex("chunking", _start)
