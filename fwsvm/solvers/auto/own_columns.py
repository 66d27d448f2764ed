"""Pairs of some hundred rows or more: each with a column cache of its own (`fwsvm.solvers.auto.by_columns`)."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from fwsvm import phases
from fwsvm.kernels.column_cache import FEWEST, fetch_in_thread, fill_address, room_for_columns
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import LeftBlock, empty_left_block, no_left_block
from fwsvm.kernels.sums import UNINTERRUPTED
from fwsvm.numerics.call_by_address import address_of
from fwsvm.numerics.threads import together
from fwsvm.problems.simplex_qp import simplex_qp
from fwsvm.solvers.auto.by_columns import Addresses, solve_by_columns
from fwsvm.solvers.auto.grouped_rows import GroupedRows, LaidOutRows, laid_out
from fwsvm.solvers.auto.pair_certificates import add_class_sums, write_certificates
from fwsvm.solvers.auto.solutions import Goal, Solutions, empty_solutions
from fwsvm.solvers.auto.whole_matrices import (
    empty_class_matrices,
    fill_class_matrices,
    no_class_matrices,
)
from fwsvm.solvers.frank_wolfe.engine import advance, plain
from fwsvm.solvers.frank_wolfe.gradient.full import Full
from fwsvm.solvers.frank_wolfe.gradient.storage import state_of
from fwsvm.solvers.frank_wolfe.stopping import stopping_line
from fwsvm.solvers.registry import method
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.tuning import FIRST_SWAPS, NEWTON_OVERHEAD, WHOLE_MATRIX_SHARE


class OwnColumns:
    """A `PairSolver` whose columns are float32, so that pairs are certified afterwards."""

    def __init__(
        self, groups: GroupedRows, penalties: np.ndarray, solutions: Solutions, resolved: Resolved
    ) -> None:
        self.groups, self.laid, self.solutions = groups, laid_out(resolved.kernel, groups), solutions
        self.penalties, self.matrices = penalties, no_class_matrices()
        self.undecided = True  # whether columns are computed as they are wanted
        self.threads, self.budget = resolved.threads, resolved.cache_bytes // 2  # copies have the other half
        self.dense = len(self.laid.tiles.numbers) > 0
        line = stopping_line(resolved.stop, resolved.tolerance, np.nan)
        self.goal = Goal(*line, FIRST_SWAPS, NEWTON_OVERHEAD, self.laid.value_rounding)
        one = self.laid.single._replace(starts=self.laid.single.starts[:2])
        columns = room_for_columns(resolved.kernel, one, 0)
        self.rule = plain(method("swap-2o").make({}))
        self.like = state_of(simplex_qp(columns, 1, np.ones(1)), Full(), (0,), replace(resolved, threads=1))
        self.addresses = Addresses(
            address_of(advance, self.rule, self.like, 0),
            address_of(fetch_in_thread, columns, columns.all_rows, self.like.alpha, 0, 0),
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
            if self._share_of_support(numbers[0]) > WHOLE_MATRIX_SHARE:
                self._fill_matrices()
            numbers = numbers[1:]
        if len(numbers):
            self._solve(numbers)

    def _share_of_support(self, number: int) -> float:
        i, j = self.groups.pairs[number]
        coefficients, starts = self.solutions.coefficients[0], self.groups.starts
        support = np.count_nonzero(coefficients[starts[i] : starts[i + 1], j - 1])
        support += np.count_nonzero(coefficients[starts[j] : starts[j + 1], i])
        return float(support / self.groups.sizes(np.array([number]))[0])

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
        self.solutions.evaluations[0, 0] += np.sum(sizes**2)

    def _solve(self, numbers: np.ndarray) -> None:
        most = int(self.groups.sizes(numbers).max())
        parts, claimed = min(self.threads, len(numbers)), np.zeros(len(self.groups.pairs), np.int64)
        room = min(most * most, max(self.budget // (4 * parts), FEWEST * most))
        together(
            lambda _: solve_by_columns(
                self.laid, self.penalties, numbers, claimed, self.goal, self.rule, self.like, self.addresses,
                self.matrices,
                np.empty(room, np.float32), self._left_block(self.laid.single), self.solutions,
            ),
            parts,
        )  # fmt: skip

    def certify(self, numbers: np.ndarray) -> None:
        """Certify the pairs ``numbers``."""
        _certify(self.laid, self.penalties, numbers, self.solutions, self.threads)

    def _left_block(self, rows: Rows) -> LeftBlock:
        return no_left_block(rows) if self.dense else empty_left_block(rows)


def _certify(
    laid: LaidOutRows, penalties: np.ndarray, numbers: np.ndarray, solutions: Solutions, threads: int
) -> None:
    """Certify the pairs ``numbers``."""
    dense, K = len(laid.tiles.numbers) > 0, len(laid.starts) - 1
    wanted, sums = np.zeros((K, K), np.bool_), np.zeros_like(solutions.coefficients)
    i, j = laid.pairs[numbers].T
    wanted[i, j] = wanted[j, i] = True
    classes, pairs = np.zeros(K, np.int64), np.zeros(len(laid.pairs), np.int64)

    def add(_: int) -> None:
        left_block = no_left_block(laid.double) if dense else empty_left_block(laid.double)
        add_class_sums(laid, wanted, classes, left_block, solutions.coefficients, sums)

    for number, some in enumerate(parts := _parts(np.diff(laid.starts), threads)):
        phases.inside("kernel values", number / len(parts))
        classes[:], classes[some] = 1, 0
        together(add, min(threads, some.stop - some.start))
    together(
        lambda _: write_certificates(laid, penalties, numbers, pairs, sums, solutions),
        max(1, min(threads, len(numbers))),
    )


def _parts(sizes: np.ndarray, threads: int) -> list[slice]:
    """Return ranges of classes of so many kernel values that an interrupt between them need not wait for long.

    Each has a class for each thread.
    """
    m = int(sizes.sum())
    values = np.cumsum(sizes * m)
    most = max(UNINTERRUPTED, int(sizes.max(initial=0)) * m) * threads
    ends = np.flatnonzero(np.diff(values // most, append=np.inf)) + 1
    return [slice(int(a), int(b)) for a, b in pairwise([0, *ends])]


def compile_certificate(kernel: Any, groups: GroupedRows) -> None:
    """Compile what certifies pairs of rows such as these; no pair is."""
    solutions = empty_solutions(len(groups.order), len(groups.starts) - 1)
    _certify(laid_out(kernel, groups), np.ones(1), np.zeros(0, np.int64), solutions, 1)
