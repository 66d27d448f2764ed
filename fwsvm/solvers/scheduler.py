"""Several two-class problems solved one after another, or several at a time, one a thread."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import Protocol

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.problems.binary import Binary
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import Clock, Limits, Progress, Watch
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Solver
from fwsvm.solvers.subproblems import Part, Solved, Subproblems, solve, teller
from fwsvm.solvers.tuning import WATCH_EVERY
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status


class Sizes(Sized, Protocol):
    """How many subproblems there are, and the rows of each."""

    @property
    def sizes(self) -> np.ndarray:
        """The rows of each problem, shape (problems,)."""


@dataclass(kw_only=True)
class Work(ABC):
    """What the workers share: the problems still to be solved, the parts, and word that it is over."""

    problems: Sizes
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

    @abstractmethod
    def problem(self, number: int, clock: Clock) -> tuple[Binary, np.ndarray]:
        """Return a problem, and the numbers of its rows among all."""

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


@dataclass(kw_only=True)
class _InMemory(Work):
    """Problems whose rows are some of X (m, n), with weights (m,)."""

    problems: Subproblems
    X: RowMatrix | Rows
    weights: np.ndarray

    def problem(self, number: int, clock: Clock) -> tuple[Binary, np.ndarray]:
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


def _some(X: RowMatrix | Rows, which: np.ndarray) -> RowMatrix | Rows:
    """Return copies of the rows ``which``."""
    return some_rows(X, which) if isinstance(X, Rows) else X[which]


def solve_all(
    X: RowMatrix, weights: np.ndarray, problems: Subproblems, resolved: Resolved, watch: Watch | None,
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
    resolved, workers = shared_out(resolved, len(numbers))
    common, rows = Clock(), X
    if len(problems) > 1 and resolved.family.searches:
        # simplex methods read rows in this form: made once for all pairs
        with common.running():
            rows = as_rows(X)
    if columns is None and len(numbers) > 1:
        columns = ColumnStore(keeps_values=False)
    work = _InMemory(
        X=rows, weights=weights, problems=problems, resolved=resolved, warm_starts=warm_starts or {}, columns=columns,
        limits=Limits(resolved.time_limit, resolved.max_iterations), watch=watch, numbers=numbers,
    )  # fmt: skip
    return carry_out(work, workers, common.seconds)


def shared_out(resolved: Resolved, count: int) -> tuple[Resolved, int]:
    """Return settings with the threads and memory of one worker for so many problems, and how many workers."""
    workers = min(count, resolved.threads)
    if workers < 2:
        return resolved, workers
    threads, cache_mib = resolved.threads // workers, max(1, resolved.cache_mib // workers)
    return replace(resolved, threads=threads, cache_mib=cache_mib), workers


def carry_out(work: Work, workers: int, seconds: float = 0.0) -> Solved:
    """Have workers solve all problems; so many seconds went into what they share."""
    clocks = [Clock(seconds) for _ in range(workers)]
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
