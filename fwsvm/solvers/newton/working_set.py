"""A warm-started run along C on a working set: first on the rows near the margin, then on all rows.

Most rows stay far beyond their margin as C changes, and scans over them are most of the cost of swap-2o's steps. The
run before tells which rows are near the margin; an inner run solves the problem over this working set; then q at the
other rows is updated once, from the kernel columns of the weights that changed, and the run goes on over all rows,
mostly without a further step. Rows, kernel values and factors of the inner runs serve for one C after another.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fwsvm._memory import MIB
from fwsvm.kernels.column_cache import copy_columns
from fwsvm.kernels.rows import Rows, in_precision, some_rows
from fwsvm.solvers.chunking.working_set import select_rows
from fwsvm.solvers.newton.end_state import EndState, leave
from fwsvm.solvers.newton.run import NewtonRun
from fwsvm.solvers.process import Binary, Counters, Expansion, Outcome, Point, Process
from fwsvm.solvers.warm_start import Handover
from fwsvm.status import Status

WORTH = 4096  # rows: with fewer, scans cost less than setting a working set up
MOST = 1 / 3  # of the rows: a larger working set is not worth it
SHRUNK = 3 / 5  # of the rows set out with: as soon as fewer would do, fewer are taken
ROOM = 18  # bytes for two rows at most: columns, factor and border of all that are near


class WorkingSet(NamedTuple):
    """The rows that matter, in ascending order, and their data."""

    which: np.ndarray
    rows: Rows


def start_on_working_set(whole: NewtonRun, rule: Any, handover: Handover) -> Process:
    """Return a run that begins on the rows near to where the run before ended, or the whole run where it has to."""
    if not whole.noted or len(whole.y) < WORTH or not whole.state.now["R"][0] > 0.0:
        return whole
    number, which = whole.stream[-1], _matters(whole)
    inner = handover.inner.pop(number, None)
    if inner is None or not _will_do(inner.notes[WorkingSet, number], whole, len(which)):
        inner = None  # its memory serves the next
        room = whole.resolved.cache_bytes - handover.column_bytes()
        if len(which) > MOST * len(whole.y) or ROOM * len(which) ** 2 > room:
            return whole
        inner = _lent(whole, WorkingSet(which, some_rows(whole.rows, which)))
    handover.inner[number] = inner
    room = whole.resolved.cache_bytes - handover.column_bytes()
    return WorkingSetRun(whole, rule, inner, room)


def _matters(whole: NewtonRun) -> np.ndarray:
    """Return the rows with weight, and those nearest to having some."""
    alpha, q, R = whole.state.alpha, whole.state.q, float(whole.state.now["R"][0])
    return select_rows((q - whole.qp.ridge * alpha) / R, alpha, whole.qp.plus)


def _will_do(near: WorkingSet, whole: NewtonRun, wanted: int) -> bool:
    """Whether all weight is on these rows, and not many fewer would do."""
    outside = whole.state.alpha > 0.0
    outside[near.which] = False
    return not outside.any() and wanted > SHRUNK * len(near.which)


def _lent(whole: NewtonRun, near: WorkingSet) -> Handover:
    """Return what the first inner run on these rows begins with: the point, and the kernel values at hand."""
    handover, resolved, number = Handover(unproven=True), whole.resolved, whole.stream[-1]
    columns = handover.columns(
        number,
        resolved.kernel,
        in_precision(near.rows, np.float32),
        4 * len(near.which) ** 2,
        resolved.threads,
    )
    copy_columns(columns, whole.qp.columns, near.which)
    s, ridge = whole.state, whole.qp.ridge[near.which]
    note = EndState(resolved.kernel, s.alpha[near.which], s.q[near.which], ridge, whole.after_newton, None)
    leave(handover, number, note, 0)
    handover.notes[WorkingSet, number] = near
    return handover


class WorkingSetRun:
    """A `Process`: the inner run, and then the whole one."""

    def __init__(self, whole: NewtonRun, rule: Any, handover: Handover, room_bytes: int) -> None:
        number = whole.stream[-1]
        near: WorkingSet = handover.notes[WorkingSet, number]
        self.whole, self.which = whole, near.which
        handover.leave(number, whole.state.alpha[near.which])
        problem = Binary(near.rows, whole.y[near.which], 1.0 / whole.qp.ridge[near.which], whole.stream)
        resolved = replace(whole.resolved, cache_mib=max(1, room_bytes // MIB))
        self.before = Counters()  # of the inner run, once it has ended
        self.inner: NewtonRun | None = NewtonRun(problem, rule, resolved, handover)

    @property
    def _present(self) -> NewtonRun:
        return self.inner or self.whole

    def _widen(self) -> NewtonRun:
        """Have the whole run stand where the inner one does, and return it."""
        if (inner := self.inner) is not None:
            inner.outcome(final_gap=False)  # at its best point
            whole = self.whole
            alpha = np.zeros_like(whole.state.alpha)
            alpha[self.which] = inner.weights()
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

    def weights(self) -> np.ndarray:
        """Return alpha in the order of the problem's rows."""
        return self._widen().weights()

    def machine(self) -> Expansion:
        """Return the machine of the whole run."""
        return self._widen().machine()
