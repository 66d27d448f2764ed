"""A warm-started run along C on a working set: first on the rows near the margin, then on all rows.

Most rows stay far beyond their margin as C changes, and scans over them are most of the cost of swap-2o's steps. The
run before tells which rows are near the margin; an inner run solves the problem over this working set; then q at the
other rows is updated once, from the kernel columns of the weights that changed, and the run goes on over all rows,
mostly without a further step. Rows, kernel values and factors of the inner runs serve for one C after another.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import copy_columns
from fwsvm.kernels.rows import in_precision, some_rows
from fwsvm.problems.binary import Binary
from fwsvm.solvers.chunking.working_set import select_rows
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate
from fwsvm.solvers.newton.run import NewtonRun
from fwsvm.solvers.newton.warm_start import NewtonStart, WorkingSet
from fwsvm.solvers.solver import Counters, Solver
from fwsvm.solvers.tuning import LARGEST_WORKING_SET, SMALLER_WORKING_SET, WORKING_SET_FROM
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status

ROOM = 18  # bytes for two rows at most: columns, factor and border of all that are near


def start_on_working_set(
    whole: NewtonRun, rule: Any, warm_start: WarmStart | None, columns: SharedColumns
) -> Solver:
    """Return a run that begins on the rows near to where the run before ended, or the whole run where it has to."""
    if (
        not isinstance(warm_start, NewtonStart)
        or warm_start.kernel != whole.resolved.kernel
        or len(whole.y) < WORKING_SET_FROM
    ):
        columns.of_working_set.drop()
        return whole
    which, before = _matters(whole), warm_start.working_set
    if before is not None and _will_do(before, whole, len(which)):
        return WorkingSetRun(whole, rule, before, columns.of_working_set)
    columns.of_working_set.drop()
    room = whole.resolved.cache_bytes - columns.nbytes
    if len(which) > LARGEST_WORKING_SET * len(whole.y) or ROOM * len(which) ** 2 > room:
        return whole
    near = _working_set(whole, which, columns.of_working_set)
    return WorkingSetRun(whole, rule, near, columns.of_working_set)


def _matters(whole: NewtonRun) -> np.ndarray:
    """Return the rows with weight, and those nearest to having some; all rows where R is lost in rounding."""
    s = whole.simplex.state
    R = float(s.now["R"][0])
    if not R > 0.0:
        return np.arange(len(s.alpha))
    return select_rows((s.q - whole.ridge * s.alpha) / R, s.alpha, s.plus)


def _will_do(near: WorkingSet, whole: NewtonRun, wanted: int) -> bool:
    """Whether all weight is on these rows, and not many fewer would do."""
    outside = whole.simplex.state.alpha > 0.0
    outside[near.which] = False
    return not outside.any() and wanted > SMALLER_WORKING_SET * len(near.which)


def _working_set(whole: NewtonRun, which: np.ndarray, columns: SharedColumns) -> WorkingSet:
    """Return a working set whose first inner run begins at the point of the whole run, with its kernel values."""
    resolved, rows, s = whole.resolved, some_rows(whole.simplex.storage.rows, which), whole.simplex.state
    single = in_precision(rows, np.float32)
    cache = columns.cache(resolved.kernel, single, resolved.cache_bytes, resolved.threads)
    copy_columns(cache, whole.simplex.qp.columns, which)
    start = NewtonStart(s.alpha[which], resolved.kernel, s.q[which], whole.ridge[which], whole.after_newton)
    return WorkingSet(which, rows, start)


class WorkingSetRun:
    """A `Solver`: the inner run, and then the whole one."""

    def __init__(self, whole: NewtonRun, rule: Any, near: WorkingSet, columns: SharedColumns) -> None:
        self.whole, self.near, self.columns = whole, near, columns
        alpha, start = whole.simplex.state.alpha[near.which], near.start
        if not np.array_equal(start.weights, alpha):
            start = WarmStart(alpha)
        simplex = whole.simplex
        problem = Binary(near.rows, whole.y[near.which], 1.0 / whole.ridge[near.which], simplex.stream)
        resolved = replace(whole.resolved, deferred=True)
        self.before = Counters()  # of the inner run, once it has ended
        self.inner: NewtonRun | None = NewtonRun(problem, rule, resolved, start, columns)

    @property
    def _present(self) -> NewtonRun:
        return self.inner or self.whole

    def _widen(self, inner: NewtonRun) -> None:
        """Have the whole run stand where the inner one ended: q at the other rows follows from the weights' change."""
        whole, s, end = self.whole, self.whole.simplex.state, inner.iterate()
        assert end.warm_start is not None  # noqa: S101  (every iterate on the simplex has one)
        budget = whole.resolved.cache_bytes
        start = end.warm_start.within(lambda nbytes: self.columns.reserve(nbytes, budget))
        self.near = self.near._replace(start=start)
        alpha = self._everywhere(end.alpha)
        change = alpha - s.alpha
        q = s.q + whole.ridge * change + whole.system.lines.product_anywhere(change)
        whole.simplex.stand_at(alpha, q)
        self.before, self.inner = inner.counters, None

    def _everywhere(self, alpha: np.ndarray) -> np.ndarray:
        """Return weights (m,) that are those of the working set, and zero at the other rows."""
        out = np.zeros(len(self.whole.y))
        out[self.near.which] = alpha
        return out

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` steps of the present run."""
        return self._present.advance(steps)

    def help(self, me: int) -> None:
        """Help the present run."""
        self._present.help(me)

    def check_stop(self) -> Status | None:
        """Ask the present run; the end of the inner one is not that of the whole."""
        ended, inner = self._present.check_stop(), self.inner
        if ended is None or inner is None:
            return ended
        self._widen(inner)
        return None

    def iterate(self) -> SimplexIterate:
        """Return where the run stands; the gap over all rows is not known as long as the inner run goes on."""
        if self.inner is None:
            here = self.whole.iterate()
            assert isinstance(here.warm_start, NewtonStart)  # noqa: S101  (a Newton run's)
            return replace(
                here,
                iterations=here.iterations + self.before.iterations,
                warm_start=replace(here.warm_start, working_set=self.near),
            )
        here = self.inner.iterate()
        alpha = self.whole.simplex.in_order(self._everywhere(here.alpha))
        return replace(here, gap=np.nan, outcome=None, alpha=alpha, warm_start=WarmStart(alpha))

    @property
    def counters(self) -> Counters:
        """What both runs did so far."""
        return self.whole.counters.plus(self.before if self.inner is None else self.inner.counters)
