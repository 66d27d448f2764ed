"""The loop over one run, the two-class problems of a training, and their solution one after another or one a thread."""

import functools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.kernels.source import RowSource
from fwsvm.phases import Phase, enter
from fwsvm.problems.binary import Binary, Machine
from fwsvm.solvers.certify import Candidate, Certified
from fwsvm.solvers.column_store import ColumnStore, SharedColumns
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.result import TracePoint
from fwsvm.solvers.solver import Counters, Iterate, Outcome, Solver, WarmStart
from fwsvm.solvers.tuning import (
    FIRST_STEPS,
    LONGEST_CHUNK,
    LOOKS_SHARE,
    MANY_ROWS,
    MOST_FIRST_STEPS,
    ONE_STEP_FROM,
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


NOTHING_DONE = Counters()
Tell: TypeAlias = Callable[[Solver | None], None]


def work_of(scanned: Any, evaluations: Any, stored: float) -> Any:
    """Estimate the nanoseconds of steps that scanned so many rows in all, and computed so many kernel values.

    ``stored`` are the numbers that a row has.
    """
    return scanned + stored / 4.0 * evaluations


class Subproblem(NamedTuple):
    """A two-class problem within a multi-class one: its rows, and which of them are +1."""

    rows: np.ndarray
    positive: np.ndarray


@dataclass(slots=True)
class Part:
    """One subproblem solved; ``check_seconds`` went into its certificate, off the clock.

    ``end`` is what it ended at: an iterate whose certificate is deferred (`Resolved.deferred`), or what that is worth.
    ``method`` is what a family chose that chooses among methods.
    """

    number: int
    rows: np.ndarray
    course: Course
    counters: Counters
    support_vectors: int
    check_seconds: float
    end: Iterate | Certified
    method: str = ""

    @property
    def outcome(self) -> Outcome:
        """What the end is worth."""
        assert isinstance(self.end, Certified)  # noqa: S101  (a deferred certificate is computed before this)
        return self.end.outcome

    @property
    def machine(self) -> Machine | None:
        """The machine at the end; None where its coefficients are those of `Solved`."""
        assert isinstance(self.end, Certified)  # noqa: S101  (as in `outcome`)
        return self.end.machine


@dataclass
class Solved:
    """Parts in the order of their numbers, and the seconds of the worker that had most to do.

    ``warm_starts`` are what the next run on the same rows may start from, by number of the subproblem; none where
    nothing was asked to outlive the run. ``coefficients`` (m, K - 1) and ``biases`` (K (K - 1) / 2,) are those of parts
    that were solved together, in LIBSVM's layout; zero for all others. ``counters``, ``compile_seconds`` and
    ``check_seconds`` are those that no part has.
    """

    parts: list[Part]
    seconds: float
    interrupted: bool = False
    warm_starts: Mapping[int, WarmStart] = field(default_factory=dict)
    coefficients: np.ndarray | None = None
    biases: np.ndarray | None = None
    compile_seconds: float = 0.0
    check_seconds: float = 0.0
    counters: Counters = NOTHING_DONE


class Subproblems(Sequence[Subproblem]):
    """The two-class problems of a scheme: pairs i < j with class i positive, or each class against the rest.

    Each is made when it is first asked for.
    """

    def __init__(self, codes: np.ndarray, K: int, scheme: str) -> None:
        self.codes, self.K = codes, K
        self.in_pairs = K > 2 and scheme == "one-vs-one"
        self._classes = (
            list(combinations(range(K), 2)) if self.in_pairs else [(c, -1) for c in range(K if K > 2 else 1)]
        )
        self._made: dict[int, Subproblem] = {}

    def __len__(self) -> int:
        return len(self._classes)

    def __getitem__(self, number: Any) -> Any:
        if number not in self._made:
            i, j = self._classes[number]
            rows = self._rows(i, j)
            self._made[number] = Subproblem(rows, self.codes[rows] == i)
        return self._made[number]

    @functools.cached_property
    def sizes(self) -> np.ndarray:
        """The rows of each problem, shape (problems,)."""
        if not self.in_pairs:
            return np.full(len(self), len(self.codes))
        counts, pairs = np.bincount(self.codes, minlength=self.K), np.array(self._classes)
        return np.asarray(counts[pairs].sum(axis=1))

    def _rows(self, i: int, j: int) -> np.ndarray:
        if not self.in_pairs:
            return self._everyone
        return np.sort(np.concatenate([self._members[i], self._members[j]]))

    @functools.cached_property
    def _everyone(self) -> np.ndarray:
        return np.arange(len(self.codes))

    @functools.cached_property
    def _members(self) -> list[np.ndarray]:
        return [np.flatnonzero(self.codes == c) for c in range(self.K)]


def solve(
    problem: Binary, rows: np.ndarray, number: int, total: int, resolved: Resolved, limits: Limits, clock: Clock,
    tell: Tell, warm_start: WarmStart | None = None, columns: SharedColumns | None = None,
) -> tuple[Part, WarmStart | None]:  # fmt: skip
    """Solve one subproblem of ``total``, made of these rows of the whole; return also where the next run may start.

    Without ``columns`` that keep their values there is no warm start for a next one.
    """
    course, counters, at, method = _run_solver(
        problem, resolved, limits, clock, tell, warm_start, columns, trace=total == 1
    )
    started = time.perf_counter()
    end: Iterate | Certified
    if resolved.deferred and at.outcome is None and at.warm_start and course.status is Status.CONVERGED:
        end = replace(
            at, warm_start=WarmStart(at.warm_start.weights)
        )  # which holds no gradient while it waits
    else:
        end, course = _certified(Candidate(problem, resolved, at), course)
        if total == 1:
            found = end.outcome
            add_point(course, counters.iterations, found.objective, found.gap, at.support_vectors)
    check = course.check_seconds + time.perf_counter() - started
    after = at.warm_start if columns is not None and columns.keeps_values else None
    return Part(number, rows, course, counters, at.support_vectors, check, end, method), after


def _run_solver(
    problem: Binary, resolved: Resolved, limits: Limits, clock: Clock, tell: Tell, warm_start: WarmStart | None,
    columns: SharedColumns | None, *, trace: bool,
) -> tuple[Course, Counters, Iterate, str]:  # fmt: skip
    """Run a solver to its end; what ``columns`` do not keep of its memory is free once this returns."""
    with clock.running():
        solver = resolved.family.start(problem, resolved.rule, resolved, warm_start, columns)
    clock.seconds -= solver.counters.compile_seconds
    course = run(solver, limits, clock, tell, rows=len(problem.y), trace=trace)
    tell(None)
    chosen = resolved.family.chosen
    return course, solver.counters, solver.iterate(), chosen(solver) if chosen is not None else ""


def _certified(candidate: Candidate[Iterate], course: Course) -> tuple[Certified, Course]:
    """Return what an iterate is worth: without a check that may take a while where an interrupt wants an answer."""
    enter(Phase.CHECK)
    family, interrupted = candidate.resolved.family, course.status is Status.INTERRUPTED
    try:
        (found,) = family.certify([candidate], exact=candidate.resolved.final_gap and not interrupted)
    except KeyboardInterrupt:
        course = replace(course, status=Status.INTERRUPTED)
        (found,) = family.certify([candidate], exact=False)
    return found, course


def teller(done: Sized, total: int, resolved: Resolved, clock: Clock, watch: Watch | None) -> Tell:
    """Return what is called after each chunk of a run, and with None at its end.

    It tells the watcher, but not too often, with how many are done.
    """
    last, wait = time.perf_counter(), WATCH_EVERY

    def tell(solver: Solver | None) -> None:
        nonlocal last, wait
        if watch is not None and solver is not None and time.perf_counter() - last >= wait:
            begun = time.perf_counter()
            at = solver.iterate()
            last = time.perf_counter()
            # of millions of rows a look takes as long as a sweep
            wait = max(WATCH_EVERY, LOOKS_SHARE * (last - begun))
            watch(Progress(len(done), total, clock.seconds, at.iterations, at.objective, at.gap, resolved.tolerance,
                           at.support_vectors))  # fmt: skip

    return tell


@dataclass(kw_only=True)
class Work:
    """What the workers share: the problems still to be solved, the parts, and word that it is over.

    The rows of a problem are some of X (m, n), with weights (m,).
    """

    problems: Subproblems
    X: RowMatrix | Rows | RowSource
    weights: np.ndarray
    resolved: Resolved
    limits: Limits
    watch: Watch | None
    numbers: Sequence[int]  # of the problems to be solved
    warm_starts: Mapping[int, WarmStart] = field(default_factory=dict)
    columns: ColumnStore | None = None
    parts: list[Part] = field(default_factory=list)
    next_starts: dict[int, WarmStart] = field(default_factory=dict)
    # the last progress of each worker but the first
    said: dict[int, Progress] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)  # begin nothing more
    interrupted: threading.Event = field(default_factory=threading.Event)  # and end what has begun

    def __post_init__(self) -> None:
        self._waiting: SimpleQueue[int] = SimpleQueue()
        numbers = np.asarray(self.numbers, dtype=np.int64)
        # the longest first, so that all workers end at about the same time
        for number in numbers[np.argsort(-self.problems.sizes[numbers], kind="stable")].tolist():
            self._waiting.put(number)

    def problem(self, number: int, clock: Clock) -> tuple[Binary, np.ndarray]:
        """Return a problem, and the numbers of its rows among all."""
        rows, positive = self.problems[number]
        if self.resolved.family.searches and len(rows) < self.X.shape[0]:
            # as simplex methods want them, so that they copy no row again
            rows, positive = np.concatenate([rows[positive], rows[~positive]]), np.sort(positive)[::-1]
        signs = np.where(positive, 1.0, -1.0)
        if len(rows) == len(self.weights) and self.weights.strides == (0,):  # all rows weigh alike
            penalties = np.broadcast_to(self.resolved.C * self.weights[0], len(rows))
        else:
            penalties = self.resolved.C * self.weights[rows]
        with clock.running():
            X = self.X if len(rows) == self.X.shape[0] else _some(self.X, rows)
        return Binary(X, signs, penalties, (self.resolved.seed, number)), rows

    def do(self, clock: Clock, me: int) -> None:
        """Solve problems, the first that waits next, until there are none or it is over. Worker 0 tells the watcher."""
        try:
            while not (self.over.is_set() or self.interrupted.is_set() or self._waiting.empty()):
                part = self._solved(self._waiting.get_nowait(), clock, me)
                self.parts.append(part)
                if part.course.status is Status.INTERRUPTED:
                    self.interrupted.set()
                elif self.limits.seconds is not None and clock.seconds >= self.limits.seconds:
                    self.over.set()
        except Empty:  # another worker was faster
            return
        except KeyboardInterrupt:  # while a problem was set up: what was solved before stays
            self.interrupted.set()
        except BaseException:
            self.interrupted.set()
            raise

    def _solved(self, number: int, clock: Clock, me: int) -> Part:
        resolved, total = self.resolved, len(self.problems)
        problem, rows = self.problem(number, clock)
        told = teller(self.parts, total, resolved, clock, self.watch and partial(self._say, me))

        def tell(solver: Solver | None) -> None:
            told(solver)
            if solver is not None and self.interrupted.is_set():
                raise KeyboardInterrupt

        part, next_start = solve(
            problem, rows, number, total, resolved, self.limits, clock, tell, self.warm_starts.get(number),
            None if self.columns is None else self.columns.of(number if self.columns.keeps_values else me),
        )  # fmt: skip
        if next_start is not None:
            self.next_starts[number] = next_start
        return part

    def _say(self, me: int, progress: Progress) -> None:
        """Tell the watcher, who is in the first worker's thread, which tells of the others while it waits."""
        if me == 0 and self.watch is not None:
            self.watch(progress)
        else:
            self.said[me] = progress

    def wait_for(self, others: Sequence[Future[None]]) -> None:
        """Wait until the other workers have ended; tell the watcher what they said last."""
        while wait(others, WATCH_EVERY).not_done:
            if self.watch is not None and self.said:
                self.watch(self.said.popitem()[1])


def _some(X: RowMatrix | Rows | RowSource, which: np.ndarray) -> RowMatrix | Rows | RowSource:
    """Return the rows ``which``, copies unless they are far."""
    if isinstance(X, RowSource):
        return X.some(which)
    return some_rows(X, which) if isinstance(X, Rows) else X[which]


def solve_all(
    X: RowMatrix | RowSource, weights: np.ndarray, problems: Subproblems, resolved: Resolved, watch: Watch | None,
    warm_starts: Mapping[int, WarmStart] | None = None, columns: ColumnStore | None = None,
    numbers: Sequence[int] | None = None,
) -> Solved:  # fmt: skip
    """Solve subproblems of rows X (m, n) with weights (m,), all unless numbers are given.

    ``warm_starts`` by number and ``columns`` are what earlier runs on the same rows came to.

    A single one has all threads; several are solved one a thread.

    A subproblem's random numbers depend on its place alone, so its solution does not depend on who finds it (but for
    rounding, where workers that share a budget of memory keep other kernel values). A time limit or an interrupt that
    ends one ends all; what was finished stays.
    """
    numbers = range(len(problems)) if numbers is None else numbers
    workers = min(len(numbers), resolved.threads)
    if workers > 1:
        threads, cache_mib = resolved.threads // workers, max(1, resolved.cache_mib // workers)
        resolved = replace(resolved, threads=threads, cache_mib=cache_mib)
    common, rows = Clock(), X
    if len(problems) > 1 and resolved.family.searches and not isinstance(X, RowSource):
        # simplex methods read rows in this form: made once for all pairs
        with common.running():
            rows = as_rows(X)
    if columns is None and len(numbers) > 1:
        columns = ColumnStore(keeps_values=False)
    work = Work(
        X=rows, weights=weights, problems=problems, resolved=resolved, warm_starts=warm_starts or {}, columns=columns,
        limits=Limits(resolved.time_limit, resolved.max_iterations), watch=watch, numbers=numbers,
    )  # fmt: skip
    clocks = [Clock(common.seconds) for _ in range(workers)]
    if workers == 1:
        work.do(clocks[0], 0)
    else:
        _share(work, clocks)
    parts = sorted(work.parts, key=lambda part: part.number)
    interrupted = work.interrupted.is_set()
    if interrupted and not parts:
        raise KeyboardInterrupt
    return Solved(parts, max(clock.seconds for clock in clocks), interrupted, work.next_starts)


def _share(work: Work, clocks: list[Clock]) -> None:
    """Let a worker for each clock do the work, one of them here, where interrupts arrive and progress is told."""
    with ThreadPoolExecutor(len(clocks) - 1, thread_name_prefix="fwsvm") as pool:
        others = [pool.submit(work.do, clock, me) for me, clock in enumerate(clocks[1:], 1)]
        work.do(clocks[0], 0)
        try:
            work.wait_for(others)
        except BaseException as error:
            work.interrupted.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
    for other in others:
        other.result()
