"""A path along C: runs on the same rows that differ in C alone, each warm-started where the one before ended.

A certificate from scratch takes a kernel value for every row and support vector. The support vectors for one C are
mostly those for the next, so certificates are deferred until there are several to compute: each kernel value then
serves all. A run whose certificate refutes it goes on from where it ended.

Which certificates are computed together decides how their sums are rounded, and where a refuted run goes on decides
which kernel values later runs find. So the runs that wait are counted in work, not in seconds: the same runs one after
another have the same results to the last bit. A clock has its say only where a time limit ends a run; where it ended
is then no place for the next to start (`CPath.begin_again`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from time import perf_counter

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix
from fwsvm.errors import UsageError
from fwsvm.kernels.rows import as_rows, some_rows
from fwsvm.numerics.threads import blas_on
from fwsvm.phases import Phase, enter
from fwsvm.problems.binary import Binary
from fwsvm.problems.machines import KernelModel, decisions_together
from fwsvm.problems.precomputed import is_given
from fwsvm.settings import Settings
from fwsvm.solvers.certify import Candidate, is_certified
from fwsvm.solvers.class_weight import ClassWeight
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.fit import checked, train, train_together, with_all_classes
from fwsvm.solvers.gathering import Trained, gathered, support_rows
from fwsvm.solvers.loop import Part, Watch, solve_all, time_left, work_of
from fwsvm.solvers.registry import FAMILIES, method
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import Result
from fwsvm.solvers.solver import Iterate, WarmStart
from fwsvm.solvers.tuning import CERTIFIED_TOGETHER, CERTIFY_AFTER, DECIDED_TOGETHER, DECISIONS_HELD
from fwsvm.status import Status

CUT = {Status.TIME_LIMIT, Status.INTERRUPTED}


@dataclass(frozen=True)
class Run:
    """A run along the path that was trained, and whose certificates may be deferred."""

    trained: Trained
    watch: Watch | None

    @property
    def cut(self) -> bool:
        """Whether a clock or an interrupt ended the run, not a rule of its own."""
        solved = self.trained.solved
        ended = len(solved.parts) < len(self.trained.problems) or any(
            part.course.status in CUT for part in solved.parts
        )
        return solved.interrupted or ended

    @property
    def work(self) -> float:
        """About how many nanoseconds the run took, by what it did alone.

        A scan of a step over its rows, kernel values from as many numbers as a row has, and, unless the method takes
        steps alone, a factor of the support vectors.
        """
        X = self.trained.X
        stored = (X.nnz if isinstance(X, sparse.csr_array) else X.size) / X.shape[0]
        return sum(
            work_of(len(part.rows) * part.counters.steps, part.counters.kernel_evaluations, stored)
            + (part.support_vectors**3 / 100.0 if self._takes_factors(part) else 0.0)
            for part in self.trained.solved.parts
        )

    def _takes_factors(self, part: Part) -> bool:
        return method(part.method or self.trained.resolved.method.name).family != "simplex"


class CPath:
    """Machines for one penalty after another.

    Parameters
    ----------
    X : ndarray or csr_array of float64, shape (m, n)
    codes : ndarray of int, shape (m,)
    classes : sequence of str
        As for `fwsvm.solvers.fit`, and refused like there.
    weights : ndarray, shape (m,), optional
        Multiplies the penalty of each row.
    class_weight : "balanced", mapping of labels to positive numbers, or None
        That of the settings of all its runs.
    warm : bool
        Whether a run starts where the one before ended; if not, each is that of `fit`.
    columns : ColumnStore, optional
        That of another path, whose runs are over: its memory serves this one, its values do not.
    """

    def __init__(
        self, X: RowMatrix, codes: np.ndarray, classes: Sequence[str], *, weights: np.ndarray | None = None,
        class_weight: ClassWeight = None, warm: bool = True, columns: ColumnStore | None = None,
    ) -> None:  # fmt: skip
        rows = checked(X, codes, classes, weights, class_weight)
        self.X, self.codes, self.weights, self.present = rows.X, rows.codes, rows.weights, rows.present
        self.all_classes, self.class_weight = tuple(classes), class_weight
        self.classes = tuple(classes[k] for k in self.present)
        columns = columns or ColumnStore()
        columns.forget_values() if warm else columns.release()
        self.columns = columns if warm else None
        self.warm_starts: Mapping[int, WarmStart] = {}
        self.uncut: Mapping[int, WarmStart] = {}  # the weights that the last run ended at that was not cut

    @property
    def is_cold(self) -> bool:
        """Whether the next run starts by itself."""
        return not self.warm_starts

    def due(self, runs: Sequence[Run]) -> bool:
        """Whether the certificates of the runs since the last `certify` should wait no longer."""
        return self.columns is None or runs[-1].cut or sum(run.work for run in runs) >= CERTIFY_AFTER

    def begin_again(self) -> None:
        """Let the next run start where the last one ended that was not cut; cold, where there is none.

        No kernel values are passed on: which there are depends on when the run was cut.
        """
        if self.columns is not None:
            self.columns.forget_values()
            self.warm_starts = self.uncut

    def train(self, settings: Settings, watch: Watch | None = None) -> Run:
        """Train for the next penalty; see `fit` for what is raised."""
        resolved = replace(self._resolved(settings), deferred=0.0 if self.columns is None else 1.0)
        # the run may overwrite what it starts from, so no other one starts there
        starts, self.warm_starts = self.warm_starts, {}
        try:
            with blas_on(1):
                trained = train(
                    self.X, self.codes, self.classes, resolved, self.weights, watch, starts, self.columns
                )
        except BaseException:
            self._forget_values()
            raise
        self.warm_starts = trained.solved.warm_starts
        run = Run(trained._replace(solved=replace(trained.solved, warm_starts={})), watch)
        if run.cut:
            self._forget_values()
        if not run.cut:
            self.uncut = {number: WarmStart(start.weights) for number, start in self.warm_starts.items()}
        return run

    def _forget_values(self) -> None:
        """Let no run find a column: some may be claimed and not filled."""
        if self.columns is not None:
            self.columns.forget_values()

    def train_together(self, settings: Sequence[Settings], watch: Watch | None = None) -> list[Run] | None:
        """Train for the first penalties of the path together; None where the method cannot, or nothing is gained.

        Settings differ in C alone. The runs have their certificates, and the next run of the path starts cold. A
        KeyboardInterrupt leaves nothing of them.
        """
        if self.columns is None or not self.is_cold or len(settings) < 2:
            return None
        resolved = [self._resolved(each) for each in settings]
        with blas_on(1):
            trained = train_together(self.X, self.codes, self.classes, resolved, self.weights, watch)
        return None if trained is None else [Run(each, watch) for each in trained]

    def _resolved(self, settings: Settings) -> Resolved:
        if settings.class_weight != self.class_weight:
            raise ValueError("all runs of a path have the class weights that it was made with")
        if FAMILIES[method(settings.method).family].train is not None:
            raise UsageError(
                f"experiments do not train by {settings.method}; `fwsvm train` and Python's train do"
            )
        if is_given(settings.kernel):
            raise UsageError(
                "experiments have no precomputed kernels; `fwsvm train`, `cv` and `predict` have"
            )
        return resolve(settings, self.X)

    def certify(self, runs: Sequence[Run]) -> list[tuple[Run, Result]]:
        """Return each run with its result, in order, after its certificate was computed.

        Where Ctrl-C ends one that goes on, none after it does: their status is interrupted, too, where they had to.
        """
        found: list[tuple[Run, Result]] = []
        with blas_on(1):
            for run, parts in zip(runs, _certified(runs, self.weights), strict=True):
                stop = any(result.status is Status.INTERRUPTED for _, result in found)
                found.append(self._result(run, parts, goes_on=not stop))
        return found

    def decisions(self, certified: Sequence[tuple[Run, Result]], X: RowMatrix) -> Iterator[np.ndarray]:
        """Yield the decision values of the rows of X (t, n) of each machine that `certify` returned."""
        K = len(self.all_classes)
        at_once = max(1, min(DECIDED_TOGETHER // (K - 1), DECISIONS_HELD // (X.shape[0] * K * (K - 1) // 2)))
        for first in range(0, len(certified), at_once):
            some = certified[first : first + at_once]
            threads = some[0][0].trained.resolved.threads
            models = [result.model for _, result in some if isinstance(result.model, KernelModel)]
            if len(models) > 1:
                solved = [run.trained.solved for run, _ in some]
                numbers = [support_rows(self.codes, each) for each in solved]
                yield from decisions_together(models, numbers, X, threads)
            else:
                yield from (result.model.decision(X, threads) for _, result in some)

    def _result(self, run: Run, certified: dict[int, Part], *, goes_on: bool) -> tuple[Run, Result]:
        """Return a run and its result; those of its parts whose certificates refute them go on first, if they may."""
        trained, solved = run.trained, run.trained.solved
        parts = {part.number: part for part in solved.parts} | certified
        starts = {
            part.number: part.end.warm_start
            for part in solved.parts
            if isinstance(part.end, Iterate)
            and part.end.warm_start is not None
            and not is_certified(parts[part.number].outcome)
        }
        # of several the one with most iterations decides how many are left for each
        most = trained.resolved.max_iterations
        spent = max((parts[number].counters.iterations for number in starts), default=0)
        if starts and not goes_on:
            parts |= {number: _joined(parts[number], None, Status.INTERRUPTED) for number in starts}
            solved = replace(solved, interrupted=True)
        elif most is not None and spent >= most:
            parts |= {number: _joined(parts[number], None, Status.MAX_ITERATIONS) for number in starts}
        elif starts:
            resolved = replace(
                trained.resolved, deferred=0.0, time_limit=time_left(trained.resolved.time_limit, solved.seconds),
                max_iterations=None if most is None else most - spent,
            )  # fmt: skip
            more = solve_all(
                trained.read.X, self.weights, trained.problems, resolved, run.watch, starts, self.columns,
                numbers=list(starts),
            )  # fmt: skip
            if more.interrupted:
                self._forget_values()
            later = {part.number: part for part in more.parts}
            unbegun = Status.INTERRUPTED if more.interrupted else Status.TIME_LIMIT
            parts |= {number: _joined(parts[number], later.get(number), unbegun) for number in starts}
            seconds, interrupted = solved.seconds + more.seconds, solved.interrupted or more.interrupted
            solved = replace(solved, seconds=seconds, interrupted=interrupted)
        solved = replace(solved, parts=[parts[part.number] for part in solved.parts])
        run = replace(run, trained=trained._replace(solved=solved))
        return run, with_all_classes(gathered(run.trained), self.all_classes, self.present)


def _joined(first: Part, second: Part | None, unbegun: Status) -> Part:
    """Return the part that two runs came to, of which the second began where the first ended, or did not begin."""
    if second is None:
        return replace(first, course=replace(first.course, status=unbegun))
    counters = first.counters.plus(second.counters)
    done, seconds = first.counters.iterations, first.course.clock.seconds
    later = (
        replace(point, seconds=point.seconds + seconds, iteration=point.iteration + done)
        for point in second.course.trace
    )
    course = replace(second.course, trace=[*first.course.trace, *later])
    return replace(
        second, course=course, counters=counters, check_seconds=first.check_seconds + second.check_seconds
    )


def _certified(runs: Sequence[Run], weights: np.ndarray) -> list[dict[int, Part]]:
    """Compute the certificates that runs deferred, those of one subproblem together.

    Returns the parts with them by number of the subproblem, for each run.
    """
    waiting: dict[int, list[tuple[int, Part, Iterate]]] = {}
    for place, run in enumerate(runs):
        for part in run.trained.solved.parts:
            if isinstance(part.end, Iterate):
                waiting.setdefault(part.number, []).append((place, part, part.end))
    found: list[dict[int, Part]] = [{} for _ in runs]
    if not waiting:
        return found
    enter(Phase.CHECK)
    one = runs[0].trained
    rows, pairs = as_rows(one.read.X), list(combinations(range(len(one.classes)), 2))
    for number, parts in waiting.items():
        which = parts[0][1].rows
        some = rows if len(which) == rows.height else some_rows(rows, which)
        y = np.where(one.codes[which] == pairs[number][0], 1.0, -1.0)
        for first in range(0, len(parts), CERTIFIED_TOGETHER):
            begun, together = perf_counter(), parts[first : first + CERTIFIED_TOGETHER]
            candidates = []
            for place, _, at in together:
                resolved = runs[place].trained.resolved
                problem = Binary(some, y, resolved.C * weights[which], (resolved.seed, number))
                candidates.append(Candidate(problem, resolved, at))
            certified = candidates[0].resolved.family.certify(candidates, exact=True)
            each = (perf_counter() - begun) / len(together)
            for (place, part, _), end in zip(together, certified, strict=True):
                found[place][number] = replace(part, end=end, check_seconds=part.check_seconds + each)
    return found
