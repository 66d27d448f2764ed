"""Pairs of some hundred rows or more: each with a column cache of its own (`fwsvm.solvers.auto.by_columns`)."""

from dataclasses import replace
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import FEWEST, fetch_in_thread, fill_address, room_for_columns
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import LeftBlock, empty_left_block, no_left_block
from fwsvm.numerics.call_by_address import address_of
from fwsvm.numerics.threads import together
from fwsvm.problems.simplex_qp import simplex_qp
from fwsvm.solvers.auto.by_columns import Addresses, certify_by_columns, solve_by_columns
from fwsvm.solvers.auto.grouped_rows import GroupedRows, LaidOutRows, laid_out
from fwsvm.solvers.auto.solutions import Goal, Solutions, empty_solutions
from fwsvm.solvers.frank_wolfe.engine import advance, plain
from fwsvm.solvers.frank_wolfe.gradient.full import Full
from fwsvm.solvers.frank_wolfe.gradient.storage import state_of
from fwsvm.solvers.frank_wolfe.stopping import stopping_line
from fwsvm.solvers.registry import method
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.tuning import FIRST_SWAPS, NEWTON_OVERHEAD


class OwnColumns:
    """A `PairSolver` whose columns are float32, so that pairs are certified afterwards."""

    def __init__(self, groups: GroupedRows, solutions: Solutions, resolved: Resolved) -> None:
        self.groups, self.laid, self.solutions = groups, laid_out(resolved.kernel, groups), solutions
        self.threads, self.budget = resolved.threads, resolved.cache_bytes // 2  # copies have the other half
        self.dense = len(self.laid.tiles.numbers) > 0
        line = stopping_line(resolved.stop, resolved.tolerance, np.nan)
        self.goal = Goal(*line, FIRST_SWAPS, NEWTON_OVERHEAD)
        one = self.laid.single._replace(starts=self.laid.single.starts[:2])
        columns = room_for_columns(resolved.kernel, one, 0)
        self.rule = plain(method("swap-2o").make({}))
        self.like = state_of(
            simplex_qp(columns, 1, np.ones(1)), Full(), (0,), replace(resolved, threads=1, lent=0)
        )
        self.addresses = Addresses(
            address_of(advance, self.rule, self.like, 0),
            address_of(fetch_in_thread, columns, columns.all_rows, self.like.alpha, 0),
            fill_address(columns, dense=self.dense),
        )

    def solve(self, numbers: np.ndarray) -> None:
        """Solve the pairs ``numbers``, the largest first."""
        sizes = self.groups.sizes(numbers)
        numbers, most = numbers[np.argsort(-sizes, kind="stable")], int(sizes.max())
        parts, claimed = min(self.threads, len(numbers)), np.zeros(len(self.groups.pairs), np.int64)
        room = min(most * most, max(self.budget // (4 * parts), FEWEST * most))
        together(
            lambda _: solve_by_columns(
                self.laid, numbers, claimed, self.goal, self.rule, self.like, self.addresses,
                np.empty(room, np.float32), self._left_block(self.laid.single), self.solutions,
            ),
            parts,
        )  # fmt: skip

    def certify(self, numbers: np.ndarray) -> None:
        """Certify the pairs ``numbers``."""
        parts, claimed = min(self.threads, len(numbers)), np.zeros(len(self.groups.pairs), np.int64)
        together(lambda _: _certify(self.laid, numbers, claimed, self.solutions), parts)

    def _left_block(self, rows: Rows) -> LeftBlock:
        return no_left_block(rows) if self.dense else empty_left_block(rows)


def _certify(laid: LaidOutRows, numbers: np.ndarray, claimed: np.ndarray, solutions: Solutions) -> None:
    """Certify the pairs ``numbers`` that no other thread has claimed."""
    dense = len(laid.tiles.numbers) > 0
    left_block = no_left_block(laid.double) if dense else empty_left_block(laid.double)
    sums = np.empty((1, len(laid.tiles.own) if dense else laid.double.height))
    certify_by_columns(laid, numbers, claimed, left_block, sums, solutions)


def compile_certificate(kernel: Any, groups: GroupedRows) -> None:
    """Compile what certifies pairs of rows such as these; no pair is."""
    none = np.zeros(0, np.int64)
    _certify(laid_out(kernel, groups), none, none, empty_solutions(len(groups.order), len(groups.starts) - 1))
