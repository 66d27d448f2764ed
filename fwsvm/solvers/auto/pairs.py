"""Small pairs of classes, solved in compiled code one after another; the other pairs by runs of their own.

A pair without a certificate that holds goes on by a run of its own, from where it stood.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT
from fwsvm.kernels.distances import cancels, value_error
from fwsvm.kernels.kernel import own_terms_and_values
from fwsvm.kernels.rows import some_rows
from fwsvm.kernels.sums import product_rounding
from fwsvm.kernels.tables import is_dense, kernel_matrix, table
from fwsvm.numerics.threads import together
from fwsvm.solvers import certify
from fwsvm.solvers.auto.pair_solver import (
    PairRows,
    Scratch,
    Solutions,
    fill_address,
    solve_pairs,
)
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.frank_wolfe.state import stopping_line
from fwsvm.solvers.loop import BinaryResult, Clock, Progress, Watch, time_left
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, WarmStart
from fwsvm.solvers.subproblems import Solved, Subproblems, solve_all
from fwsvm.solvers.tuning import PAIRS_SHARE, WHOLE_CLASS
from fwsvm.status import Status


class PairBatch:
    """Pairs of classes, and what they came to for each of the settings.

    Attributes
    ----------
    order, codes, places : ndarray of int, shape (m,)
        The rows of the pairs, class by class; their classes; and where `PairRows` has them.
    """

    def __init__(
        self,
        problems: Subproblems,
        numbers: np.ndarray,
        settings: Sequence[Resolved],
        own: np.ndarray,
        itself: np.ndarray,
    ) -> None:
        self.resolved, self.sizes, codes = settings[0], problems.sizes, problems.codes
        pairs, counts, widths = _layout(problems, numbers)
        kernel, order = self.resolved.kernel, np.argsort(codes, kind="stable")
        self.order = order = order[counts[codes[order]] > 0]
        starts = np.concatenate([[0], np.cumsum(widths)])
        places = np.arange(len(order)) + (starts[:-1] - np.cumsum(counts) + counts)[codes[order]]
        self.places, self.codes = places, codes[order]
        rows = some_rows(problems.compressed, order)
        dense, rounding = is_dense(rows), product_rounding(kernel, rows, own[order])
        lengths, vectors = np.zeros(starts[-1] + 1, np.int64), np.zeros((3, starts[-1]))
        lengths[places + 1] = rows.starts[1:] - rows.starts[:-1]
        vectors[:, places] = problems.weights[order], own[order], itself[order]
        rows, (weights, own, itself) = rows._replace(starts=np.cumsum(lengths)), vectors
        rows_table = table(rows, own, dense=dense)
        whole, held = _shared_values(problems, self.resolved, counts, widths)
        threads = self.resolved.threads
        values = kernel_matrix(kernel, rows, threads) if whole else np.empty((starts[-1], held))
        self.rows = PairRows(
            kernel,
            starts,
            counts,
            pairs,
            weights,
            rows_table,
            itself,
            whole,
            values,
            np.full(starts[-1], whole, np.int64),
            rounding,
            *stopping_line(self.resolved.stop, self.resolved.tolerance, np.nan),
        )
        largest = int(widths[pairs[numbers]].sum(axis=1).max())
        self.scratch = [
            Scratch(np.empty(largest**2), np.empty(largest, np.int32))
            for _ in range(min(self.resolved.threads, len(numbers)))
        ]
        self.penalties, shape = (
            np.array([each.C for each in settings]),
            (len(settings), len(problems)),
        )
        self.solutions = Solutions(
            np.zeros((len(settings), starts[-1], problems.K - 1)),
            np.zeros(shape),
            np.full((*shape, 5), np.nan),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int64),
        )

    def solve(self, numbers: np.ndarray) -> None:
        """Solve the pairs ``numbers``, the largest first."""
        numbers = numbers[np.argsort(-self.sizes[numbers], kind="stable")]
        claimed, fill_at = (
            np.zeros(len(self.sizes), np.int64),
            fill_address(self.rows, self.scratch[0]),
        )
        given = self.rows, self.penalties, numbers, claimed, fill_at

        def work(me: int) -> None:
            solve_pairs(*given, self.scratch[me], self.solutions)

        together(work, min(len(self.scratch), len(numbers)))

    def machine(self, k: int, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return views of the coefficients of a pair for the k-th setting, those of its two classes."""
        (i, j), starts, lines = (
            self.rows.pairs[number],
            self.rows.starts,
            self.solutions.coefficients[k],
        )
        plus, minus = (slice(starts[c], starts[c] + self.rows.counts[c]) for c in (i, j))
        return lines[plus, j - 1], lines[minus, i]

    def results(self, k: int, numbers: Sequence[int], status: Status) -> dict[int, BinaryResult]:
        """Return the results of pairs for the k-th setting, of this status where a certificate does not hold."""
        found: dict[int, BinaryResult] = {}
        nowhere, of = self.order[:0], self.solutions
        # kernel values that are no pair's own
        m, of_class = len(self.order), self.rows.counts[self.codes]
        shared = m * (m + 1) // 2 if self.rows.whole else int(of_class @ self.rows.known[self.places])
        shared = 0 if k else shared
        every = [each[k].tolist() for each in (of.certificates, of.steps, of.evaluations)]
        for number in numbers:
            (R, gap, primal, dual, rounding), steps, evaluations = (each[number] for each in every)
            goal = self.rows.constant + self.rows.slope * R
            outcome = certify.proven(R, gap, primal, dual, goal=goal, measured=gap + rounding)
            ended = Status.CONVERGED if outcome.within else status
            counters = Counters(steps, steps, evaluations + (0 if found else shared))
            end = certify.Certified(outcome, None)
            found[number] = BinaryResult(number, nowhere, ended, counters, 0, 0.0, end, "swap-2o")
        return found

    def start(self, k: int, number: int) -> WarmStart | None:
        """Return where a pair's run of its own starts."""
        weights = np.abs(np.concatenate(self.machine(k, number)))
        total = float(weights.sum())
        return WarmStart(weights / total) if np.isfinite(total) and total > 0.0 else None


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
    resolved, several, small = (
        settings[0],
        len(settings) > 1,
        _small(problems, settings),
    )
    if not len(small):
        return None
    clock = Clock()
    with clock.running():
        own, itself = own_terms_and_values(resolved.kernel, problems.compressed)
        # a certificate would need differences, which those of runs take; a smaller error counts in certificates here
        if cancels(value_error(resolved.kernel, own), dense=False):
            return None
        batch = PairBatch(problems, small, settings, own, itself)
    begun, interrupted = _solve_in_shares(batch, small, several, watch, clock)
    over = interrupted or (resolved.time_limit is not None and clock.seconds >= resolved.time_limit)
    status = Status.INTERRUPTED if interrupted else Status.TIME_LIMIT
    columns: ColumnStore | None = {} if several else None  # of the runs of their own
    found: list[Solved] = []
    next_starts: Mapping[int, WarmStart] = {}
    steps = batch.solutions.steps.sum(axis=1)
    shares = (steps + 1) / (steps + 1).sum()
    for k, each in enumerate(settings):
        parts = batch.results(k, begun.tolist(), status)
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
                for coefficients in batch.machine(k, part.number):
                    coefficients[:] = 0.0
                batch.solutions.biases[k, part.number] = 0.0
            parts[part.number] = part
        coefficients = np.zeros((len(problems.codes), problems.K - 1))
        coefficients[batch.order] = batch.solutions.coefficients[k, batch.places]
        found.append(
            Solved(
                [parts[n] for n in sorted(parts)],
                shares[k] * clock.seconds + more.seconds,
                interrupted or more.interrupted,
                coefficients=coefficients,
                biases=batch.solutions.biases[k],
                compile_seconds=more.compile_seconds + (0.0 if k else clock.compiling),
            )
        )
    return found


def _solve_in_shares(
    batch: PairBatch,
    small: np.ndarray,
    several: bool,
    watch: Watch | None,
    clock: Clock,
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
                watch(
                    Progress(
                        done,
                        len(batch.sizes),
                        seconds,
                        steps,
                        nan,
                        nan,
                        resolved.tolerance,
                        0,
                    )
                )
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


def _small(problems: Subproblems, settings: Sequence[Resolved]) -> np.ndarray:
    """Return the numbers of the pairs that are small; none where more is asked than is known here."""
    resolved, several, nothing = settings[0], len(settings) > 1, np.empty(0, np.int64)
    if (
        not problems.in_pairs
        or resolved.stop == "meb"  # its goal is in parts of the largest K~_ii of each pair
        or (resolved.search, resolved.protocol) != ("full", PROTOCOLS["default"])
        or resolved.max_iterations is not None
        or not resolved.final_gap
        or (several and resolved.time_limit is not None)
    ):
        return nothing
    numbers = np.flatnonzero(problems.sizes < resolved.rule.fewest)
    if not len(numbers) or (several and len(numbers) < len(problems)):
        return nothing
    pairs, counts, widths = _layout(problems, numbers)
    columns = resolved.threads * int(widths[pairs[numbers]].sum(axis=1).max()) ** 2
    values = int(widths.sum()) * _shared_values(problems, resolved, counts, widths)[1]
    held = columns + values + len(settings) * len(problems.codes) * problems.K
    return numbers if 8 * held <= resolved.cache_bytes else nothing


def _shared_values(
    problems: Subproblems, resolved: Resolved, counts: np.ndarray, widths: np.ndarray
) -> tuple[bool, int]:
    """Return whether pairs share the kernel values of all rows, and how many are held for each row.

    Pairs of small classes want nearly all of their columns, and a call for a few of sparse rows costs as much as one
    for many.
    """
    places = int(widths.sum())
    small = counts.sum() <= WHOLE_CLASS * np.count_nonzero(counts) and 16 * places**2 <= resolved.cache_bytes
    whole = bool(small) and not is_dense(problems.compressed)
    return whole, places if whole else int(widths.max())


def _layout(problems: Subproblems, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the classes of all pairs, and of each class its rows in the pairs ``numbers`` and places of `PairRows`."""
    pairs, counts = np.array(problems.classes), np.zeros(problems.K, np.int64)
    counts[pairs[numbers]] = np.bincount(problems.codes, minlength=problems.K)[pairs[numbers]]
    return pairs, counts, -(-counts // HEIGHT) * HEIGHT
