"""Small pairs of classes, solved in compiled code one after another; the other pairs by runs of their own.

Of a problem of few rows all pairs have one kernel matrix in double precision (`by_matrix`); of larger ones each pair
has kernel columns of its own in single precision, and is certified afterwards (`by_columns`, `pair_certificates`). A
pair without a certificate that holds goes on by a run of its own, from where it stood.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
from scipy import sparse

from fwsvm import phases
from fwsvm._mapped import RowMatrix
from fwsvm.kernels.column_cache import FEWEST, column_cache
from fwsvm.kernels.distances import cancels, value_error
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.kernels.source import RowSource
from fwsvm.kernels.sparse_tiles import LeftBlock, empty_left_block, gram_matrix, no_left_block, threads_for
from fwsvm.kernels.sums import UNINTERRUPTED, product_rounding
from fwsvm.numerics.machine import address_of
from fwsvm.numerics.threads import together
from fwsvm.problems.simplex_qp import gradients, simplex_qp
from fwsvm.solvers import certify
from fwsvm.solvers.auto.by_columns import (
    Addresses,
    empty_class_matrices,
    fill_address,
    fill_class_matrices,
    no_class_matrices,
    solve_by_columns,
)
from fwsvm.solvers.auto.by_matrix import solve_by_matrix
from fwsvm.solvers.auto.grouped_rows import (
    Goal,
    GroupedRows,
    Solutions,
    bytes_of_copies,
    empty_solutions,
    grouped_rows,
    laid_out,
    tiny_groups,
)
from fwsvm.solvers.auto.pair_certificates import add_class_sums, write_certificates
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.frank_wolfe.engine import advance, plain
from fwsvm.solvers.frank_wolfe.gradient import Full
from fwsvm.solvers.frank_wolfe.state import SimplexStart, stopping_line
from fwsvm.solvers.frank_wolfe.storage import state_of
from fwsvm.solvers.loop import BinaryResult, Clock, Progress, Watch, time_left
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.registry import method
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, WarmStart
from fwsvm.solvers.subproblems import Solved, Subproblems, solve_all, work_of
from fwsvm.solvers.tuning import (
    FIRST_SWAPS,
    NEWTON_OVERHEAD,
    ONE_MATRIX_ROWS,
    ONE_MATRIX_STEPS,
    PAIRS_SHARE,
    WHOLE_MATRIX_SHARE,
)
from fwsvm.solvers.warm_up import compile_runs, layouts, once
from fwsvm.status import Status


class OneMatrix:
    """All pairs by one kernel matrix in float64, certified as they are solved."""

    def __init__(
        self, groups: GroupedRows, penalties: np.ndarray, solutions: Solutions, resolved: Resolved
    ) -> None:
        self.groups, self.penalties, self.solutions = groups, penalties, solutions
        own = own_terms(resolved.kernel, groups.rows)
        off = product_rounding(resolved.kernel, groups.rows, own)
        self.goal = Goal(*stopping_line(resolved.stop, resolved.tolerance, np.nan), ONE_MATRIX_STEPS, 0, off)
        m = groups.rows.height
        self.threads = threads_for(groups.rows, m, m, resolved.threads)
        self.values, self.evaluations = np.empty((m, m)), m * (m + 1) // 2
        gram_matrix(resolved.kernel, groups.rows, own, self.values, self.threads)

    def solve(self, numbers: np.ndarray) -> None:
        """Solve the pairs ``numbers``; write which have reached the goal."""
        claimed = np.zeros(len(self.groups.pairs), np.int64)
        together(
            lambda _: solve_by_matrix(
                self.groups, self.penalties, numbers, claimed, self.values, self.goal, self.solutions
            ),
            min(self.threads, len(numbers)),
        )

    def certify(self, numbers: np.ndarray) -> None:
        """Do nothing: it is done."""


class OwnColumns:
    """Each pair with a column cache of its own, in float32, so that pairs are certified afterwards."""

    def __init__(
        self, groups: GroupedRows, penalties: np.ndarray, solutions: Solutions, resolved: Resolved
    ) -> None:
        self.groups, self.laid, self.solutions = groups, laid_out(resolved.kernel, groups), solutions
        self.penalties, self.matrices = penalties, no_class_matrices()
        self.evaluations, self.undecided = 0, True  # whether columns are computed as they are wanted
        self.threads, self.budget = resolved.threads, resolved.cache_bytes // 2  # copies have the other half
        self.dense = len(self.laid.tiles.numbers) > 0
        line = stopping_line(resolved.stop, resolved.tolerance, np.nan)
        self.goal = Goal(*line, FIRST_SWAPS, NEWTON_OVERHEAD, self.laid.value_rounding)
        one = self.laid.single._replace(starts=self.laid.single.starts[:2])
        columns = column_cache(resolved.kernel, one, 0)
        self.rule = plain(method("swap-2o").make({}))
        self.like = state_of(simplex_qp(columns, 1, np.ones(1)), Full(), (0,), replace(resolved, threads=1))
        self.addresses = Addresses(
            address_of(advance, self.rule, self.like, 0),
            fill_address(columns, dense=self.dense),
        )

    def solve(self, numbers: np.ndarray) -> None:
        """Solve the pairs ``numbers``, the largest first.

        For several penalties, that pair's support vectors for the first say whether to compute the kernel matrices of
        the others whole.
        """
        numbers = numbers[np.argsort(-self.groups.sizes(numbers), kind="stable")]
        if len(self.penalties) > 1 and self.undecided:
            self.undecided = False
            self._solve(numbers[:1])
            size = int(self.groups.sizes(numbers[:1])[0])
            if (
                np.count_nonzero(self.solutions.signed(self.groups, 0, numbers[0]))
                > WHOLE_MATRIX_SHARE * size
            ):
                self._fill_matrices()
            numbers = numbers[1:]
        if len(numbers):
            self._solve(numbers)

    def _fill_matrices(self) -> None:
        """Compute the kernel values within classes, if they and those of a pair for each thread fit in the budget."""
        sizes = np.diff(self.groups.starts)
        most = int(self.groups.sizes(np.arange(len(self.groups.pairs))).max())
        if 4 * (np.sum(sizes**2) + self.threads * most * most) > self.budget:
            return
        self.matrices, claimed = empty_class_matrices(sizes), np.zeros(len(sizes), np.int64)
        together(
            lambda _: fill_class_matrices(
                self.laid, claimed, self.addresses, self._left_block(self.laid.single), self.matrices
            ),
            min(self.threads, len(sizes)),
        )
        self.evaluations = int(np.sum(sizes**2))

    def _solve(self, numbers: np.ndarray) -> None:
        most = int(self.groups.sizes(numbers).max())
        parts, claimed = min(self.threads, len(numbers)), np.zeros(len(self.groups.pairs), np.int64)
        room = min(most * most, max(self.budget // (4 * parts), FEWEST * most))
        together(
            lambda _: solve_by_columns(
                self.laid,
                self.penalties,
                numbers,
                claimed,
                self.goal,
                self.rule,
                self.like,
                self.addresses,
                self.matrices,
                np.empty(room, np.float32),
                self._left_block(self.laid.single),
                self.solutions,
            ),
            parts,
        )

    def certify(self, numbers: np.ndarray) -> None:
        """Certify the pairs ``numbers``, solved before: coefficients become those of the machines."""
        laid, solutions, K = self.laid, self.solutions, len(self.laid.starts) - 1
        wanted, sums = np.zeros((K, K), np.bool_), np.zeros_like(solutions.coefficients)
        i, j = laid.pairs[numbers].T
        wanted[i, j] = wanted[j, i] = True
        classes, pairs = np.zeros(K, np.int64), np.zeros(len(laid.pairs), np.int64)

        def add(_: int) -> None:
            left_block = self._left_block(laid.double)
            add_class_sums(laid, wanted, classes, left_block, solutions.coefficients, sums)

        for number, some in enumerate(parts := _parts(np.diff(laid.starts), self.threads)):
            phases.inside("kernel values", number / len(parts))
            classes[:], classes[some] = 1, 0
            together(add, min(self.threads, some.stop - some.start))
        together(
            lambda _: write_certificates(laid, self.penalties, numbers, pairs, sums, solutions),
            max(1, min(self.threads, len(numbers))),
        )

    def _left_block(self, rows: Rows) -> LeftBlock:
        return no_left_block(rows) if self.dense else empty_left_block(rows)


PairSolver = OneMatrix | OwnColumns


def _parts(sizes: np.ndarray, threads: int) -> list[slice]:
    """Return ranges of classes of so many kernel values that an interrupt between them need not wait for long.

    Each has a class for each thread.
    """
    m = int(sizes.sum())
    values = np.cumsum(sizes * m)
    most = max(UNINTERRUPTED, int(sizes.max(initial=0)) * m) * threads
    ends = np.flatnonzero(np.diff(values // most, append=np.inf)) + 1
    return [slice(int(a), int(b)) for a, b in pairwise([0, *ends])]


def solve_at_once(
    X: RowMatrix,
    weights: np.ndarray,
    problems: Subproblems,
    settings: Sequence[Resolved],
    watch: Watch | None,
) -> list[Solved] | None:
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
    way = OneMatrix if X.shape[0] <= ONE_MATRIX_ROWS else OwnColumns
    kinds, laid = (way, type(resolved.kernel)), layouts(X)
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
        groups = grouped_rows(rows, problems.codes, weights, np.array(problems.classes), small)
        penalties = np.array([each.C for each in settings])
        solutions = empty_solutions(len(groups.order), problems.K, len(settings))
        solver: PairSolver = way(groups, penalties, solutions, resolved)
    begun, check_seconds, interrupted = _in_compiled_code(solver, small, problems, settings, watch, clock)
    over = interrupted or (resolved.time_limit is not None and clock.seconds >= resolved.time_limit)
    columns = ColumnStore() if several else None  # of the runs of their own
    found: list[Solved] = []
    next_starts: Mapping[int, WarmStart] = {}
    shares = _shares_of_work(solutions, problems.sizes, X)
    for k, each in enumerate(settings):
        status = Status.INTERRUPTED if interrupted else Status.TIME_LIMIT
        parts = _results(solutions, k, np.flatnonzero(begun), each, groups.order[:0], status)
        held = {number for number, part in parts.items() if part.status is Status.CONVERGED}
        left = [number for number in range(len(problems)) if number not in held]
        more = Solved([], 0.0)
        if left and not over:
            with clock.running():
                starts = {n: _start(groups, solutions, k, n, each) for n in left if n in parts}
            limit = time_left(each.time_limit, shares[k] * clock.seconds)
            more = _by_runs(
                X,
                weights,
                problems,
                replace(each, time_limit=limit),
                watch,
                {**next_starts, **starts},
                columns,
                left,
                len(parts) - len(starts),
            )
            next_starts = more.warm_starts
        for part in more.parts:
            if part.number in parts:
                part.counters = part.counters.plus(parts[part.number].counters)
                solutions.forget(groups, k, part.number)
            parts[part.number] = part
        if more.interrupted:
            for part in parts.values():
                if part.status is Status.TIME_LIMIT:
                    part.status = Status.INTERRUPTED
        coefficients = np.zeros((X.shape[0], problems.K - 1))
        coefficients[groups.order] = solutions.coefficients[k]
        found.append(
            Solved(
                [parts[n] for n in sorted(parts)],
                shares[k] * clock.seconds + more.seconds,
                interrupted or more.interrupted,
                coefficients=coefficients,
                biases=solutions.biases[k],
                compile_seconds=more.compile_seconds + (0.0 if k else compile_seconds),
                check_seconds=shares[k] * check_seconds,
                counters=Counters(kernel_evaluations=0 if k else solver.evaluations),
            )
        )
    return found


def _in_compiled_code(
    solver: PairSolver,
    small: np.ndarray,
    problems: Subproblems,
    settings: Sequence[Resolved],
    watch: Watch | None,
    clock: Clock,
) -> tuple[np.ndarray, float, bool]:
    """Solve and certify the pairs ``small``, some at a time.

    Returns
    -------
    begun : ndarray of bool, shape (pairs,), those that were solved
    check_seconds : float, of certificates
    interrupted : bool
    """
    begun, check_seconds, resolved = np.zeros(len(problems), bool), 0.0, settings[0]
    several, shares = len(settings) > 1, _shares(problems.sizes, small, resolved.threads)
    try:
        for numbers in shares:
            with clock.running():
                solver.solve(numbers)
            started = time.perf_counter()
            if not several:
                solver.certify(numbers)
            elif numbers is shares[-1]:  # each kernel value once for all
                solver.certify(small)
            check_seconds += time.perf_counter() - started
            begun[numbers] = True
            if watch is not None:
                watch(
                    Progress(
                        int(begun.sum()),
                        len(begun),
                        clock.seconds,
                        int(solver.solutions.steps.sum()),
                        float("nan"),
                        float("nan"),
                        resolved.tolerance,
                        0,
                    )
                )
            if resolved.time_limit is not None and clock.seconds >= resolved.time_limit:
                break
    except KeyboardInterrupt:
        if several or not begun.any():
            raise
        return begun, check_seconds, True
    return begun, check_seconds, False


def _results(
    solutions: Solutions, k: int, numbers: np.ndarray, resolved: Resolved, rows: np.ndarray, status: Status
) -> dict[int, BinaryResult]:
    """Return the results of pairs for one penalty; ``status`` is that of those without a certificate that holds."""
    constant, slope = stopping_line(resolved.stop, resolved.tolerance, np.nan)
    # single numbers of lists are read faster than those of arrays
    certificates, steps, evaluations, reached = (
        each[k].tolist()
        for each in (solutions.certificates, solutions.steps, solutions.evaluations, solutions.reached)
    )
    found = {}
    for number in numbers.tolist():
        R, gap, primal, dual, rounding = certificates[number]
        outcome = certify.proven(R, gap, primal, dual, goal=constant + slope * R, measured=gap + rounding)
        counters = Counters(steps[number], steps[number], evaluations[number])
        ended = Status.CONVERGED if reached[number] and outcome.within else status
        found[number] = BinaryResult(
            number, rows, ended, counters, 0, 0.0, certify.Certified(outcome, None), "swap-2o"
        )
    return found


def _start(
    groups: GroupedRows, solutions: Solutions, k: int, number: int, resolved: Resolved
) -> SimplexStart | None:
    """Return where a pair's run of its own starts for one penalty: where compiled code left it."""
    places, plus = groups.places(number)
    signed = solutions.signed(groups, k, number)
    total = float(np.abs(signed).sum())
    if not (np.isfinite(total) and total > 0.0):
        return None
    y = np.where(np.arange(len(signed)) < plus, 1.0, -1.0)
    weights, ridge = np.abs(signed) / total, 1.0 / (resolved.C * groups.weights[places])
    source = RowSource(some_rows(groups.rows, places))
    at = y, weights[:, None], ridge[:, None]
    q = gradients(resolved.kernel, source, *at, resolved.threads)[:, 0]
    return SimplexStart(weights, resolved.kernel, q, ridge, not solutions.reached[k, number])


def _by_runs(
    X: RowMatrix,
    weights: np.ndarray,
    problems: Subproblems,
    resolved: Resolved,
    watch: Watch | None,
    starts: Mapping[int, WarmStart | None],
    columns: ColumnStore | None,
    left: list[int],
    done: int,
) -> Solved:
    """Return the pairs ``left`` solved by runs of their own, beside ``done`` pairs."""
    told = watch and (lambda progress: watch(progress._replace(subproblem=progress.subproblem + done)))
    known = {number: start for number, start in starts.items() if start is not None}
    try:
        compile_seconds = compile_runs(resolved, X)
        more = solve_all(X, weights, problems, resolved, told, known, columns, left)
    except KeyboardInterrupt:
        if columns is not None or not done:
            raise
        return Solved([], 0.0, interrupted=True)
    if columns is not None and more.interrupted:
        raise KeyboardInterrupt
    return replace(more, compile_seconds=compile_seconds)


def _shares_of_work(solutions: Solutions, sizes: np.ndarray, X: RowMatrix) -> np.ndarray:
    """Return about which share of the time each penalty took, shape (S,), in sum 1; ``sizes`` are the pairs' rows."""
    if len(solutions.steps) == 1:
        return np.ones(1)
    stored = X.nnz if isinstance(X, sparse.csr_array) else X.size
    work = work_of(solutions.steps @ sizes, solutions.evaluations.sum(axis=1), stored / X.shape[0])
    return np.asarray(work / work.sum()) if work.any() else np.full(len(work), 1.0 / len(work))


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


def _compile(way: type[PairSolver], resolved: Resolved, gaps: int, *, several: bool) -> None:
    """Solve a tiny problem of three classes, dense or with features that no row has, for one penalty or several."""
    groups, penalties = tiny_groups(gaps), np.ones(2 if several else 1)
    solver: PairSolver = way(
        groups, penalties, empty_solutions(len(groups.order), 3, len(penalties)), resolved
    )
    solver.solve(np.arange(len(groups.pairs)))
    solver.certify(np.arange(len(groups.pairs)))
