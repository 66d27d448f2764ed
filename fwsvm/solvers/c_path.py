"""A path along C: runs on the same rows that differ in C alone, each warm-started where the one before ended.

A certificate from scratch takes a kernel value for every row and support vector. The support vectors for one C are
mostly those for the next, so certificates wait until there are several to compute: each kernel value then serves all.
A run whose claim does not hold goes on from where it ended.

Which certificates are computed together decides how their sums are rounded, and where a run goes on that was refuted
decides which kernel values later runs find. So what waits is counted in work, not in seconds: the same runs one after
another have the same results to the last bit. A clock has its say only where a time limit ends a run; where it ended
is then no place for the next to start (`Path.begin_again`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from time import perf_counter

import numpy as np
from scipy import sparse

from fwsvm.kernels.rows import as_rows, some_rows
from fwsvm.numerics.threads import blas_on
from fwsvm.problems.machines import KernelModel, decisions_together
from fwsvm.solvers.certify import is_certified
from fwsvm.solvers.fit import Trained, checked, gathered, support_rows, train
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.process import Claim, Expansion, Hyperplane
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import Result
from fwsvm.solvers.settings import Settings
from fwsvm.solvers.subproblems import Part, Table, solve_all
from fwsvm.solvers.warm_start import Handover
from fwsvm.status import Status

CUT = {Status.TIME_LIMIT, Status.INTERRUPTED}
MOST_VALUES = 1 << 24  # decision values that are held at a time
OUTPUTS = (
    32  # sums that a kernel value goes into at a time: coefficients of more are read from a slower memory
)
WAIT = 2e9  # of `_work`, a second or two: then what was trained is proven and recorded


class CPath:
    """Machines for one penalty after another.

    Parameters
    ----------
    X : ndarray or csr_array of float64, shape (m, n)
    codes : ndarray of int, shape (m,)
    classes : sequence of str
        As for `fwsvm.solvers.fit`, and refused like there.
    warm : bool
        Whether a run starts where the one before ended; if not, each is that of `fit`.
    """

    def __init__(self, X: Table, codes: np.ndarray, classes: Sequence[str], *, warm: bool = True) -> None:
        self.X, self.codes, self.weights = checked(X, codes, classes, None)
        self.classes = tuple(classes)
        self.handover = Handover(unproven=True) if warm else None
        self.ends: dict[int, np.ndarray] = {}  # of the last run that the clock did not end
        self.waiting: list[tuple[Trained, Watch | None]] = []
        self.work = 0.0  # since results were last taken
        self.proven: list[tuple[Trained, Result]] = []  # when results were last taken

    @property
    def is_cold(self) -> bool:
        """Whether the next run starts by itself."""
        return self.handover is None or not self.handover.ends

    @property
    def due(self) -> bool:
        """Whether what waits should wait no longer."""
        return self.handover is None or self.work >= WAIT or self.cut

    @property
    def cut(self) -> bool:
        """Whether a clock or an interrupt ended the last run of those that wait, not a rule of its own."""
        if not self.waiting:
            return False
        solved, problems = self.waiting[-1][0].solved, self.waiting[-1][0].problems
        return len(solved.parts) < len(problems) or any(part.course.status in CUT for part in solved.parts)

    def begin_again(self) -> None:
        """Let the next run start where the last one ended that no clock cut short; cold, where there is none.

        No kernel values are passed on: which there are depends on when the run was cut.
        """
        if self.handover is not None:
            self.handover.let_go()
            self.handover = Handover.at(self.ends, unproven=True)

    def train(self, settings: Settings, watch: Watch | None = None) -> None:
        """Train for the next penalty; see `fit` for what is raised."""
        with blas_on(1):
            run = self._trained(resolve(settings, self.X), watch, self.handover)
        self.waiting.append((run, watch))
        self.work += _work(run)
        if self.handover is not None and not self.cut:
            self.ends = self.handover.ends

    def _trained(self, resolved: Resolved, watch: Watch | None, handover: Handover | None) -> Trained:
        return train(self.X, self.codes, self.classes, resolved, self.weights, watch, handover)

    def results(self, number: int | None = None) -> list[Result]:
        """Return the results of the runs that wait, or of the first so many, in order, each with its certificate."""
        number = len(self.waiting) if number is None else number
        runs, self.waiting, self.work = self.waiting[:number], self.waiting[number:], 0.0
        with blas_on(1):
            _prove([run for run, _ in runs])
            self.proven = [(run, self._result(run, watch)) for run, watch in runs]
        return [result for _, result in self.proven]

    def decisions(self, X: Table) -> Iterator[np.ndarray]:
        """Yield the decision values of the rows of X (t, n) of each machine of the last results."""
        K = len(self.classes)
        at_once = max(1, min(OUTPUTS // (K - 1), MOST_VALUES // (X.shape[0] * K * (K - 1) // 2)))
        for first in range(0, len(self.proven), at_once):
            some = self.proven[first : first + at_once]
            threads = some[0][0].resolved.threads
            models = [result.model for _, result in some if isinstance(result.model, KernelModel)]
            if len(models) > 1:
                numbers = [support_rows(self.codes, run.solved.parts) for run, _ in some]
                yield from decisions_together(models, numbers, X, threads)
            else:
                yield from (result.model.decision(X, threads) for _, result in some)

    def _result(self, run: Trained, watch: Watch | None) -> Result:
        """Return the result of a run; those of its parts that wrongly claimed to have converged go on first."""
        solved, again = run.solved, self.handover.beside() if self.handover is not None else Handover()
        refuted: dict[int, Part] = {}
        for part in solved.parts:
            if part.claim is not None and not is_certified(part.outcome):
                again.leave(part.number, part.claim)
                part.course.status = Status.INTERRUPTED  # unless what follows comes to its end
                refuted[part.number] = part
        if refuted:
            more = solve_all(
                run.read.X, self.weights, run.problems, run.resolved, watch, again, numbers=list(refuted)
            )
            joined = {part.number: _joined(refuted[part.number], part) for part in more.parts}
            solved.parts = [joined.get(part.number, part) for part in solved.parts]
            solved.seconds += more.seconds
            solved.interrupted |= more.interrupted
        return gathered(run)


def _work(run: Trained) -> float:
    """Return about how many nanoseconds a run took, by what it did alone.

    A pass of a step over its rows, kernel values from as many numbers as a row has, a factor on the support vectors.
    """
    numbers = run.X.nnz if isinstance(run.X, sparse.csr_array) else run.X.size
    a_value = numbers / run.X.shape[0] / 4.0
    return sum(
        len(part.rows) * part.counters.steps
        + a_value * part.counters.kernel_evaluations
        + part.support_vectors**3 / 100.0
        for part in run.solved.parts
    )


def _joined(first: Part, second: Part) -> Part:
    """Return the part that two runs came to of which the second began where the first ended."""
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


def _prove(runs: Sequence[Trained]) -> None:
    """Compute the certificates that the runs left, those of one subproblem together."""
    left: dict[int, list[tuple[Part, Claim]]] = {}
    for run in runs:
        for part in run.solved.parts:
            if part.claim is not None:
                penalties = np.full(len(part.claim), run.resolved.C)
                left.setdefault(part.number, []).append((part, Claim(part.claim, penalties, run.resolved)))
    if not left:
        return
    run = runs[0]
    rows, pairs = as_rows(run.read.X), list(combinations(range(len(run.classes)), 2))
    for number, mine in left.items():
        which = mine[0][0].rows
        X = rows if len(which) == rows.height else some_rows(rows, which)
        y = np.where(run.codes[which] == pairs[number][0], 1.0, -1.0)
        prove = run.resolved.family.prove
        assert prove is not None  # noqa: S101  (a family that cannot leaves no claims)
        for first in range(0, len(mine), OUTPUTS):
            begun, some = perf_counter(), mine[first : first + OUTPUTS]
            outcomes = prove(X, y, [claim for _, claim in some], run.resolved.threads)
            for (part, _), outcome in zip(some, outcomes, strict=True):
                if is_certified(outcome):
                    part.machine = _rescaled(part.machine, part.outcome.objective / outcome.objective)
                part.outcome = outcome
                part.check_seconds += (perf_counter() - begun) / len(some)


def _rescaled(machine: Expansion | Hyperplane, by: float) -> Expansion | Hyperplane:
    """Return (w, b) / R for the R that was found, instead of the one that the run kept."""
    assert isinstance(machine, Expansion)  # noqa: S101  (what one-versus-one families return)
    return machine._replace(coefficients=by * machine.coefficients, bias=by * machine.bias)
