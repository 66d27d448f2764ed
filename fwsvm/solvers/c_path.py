"""A path along C: runs on the same rows that differ in C alone, each warm-started where the one before ended.

A certificate from scratch takes a kernel value for every row and support vector. The support vectors for one C are
mostly those for the next, so certificates are deferred until there are several to compute: each kernel value then
serves all. A run whose certificate refutes it goes on from where it ended.

Which certificates are computed together decides how their sums are rounded, and where a refuted run goes on decides
which kernel values later runs find. So the runs that wait are counted in work, not in seconds: the same runs one after
another have the same results to the last bit. A clock has its say only where a time limit ends a run; where it ended
is then no place for the next to start.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from fwsvm.solvers.fit import checked, with_all_classes
from fwsvm.solvers.loop import BinaryResult, Watch, time_left
from fwsvm.solvers.registry import FAMILIES, method
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import Result
from fwsvm.solvers.solver import Iterate, WarmStart
from fwsvm.solvers.subproblems import Solved, solve_all, work_of
from fwsvm.solvers.training import Training, prepare, refuse_penalties, result_of
from fwsvm.solvers.tuning import CERTIFIED_TOGETHER, CERTIFY_AFTER, DECIDED_TOGETHER, DECISIONS_HELD
from fwsvm.status import Status

CUT = {Status.TIME_LIMIT, Status.INTERRUPTED}


@dataclass(frozen=True)
class Run:
    """A run along the path that was trained, and whose certificates may be deferred."""

    training: Training
    solved: Solved
    watch: Watch | None

    @property
    def cut(self) -> bool:
        """Whether a clock or an interrupt ended the run, not a rule of its own."""
        unreached = len(self.solved.parts) < len(self.training.problems)
        return self.solved.interrupted or unreached or any(part.status in CUT for part in self.solved.parts)

    @property
    def work(self) -> float:
        """About how many nanoseconds the run took, by what it did alone.

        A scan of a step over its rows, kernel values from as many numbers as a row has, and, unless the method takes
        steps alone, a factor of the support vectors.
        """
        X, name = self.training.X, self.training.resolved.method.name
        stored = (X.nnz if isinstance(X, sparse.csr_array) else X.shape[0] * X.shape[1]) / X.shape[0]
        return sum(
            work_of(len(part.rows) * part.counters.steps, part.counters.kernel_evaluations, stored)
            + (part.support_vectors**3 / 100.0 if method(part.method or name).family != "simplex" else 0.0)
            for part in self.solved.parts
        )


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
        self,
        X: RowMatrix,
        codes: np.ndarray,
        classes: Sequence[str],
        *,
        weights: np.ndarray | None = None,
        class_weight: ClassWeight = None,
        warm: bool = True,
        columns: ColumnStore | None = None,
    ) -> None:
        self.rows = checked(X, codes, classes, weights, class_weight)
        self.features, self.classes, self.class_weight = self.rows.X.shape[1], tuple(classes), class_weight
        columns = columns or ColumnStore()
        columns.forget_values() if warm else columns.release()
        self.columns = columns if warm else None
        self.training: Training | None = None
        self.warm_starts: Mapping[int, WarmStart] = {}
        self.uncut: Mapping[int, WarmStart] = {}  # the weights that the last run ended at that was not cut

    @property
    def is_cold(self) -> bool:
        """Whether the next run starts by itself."""
        return not self.warm_starts

    def due(self, runs: Sequence[Run]) -> bool:
        """Whether the certificates of the runs since the last `certify` should wait no longer."""
        return self.columns is None or runs[-1].cut or sum(run.work for run in runs) >= CERTIFY_AFTER

    def train(self, settings: Settings, watch: Watch | None = None) -> Run:
        """Train for the next penalty; see `fit` for what is raised.

        After a run that failed or was cut, the next one starts where the last complete one ended, without kernel
        values: which there are depends on when the run was cut, and some may be claimed and not filled.
        """
        resolved = replace(self._resolved(settings), deferred=0.0 if self.columns is None else 1.0)
        # the run may overwrite what it starts from, so no other one starts there
        starts, self.warm_starts = self.warm_starts, {}
        try:
            with blas_on(1):
                training = self._training(resolved)
                solved = training.solved(watch, starts, self.columns)
        except BaseException:
            self._begin_again()
            raise
        run = Run(training, replace(solved, warm_starts={}), watch)
        if run.cut:
            self._begin_again()
        else:
            self.warm_starts = solved.warm_starts
            self.uncut = {number: WarmStart(start.weights) for number, start in self.warm_starts.items()}
        return run

    def _begin_again(self) -> None:
        if self.columns is not None:
            self.columns.forget_values()
            self.warm_starts = self.uncut

    def train_together(self, settings: Sequence[Settings], watch: Watch | None = None) -> list[Run] | None:
        """Train for the first penalties of the path together; None where the method cannot, or nothing is gained.

        Settings differ in C alone. The runs have their certificates, and the next run of the path starts cold. A
        KeyboardInterrupt leaves nothing of them.
        """
        if self.columns is None or not self.is_cold or len(settings) < 2:
            return None
        resolved = [self._resolved(each) for each in settings]
        with blas_on(1):
            trainings = [self._training(each) for each in resolved]
            found = trainings[0].solved_together(resolved, watch)
        if found is None:
            return None
        return [Run(training, solved, watch) for training, solved in zip(trainings, found, strict=True)]

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
        return resolve(settings, self.rows.X)

    def _training(self, resolved: Resolved) -> Training:
        """Return the training for one penalty; what does not depend on it is prepared once."""
        if self.training is None:
            X, codes, weights, present, _ = self.rows
            self.training = prepare(X, codes, tuple(self.classes[k] for k in present), resolved, weights)
        refuse_penalties(resolved.C, self.rows.weights)
        return replace(self.training, resolved=resolved, kernel=resolved.kernel)

    def certify(self, runs: Sequence[Run]) -> list[Result]:
        """Return the result of each run, in order, after its certificate was computed.

        Where Ctrl-C ends one that goes on, none after it does: their status is interrupted, too, where they had to.
        """
        results: list[Result] = []
        with blas_on(1):
            for run, parts in zip(runs, _certified(runs), strict=True):
                stop = any(result.status is Status.INTERRUPTED for result in results)
                results.append(self._result(run, parts, goes_on=not stop))
        return results

    def _result(self, run: Run, certified: dict[int, BinaryResult], *, goes_on: bool) -> Result:
        """Return a run's result; those of its parts whose certificates refute them go on first, if they may."""
        training, solved, resolved = run.training, run.solved, run.training.resolved
        parts = {part.number: part for part in solved.parts} | certified
        starts = {
            part.number: part.end.warm_start
            for part in solved.parts
            if isinstance(part.end, Iterate)
            and part.end.warm_start is not None
            and not is_certified(parts[part.number].outcome)
        }
        # of several the one with most iterations decides how many are left for each
        most = resolved.max_iterations
        spent = max((parts[number].counters.iterations for number in starts), default=0)
        later, unbegun, interrupted, seconds = (
            dict[int, BinaryResult](),
            Status.MAX_ITERATIONS,
            solved.interrupted,
            0.0,
        )
        if starts and not goes_on:
            unbegun, interrupted = Status.INTERRUPTED, True
        elif starts and (most is None or spent < most):
            settings = replace(
                resolved,
                deferred=0.0,
                time_limit=time_left(resolved.time_limit, solved.seconds),
                max_iterations=None if most is None else most - spent,
            )
            more = solve_all(
                training.rows,
                training.weights,
                training.problems,
                settings,
                run.watch,
                starts,
                self.columns,
                numbers=list(starts),
            )
            if more.interrupted and self.columns is not None:
                self.columns.forget_values()
            later, seconds, interrupted = (
                {part.number: part for part in more.parts},
                more.seconds,
                more.interrupted,
            )
            unbegun = Status.INTERRUPTED if more.interrupted else Status.TIME_LIMIT
        for number in starts:
            parts[number] = _joined(parts[number], later.get(number), unbegun, solved.seconds)
        solved = replace(
            solved,
            parts=[parts[part.number] for part in solved.parts],
            seconds=solved.seconds + seconds,
            interrupted=interrupted or solved.interrupted,
        )
        return with_all_classes(result_of(training, solved), self.classes, self.rows.present)


def _joined(
    first: BinaryResult, second: BinaryResult | None, unbegun: Status, seconds: float
) -> BinaryResult:
    """Return what two runs came to, of which the second began where the first ended, or did not begin."""
    if second is None:
        return replace(first, status=unbegun)
    done = first.counters.iterations
    later = (
        replace(point, seconds=point.seconds + seconds, iteration=point.iteration + done)
        for point in second.trace
    )
    return replace(
        second,
        counters=first.counters.plus(second.counters),
        trace=[*first.trace, *later],
        check_seconds=first.check_seconds + second.check_seconds,
    )


def _certified(runs: Sequence[Run]) -> list[dict[int, BinaryResult]]:
    """Compute the certificates that runs deferred, those of one subproblem together.

    Returns the parts with them by number of the subproblem, for each run.
    """
    waiting: dict[int, list[tuple[int, BinaryResult, Iterate]]] = {}
    for place, run in enumerate(runs):
        for part in run.solved.parts:
            if isinstance(part.end, Iterate):
                waiting.setdefault(part.number, []).append((place, part, part.end))
    found: list[dict[int, BinaryResult]] = [{} for _ in runs]
    if not waiting:
        return found
    enter(Phase.CHECK)
    one, rows = runs[0].training, as_rows(runs[0].training.rows)
    for number, parts in waiting.items():
        which = parts[0][1].rows
        some = rows if len(which) == rows.height else some_rows(rows, which)
        y = np.where(one.problems.codes[which] == one.problems.classes[number][0], 1.0, -1.0)
        for first in range(0, len(parts), CERTIFIED_TOGETHER):
            begun, together = perf_counter(), parts[first : first + CERTIFIED_TOGETHER]
            candidates = []
            for place, _, at in together:
                resolved = runs[place].training.resolved
                problem = Binary(some, y, resolved.C * one.weights[which], (resolved.seed, number))
                candidates.append(Candidate(problem, resolved, at))
            certified = candidates[0].resolved.family.certify(candidates, exact=True)
            each = (perf_counter() - begun) / len(together)
            for (place, part, _), end in zip(together, certified, strict=True):
                found[place][number] = replace(part, end=end, check_seconds=part.check_seconds + each)
    return found


def decisions(results: Sequence[Result], X: RowMatrix) -> Iterator[np.ndarray]:
    """Yield the decision values of the rows of X (t, n) of each result of one path."""
    K = len(results[0].model.classes) if results else 2
    at_once = max(1, min(DECIDED_TOGETHER // (K - 1), DECISIONS_HELD // (X.shape[0] * K * (K - 1) // 2)))
    for first in range(0, len(results), at_once):
        some = results[first : first + at_once]
        threads = int(some[0].settings["threads"])
        models = [result.model for result in some if isinstance(result.model, KernelModel)]
        numbers = [result.support for result in some if result.support is not None]
        if len(models) > 1:
            yield from decisions_together(models, numbers, X, threads)
        else:
            yield from (result.model.decision(X, threads) for result in some)
