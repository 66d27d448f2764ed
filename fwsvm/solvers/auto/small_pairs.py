"""Small pairs of classes, solved in compiled code one after another; the other pairs by runs of their own."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.distances import cancels, value_error
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import as_rows
from fwsvm.solvers import certify
from fwsvm.solvers.auto.grouped_rows import GroupedRows, bytes_of_copies, grouped_rows, pairs_of, tiny_groups
from fwsvm.solvers.auto.one_matrix import OneMatrix
from fwsvm.solvers.auto.own_columns import OwnColumns
from fwsvm.solvers.auto.solutions import Solutions, empty_solutions
from fwsvm.solvers.auto.unreached import Point, part_at, starts_at, taken_back
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import Clock, Progress, Watch, time_left
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.scheduler import solve_all
from fwsvm.solvers.second_compiler import helped
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.subproblems import Solved, SolvedPairs, Subproblems, work_of
from fwsvm.solvers.tuning import ONE_MATRIX_ROWS, PAIRS_SHARE
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.solvers.warm_up import compile_runs, layouts, once
from fwsvm.status import Status


class PairSolver(Protocol):
    """Solves pairs of the classes of `GroupedRows` and writes what they come to into `Solutions`."""

    def solve(self, numbers: np.ndarray) -> None:
        """Solve the pairs ``numbers``; write which have reached the goal."""

    def certify(self, numbers: np.ndarray) -> None:
        """Certify the pairs ``numbers``, solved before: coefficients become those of the machines."""


def solve_at_once(
    X: RowMatrix, codes: np.ndarray, weights: np.ndarray, problems: Subproblems,
    settings: Sequence[Resolved], watch: Watch | None,
) -> list[Solved] | None:  # fmt: skip
    """Solve the pairs of rows X (m, n) with weights (m,); None where there is one pair, or none is small.

    Pairs of `Auto.fewest` rows or more, and those that are not done after as many steps as Newton steps would be
    cheaper than, are solved by runs of their own.

    ``settings`` differ in C alone. For several values of C each pair is solved for one after another; None then where
    not all pairs are small. The seconds are shared out by what was done for each. An interrupt leaves nothing of
    several.
    """
    resolved, several = settings[0], len(settings) > 1
    small = _small(X, problems, settings)
    if small is None:
        return None
    way = OneMatrix if len(codes) <= ONE_MATRIX_ROWS else OwnColumns
    kinds, laid = (way, type(resolved.kernel)), layouts(X)
    with helped(laid, pairs=way is OwnColumns):
        compile_seconds = sum(
            once(("pairs", gaps, several, *kinds), partial(_compile, way, resolved, gaps, several=several))
            for gaps in laid
        )
    clock = Clock()
    with clock.running():
        rows = as_rows(X)
        own = own_terms(resolved.kernel, rows)
        # a certificate would need differences, which those of runs take; a smaller error counts in certificates here
        if cancels(value_error(resolved.kernel, own, own), dense=False):
            return None
        groups = grouped_rows(rows, codes, weights, pairs_of(problems.K), small)
        penalties = np.array([each.C for each in settings])
        solutions = empty_solutions(len(groups.order), problems.K, len(settings))
        solver: PairSolver = way(groups, penalties, solutions, resolved)
    begun, check_seconds = np.zeros(len(problems), dtype=bool), 0.0
    interrupted = False
    try:
        for numbers in _shares(problems.sizes, small, resolved.threads):
            with clock.running():
                solver.solve(numbers)
            started = time.perf_counter()
            if not several:  # else each kernel value once for all
                solver.certify(numbers)
            check_seconds += time.perf_counter() - started
            begun[numbers] = True
            if watch is not None:
                watch(Progress(int(begun.sum()), len(begun), clock.seconds, int(solutions.steps.sum()),
                               float("nan"), float("nan"), resolved.tolerance, 0))  # fmt: skip
            if resolved.time_limit is not None and clock.seconds >= resolved.time_limit:
                break
        else:
            if several:
                started = time.perf_counter()
                solver.certify(small)
                check_seconds += time.perf_counter() - started
            begun[:] = True  # those that are not small, by `left`
    except KeyboardInterrupt:
        if several or not begun.any():
            raise
        interrupted = True
    return _taken_apart(
        X, weights, problems, settings, watch, groups, solutions, clock, begun, check_seconds, compile_seconds,
        interrupted,
    )  # fmt: skip


def _taken_apart(
    X: RowMatrix, weights: np.ndarray, problems: Subproblems, settings: Sequence[Resolved],
    watch: Watch | None, groups: GroupedRows, solutions: Solutions, clock: Clock, begun: np.ndarray,
    check_seconds: float, compile_seconds: float, interrupted: bool,
) -> list[Solved]:  # fmt: skip
    """Return what each penalty came to, after runs of their own for the pairs without a certificate that holds.

    Where a limit or an interrupt leaves no time for such a run, a pair keeps the point that it reached.
    """
    limit = settings[0].time_limit
    over = interrupted or (limit is not None and clock.seconds >= limit)
    columns = ColumnStore() if len(settings) > 1 else None  # of the runs of their own
    found: list[Solved] = []
    next_starts: Mapping[int, WarmStart] = {}
    shares = _shares_of_work(solutions, problems.sizes, X)
    for k, (each, share) in enumerate(zip(settings, shares, strict=True)):
        mine = solutions.of(k)
        with clock.running():
            points = taken_back(mine, begun, groups, each)
            starts = {} if over else starts_at(points, groups, each)
        done = Solved(
            [], share * clock.seconds, interrupted, pairs=_joined(mine, groups, X.shape[0]),
            check_seconds=share * check_seconds, counters=_counters(mine), compile_seconds=compile_seconds,
        )  # fmt: skip
        compile_seconds = 0.0
        left = np.flatnonzero(begun & ~mine.reached)
        if len(left) and not over:
            done = _with_runs(
                done, X, weights, problems, each, watch, {**next_starts, **starts}, columns, left
            )
            next_starts = done.warm_starts
        done = replace(done, warm_starts={}) if done.warm_starts else done
        found.append(_with_points(done, points, groups, each))
    return found


def _with_points(
    done: Solved, points: Mapping[int, Point], groups: GroupedRows, resolved: Resolved
) -> Solved:
    """Return what is done with the points of the pairs that have no part: a limit or an interrupt ended these."""
    if not points and not done.interrupted:
        return done
    with_part = {part.number for part in done.parts}
    interrupted, cut = done.interrupted, []
    for number, point in points.items():
        if number not in with_part:
            status = Status.INTERRUPTED if interrupted else Status.TIME_LIMIT
            cut.append(part_at(number, point, groups, resolved, status))
            interrupted |= cut[-1].course.status is Status.INTERRUPTED
    parts = sorted([*done.parts, *cut], key=lambda part: part.number)
    count = done.pairs.count if done.pairs is not None else 0
    if interrupted and not parts and not count:
        raise KeyboardInterrupt
    return replace(
        done, parts=parts, pairs=done.pairs if count or not parts else None, interrupted=interrupted
    )


def _with_runs(
    done: Solved, X: RowMatrix, weights: np.ndarray, problems: Subproblems, resolved: Resolved,
    watch: Watch | None, starts: Mapping[int, WarmStart], columns: ColumnStore | None, left: np.ndarray,
) -> Solved:  # fmt: skip
    """Solve the pairs ``left`` by runs of their own, and return what that comes to with what is done."""
    count = done.pairs.count if done.pairs is not None else 0
    limit = time_left(resolved.time_limit, done.seconds)
    try:
        compile_seconds = done.compile_seconds + compile_runs(resolved, X)
        more = solve_all(
            X, weights, problems, replace(resolved, time_limit=limit), watch and _counted_from(count, watch), starts,
            columns, left.tolist(),
        )  # fmt: skip
    except KeyboardInterrupt:
        if columns is not None:
            raise
        return replace(done, interrupted=True)
    if columns is not None and more.interrupted:
        raise KeyboardInterrupt
    return replace(
        done, parts=more.parts, seconds=done.seconds + more.seconds, interrupted=more.interrupted,
        pairs=done.pairs if count else None, compile_seconds=compile_seconds, warm_starts=more.warm_starts,
    )  # fmt: skip


def _shares_of_work(solutions: Solutions, sizes: np.ndarray, X: RowMatrix) -> np.ndarray:
    """Return about which share of the time each penalty took, shape (S,), in sum 1; ``sizes`` are the pairs' rows."""
    if len(solutions.steps) == 1:
        return np.ones(1)
    stored = X.nnz if isinstance(X, sparse.csr_array) else X.size
    work = work_of(solutions.steps @ sizes, solutions.evaluations.sum(axis=1), stored / X.shape[0])
    return np.asarray(work / work.sum()) if work.any() else np.full(len(work), 1.0 / len(work))


def _counted_from(count: int, watch: Watch) -> Watch:
    """Return a watcher that is told of so many subproblems more than were solved."""
    return lambda progress: watch(progress._replace(subproblem=progress.subproblem + count))


def _small(X: RowMatrix, problems: Subproblems, settings: Sequence[Resolved]) -> np.ndarray | None:
    """Return the numbers of the pairs that are small; None where none is, or where more is asked than is known here."""
    resolved, several = settings[0], len(settings) > 1
    if (
        not problems.in_pairs
        or resolved.stop == "meb"  # its goal is in parts of the largest K~_ii of each pair
        or (resolved.search, resolved.protocol) != ("full", PROTOCOLS["default"])
        or resolved.max_iterations is not None
        or not resolved.final_gap
        or (several and resolved.time_limit is not None)
    ):
        return None
    small = np.flatnonzero(problems.sizes < resolved.rule.fewest)
    if not len(small) or (several and len(small) < len(problems)):
        return None
    solutions = 16 * (len(settings) - 1) * X.shape[0] * problems.K  # with sums for certificates
    return small if bytes_of_copies(X, problems.K) + solutions <= resolved.cache_bytes // 2 else None


def _shares(sizes: np.ndarray, small: np.ndarray, threads: int) -> list[np.ndarray]:
    """Return the numbers of the small pairs, in parts of about `PAIRS_SHARE` kernel values a thread."""
    work = np.cumsum(sizes[small] ** 2)
    if work[-1] < PAIRS_SHARE * threads:
        return [small]
    return np.split(small, np.flatnonzero(np.diff(work // (PAIRS_SHARE * threads))) + 1)


def _counters(solutions: Solutions) -> Counters:
    """Return what was done for all pairs, for those that did not reach the goal, too."""
    steps, evaluations = int(solutions.steps.sum()), int(solutions.evaluations.sum())
    return Counters(steps, steps, evaluations)


def _joined(solutions: Solutions, groups: GroupedRows, rows: int) -> SolvedPairs:
    """Return what the pairs that reached the goal came to together."""
    coefficients = np.zeros((rows, solutions.coefficients.shape[1]))
    coefficients[groups.order] = solutions.coefficients
    return SolvedPairs(
        count=int(solutions.reached.sum()),
        outcome=certify.proven_together(solutions.certificates[solutions.reached]),
        coefficients=coefficients,
        biases=solutions.biases,
        method="swap-2o",
    )


def _compile(
    way: type[OneMatrix] | type[OwnColumns], resolved: Resolved, gaps: int, *, several: bool
) -> None:
    """Solve a tiny problem of three classes, dense or with features that no row has, for one penalty or several."""
    groups, penalties = tiny_groups(gaps), np.ones(2 if several else 1)
    every = np.arange(len(groups.pairs))
    solutions = empty_solutions(len(groups.order), 3, len(penalties))
    solver: PairSolver = way(groups, penalties, solutions, resolved)
    solver.solve(every)
    solver.certify(every)
