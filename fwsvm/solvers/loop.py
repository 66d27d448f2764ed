"""One two-class problem solved: a solver is advanced in chunks of steps on a clock, and its end is certified."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from fwsvm.kernels.column_cache import ColumnStore
from fwsvm.numerics.compile import compile_seconds
from fwsvm.phases import Phase, enter
from fwsvm.problems.binary import Binary
from fwsvm.solvers.certify import Candidate, Certified
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Iterate, Outcome, Solver, WarmStart
from fwsvm.solvers.tuning import (
    CHUNK_GROWTH,
    CHUNK_SECONDS,
    FREE_LOOKS,
    LOOKS_SHARE,
    TRACE_SPACING,
    WATCH_EVERY,
)
from fwsvm.status import Status


class TracePoint(NamedTuple):
    """One line of a trace: seconds on the clock, iteration, objective, gap, support vectors."""

    seconds: float
    iteration: int
    objective: float
    gap: float
    support_vectors: int


class Progress(NamedTuple):
    """What a watcher is told a few times a second.

    Attributes
    ----------
    subproblem : int, subproblems solved before this one
    subproblems : int
    seconds : float, on the clock of the algorithm
    iterations, support_vectors : int, of the latter 0 where they are not known
    objective, gap : float, NaN where not known
    tolerance : float, of the stopping rule
    """

    subproblem: int
    subproblems: int
    seconds: float
    iterations: int
    objective: float
    gap: float
    tolerance: float
    support_vectors: int


Watch = Callable[[Progress], None]


@dataclass
class Clock:
    """Seconds that the algorithm took inside ``running()``, and apart from them those of compiling there."""

    seconds: float = 0.0
    compiling: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of the block."""
        started = time.perf_counter()
        before = compile_seconds()
        try:
            yield
        finally:
            compiled = compile_seconds() - before
            self.compiling += compiled
            self.seconds += time.perf_counter() - started - compiled


@dataclass(slots=True)
class BinaryResult:
    """What the run on one subproblem came to, or those on several that were solved together.

    Attributes
    ----------
    numbers : ndarray of int, those of the subproblems
    rows : ndarray of int, the numbers of its rows among all; none of several subproblems
    status : Status, as the run says
    counters : Counters
    support_vectors : int
    check_seconds : float, of the certificate, off the clock
    end : Certified, what the end is worth and its machine, which is None where `Solved` has its coefficients; or the
        Iterate whose certificate is deferred (`Resolved.deferred`)
    method : str, the choice of a family that chooses among methods
    trace : list of TracePoint, of the only subproblem
    """

    numbers: np.ndarray
    rows: np.ndarray
    status: Status
    counters: Counters
    support_vectors: int
    check_seconds: float
    end: Iterate | Certified
    method: str = ""
    trace: list[TracePoint] = field(default_factory=list)

    @property
    def certified(self) -> Certified:
        """What the end is worth, once a deferred certificate is computed."""
        assert isinstance(self.end, Certified)  # noqa: S101
        return self.end

    def goes_on_from(self, first: "BinaryResult") -> None:
        """Count what was done before this run, which started where that one ended."""
        self.counters = first.counters.plus(self.counters)
        self.check_seconds += first.check_seconds


def subproblems_of(parts: Sequence[BinaryResult]) -> int:
    """Return how many subproblems some results are of."""
    return sum(len(part.numbers) for part in parts)


def solve(
    problem: Binary,
    rows: np.ndarray,
    number: int,
    resolved: Resolved,
    clock: Clock,
    watch: Callable[[Solver], None],
    warm_start: WarmStart | None,
    columns: ColumnStore | None,
    *,
    traced: bool,
) -> tuple[BinaryResult, WarmStart | None]:
    """Solve a subproblem of these rows; return also where the next run on them may start, if ``columns`` keep values.

    Time limits are checked, and ``watch`` is called with the solver, after every chunk of steps, of some hundredths of
    a second each. A KeyboardInterrupt is taken between chunks and ends the run as ``interrupted``.
    """
    with clock.running():
        solver = resolved.family.start(problem, resolved.rule, resolved, warm_start, columns)
    limit = resolved.time_limit or math.inf
    most = resolved.max_iterations or math.inf
    trace: list[TracePoint] = []
    steps, next_point, looked, check = 1, 1 if traced else math.inf, 0.0, Clock()
    status: Status | None = None
    done = solver.counters
    try:
        while status is None:
            started = clock.seconds
            wanted = int(max(1, min(steps, most - done.iterations, next_point - done.steps)))
            with clock.running():
                taken = solver.advance(wanted)
            done = solver.counters
            if done.steps >= next_point:
                looked = _record(trace, clock, solver, looked)
                next_point = int(done.steps * TRACE_SPACING) + 1
            if taken < wanted:
                check = Clock()
                with check.running():
                    status = solver.check_stop()
                done = solver.counters
                if status is not None:
                    break
                clock.seconds += check.seconds  # the run goes on from what the check computed
                clock.compiling += check.compiling
                steps, check = 1, Clock()  # maybe with a larger problem
            watch(solver)
            spent = clock.seconds - started
            if clock.seconds >= limit:
                status = Status.TIME_LIMIT
            elif done.iterations >= most:
                status = Status.MAX_ITERATIONS
            steps = next_chunk(steps, taken, spent)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if traced:
        _record(trace, clock, solver, 0.0)
    counters, at, method = solver.counters, solver.iterate(), resolved.family.chosen(solver)
    del solver  # its memory may be as large as what the certificate takes
    with check.running():
        end, status = _certified(Candidate(problem, resolved, at), status)
    clock.compiling += check.compiling
    if isinstance(end, Certified) and traced:
        _add_point(trace, clock, counters.iterations, end.outcome, at.support_vectors)
    after = at.warm_start if columns is not None else None
    return BinaryResult(
        np.array([number]), rows, status, counters, at.support_vectors, check.seconds, end, method, trace
    ), after


def next_chunk(size: int, done: int, seconds: float) -> int:
    """Return how much to do until the next look at the clock, after so much of a chunk was done in so many seconds."""
    return max(1, min(CHUNK_GROWTH * size, int(CHUNK_SECONDS * done / max(seconds, 1e-9))))


def _record(trace: list[TracePoint], clock: Clock, solver: Solver, looked: float) -> float:
    """Add where a solver stands to the trace, unless looking there takes long; return the seconds of all looks."""
    begun = time.perf_counter()
    if looked < FREE_LOOKS or LOOKS_SHARE * looked <= clock.seconds:
        at = solver.iterate()
        if at.iterations == solver.counters.iterations:  # else its numbers are those of a point before
            _add_point(trace, clock, at.iterations, at, at.support_vectors)
    return looked + time.perf_counter() - begun


def _add_point(
    trace: list[TracePoint], clock: Clock, iterations: int, at: Iterate | Outcome, support_vectors: int
) -> None:
    """Add a point to the trace, as of now, unless it is the last one."""
    if not trace or iterations > trace[-1].iteration:
        trace.append(TracePoint(clock.seconds, iterations, at.objective, at.gap, support_vectors))


def _certified(candidate: Candidate, status: Status) -> tuple[Iterate | Certified, Status]:
    """Return what an iterate is worth: without a check that may take a while where an interrupt wants an answer.

    Where the certificate is deferred, it is the iterate, without the gradient while it waits.
    """
    _, resolved, at = candidate
    if resolved.deferred and at.outcome is None and at.warm_start and status is Status.CONVERGED:
        return replace(at, warm_start=WarmStart(at.warm_start.weights)), status
    enter(Phase.CHECK)
    try:
        exact = resolved.final_gap and status is not Status.INTERRUPTED
        (found,) = resolved.family.certify([candidate], exact=exact)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        (found,) = resolved.family.certify([candidate], exact=False)
    return found, status


def reporter(
    resolved: Resolved,
    clock: Clock,
    solved: Sequence[BinaryResult],
    subproblems: int,
    tell: Watch | None,
    halt: threading.Event,
) -> Callable[[Solver], None]:
    """Return what tells a watcher where a solver stands, but not too often; ``solved`` are those done.

    It raises KeyboardInterrupt once ``halt`` is set.
    """
    last = time.perf_counter()
    wait = WATCH_EVERY

    def report(solver: Solver) -> None:
        nonlocal last, wait
        if halt.is_set():
            raise KeyboardInterrupt
        if tell is None or (begun := time.perf_counter()) - last < wait:
            return
        at = solver.iterate()
        last = time.perf_counter()
        wait = max(
            WATCH_EVERY, LOOKS_SHARE * (last - begun)
        )  # of millions of rows a look takes as long as a sweep
        numbers = at.iterations, at.objective, at.gap, resolved.tolerance, at.support_vectors
        tell(Progress(subproblems_of(solved), subproblems, clock.seconds, *numbers))

    return report
