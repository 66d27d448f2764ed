"""Small pairs of classes, solved in compiled code one after another; the other pairs by runs of their own.

A problem of few rows has one kernel matrix, of which each pair has a part; in a larger one each pair computes the
kernel rows that it wants. A pair without a certificate that holds goes on by a run of its own, from where it stood.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fwsvm.kernels.dense_tiles import MOST, dense_tiles, fill_dense_columns, is_dense
from fwsvm.kernels.distances import cancels, value_error
from fwsvm.kernels.kernel import own_terms, own_terms_and_values
from fwsvm.kernels.rows import in_precision, some_rows
from fwsvm.kernels.source import RowSource
from fwsvm.kernels.sparse_tiles import empty_left_block, gram_matrix, no_left_block, threads_for
from fwsvm.kernels.sums import product_rounding
from fwsvm.numerics.simd import WIDTH
from fwsvm.numerics.threads import together
from fwsvm.problems.simplex_qp import gradients
from fwsvm.solvers import certify
from fwsvm.solvers.auto.pair_solver import PairRows, Solutions, fill_address, solve_pairs
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.frank_wolfe.state import SimplexStart, stopping_line
from fwsvm.solvers.loop import BinaryResult, Clock, Progress, Watch, time_left
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, WarmStart
from fwsvm.solvers.subproblems import Solved, Subproblems, solve_all
from fwsvm.solvers.tuning import ONE_MATRIX_ROWS, PAIRS_SHARE
from fwsvm.status import Status


class PairBatch:
    """Pairs of classes, and what they came to for each of the settings.

    Of at most ``whole`` rows all kernel values are computed at first.

    Attributes
    ----------
    order : ndarray of int, the rows of the pairs, class by class
    evaluations : int, kernel values that are no pair's own
    """

    def __init__(
        self,
        problems: Subproblems,
        numbers: np.ndarray,
        settings: Sequence[Resolved],
        whole: int,
    ) -> None:
        self.resolved, self.sizes, codes = settings[0], problems.sizes, problems.codes
        kernel, pairs = self.resolved.kernel, np.array(problems.classes)
        counts = np.zeros(problems.K, np.int64)
        counts[pairs[numbers]] = np.bincount(codes, minlength=problems.K)[pairs[numbers]]
        order = np.argsort(codes, kind="stable")
        self.order = order[counts[codes[order]] > 0]
        rows, starts = some_rows(problems.compressed, self.order), np.concatenate([[0], np.cumsum(counts)])
        m, (own, itself) = rows.height, own_terms_and_values(kernel, rows)
        single, own_single, dense = rows, own, is_dense(rows)
        self.threads, self.evaluations, matrix = self.resolved.threads, 0, np.empty((0, 0))
        if m <= whole:
            self.threads = threads_for(rows, m, m, self.threads)
            matrix = np.empty((m + 2 * WIDTH, m))
            matrix[:WIDTH] = matrix[-WIDTH:] = 0.0
            values = matrix[WIDTH:-WIDTH]
            if dense:
                self.evaluations, tiles = m * m, dense_tiles(rows, own)
                for first in range(0, m, MOST):
                    lines = np.arange(first, min(first + MOST, m))
                    fill_dense_columns(kernel, tiles, lines, values, lines, self.threads)
            else:  # a value and its mirror image are computed once
                self.evaluations = m * (m + 1) // 2
                gram_matrix(kernel, rows, own, values, self.threads)
            np.fill_diagonal(values, itself)
        else:
            single = in_precision(rows, np.float32)
            own_single = own_terms(kernel, single)
        self.rows = PairRows(
            kernel,
            starts,
            pairs,
            problems.weights[self.order],
            rows,
            own,
            itself,
            single,
            own_single,
            matrix,
            m > whole and dense,
            product_rounding(kernel, rows, own),
            *stopping_line(self.resolved.stop, self.resolved.tolerance, np.nan),
        )
        self.penalties, shape = np.array([each.C for each in settings]), (len(settings), len(pairs))
        self.solutions = Solutions(
            np.zeros((len(settings), m, problems.K - 1)),
            np.zeros(shape),
            np.full((*shape, 5), np.nan),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int64),
        )

    def solve(self, numbers: np.ndarray) -> None:
        """Solve the pairs ``numbers``, the largest first."""
        numbers = numbers[np.argsort(-self.sizes[numbers], kind="stable")]
        some, claimed = self.rows, np.zeros(len(self.sizes), np.int64)
        most, fill_at = int(self.sizes[numbers[0]]) + 2 * WIDTH, fill_address(some)

        def work(_: int) -> None:
            left_block = no_left_block if some.dense or some.matrix.size else empty_left_block
            memory = some.matrix.reshape(-1) if some.matrix.size else np.empty(most * most, np.float32)
            blocks = left_block(some.single), left_block(some.rows)
            solve_pairs(some, self.penalties, numbers, claimed, fill_at, memory, *blocks, self.solutions)

        together(work, min(self.threads, len(numbers)))

    def places(self, number: int) -> tuple[slice, slice, int, int]:
        """Return where the rows of a pair's two classes are, and the classes."""
        (i, j), starts = self.rows.pairs[number].tolist(), self.rows.starts
        return slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1]), i, j

    def result(self, k: int, number: int, status: Status) -> BinaryResult:
        """Return the result of a pair for the k-th setting, of this status where its certificate does not hold."""
        R, gap, primal, dual, rounding = self.solutions.certificates[k, number].tolist()
        goal = self.rows.constant + self.rows.slope * R
        outcome = certify.proven(R, gap, primal, dual, goal=goal, measured=gap + rounding)
        steps = int(self.solutions.steps[k, number])
        counters = Counters(steps, steps, int(self.solutions.evaluations[k, number]))
        status, end = Status.CONVERGED if outcome.within else status, certify.Certified(outcome, None)
        return BinaryResult(number, self.order[:0], status, counters, 0, 0.0, end, "swap-2o")

    def forget(self, k: int, number: int) -> None:
        """Leave no machine of a pair for the k-th setting."""
        plus, minus, i, j = self.places(number)
        lines = self.solutions.coefficients[k]
        lines[plus, j - 1] = lines[minus, i] = self.solutions.biases[k, number] = 0.0

    def start(self, k: int, number: int) -> SimplexStart | None:
        """Return where a pair's run of its own starts."""
        plus, minus, i, j = self.places(number)
        lines = self.solutions.coefficients[k]
        signed = np.concatenate([lines[plus, j - 1], lines[minus, i]])
        total = float(np.abs(signed).sum())
        if not (np.isfinite(total) and total > 0.0):
            return None
        where, kernel = np.r_[plus, minus], self.rows.kernel
        y = np.where(np.arange(len(signed)) < plus.stop - plus.start, 1.0, -1.0)
        weights, ridge = np.abs(signed) / total, 1.0 / (self.penalties[k] * self.rows.weights[where])
        at = y, weights[:, None], ridge[:, None]
        q = gradients(kernel, RowSource(some_rows(self.rows.rows, where)), *at, self.resolved.threads)[:, 0]
        return SimplexStart(weights, kernel, q, ridge, newton=True)


def solve_at_once(
    problems: Subproblems, settings: Sequence[Resolved], watch: Watch | None
) -> list[Solved] | None:
    """Solve the pairs of classes; None where there is one pair, or none is small.

    Pairs of `Auto.fewest` rows or more, and those that are not done after as many steps as Newton steps would be
    cheaper than, are solved by runs of their own.

    ``settings`` differ in C alone. For several values of C each pair is solved for one after another; None then where
    not all pairs are small. The seconds are shared out by the steps of each. An interrupt leaves nothing of
    several.
    """
    X, resolved, several = problems.rows, settings[0], len(settings) > 1
    small = _small(X.shape[0], problems, settings)
    if small is None:
        return None
    whole = ONE_MATRIX_ROWS if X.shape[0] <= ONE_MATRIX_ROWS else 0
    clock = Clock()
    with clock.running():
        own = own_terms(resolved.kernel, problems.compressed)
        # a certificate would need differences, which those of runs take; a smaller error counts in certificates here
        if cancels(value_error(resolved.kernel, own, own), dense=False):
            return None
        batch = PairBatch(problems, small, settings, whole)
    begun, interrupted = _solve_in_shares(batch, small, several, watch, clock)
    over = interrupted or (resolved.time_limit is not None and clock.seconds >= resolved.time_limit)
    status = Status.INTERRUPTED if interrupted else Status.TIME_LIMIT
    columns: ColumnStore | None = {} if several else None  # of the runs of their own
    found: list[Solved] = []
    next_starts: Mapping[int, WarmStart] = {}
    steps = batch.solutions.steps.sum(axis=1)
    shares = (steps + 1) / (steps + 1).sum()
    for k, each in enumerate(settings):
        parts = {number: batch.result(k, number, status) for number in begun.tolist()}
        left = [n for n in range(len(problems)) if n not in parts or parts[n].status is status]
        more = Solved([], 0.0)
        if left and not over:
            with clock.running():
                starts = {n: start for n in left if n in parts and (start := batch.start(k, n))}
            rest = replace(each, time_limit=time_left(each.time_limit, shares[k] * clock.seconds))
            known, done = {**next_starts, **starts}, len(problems) - len(left)
            more = _by_runs(problems, rest, watch, known, columns, left, done)
            next_starts = more.warm_starts
        for part in more.parts:
            if part.number in parts:
                part.counters = part.counters.plus(parts[part.number].counters)
                batch.forget(k, part.number)
            parts[part.number] = part
        coefficients = np.zeros((X.shape[0], problems.K - 1))
        coefficients[batch.order] = batch.solutions.coefficients[k]
        found.append(
            Solved(
                [parts[n] for n in sorted(parts)],
                shares[k] * clock.seconds + more.seconds,
                interrupted or more.interrupted,
                coefficients=coefficients,
                biases=batch.solutions.biases[k],
                compile_seconds=more.compile_seconds + (0.0 if k else clock.compiling),
                counters=Counters(kernel_evaluations=0 if k else batch.evaluations),
            )
        )
    return found


def _solve_in_shares(
    batch: PairBatch, small: np.ndarray, several: bool, watch: Watch | None, clock: Clock
) -> tuple[np.ndarray, bool]:
    """Solve the pairs ``small``, some between two looks at the clock; return those solved, and whether interrupted."""
    resolved, begun = batch.resolved, small[:0]
    values = np.cumsum(batch.sizes[small] ** 2) // (PAIRS_SHARE * resolved.threads)
    try:
        for first, last in pairwise([0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(small)]):
            with clock.running():
                batch.solve(small[first:last])
            begun = small[:last]
            if watch is not None:
                done, steps = len(begun), int(batch.solutions.steps.sum())
                seconds, nan = clock.seconds, float("nan")
                watch(Progress(done, len(batch.sizes), seconds, steps, nan, nan, resolved.tolerance, 0))
            if resolved.time_limit is not None and clock.seconds >= resolved.time_limit:
                break
    except KeyboardInterrupt:
        if several or not len(begun):
            raise
        return begun, True
    return begun, False


def _by_runs(
    problems: Subproblems,
    resolved: Resolved,
    watch: Watch | None,
    starts: Mapping[int, WarmStart],
    columns: ColumnStore | None,
    left: list[int],
    done: int,
) -> Solved:
    """Return the pairs ``left`` solved by runs of their own, beside ``done`` pairs."""
    told = watch and (lambda progress: watch(progress._replace(subproblem=progress.subproblem + done)))
    try:
        more = solve_all(problems, resolved, told, starts, columns, left)
    except KeyboardInterrupt:
        if columns is not None or not done:
            raise
        return Solved([], 0.0, interrupted=True)
    if columns is not None and more.interrupted:
        raise KeyboardInterrupt
    return more


def _small(m: int, problems: Subproblems, settings: Sequence[Resolved]) -> np.ndarray | None:
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
    matrices = 8 * problems.sizes**2 * resolved.threads  # one pair a thread
    fits = matrices + 8 * len(settings) * m * problems.K <= resolved.cache_bytes
    small = np.flatnonzero((problems.sizes < resolved.rule.fewest) & fits)
    return small if len(small) and (len(small) == len(problems) or not several) else None
