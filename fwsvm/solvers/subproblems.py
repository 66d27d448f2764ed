"""The two-class problems of a training, solved one after another or one a thread."""

import functools
import itertools
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import ColumnStore
from fwsvm.kernels.source import RowSource, row_source
from fwsvm.problems.binary import Binary
from fwsvm.problems.cells import Cells
from fwsvm.solvers.loop import BinaryResult, Clock, Watch, reporter, solve, subproblems_of
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import WarmStarts
from fwsvm.status import Status


@dataclass
class Subproblems:
    """Rows of K classes, and their two-class problems: pairs i < j with class i positive, or each class and the rest.

    Classes without rows have no problems.

    Attributes
    ----------
    X : ndarray, csr_array or RowSource, shape (m, n), the rows as the model has them
    rows : ndarray, csr_array or RowSource, shape (m, k), the same as solvers read them: with the features that occur
    columns : ndarray of int, shape (k,), the features of ``rows``; None for all
    codes : ndarray of int, shape (m,), class numbers
    labels : tuple of str, of the classes
    weights : ndarray of float64, shape (m,), all positive
    scheme : {"one-vs-one", "one-vs-rest"}
    cells : Cells or None
        Where rows are divided, pairs are of classes in one cell, and class c in cell i has the number i K + c.
    counts : ndarray of int, shape (K,), the rows of each class
    seconds : float, of dividing the rows, which each training counts
    occupied : ndarray of int, ascending: the classes that have rows
    classes : ndarray of int, shape (problems, 2), the classes +1 and -1 of each problem, -1 for the rest
    """

    X: Any
    rows: Any
    columns: np.ndarray | None
    codes: np.ndarray
    labels: tuple[str, ...]
    weights: np.ndarray
    scheme: str
    cells: Cells | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        own = len(self.labels)
        self.K = own * (1 + len(self.cells.thresholds) if self.cells else 1)
        self.counts = np.bincount(self.codes, minlength=self.K)
        self.occupied = self.counts.nonzero()[0]
        k = len(self.occupied)
        self.in_pairs = k > 2 and self.scheme == "one-vs-one"
        pairs: Any = [(c, -1) for c in self.occupied[: k if k > 2 else 1]]
        if self.scheme == "one-vs-one":
            groups = itertools.groupby(self.occupied.tolist(), lambda c: c // own)
            pairs = [pair for _, group in groups for pair in itertools.combinations(group, 2)]
        self.classes = np.array(pairs).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self.classes)

    @functools.cached_property
    def sizes(self) -> np.ndarray:
        """The rows of each problem, shape (problems,)."""
        if not self.in_pairs:
            return np.full(len(self), len(self.codes))
        return self.counts[self.classes].sum(axis=1)

    @functools.cached_property
    def members(self) -> list[np.ndarray]:
        """The numbers of the rows of each class, ascending."""
        return [np.flatnonzero(self.codes == c) for c in range(self.K)]

    @functools.cached_property
    def source(self) -> RowSource:
        """The rows as simplex methods read them: made once for all pairs."""
        return row_source(self.rows)

    def problem(self, number: int, resolved: Resolved) -> tuple[Binary, np.ndarray]:
        """Return a problem, and the numbers of its rows among all."""
        X = self.rows
        rows = np.arange(len(self.codes))
        if self.in_pairs:
            rows = np.concatenate([self.members[c] for c in self.classes[number]])
            if resolved.family.searches:  # the class +1 first, or rows would be copied again
                X = self.source.some(rows)
            else:
                rows.sort()
                X = X[rows]
        y = np.where(self.codes[rows] == self.classes[number][0], 1.0, -1.0)
        return Binary(X, y, self.penalties(rows, resolved.C), (resolved.seed, number)), rows

    def penalties(self, rows: np.ndarray, C: float) -> np.ndarray:
        """Return the penalties C_i of some rows, (s,)."""
        return C * self.weights[rows]


@dataclass
class Solved:
    """Results in the order of their numbers, and the seconds of the worker that had most to do.

    ``warm_starts`` are what the next run on the same rows may start from, by number of the subproblem; none where
    nothing was asked to outlive the run. ``machines`` are the coefficients (m, K - 1) and biases (K (K - 1) / 2,) of
    pairs that were solved together, in LIBSVM's layout; zero for all others.
    """

    parts: list[BinaryResult] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False
    warm_starts: WarmStarts = field(default_factory=dict)
    machines: tuple[np.ndarray, np.ndarray] | None = None
    compile_seconds: float = 0.0


def solve_all(
    problems: Subproblems,
    resolved: Resolved,
    watch: Watch | None,
    starts: WarmStarts | None = None,
    columns: ColumnStore | None = None,
    begun: Solved | None = None,
) -> Solved:
    """Return the subproblems solved: together those that the family can solve so, the others one by one.

    ``starts`` by number and ``columns`` are what earlier runs on the same rows came to. ``begun`` is what is solved
    already, where that was tried: parts that it has a warm start for go on from there.

    A single problem has all threads; several are solved one a thread, the longest first. A subproblem's random numbers
    depend on its number alone, so its solution does not depend on who finds it, but for rounding where workers that
    share a budget of memory keep other kernel values. A time limit or an interrupt that ends one ends all; what was
    finished stays. Methods that may not end by themselves have equal parts of the time that is left.
    """
    if begun is None:
        at_once = resolved.family.solve_at_once
        begun = next(
            iter(at_once(problems, [resolved], watch) if at_once else []), Solved(seconds=problems.seconds)
        )
    starts, limit = {**(starts or {}), **begun.warm_starts}, resolved.time_limit or np.inf
    again = {int(part.numbers[0]): part for part in begun.parts if part.numbers[0] in begun.warm_starts}
    parts = [part for part in begun.parts if part.numbers[0] not in again]
    if (
        subproblems_of(parts) == len(problems)
        or begun.interrupted
        or (begun.parts and begun.seconds >= limit)
    ):
        return begun
    wanted = np.delete(np.arange(len(problems)), [number for part in parts for number in part.numbers])
    workers = min(len(wanted), resolved.threads)
    if workers > 1:
        threads, cache_mib = resolved.threads // workers, max(1, resolved.cache_mib // workers)
        resolved = replace(resolved, threads=threads, cache_mib=cache_mib)
    waiting = deque(wanted[np.argsort(-problems.sizes[wanted], kind="stable")].tolist())
    next_starts: WarmStarts = {}
    setup, halt = Clock(begun.seconds, begun.compile_seconds), threading.Event()
    if workers > 1 and resolved.family.searches:
        with setup.running():
            _ = problems.source  # here, not in each of the workers
    clocks = [replace(setup) for _ in range(workers)]

    def work(me: int) -> None:
        """Solve the problems that wait, until there are none, or the time is over."""
        clock = clocks[me]
        look = reporter(resolved, clock, parts, len(problems), watch, halt)
        while not halt.is_set():
            try:
                number = waiting.popleft()
            except IndexError:
                return
            with clock.running():
                problem, rows = problems.problem(number, resolved)
            share = _with_share(resolved, clock, 1 + len(waiting) // workers)
            start, traced = starts.get(number), resolved.traced and len(problems) == 1
            part, after = solve(problem, rows, number, share, clock, look, start, columns, traced=traced)
            if number in again:
                part.goes_on_from(again.pop(number))
            parts.append(part)
            if after is not None:
                next_starts[number] = after
            if part.status is Status.INTERRUPTED:
                halt.set()
            elif clock.seconds >= limit:
                return

    interrupted = False
    try:
        work(0) if workers == 1 else _in_threads(work, workers, halt)
    except KeyboardInterrupt:
        interrupted = True
        if not parts:
            raise
    parts.extend(again.values())
    parts.sort(key=lambda part: part.numbers[0])
    return replace(
        begun,
        parts=parts,
        seconds=max(clock.seconds for clock in clocks),
        interrupted=interrupted or any(part.status is Status.INTERRUPTED for part in parts),
        warm_starts=next_starts,
        compile_seconds=max(clock.compiling for clock in clocks),
    )


def _with_share(resolved: Resolved, clock: Clock, left: int) -> Resolved:
    """Return the settings of the next problem, whose time limit is an equal share of the time that is left.

    Methods that end by themselves may take all.
    """
    if resolved.time_limit is None or resolved.family.iteration_cap is None:
        return resolved
    return replace(resolved, time_limit=clock.seconds + (resolved.time_limit - clock.seconds) / left)


def _in_threads(work: Callable[[int], None], workers: int, halt: threading.Event) -> None:
    """Let so many workers do the work, until ``halt`` is set, which Ctrl-C and an error of one do."""
    with ThreadPoolExecutor(workers, thread_name_prefix="fwsvm") as pool:
        futures = [pool.submit(work, me) for me in range(workers)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            halt.set()
    for future in futures:
        future.result()
