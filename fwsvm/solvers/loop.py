"""The one loop of all families: clock, chunks of steps, trace, limits and interrupts."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from fwsvm.solvers.result import TracePoint
from fwsvm.solvers.solver import Solver
from fwsvm.solvers.tuning import (
    FIRST_STEPS,
    LONGEST_CHUNK,
    LOOKS_SHARE,
    MANY_ROWS,
    MOST_FIRST_STEPS,
    ONE_STEP_FROM,
    SHORTEST_CHUNK,
    TRACE_SPACING,
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
    """Seconds that the algorithm took: it runs only inside ``running()``.

    ``pace`` is what the last run on it learned of how much may be done between two looks at it: steps times rows.
    """

    seconds: float = 0.0
    pace: int = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of the block."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - started


@dataclass(frozen=True)
class Limits:
    """What may end a run before its own rule does.

    ``seconds`` are on a worker's clock, over all its subproblems, ``iterations`` of each subproblem.
    """

    seconds: float | None = None
    iterations: int | None = None


def time_left(limit: float | None, spent: float) -> float | None:
    """Return the time limit of a run that goes on after so many seconds: more than 0, None without a limit."""
    return None if limit is None else max(1e-3, limit - spent)


@dataclass
class Course:
    """How the loop over one run went."""

    status: Status
    clock: Clock
    check_seconds: float = 0.0
    trace: list[TracePoint] = field(default_factory=list)
    look_seconds: float = 0.0  # off the clock, for the trace


def run(
    solver: Solver,
    limits: Limits,
    clock: Clock,
    tell: Callable[[Solver], None],
    *,
    rows: int,
    trace: bool,
) -> Course:
    """Drive a solver on so many rows to its end.

    Time limits are checked after every chunk of steps, of some hundredths of a second each. A KeyboardInterrupt is
    taken between chunks and ends the run as ``interrupted``, with the point reached.

    A solver whose steps are long has an attribute ``first_steps``: of how many its first chunk is at most.
    """
    course = Course(Status.CONVERGED, clock)
    first = FIRST_STEPS if rows < ONE_STEP_FROM else 1
    if not trace:  # with one the first chunk is a step, whatever the solver
        first = min(first, getattr(solver, "first_steps", first))
    steps, next_point = max(first, min(clock.pace // rows, MOST_FIRST_STEPS)), 1
    try:
        while True:
            done = solver.counters
            allowed = steps if limits.iterations is None else min(steps, limits.iterations - done.iterations)
            wanted = max(1, min(allowed, next_point - done.steps) if trace else allowed)
            started = clock.seconds
            with clock.running():
                taken = solver.advance(wanted)
            clock.seconds -= solver.counters.compile_seconds - done.compile_seconds
            if trace and solver.counters.steps >= next_point:
                if _may_record(course, rows):
                    _record(course, solver)
                next_point = int(solver.counters.steps * TRACE_SPACING) + 1
            if taken < wanted:
                ended = _check_stop(course, solver)
                if ended is not None:
                    course.status = ended
                    break
                steps = min(steps, MOST_FIRST_STEPS)  # what goes on may be another, larger problem
            tell(solver)
            if limits.seconds is not None and clock.seconds >= limits.seconds:
                course.status = Status.TIME_LIMIT
                break
            if limits.iterations is not None and solver.counters.iterations >= limits.iterations:
                course.status = Status.MAX_ITERATIONS
                break
            spent = clock.seconds - started
            if spent > LONGEST_CHUNK:
                steps = max(1, min(steps // 2, int(taken * LONGEST_CHUNK / spent)))
            elif spent < SHORTEST_CHUNK and taken == steps:
                # a chunk cut short says nothing about the best length
                steps *= 2
            clock.pace = steps * rows
    except KeyboardInterrupt:
        course.status = Status.INTERRUPTED
    if trace:
        _record(course, solver)
    return course


def _may_record(course: Course, rows: int) -> bool:
    """Whether a point of the trace is cheap, or those so far took a small part of the time."""
    return rows < MANY_ROWS or LOOKS_SHARE * course.look_seconds <= course.clock.seconds


def _check_stop(course: Course, solver: Solver) -> Status | None:
    """Ask how the run ended. The check is off the clock, but its time counts if the run goes on from it."""
    started, compiled = time.perf_counter(), solver.counters.compile_seconds
    ended = solver.check_stop()
    spent = time.perf_counter() - started - (solver.counters.compile_seconds - compiled)
    if ended is None:
        course.clock.seconds += spent
    else:
        course.check_seconds += spent
    return ended


def _record(course: Course, solver: Solver) -> None:
    begun = time.perf_counter()
    at = solver.iterate()
    course.look_seconds += time.perf_counter() - begun
    if at.iterations == solver.counters.iterations:  # else its numbers are those of a point before
        add_point(course, at.iterations, at.objective, at.gap, at.support_vectors)


def add_point(course: Course, iterations: int, objective: float, gap: float, support_vectors: int) -> None:
    """Add a point to the trace, as of now, unless it is the last one."""
    if not course.trace or iterations > course.trace[-1].iteration:
        course.trace.append(TracePoint(course.clock.seconds, iterations, objective, gap, support_vectors))
