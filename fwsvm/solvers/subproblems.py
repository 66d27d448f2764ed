"""The two-class problems of a run: which they are, and the solution of one."""

import functools
import time
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fwsvm.phases import Phase, enter
from fwsvm.problems.binary import Binary, Machine
from fwsvm.solvers.certify import Candidate, Certified
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.loop import Clock, Course, Limits, Progress, Watch, add_point, run
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Iterate, Outcome, Solver
from fwsvm.solvers.tuning import LOOKS_SHARE, WATCH_EVERY
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status

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


@dataclass(frozen=True)
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
    def machine(self) -> Machine:
        """The machine at the end."""
        assert isinstance(self.end, Certified)  # noqa: S101  (as in `outcome`)
        return self.end.machine


@dataclass
class Solved:
    """Parts in the order of their numbers, and the seconds of the worker that had most to do.

    ``warm_starts`` are what the next run on the same rows may start from, by number of the subproblem; none where
    nothing was asked to outlive the run. ``pairs`` are what was solved together, in place of parts.
    ``counters`` and ``compile_seconds`` are those that no part has, ``check_seconds`` those of the pairs' certificates.
    """

    parts: list[Part]
    seconds: float
    interrupted: bool = False
    warm_starts: Mapping[int, WarmStart] = field(default_factory=dict)
    pairs: "SolvedPairs | None" = None
    compile_seconds: float = 0.0
    check_seconds: float = 0.0
    counters: Counters = NOTHING_DONE


@dataclass(frozen=True)
class SolvedPairs:
    """What pairs of classes came to that were solved together.

    Attributes
    ----------
    count : int
    outcome : Outcome, sums over them, and the largest relative gap
    coefficients : ndarray, shape (m, K - 1), of the machines, in LIBSVM's layout; zero for all other pairs
    biases : ndarray, shape (K (K - 1) / 2,)
    method : str, what solved them
    """

    count: int
    outcome: Outcome
    coefficients: np.ndarray
    biases: np.ndarray
    method: str


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
    course, counters, at, method = _run(
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


def _run(
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
