"""The two-class problems of a training, solved one after another or one a thread."""

import functools
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.kernels.source import RowSource
from fwsvm.problems.binary import Binary
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import BinaryResult, Clock, Progress, Watch, reporter, solve
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Solver, WarmStart
from fwsvm.solvers.tuning import WATCH_EVERY
from fwsvm.status import Status


class Subproblems:
    """The two-class problems of a scheme: pairs i < j with class i positive, or each class against the rest.

    Attributes
    ----------
    codes : ndarray of int, shape (m,), class numbers
    K : int
    classes : list of pairs of int, the classes +1 and -1 of each problem, -1 for the rest
    """

    def __init__(self, codes: np.ndarray, K: int, scheme: str) -> None:
        self.codes, self.K = codes, K
        self.classes = [(c, -1) for c in range(K if K > 2 else 1)]
        if scheme == "one-vs-one":
            self.classes = list(combinations(range(K), 2))
        self.in_pairs = K > 2 and scheme == "one-vs-one"

    def __len__(self) -> int:
        return len(self.classes)

    @functools.cached_property
    def sizes(self) -> np.ndarray:
        """The rows of each problem, shape (problems,)."""
        if not self.in_pairs:
            return np.full(len(self), len(self.codes))
        return np.asarray(np.bincount(self.codes, minlength=self.K)[np.array(self.classes)].sum(axis=1))

    @functools.cached_property
    def _members(self) -> list[np.ndarray]:
        return [np.flatnonzero(self.codes == c) for c in range(self.K)]

    def rows(self, number: int, *, grouped: bool) -> np.ndarray:
        """Return the rows of a problem, those of a pair in ascending order or ``grouped`` by class."""
        if not self.in_pairs:
            return np.arange(len(self.codes))
        i, j = self.classes[number]
        rows = np.concatenate([self._members[i], self._members[j]])
        return rows if grouped else np.sort(rows)

    def problem(
        self, number: int, X: RowMatrix | Rows | RowSource, weights: np.ndarray, resolved: Resolved
    ) -> tuple[Binary, np.ndarray]:
        """Return a problem on rows X (m, n) with weights (m,), and the numbers of its rows among all."""
        # simplex methods want the class +1 first, and copy rows that are in another order
        rows = self.rows(number, grouped=bool(resolved.family.searches))
        y = np.where(self.codes[rows] == self.classes[number][0], 1.0, -1.0)
        stream = resolved.seed, number
        if len(rows) < X.shape[0]:
            return Binary(_some(X, rows), y, resolved.C * weights[rows], stream), rows
        alike = weights.strides == (0,)  # then one number stands for all
        penalties = np.broadcast_to(resolved.C * weights[0], len(rows)) if alike else resolved.C * weights
        return Binary(X, y, penalties, stream), rows


def _some(X: RowMatrix | Rows | RowSource, which: np.ndarray) -> RowMatrix | Rows | RowSource:
    """Return the rows ``which``, copies unless they are far."""
    if isinstance(X, RowSource):
        return X.some(which)
    return some_rows(X, which) if isinstance(X, Rows) else X[which]


def work_of(scanned: Any, evaluations: Any, stored: float) -> Any:
    """Estimate the nanoseconds of steps that scanned so many rows in all, and computed so many kernel values.

    ``stored`` are the numbers that a row has.
    """
    return scanned + stored / 4.0 * evaluations


@dataclass
class Solved:
    """Results in the order of their numbers, and the seconds of the worker that had most to do.

    ``warm_starts`` are what the next run on the same rows may start from, by number of the subproblem; none where
    nothing was asked to outlive the run. ``coefficients`` (m, K - 1) and ``biases`` (K (K - 1) / 2,) are those of pairs
    that were solved together, in LIBSVM's layout; zero for all others. ``counters``, ``compile_seconds`` and
    ``check_seconds`` are those that no result has.
    """

    parts: list[BinaryResult]
    seconds: float
    interrupted: bool = False
    warm_starts: Mapping[int, WarmStart] = field(default_factory=dict)
    coefficients: np.ndarray | None = None
    biases: np.ndarray | None = None
    compile_seconds: float = 0.0
    check_seconds: float = 0.0
    counters: Counters = Counters()  # noqa: RUF009  (a tuple)


def solve_all(
    X: RowMatrix | RowSource,
    weights: np.ndarray,
    problems: Subproblems,
    resolved: Resolved,
    watch: Watch | None,
    warm_starts: Mapping[int, WarmStart] | None = None,
    columns: ColumnStore | None = None,
    numbers: Sequence[int] | None = None,
) -> Solved:
    """Solve subproblems of rows X (m, n) with weights (m,), all unless numbers are given.

    ``warm_starts`` by number and ``columns`` are what earlier runs on the same rows came to. A single problem has all
    threads; several are solved one a thread, the longest first. A subproblem's random numbers depend on its number
    alone, so its solution does not depend on who finds it, but for rounding where workers that share a budget of memory
    keep other kernel values. A time limit or an interrupt that ends one ends all; what was finished stays.
    """
    wanted = np.arange(len(problems)) if numbers is None else np.asarray(numbers, dtype=np.int64)
    workers = min(len(wanted), resolved.threads)
    if workers > 1:
        threads, cache_mib = resolved.threads // workers, max(1, resolved.cache_mib // workers)
        resolved = replace(resolved, threads=threads, cache_mib=cache_mib)
    clock, rows = Clock(), X
    if len(problems) > 1 and resolved.family.searches and not isinstance(X, RowSource):
        with clock.running():  # simplex methods read rows in this form: made once for all pairs
            rows = as_rows(X)
    if columns is None and len(wanted) > 1:
        columns = ColumnStore(keeps_values=False)
    waiting = deque(wanted[np.argsort(-problems.sizes[wanted], kind="stable")].tolist())
    work = _Work(rows, weights, problems, resolved, waiting, warm_starts or {}, columns)
    clocks = [Clock(clock.seconds) for _ in range(workers)]
    if workers == 1:
        work.do(clocks[0], 0, watch)
    elif workers:
        _do_in_threads(work, clocks, watch)
    interrupted = work.interrupted.is_set()
    if interrupted and not work.parts:
        raise KeyboardInterrupt
    parts = sorted(work.parts, key=lambda part: part.number)
    return Solved(parts, max(each.seconds for each in clocks), interrupted, work.next_starts)


@dataclass
class _Work:
    """What the workers share: the numbers of problems that wait, and what was solved."""

    rows: RowMatrix | Rows | RowSource
    weights: np.ndarray
    problems: Subproblems
    resolved: Resolved
    waiting: deque[int]
    warm_starts: Mapping[int, WarmStart]
    columns: ColumnStore | None
    parts: list[BinaryResult] = field(default_factory=list)
    next_starts: dict[int, WarmStart] = field(default_factory=dict)
    interrupted: threading.Event = field(default_factory=threading.Event)

    def do(self, clock: Clock, me: int, watch: Watch | None) -> None:
        """Solve the problems that wait, until there are none, or the time is over."""
        columns, total, limit = self.columns, len(self.problems), self.resolved.time_limit
        report = watch and reporter(self.resolved, clock, self.parts, total, watch)

        def look(solver: Solver) -> None:
            if report is not None:
                report(solver)
            if self.interrupted.is_set():
                raise KeyboardInterrupt

        try:
            while not self.interrupted.is_set():
                try:
                    number = self.waiting.popleft()
                except IndexError:
                    return
                with clock.running():
                    problem, rows = self.problems.problem(number, self.rows, self.weights, self.resolved)
                place = None if columns is None else columns.of(number if columns.keeps_values else me)
                start = self.warm_starts.get(number)
                part, next_start = solve(
                    problem, rows, number, self.resolved, clock, look, start, place, traced=total == 1
                )
                self.parts.append(part)
                if next_start is not None:
                    self.next_starts[number] = next_start
                if part.status is Status.INTERRUPTED:
                    self.interrupted.set()
                elif limit is not None and clock.seconds >= limit:
                    return
        except KeyboardInterrupt:  # while a problem was set up
            self.interrupted.set()
        except BaseException:
            self.interrupted.set()
            raise


def _do_in_threads(work: _Work, clocks: Sequence[Clock], watch: Watch | None) -> None:
    """Let a worker for each clock do the work; here interrupts arrive, and what the workers said last is told."""
    said: deque[Progress] = deque(maxlen=1)
    with ThreadPoolExecutor(len(clocks), thread_name_prefix="fwsvm") as pool:
        futures: list[Any] = [
            pool.submit(work.do, clock, me, watch and said.append) for me, clock in enumerate(clocks)
        ]
        try:
            while wait(futures, WATCH_EVERY).not_done:
                if watch is not None and said:
                    watch(said.pop())
        except BaseException as error:
            work.interrupted.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
    for future in futures:
        future.result()
