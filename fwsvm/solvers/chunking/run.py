"""A run in chunks on one two-class problem: runs of the inner method, and between two of them a look at all rows."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import column_cache
from fwsvm.kernels.rows import Rows, as_rows, in_precision, some_rows
from fwsvm.kernels.sums import weighted_sums
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import SimplexCertificate, certificate, gradient, simplex_qp
from fwsvm.solvers.chunking.working_set import drawn, select_rows
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate, by_class, outcome_of
from fwsvm.solvers.frank_wolfe.stopping import largest_gap
from fwsvm.solvers.memory import for_columns
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome, Solver
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.solvers.warm_up import layouts, once, tiny_problem
from fwsvm.status import Status

ROUNDING = 4e-6  # of the largest K~_ii: what single precision may add to a gap, for alpha sums to 1


class ChunkRun:
    """A `Solver`: the present chunk and the inner run on it, or alpha alone between two of them.

    Rows are kept with the class +1 first, as the inner runs keep theirs: a chunk in ascending order is in theirs, too.
    """

    def __init__(self, problem: Binary, settings: Resolved, warm_start: WarmStart | None = None) -> None:
        self.settings, self.stream = replace(settings, deferred=False), problem.stream
        self.order, self.rows = by_class(problem)
        plus = int(np.count_nonzero(problem.y > 0))
        self.y, self.penalties = problem.y[self.order], problem.penalties[self.order]
        for_columns(settings, len(self.y), np.float32)  # a later chunk may be all rows
        self.qp = simplex_qp(column_cache(settings.kernel, self.rows, 0), plus, self.penalties)
        self.widest = float(self.qp.diagonal.max())
        self.alpha = np.zeros(len(self.y))
        self.found: SimplexCertificate | None = None  # of alpha, over all rows
        self.lowest = np.inf  # R where all rows were looked at last
        self.last: SimplexIterate | None = None  # what the last inner run ended at, over all rows
        self.outcome: Outcome | None = None  # of alpha, where an inner run ended at it
        self.before = Counters(
            compile_seconds=_compile(settings.kernel, self.rows)
        )  # what all before the present one did
        self.inner: Solver | None = None
        if warm_start is None:
            self._start(drawn(plus, len(self.y), np.random.default_rng(self.stream)))
        else:  # of a run with another penalty
            self.alpha = warm_start.weights[self.order]
            self._start(self._matters(self._survey(np.float32)))

    def _start(self, chunk: np.ndarray) -> None:
        """Let the inner method begin on a chunk, at alpha if there is one."""
        self.chunk, settings = chunk, self.settings
        if settings.stop == "meb" and self.found is not None:
            # the rule speaks of the largest K~_ii of all rows
            settings = replace(settings, stop="gap", tolerance=self._goal(self.found.objective))
        X = self.rows if self._is_whole else some_rows(self.rows, chunk)
        problem = Binary(X, self.y[chunk], self.penalties[chunk], self.stream)
        warm_start = WarmStart(self.alpha[chunk]) if self.alpha.any() else None
        self.inner = settings.family.start(problem, settings.rule, settings, warm_start)

    @property
    def _is_whole(self) -> bool:
        return len(self.chunk) == len(self.y)

    def _end(self) -> SimplexIterate:
        """Take over what the inner run found, and let go of its memory."""
        last, before = self.iterate(), self.counters
        self.alpha, self.last, self.before = last.alpha[self.order], last, before
        self.found = self.outcome = self.inner = None
        return last

    def _survey(self, dtype: type = np.float64) -> np.ndarray:
        """Look at all rows at alpha: find its certificate, which is one in float64 only, and return q (m,)."""
        q = gradient(self.qp, in_precision(self.rows, dtype), self.alpha, self.settings.threads)
        self.found = certificate(self.qp.ridge, self.qp.diagonal, self.alpha, q)
        return q

    def _outside(self, q: np.ndarray) -> float:
        """Return by how much the gap of rows outside the chunk is above the goal."""
        R = float(self.alpha @ q)
        return 2.0 * (R - float(np.delete(q, self.chunk).min())) - self._goal(R)

    def _matters(self, q: np.ndarray) -> np.ndarray:
        """Return the next chunk, after a survey."""
        evaluations = self.before.kernel_evaluations + len(q) * int(np.count_nonzero(self.alpha))
        self.before = self.before._replace(kernel_evaluations=evaluations)
        R = float(self.alpha @ q)
        return select_rows((q - self.qp.ridge * self.alpha) / R, self.alpha, self.qp.plus)

    def _goal(self, R: float) -> float:
        return largest_gap(self.settings.stop, self.settings.tolerance, self.widest, R)

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` of the inner method's steps."""
        assert self.inner is not None  # noqa: S101  (but while `check_stop` is at work)
        return self.inner.advance(steps)

    def help(self, me: int) -> None:
        """Help the inner method."""
        if (inner := self.inner) is not None:
            inner.help(me)

    def check_stop(self) -> Status | None:
        """Ask the inner run; where it has ended look at all rows, and end or begin on the next chunk."""
        assert self.inner is not None  # noqa: S101  (as in `advance`)
        ended = self.inner.check_stop()
        if ended is None or self._is_whole:
            return ended
        last = self._end()
        q = self._survey(np.float32)  # enough where it is sure that the run goes on
        if self._outside(q) <= ROUNDING * self.widest:
            q = self._survey()
            assert self.found is not None  # noqa: S101  (by the survey)
            outcome = outcome_of(self.found, self.settings, self.widest)
            if outcome.within and not self.settings.final_gap:
                return Status.SAMPLED_STOP
            self.outcome = outcome
            if outcome.within:
                return Status.CONVERGED
            if self._outside(q) <= 0.0:
                return Status.STALLED  # no other row would help: it is the inner method that can do no better
        falls, self.lowest = self.lowest > last.objective, last.objective
        # R falls from chunk to chunk, or rounding has the last word, which must not go round in circles
        self._start(self._matters(q) if falls else np.arange(len(q)))
        return None

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

    @property
    def counters(self) -> Counters:
        """What was done so far, on all chunks, and between them."""
        return self.before if self.inner is None else self.before.plus(self.inner.counters)


def _compile(kernel: Any, X: Rows) -> float:
    """Compile what looks at rows laid out as X need, in both precisions; return the seconds."""

    def work(gaps: int) -> None:
        rows = as_rows(tiny_problem(gaps).X)
        column_cache(kernel, rows, 0)
        rows = in_precision(rows, np.float32)
        weighted_sums(kernel, rows, np.arange(1), np.ones((1, 1)), rows)

    return sum(once(("looks", gaps, type(kernel)), partial(work, gaps)) for gaps in layouts(X))
