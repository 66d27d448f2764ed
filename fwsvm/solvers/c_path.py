"""A path along C: runs on the same rows that differ in C alone, each warm-started where the one before ended.

A certificate from scratch takes a kernel value for every row and support vector. The support vectors for one C are
mostly those for the next, so certificates are deferred until there are several to compute: each kernel value then
serves all. A run whose certificate refutes it goes on from where it ended.

Which certificates are computed together decides how their sums are rounded, and where a refuted run goes on decides
which kernel values later runs find. So the runs that wait are counted in work, not in seconds: the same runs one after
another have the same results to the last bit. After a run that a clock ended, the next one starts anew.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.column_cache import ColumnStore
from fwsvm.numerics.threads import blas_on
from fwsvm.phases import Phase, enter
from fwsvm.settings import Settings
from fwsvm.solvers.certify import Candidate
from fwsvm.solvers.fit import checked, prepare, refuse_penalties
from fwsvm.solvers.loop import Watch, subproblems_of
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import Result, result_of
from fwsvm.solvers.solver import Iterate, WarmStarts
from fwsvm.solvers.subproblems import Solved, solve_all
from fwsvm.status import Status

CUT = {Status.TIME_LIMIT, Status.INTERRUPTED}


class Run(NamedTuple):
    """A run along the path, whose certificates may be deferred.

    ``cut`` says whether a clock or an interrupt ended it, not a rule of its own; ``work`` is about how many nanoseconds
    it took, by what it did alone; ``shared`` says whether it used what other runs came to.
    """

    resolved: Resolved
    solved: Solved
    watch: Watch | None
    cut: bool
    work: float
    shared: bool


class CPath:
    """Models for one penalty after another.

    Parameters
    ----------
    X : ndarray or csr_array of float64, shape (m, n)
    codes : ndarray of int, shape (m,)
    classes : sequence of str
        As for `fwsvm.solvers.fit`, and refused like there.
    settings : sequence of Settings
        Those of the runs, which differ in C alone.
    """

    @blas_on(1)
    def __init__(
        self, X: RowMatrix, codes: np.ndarray, classes: Sequence[str], settings: Sequence[Settings]
    ) -> None:
        self.rows = checked(X, codes, classes, None, settings[0].class_weight)
        self.resolved = [resolve(each, self.rows.X, traced=False) for each in settings]
        self.problems, _ = prepare(self.rows, self.resolved[0])
        self.columns: ColumnStore = {}
        self.warm_starts: WarmStarts = {}
        self.together: list[Solved] | None = None  # what is solved for all penalties at once

    @blas_on(1)
    def train(self, number: int, watch: Watch | None = None) -> Run:
        """Train for the penalty of that number, the next one; see `fit` for what is raised."""
        problems = self.problems
        resolved = self.resolved[number]
        refuse_penalties(resolved.C, self.rows.weights)
        if self.together is None:
            self.together = []
            at_once = resolved.family.solve_at_once
            found = at_once(problems, self.resolved, watch) if at_once else []
            if found and found[0].interrupted:
                raise KeyboardInterrupt
            self.together = found
        begun = self.together[number] if self.together else Solved()
        # a limit of iterations is for a run with all it takes to be certified
        deferred = replace(resolved, deferred=not resolved.max_iterations)
        # the run may overwrite what it starts from, so no other one starts there
        starts = self.warm_starts
        self.warm_starts = {}
        try:
            solved = solve_all(problems, deferred, watch, starts, self.columns, begun)
        except BaseException:
            self.columns.clear()  # values may have been claimed and not filled
            raise
        X = problems.X
        parts = solved.parts
        cut = (
            subproblems_of(parts) < len(problems)
            or solved.interrupted
            or any(part.status in CUT for part in parts)
        )
        if cut:
            self.columns.clear()
        else:
            self.warm_starts = solved.warm_starts
        # scanned rows, and the numbers that kernel values were computed of; what was solved for all penalties at once
        # has no rows: its certificates are there
        work = sum(
            len(part.rows) * part.counters.steps
            + X.size / X.shape[0] / 4.0 * part.counters.kernel_evaluations
            for part in parts
            if len(part.rows)
        )
        return Run(resolved, replace(solved, warm_starts={}), watch, cut, work, bool(self.together or starts))

    @blas_on(1)
    def certify(self, runs: Sequence[Run]) -> list[Result]:
        """Return the result of each run, in order, after its certificate was computed."""
        refuted = self._compute_certificates(runs)
        found = [
            result_of(self.problems, run.resolved, self._go_on(run, starts) if starts else run.solved)
            for run, starts in zip(runs, refuted, strict=True)
        ]
        return [*map(self.rows.numbered, found)]

    def _compute_certificates(self, runs: Sequence[Run]) -> list[WarmStarts]:
        """Compute the certificates that runs deferred, those of one subproblem together.

        Returns where the subproblems of each run go on whose certificates refute them, by number.
        """
        refuted: list[WarmStarts] = [{} for _ in runs]
        waiting = defaultdict(list)
        for run, starts in zip(runs, refuted, strict=True):
            for part in run.solved.parts:
                if isinstance(part.end, Iterate):
                    waiting[int(part.numbers[0])].append((run.resolved, part, part.end.warm_start, starts))
        if waiting:
            enter(Phase.CHECK)
        for number, deferred in waiting.items():
            begun = perf_counter()
            problem, rows = self.problems.problem(number, deferred[0][0])
            candidates = [
                Candidate(
                    problem._replace(penalties=self.problems.penalties(rows, resolved.C)), resolved, part.end
                )
                for resolved, part, *_ in deferred
            ]
            ends = candidates[0].resolved.family.certify(candidates, exact=True)
            each = (perf_counter() - begun) / len(deferred)
            for (_, part, warm_start, starts), end in zip(deferred, ends, strict=True):
                part.end = end
                part.check_seconds += each
                if not end.outcome.within and warm_start is not None:
                    starts[number] = warm_start
        return refuted

    def _go_on(self, run: Run, starts: WarmStarts) -> Solved:
        """Return a run after those of its parts have gone on whose certificates refuted them."""
        for part in run.solved.parts:
            if part.numbers[0] in starts:
                part.status = Status.TIME_LIMIT
        refuted = replace(run.solved, warm_starts=starts)
        solved = solve_all(self.problems, run.resolved, run.watch, columns=self.columns, begun=refuted)
        if solved.interrupted:
            raise KeyboardInterrupt
        return solved
