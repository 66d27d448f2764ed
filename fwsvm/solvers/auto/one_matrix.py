"""All pairs of classes of a small problem, solved on one kernel matrix of all its rows."""

from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fwsvm.kernels.distances import cancels
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.kernel_matrix import kernel_matrix
from fwsvm.kernels.rows import Rows, as_rows
from fwsvm.numerics.threads import together
from fwsvm.solvers import certify
from fwsvm.solvers.auto.pairs import Goal, Solutions, solve_pairs
from fwsvm.solvers.frank_wolfe.stopping import stopping_line
from fwsvm.solvers.loop import Clock, Progress, Watch
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.scheduler import solve_all
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.subproblems import Solved, SolvedPairs, Subproblems
from fwsvm.solvers.warm_up import compile_runs, once

MOST_ROWS = 2048  # their kernel matrix takes 32 MiB
STEPS = 50  # a row: a pair that needs more is left to newton, which does not slow down with C
SHARE = 1 << 22  # kernel values of the pairs solved between two looks at the clock: a hundredth of a second


class Grouped(NamedTuple):
    """Rows grouped by class.

    Attributes
    ----------
    order : ndarray of int, shape (m,), the rows in that order
    starts : ndarray of int, shape (K + 1,), where the rows of each class start
    pairs : ndarray of int, shape (pairs, 2), the classes i < j of each
    """

    order: np.ndarray
    starts: np.ndarray
    pairs: np.ndarray


def solve_at_once(
    X: np.ndarray | sparse.csr_array, codes: np.ndarray, weights: np.ndarray, problems: Subproblems, resolved: Resolved,
    watch: Watch | None,
) -> Solved | None:  # fmt: skip
    """Solve the pairs of rows X (m, n) with weights (m,); None where the problem is not small, or has one pair.

    Pairs that are not done after `STEPS` steps a row are solved by runs of their own.
    """
    if not _suits(len(codes), problems, resolved):
        return None
    compile_seconds = once(("pairs", type(resolved.kernel)), lambda: _compile(resolved))
    clock = Clock()
    with clock.running():
        grouped = _grouped(codes, problems.K)
        rows = as_rows(X[grouped.order])
        own = own_terms(resolved.kernel, rows)
        if cancels(
            resolved.kernel, own, own
        ):  # a certificate would need differences, which those of runs take
            return None
        given = _given(rows, grouped, weights, resolved)
        solutions = _solutions(grouped)
    begun = np.zeros(len(problems), dtype=bool)
    interrupted = False
    try:
        for numbers in _shares(grouped, resolved.threads):
            with clock.running():
                _solve(numbers, resolved.threads, *given, solutions)
            begun[numbers] = True
            if watch is not None:
                watch(Progress(int(begun.sum()), len(begun), clock.seconds, int(solutions.steps.sum()),
                               float("nan"), float("nan"), resolved.tolerance, 0))  # fmt: skip
            if resolved.time_limit is not None and clock.seconds >= resolved.time_limit:
                break
    except KeyboardInterrupt:
        if not begun.any():
            raise
        interrupted = True
    _refuse(solutions, given[-1], grouped)
    solved = _joined(solutions, grouped, compile_seconds)
    done = Solved([], clock.seconds, interrupted, pairs=solved)
    left = np.flatnonzero(begun & ~solutions.reached)
    if not len(left) or interrupted:
        return done
    compile_seconds = compile_runs(resolved, X)
    limit = None if resolved.time_limit is None else max(1e-3, resolved.time_limit - clock.seconds)
    more = solve_all(
        X, weights, problems, replace(resolved, time_limit=limit), watch, None, None, left.tolist()
    )
    return replace(
        done, parts=more.parts, seconds=clock.seconds + more.seconds, interrupted=more.interrupted,
        pairs=solved if solved.count else None, compile_seconds=compile_seconds,
    )  # fmt: skip


def _suits(rows: int, problems: Subproblems, resolved: Resolved) -> bool:
    """Whether there are several pairs in few rows, and the rule asks for nothing that is not known here."""
    return (
        problems.in_pairs
        and rows <= MOST_ROWS
        and resolved.stop != "meb"  # its goal is in parts of the largest K~_ii of each pair
        and (resolved.search, resolved.protocol) == ("full", PROTOCOLS["default"])
        and resolved.max_iterations is None
        and resolved.final_gap
    )


def _grouped(codes: np.ndarray, K: int) -> Grouped:
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=K))])
    return Grouped(np.argsort(codes, kind="stable"), starts, np.array(list(combinations(range(K), 2))))


def _refuse(solutions: Solutions, goal: Goal, grouped: Grouped) -> None:
    """Take back the pairs whose certificates do not hold, though their gaps seemed within the goal."""
    goals = goal.constant + goal.slope * solutions.certificates[:, 0]
    refused = solutions.reached & ~certify.within_goals(solutions.certificates, goals)
    solutions.reached[refused] = False
    starts = grouped.starts
    for i, j in grouped.pairs[refused]:
        solutions.coefficients[starts[i] : starts[i + 1], j - 1] = 0.0
        solutions.coefficients[starts[j] : starts[j + 1], i] = 0.0


def _given(rows: Rows, grouped: Grouped, weights: np.ndarray, resolved: Resolved) -> tuple[Any, ...]:
    """Return kernel values, penalties, each class's first row, the pairs and the goal; ``rows`` are grouped."""
    every = np.arange(len(weights))
    values = np.empty((len(weights), len(weights)))
    kernel_matrix(resolved.kernel, rows, every, every, values, resolved.threads)
    goal = Goal(*stopping_line(resolved.stop, resolved.tolerance, np.nan), STEPS)
    return values, resolved.C * weights[grouped.order], grouped.starts, grouped.pairs, goal


def _solutions(grouped: Grouped) -> Solutions:
    pairs, classes = len(grouped.pairs), len(grouped.starts) - 1
    return Solutions(
        np.zeros((len(grouped.order), classes - 1)),
        np.zeros(pairs),
        np.full((pairs, 5), np.nan),
        np.zeros(pairs, dtype=np.int64),
        np.zeros(pairs, dtype=np.bool_),
    )


def _shares(grouped: Grouped, threads: int) -> list[np.ndarray]:
    """Return the numbers of the pairs, in parts of about `SHARE` kernel values a thread."""
    sizes, pairs = np.diff(grouped.starts), grouped.pairs
    work = np.cumsum((sizes[pairs[:, 0]] + sizes[pairs[:, 1]]) ** 2)
    return np.split(np.arange(len(pairs)), np.flatnonzero(np.diff(work // (SHARE * threads))) + 1)


def _solve(numbers: np.ndarray, threads: int, *given: Any) -> None:
    parts = min(threads, len(numbers))
    *before, goal, solutions = given
    together(
        lambda part: solve_pairs(*before, np.ascontiguousarray(numbers[part::parts]), goal, solutions), parts
    )


def _joined(solutions: Solutions, grouped: Grouped, compile_seconds: float) -> SolvedPairs:
    """Return what the pairs that reached the goal came to together."""
    coefficients = np.empty_like(solutions.coefficients)
    coefficients[grouped.order] = solutions.coefficients
    steps = int(solutions.steps.sum())
    return SolvedPairs(
        count=int(solutions.reached.sum()),
        outcome=certify.proven_together(solutions.certificates[solutions.reached]),
        counters=Counters(steps, steps, len(grouped.order) ** 2, compile_seconds=compile_seconds),
        coefficients=coefficients,
        biases=solutions.biases,
        method="swap-2o",
    )


def _compile(resolved: Resolved) -> None:
    """Solve a tiny problem of three classes."""
    grouped = _grouped(np.repeat(np.arange(3), 3), 3)
    X = np.random.default_rng(0).normal(size=(9, 2))
    for X_too in (X, sparse.csr_array(np.pad(X, ((0, 0), (0, 13))))):
        _solve(np.arange(3), 1, *_given(as_rows(X_too), grouped, np.ones(9), resolved), _solutions(grouped))
