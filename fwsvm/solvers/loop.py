"""One two-class problem solved: a solver is advanced in chunks of steps on a clock, and its end is certified."""

import time
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from fwsvm.phases import Phase, enter
from fwsvm.problems.binary import Binary, Machine
from fwsvm.solvers.certify import Candidate, Certified
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.result import TracePoint
from fwsvm.solvers.solver import Counters, Iterate, Outcome, Solver, WarmStart
from fwsvm.solvers.tuning import (
    CHUNK_GROWTH,
    FREE_LOOKS,
    LONGEST_CHUNK,
    LOOKS_SHARE,
    SHORTEST_CHUNK,
    TRACE_SPACING,
    WATCH_EVERY,
)
from fwsvm.status import Status


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
    """Seconds that the algorithm took: it runs only inside ``running()``."""

    seconds: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of the block."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - started


def time_left(limit: float | None, spent: float) -> float | None:
    """Return the time limit of a run that goes on after so many seconds: more than 0, None without a limit."""
    return None if limit is None else max(1e-3, limit - spent)


@dataclass(slots=True)
class BinaryResult:
    """What the run on one subproblem came to.

    Attributes
    ----------
    number : int, of the subproblem
    rows : ndarray of int, the numbers of its rows among all
    status : Status, as the run says
    counters : Counters
    support_vectors : int
    check_seconds : float, of the certificate, off the clock
    end : Iterate whose certificate is deferred (`Resolved.deferred`), or what it is worth
    method : str, the choice of a family that chooses among methods
    trace : list of TracePoint, of the only subproblem
    """

    number: int
    rows: np.ndarray
    status: Status
    counters: Counters
    support_vectors: int
    check_seconds: float
    end: Iterate | Certified
    method: str = ""
    trace: list[TracePoint] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        """What the end is worth."""
        assert isinstance(self.end, Certified)  # noqa: S101  (a deferred certificate is computed before this)
        return self.end.outcome

    @property
    def machine(self) -> Machine | None:
        """The machine at the end; None where `Solved` has its coefficients."""
        assert isinstance(self.end, Certified)  # noqa: S101  (as in `outcome`)
        return self.end.machine


def solve(
    problem: Binary,
    rows: np.ndarray,
    number: int,
    resolved: Resolved,
    clock: Clock,
    watch: Callable[[Solver], None],
    warm_start: WarmStart | None,
    columns: SharedColumns | None,
    *,
    traced: bool,
) -> tuple[BinaryResult, WarmStart | None]:
    """Solve a subproblem of these rows; return also where the next run on them may start, if ``columns`` keep values.

    ``watch`` is called with the solver after each chunk of steps.
    """
    with clock.running():
        solver = resolved.family.start(problem, resolved.rule, resolved, warm_start, columns)
    clock.seconds -= solver.counters.compile_seconds
    trace: list[TracePoint] = []
    status, check_seconds = _advance_to_end(solver, resolved, clock, watch, trace if traced else None)
    chosen = resolved.family.chosen
    counters, at, method = solver.counters, solver.iterate(), chosen(solver) if chosen is not None else ""
    del solver  # its memory may be as large as what the certificate takes
    started = time.perf_counter()
    end: Iterate | Certified
    if resolved.deferred and at.outcome is None and at.warm_start and status is Status.CONVERGED:
        end = replace(at, warm_start=WarmStart(at.warm_start.weights))  # without the gradient while it waits
    else:
        end, status = _certified(Candidate(problem, resolved, at), status)
        if traced:
            at_end = end.outcome
            _add_point(trace, clock, counters.iterations, at_end.objective, at_end.gap, at.support_vectors)
    check_seconds += time.perf_counter() - started
    after = at.warm_start if columns is not None and columns.keeps_values else None
    return BinaryResult(
        number, rows, status, counters, at.support_vectors, check_seconds, end, method, trace
    ), after


def _advance_to_end(
    solver: Solver,
    resolved: Resolved,
    clock: Clock,
    watch: Callable[[Solver], None],
    trace: list[TracePoint] | None,
) -> tuple[Status, float]:
    """Drive a solver to its end; return how it ended, and the seconds of its last check, which are off the clock.

    Time limits are checked after every chunk of steps, of some hundredths of a second each. A KeyboardInterrupt is
    taken between chunks and ends the run as ``interrupted``, with the point reached.
    """
    steps, next_point, looked = 1, 1, 0.0
    seconds, iterations = resolved.time_limit, resolved.max_iterations
    try:
        while True:
            done, started = solver.counters, clock.seconds
            wanted = steps if iterations is None else min(steps, iterations - done.iterations)
            if trace is not None:
                wanted = min(wanted, next_point - done.steps)
            wanted = max(1, wanted)
            with clock.running():
                taken = solver.advance(wanted)
            clock.seconds -= solver.counters.compile_seconds - done.compile_seconds
            if trace is not None and solver.counters.steps >= next_point:
                if looked < FREE_LOOKS or LOOKS_SHARE * looked <= clock.seconds:
                    looked += _record(trace, clock, solver)
                next_point = int(solver.counters.steps * TRACE_SPACING) + 1
            if taken < wanted:
                checked, compiled = time.perf_counter(), solver.counters.compile_seconds
                ended = solver.check_stop()
                checking = time.perf_counter() - checked - (solver.counters.compile_seconds - compiled)
                if ended is not None:
                    break
                clock.seconds += checking  # the run goes on from what the check computed
                steps = 1  # maybe with a larger problem
            watch(solver)
            checking = 0.0
            if seconds is not None and clock.seconds >= seconds:
                ended = Status.TIME_LIMIT
                break
            if iterations is not None and solver.counters.iterations >= iterations:
                ended = Status.MAX_ITERATIONS
                break
            spent = clock.seconds - started
            if spent > LONGEST_CHUNK:
                steps = max(1, min(steps // 2, int(taken * LONGEST_CHUNK / spent)))
            elif (
                spent < SHORTEST_CHUNK and taken == steps
            ):  # a chunk cut short says nothing about the best length
                steps *= CHUNK_GROWTH
    except KeyboardInterrupt:
        ended, checking = Status.INTERRUPTED, 0.0
    if trace is not None:
        _record(trace, clock, solver)
    return ended, checking


def _record(trace: list[TracePoint], clock: Clock, solver: Solver) -> float:
    """Add where a solver stands to the trace; return the seconds of looking there."""
    begun = time.perf_counter()
    at = solver.iterate()
    if at.iterations == solver.counters.iterations:  # else its numbers are those of a point before
        _add_point(trace, clock, at.iterations, at.objective, at.gap, at.support_vectors)
    return time.perf_counter() - begun


def _add_point(
    trace: list[TracePoint], clock: Clock, iterations: int, objective: float, gap: float, support_vectors: int
) -> None:
    """Add a point to the trace, as of now, unless it is the last one."""
    if not trace or iterations > trace[-1].iteration:
        trace.append(TracePoint(clock.seconds, iterations, objective, gap, support_vectors))


def _certified(candidate: Candidate[Iterate], status: Status) -> tuple[Certified, Status]:
    """Return what an iterate is worth: without a check that may take a while where an interrupt wants an answer."""
    enter(Phase.CHECK)
    family, interrupted = candidate.resolved.family, status is Status.INTERRUPTED
    try:
        (found,) = family.certify([candidate], exact=candidate.resolved.final_gap and not interrupted)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        (found,) = family.certify([candidate], exact=False)
    return found, status


def reporter(
    resolved: Resolved, clock: Clock, solved: Sized, subproblems: int, tell: Watch
) -> Callable[[Solver], None]:
    """Return what tells a watcher where a solver stands, but not too often; ``solved`` are those done."""
    last, wait = time.perf_counter(), WATCH_EVERY

    def report(solver: Solver) -> None:
        nonlocal last, wait
        if (begun := time.perf_counter()) - last < wait:
            return
        at, last = solver.iterate(), time.perf_counter()
        wait = max(
            WATCH_EVERY, LOOKS_SHARE * (last - begun)
        )  # of millions of rows a look takes as long as a sweep
        tell(
            Progress(
                len(solved),
                subproblems,
                clock.seconds,
                at.iterations,
                at.objective,
                at.gap,
                resolved.tolerance,
                at.support_vectors,
            )
        )

    return report
