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
from fwsvm.solvers.chunking.working_set import select_rows
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.newton.run import NewtonRun
from fwsvm.solvers.newton.warm_start import NewtonStart, WorkingSet
from fwsvm.solvers.process import Binary, Counters, Expansion, Outcome, Point, Process
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status

WORTH = 4096  # rows: with fewer, scans cost less than setting a working set up
MOST = 1 / 3  # of the rows: a larger working set is not worth it
SHRUNK = 3 / 5  # of the rows set out with: as soon as fewer would do, fewer are taken
ROOM = 18  # bytes for two rows at most: columns, factor and border of all that are near


def start_on_working_set(
    whole: NewtonRun, rule: Any, warm_start: WarmStart | None, columns: SharedColumns
) -> Process:
    """Return a run that begins on the rows near to where the run before ended, or the whole run where it has to."""
    if not isinstance(warm_start, NewtonStart) or warm_start.kernel != whole.resolved.kernel:
        return whole
    if len(whole.y) < WORTH:
        return whole
    which, before = _matters(whole), warm_start.working_set
    if before is not None and _will_do(before, whole, len(which)):
        return WorkingSetRun(whole, rule, before, columns)
    columns.of_working_set.drop()
    room = whole.resolved.cache_bytes - columns.nbytes
    if len(which) > MOST * len(whole.y) or ROOM * len(which) ** 2 > room:
        return whole
    return WorkingSetRun(whole, rule, _working_set(whole, which, columns), columns)


def _matters(whole: NewtonRun) -> np.ndarray:
    """Return the rows with weight, and those nearest to having some; all rows where R is lost in rounding."""
    alpha, q, R = whole.state.alpha, whole.state.q, float(whole.state.now["R"][0])
    if not R > 0.0:
        return np.arange(len(alpha))
    return select_rows((q - whole.qp.ridge * alpha) / R, alpha, whole.qp.plus)


def _will_do(near: WorkingSet, whole: NewtonRun, wanted: int) -> bool:
    """Whether all weight is on these rows, and not many fewer would do."""
    outside = whole.state.alpha > 0.0
    outside[near.which] = False
    return not outside.any() and wanted > SHRUNK * len(near.which)


def _working_set(whole: NewtonRun, which: np.ndarray, columns: SharedColumns) -> WorkingSet:
    """Return a working set whose first inner run begins at the point of the whole run, with its kernel values."""
    resolved, rows, s = whole.resolved, some_rows(whole.rows, which), whole.state
    single = in_precision(rows, np.float32)
    cache = columns.of_working_set.cache(resolved.kernel, single, resolved.cache_bytes, resolved.threads)
    copy_columns(cache, whole.qp.columns, which)
    start = NewtonStart(
        s.alpha[which], resolved.kernel, s.q[which], whole.qp.ridge[which], whole.after_newton
    )
    return WorkingSet(which, rows, start)


class WorkingSetRun:
    """A `Process`: the inner run, and then the whole one."""

    def __init__(self, whole: NewtonRun, rule: Any, near: WorkingSet, columns: SharedColumns) -> None:
        self.whole, self.near = whole, near
        alpha, start = whole.state.alpha[near.which], near.start
        if not np.array_equal(start.weights, alpha):
            start = WarmStart(alpha)
        problem = Binary(near.rows, whole.y[near.which], 1.0 / whole.qp.ridge[near.which], whole.stream)
        resolved = replace(whole.resolved, deferred=True)
        self.before = Counters()  # of the inner run, once it has ended
        self.inner: NewtonRun | None = NewtonRun(problem, rule, resolved, start, columns.of_working_set)

    @property
    def _present(self) -> NewtonRun:
        return self.inner or self.whole

    def _widen(self) -> NewtonRun:
        """Have the whole run stand where the inner one does, and return it."""
        if (inner := self.inner) is not None:
            inner.outcome(final_gap=False)  # at its best point
            whole = self.whole
            alpha = np.zeros_like(whole.state.alpha)
            self.near = self.near._replace(start=inner.warm_start())
            alpha[self.near.which] = self.near.start.weights
            change = alpha - whole.state.alpha
            q = whole.state.q + whole.qp.ridge * change + whole.face.lines.product_anywhere(change)
            whole.stand_at(alpha, q)
            self.before, self.inner = inner.counters(), None
        return self.whole

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` steps of the present run."""
        return self._present.advance(steps)

    def help(self, me: int) -> None:
        """Help the present run."""
        self._present.help(me)

    def verdict(self) -> Status | None:
        """Ask the present run; the end of the inner one is not that of the whole."""
        ended = self._present.verdict()
        if ended is None or self.inner is None:
            return ended
        self._widen()
        return None

    def point(self) -> Point:
        """Return where the run stands; the gap is not known before all rows were looked at."""
        here, iterations = self._present.point(), self.before.iterations
        if self.inner is not None:
            return here._replace(gap=np.nan)
        return here._replace(iterations=here.iterations + iterations)

    def counters(self) -> Counters:
        """Return what both runs did so far."""
        inner = self.before if self.inner is None else self.inner.counters()
        return self.whole.counters().plus(inner)

    def outcome(self, *, final_gap: bool) -> Outcome:
        """Return the outcome of the whole run, which may end here."""
        return self._widen().outcome(final_gap=final_gap)

    def warm_start(self) -> NewtonStart:
        """Return what the next run starts from: the whole run's end, and the working set with the inner run's."""
        return replace(self._widen().warm_start(), working_set=self.near)

    def machine(self) -> Expansion:
        """Return the machine of the whole run."""
        return self._widen().machine()
