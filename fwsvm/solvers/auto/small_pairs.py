"""Small pairs of classes, solved in compiled code one after another; the other pairs by runs of their own."""

import time
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np
from scipy import sparse

from fwsvm.kernels.distances import cancels
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import as_rows, some_rows
from fwsvm.problems.simplex_qp import gradients
from fwsvm.solvers import certify
from fwsvm.solvers.auto.grouped_rows import GroupedRows, bytes_of_copies, grouped_rows, pairs_of, tiny_groups
from fwsvm.solvers.auto.one_matrix import MOST_ROWS, OneMatrix
from fwsvm.solvers.auto.own_columns import OwnColumns
from fwsvm.solvers.auto.solutions import Solutions, empty_solutions
from fwsvm.solvers.frank_wolfe.stopping import stopping_line
from fwsvm.solvers.loop import Clock, Progress, Watch
from fwsvm.solvers.newton.warm_start import NewtonStart
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.scheduler import solve_all
from fwsvm.solvers.second_compiler import helped
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.subproblems import Solved, SolvedPairs, Subproblems
from fwsvm.solvers.tuning import PAIRS_SHARE
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.solvers.warm_up import compile_runs, layouts, once


class PairSolver(Protocol):
    """Solves pairs of the classes of `GroupedRows` and writes what they come to into `Solutions`."""

    def solve(self, numbers: np.ndarray) -> None:
        """Solve the pairs ``numbers``; write which have reached the goal."""

    def certify(self, numbers: np.ndarray) -> None:
        """Certify the pairs ``numbers``, solved before: coefficients become those of the machines."""


def solve_at_once(
    X: np.ndarray | sparse.csr_array, codes: np.ndarray, weights: np.ndarray, problems: Subproblems, resolved: Resolved,
    watch: Watch | None,
) -> Solved | None:  # fmt: skip
    """Solve the pairs of rows X (m, n) with weights (m,); None where there is one pair, or none is small.

    Pairs of more rows than `Auto.fewest`, and those that are not done after as many steps as Newton steps would be
    cheaper than, are solved by runs of their own.
    """
    small = _small(X, problems, resolved)
    if small is None:
        return None
    way = OneMatrix if len(codes) <= MOST_ROWS else OwnColumns
    kinds, found = (way, type(resolved.kernel)), layouts(X)
    with helped(resolved, found, pairs=way is OwnColumns):
        compile_seconds = sum(
            once(("pairs", gaps, *kinds), partial(_compile, way, resolved, gaps)) for gaps in found
        )
    clock = Clock()
    with clock.running():
        rows = as_rows(X)
        own = own_terms(resolved.kernel, rows)
        # a certificate would need differences, which those of runs take
        if cancels(resolved.kernel, own, own):
            return None
        groups = grouped_rows(rows, codes, resolved.C * weights, pairs_of(problems.K), small)
        solutions = empty_solutions(len(groups.order), problems.K)
        solver: PairSolver = way(groups, solutions, resolved)
    begun, check_seconds = np.zeros(len(problems), dtype=bool), 0.0
    interrupted = False
    try:
        for numbers in _shares(problems.sizes, small, resolved.threads):
            with clock.running():
                solver.solve(numbers)
            started = time.perf_counter()
            solver.certify(numbers)
            check_seconds += time.perf_counter() - started
            begun[numbers] = True
            if watch is not None:
                watch(Progress(int(begun.sum()), len(begun), clock.seconds, int(solutions.steps.sum()),
                               float("nan"), float("nan"), resolved.tolerance, 0))  # fmt: skip
            if resolved.time_limit is not None and clock.seconds >= resolved.time_limit:
                break
        else:
            begun[:] = True  # those that are not small, by `left`
    except KeyboardInterrupt:
        if not begun.any():
            raise
        interrupted = True
    with clock.running():
        starts = _taken_back(solutions, begun, groups, resolved)
    done = Solved(
        [], clock.seconds, interrupted, pairs=_joined(solutions, groups, len(codes)), check_seconds=check_seconds,
        counters=_counters(solutions), compile_seconds=compile_seconds,
    )  # fmt: skip
    left, count = np.flatnonzero(begun & ~solutions.reached), int(solutions.reached.sum())
    if not len(left) or interrupted:
        return done
    limit = None if resolved.time_limit is None else max(1e-3, resolved.time_limit - clock.seconds)
    try:
        compile_seconds += compile_runs(resolved, X)
        more = solve_all(
            X, weights, problems, replace(resolved, time_limit=limit), watch and _counted_from(count, watch), starts,
            None, left.tolist(),
        )  # fmt: skip
    except KeyboardInterrupt:
        if not count:
            raise
        return replace(done, interrupted=True)
    return replace(
        done, parts=more.parts, seconds=clock.seconds + more.seconds, interrupted=more.interrupted,
        pairs=done.pairs if count else None, compile_seconds=compile_seconds,
    )  # fmt: skip


def _counted_from(count: int, watch: Watch) -> Watch:
    """Return a watcher that is told of so many subproblems more than were solved."""
    return lambda progress: watch(progress._replace(subproblem=progress.subproblem + count))


def _small(X: np.ndarray | sparse.csr_array, problems: Subproblems, resolved: Resolved) -> np.ndarray | None:
    """Return the numbers of the pairs that are small; None where none is, or where more is asked than is known here."""
    if (
        not problems.in_pairs
        or resolved.stop == "meb"  # its goal is in parts of the largest K~_ii of each pair
        or (resolved.search, resolved.protocol) != ("full", PROTOCOLS["default"])
        or resolved.max_iterations is not None
        or not resolved.final_gap
    ):
        return None
    small = np.flatnonzero(problems.sizes < resolved.rule.fewest)
    return small if len(small) and bytes_of_copies(X, problems.K) <= resolved.cache_bytes // 2 else None


def _shares(sizes: np.ndarray, small: np.ndarray, threads: int) -> list[np.ndarray]:
    """Return the numbers of the small pairs, in parts of about `PAIRS_SHARE` kernel values a thread."""
    work = np.cumsum(sizes[small] ** 2)
    return np.split(small, np.flatnonzero(np.diff(work // (PAIRS_SHARE * threads))) + 1)


def _taken_back(
    solutions: Solutions, begun: np.ndarray, groups: GroupedRows, resolved: Resolved
) -> dict[int, WarmStart]:
    """Take back the pairs without a certificate that holds; return where their own runs may start, by number.

    Rows of a run are in the order of the groups, too: those of the class +1 first.
    """
    constant, slope = stopping_line(resolved.stop, resolved.tolerance, np.nan)
    goals, out_of_steps = constant + slope * solutions.certificates[:, 0], ~solutions.reached
    solutions.reached[:] &= certify.within_goals(solutions.certificates, goals)
    starts: dict[int, WarmStart] = {}
    for number in np.flatnonzero(~solutions.reached).tolist():
        (i, j), ends = groups.pairs[number], groups.starts
        plus, minus = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        signed = np.concatenate([solutions.coefficients[plus, j - 1], solutions.coefficients[minus, i]])
        solutions.coefficients[plus, j - 1] = solutions.coefficients[minus, i] = 0.0
        solutions.biases[number] = 0.0
        weights, total = np.abs(signed), float(np.abs(signed).sum())
        if begun[number] and np.isfinite(total) and total > 0.0:
            weights /= total
            places = np.concatenate([np.arange(ends[i], ends[i + 1]), np.arange(ends[j], ends[j + 1])])
            y = np.repeat([1.0, -1.0], [ends[i + 1] - ends[i], ends[j + 1] - ends[j]])
            few, ridge = some_rows(groups.rows, places), 1.0 / groups.penalties[places]
            q = gradients(resolved.kernel, few, y, weights[:, None], ridge[:, None], resolved.threads)[:, 0]
            starts[number] = NewtonStart(weights, resolved.kernel, q, ridge, bool(out_of_steps[number]))
    return starts


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


def _compile(way: type[OneMatrix] | type[OwnColumns], resolved: Resolved, gaps: int) -> None:
    """Solve a tiny problem of three classes, dense or with features that no row has."""
    groups = tiny_groups(gaps)
    every = np.arange(len(groups.pairs))
    solver: PairSolver = way(groups, empty_solutions(len(groups.order), 3), resolved)
    solver.solve(every)
    solver.certify(every)
