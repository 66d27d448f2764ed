"""Pairs of classes of a problem of few rows: all by one kernel matrix (`fwsvm.solvers.auto.by_matrix`)."""

import numpy as np

from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.kernel_matrix import gram_matrix
from fwsvm.kernels.sparse_tiles import threads_for
from fwsvm.kernels.sums import product_rounding
from fwsvm.numerics.threads import together
from fwsvm.solvers.auto.by_matrix import solve_by_matrix
from fwsvm.solvers.auto.grouped_rows import GroupedRows
from fwsvm.solvers.auto.solutions import Goal, Solutions
from fwsvm.solvers.frank_wolfe.stopping import stopping_line
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.tuning import ONE_MATRIX_STEPS


class OneMatrix:
    """A `PairSolver` that certifies as it solves: the matrix is in float64."""

    def __init__(
        self, groups: GroupedRows, penalties: np.ndarray, solutions: Solutions, resolved: Resolved
    ) -> None:
        self.groups, self.penalties, self.solutions = groups, penalties, solutions
        own = own_terms(resolved.kernel, groups.rows)
        off = product_rounding(resolved.kernel, groups.rows, own)
        self.goal = Goal(*stopping_line(resolved.stop, resolved.tolerance, np.nan), ONE_MATRIX_STEPS, 0, off)
        m = groups.rows.height
        self.threads = threads_for(groups.rows, m, m, resolved.threads)
        self.values = np.empty((m, m))
        gram_matrix(resolved.kernel, groups.rows, own, self.values, self.threads)
        solutions.evaluations[0, 0] = m * (m + 1) // 2

    def solve(self, numbers: np.ndarray) -> None:
        """Solve the pairs ``numbers``."""
        claimed = np.zeros(len(self.groups.pairs), np.int64)
        together(
            lambda _: solve_by_matrix(
                self.groups, self.penalties, numbers, claimed, self.values, self.goal, self.solutions
            ),
            min(self.threads, len(numbers)),
        )

    def certify(self, numbers: np.ndarray) -> None:
        """Do nothing: it is done."""
