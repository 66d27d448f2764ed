"""pegasos: stochastic subgradient steps of length 1/(lambda t) (Shalev-Shwartz et al. 2011, Figure 3)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import as_rows
from fwsvm.kernels.values import fill_some, table
from fwsvm.numerics.compile import njit, record
from fwsvm.problems.binary import Binary
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.stochastic.run import StochasticIterate, StochasticRun
from fwsvm.status import Status

BLOCK = 64  # rows that share a pass over the expansion
FADING_ROWS = 4096  # rows that the mean of the losses is over, about
CONTROL = record(
    float64=(
        "scale",  # w = scale sum_j counts[j] phi(x_j)
        "square",  # |w|^2
        "loss",  # fading mean of the hinge losses met, each before its step
    ),
    int64=(
        "t",  # steps done
        "size",  # rows in the expansion
    ),
)


@njit
def visit(lam, now, block, y, sums, products, first, last, counts, members):
    """Take the steps of the rows first ... last - 1 of a block.

    Parameters
    ----------
    now : a `CONTROL` record
    block : ndarray of int, shape (B,), the rows
    y : ndarray of float64, shape (rows,)
    sums : ndarray of float64, shape (B,)
        sum_j counts[j] k(x_j, .), kept right for the rows still to come.
    products : ndarray, shape (B, B), kernel values of the block's rows among one another
    counts : ndarray of float64, shape (rows,), y_i times the times that a row violated its margin
    members : ndarray of int, shape (rows,), the rows in the expansion, as they came
    """
    for i in range(first, last):
        row = block[i]
        now.t += 1
        eta = 1.0 / (lam * now.t)
        decay = 1.0 - 1.0 / now.t
        margin = y[row] * now.scale * sums[i]
        now.loss += (max(0.0, 1.0 - margin) - now.loss) / min(now.t, FADING_ROWS)
        now.square *= decay * decay
        if margin < 1.0:
            now.square += 2.0 * decay * eta * margin + eta * eta * products[i, i]
            if counts[row] == 0.0:
                members[now.size] = row
                now.size += 1
            counts[row] += y[row]
            for later in range(i + 1, sums.size):
                sums[later] += y[row] * products[i, later]
        now.scale = eta


@register(
    "pegasos",
    family="stochastic",
    paper="Zhang and Sen (2024), section 4 (Shalev-Shwartz et al. 2011, Figure 3)",
    tolerance="no rule of its own: it runs to its iteration or time limit; then (P - D) / P is checked",
    stops=("relative",),
)
class Pegasos(NamedTuple):
    """Stochastic subgradient descent on random rows, one a step, with step lengths 1/(lambda t).

    Problem: min lambda/2 |w|^2 + mean hinge, no bias. Rows that violate their margin join the expansion of w.
    Stops at its iteration or time limit only.
    """

    def start(self, problem: Binary, resolved: Resolved) -> "PegasosRun":
        """Return the run on a two-class problem."""
        return PegasosRun(problem, resolved)


class PegasosRun(StochasticRun):
    """A `Solver`. Rows are drawn in blocks, which share a pass over the expansion of w.

    Within a block the sums are updated as rows join the expansion, so the steps are exactly those of Figure 3. Blocks
    depend on the step number alone, so results do not depend on how steps are divided among calls.
    """

    def __init__(self, problem: Binary, resolved: Resolved) -> None:
        super().__init__(problem, resolved)
        most = BLOCK * -(-(resolved.max_iterations or self.m) // BLOCK)
        self.rows = np.arange(self.m)  # that may be visited
        if most < self.m:
            self.rows = np.unique(np.random.default_rng(problem.stream).integers(self.m, size=most))
        X: Any = problem.X
        rows = as_rows(X[self.rows], self.dtype)
        self.y = problem.y[self.rows]
        self.table = table(rows, own_terms(resolved.kernel, rows), dense=False)
        self.counts = np.zeros(len(self.rows))
        self.members = np.zeros(len(self.rows), np.int32)
        self.control = np.zeros(1, CONTROL)[0]
        self.control["loss"] = 1.0
        self.blocks, self.block, self.at = self._draw(), np.empty(0, np.int32), 0  # the next row of the block

    def _draw(self) -> Iterator[np.ndarray]:
        """Yield blocks of rows that are drawn uniformly and with replacement."""
        random = np.random.default_rng(self.problem.stream)
        while True:
            yield np.searchsorted(self.rows, random.integers(self.m, size=BLOCK)).astype(np.int32)

    def advance(self, steps: int) -> int:
        """Take that many steps."""
        left = steps
        while left > 0:
            if self.at == len(self.block):
                self._next_block()
            first = self.at
            self.at = min(len(self.block), self.at + left)
            visit(
                self.lam,
                self.control,
                self.block,
                self.y,
                self.block_sums,
                self.products,
                first,
                self.at,
                self.counts,
                self.members,
            )
            left -= self.at - first
        return steps

    def _next_block(self) -> None:
        """Take the next block of rows and compute the sums that their steps start from."""
        self.block = next(self.blocks)
        self.at = 0
        members = self.expansion
        which = np.concatenate([members, self.block])
        values: np.ndarray = np.empty((len(self.block), len(which)), self.dtype)
        fill_some(self.resolved.kernel, self.table, self.block, which, values, self.resolved.threads)
        self.kernel_evaluations += values.size
        self.block_sums = values[:, : len(members)] @ self.counts[members]
        self.products = values[:, len(members) :]

    def visit_from(self, beta: np.ndarray, t: int) -> None:
        """Take a step at each row but the first s, from coefficients beta (s,) after t steps.

        The step needs w and t alone, so it can follow any machine of the problem, whichever method it came from.
        """
        s = len(beta)
        now = self.control
        self.counts[:s], self.members[:s], now["size"] = self.lam * t * beta, np.arange(s), s
        now["t"] = t
        now["scale"] = 1.0 / (self.lam * t) if t else 0.0
        rows = np.arange(s, self.m, dtype=np.int32)
        self.blocks = iter(np.split(rows, range(BLOCK, len(rows), BLOCK)))
        self.advance(len(rows))

    @property
    def expansion(self) -> np.ndarray:
        """The rows in the expansion, as they came."""
        return self.members[: self.control["size"]]

    def check_stop(self) -> Status | None:
        """Return None: the method has no stopping rule."""
        return None

    def iterate(self) -> StochasticIterate:
        """Return w as coefficients of the expansion.

        The objective is that of w, with the mean hinge loss of the rows met last; no gap is known.
        """
        now = self.control
        members = self.expansion
        alpha = self.counts[members] * float(now["scale"])
        square = float(now["square"])
        return StochasticIterate(
            iterations=int(now["t"]),
            objective=0.5 * self.lam * square + float(now["loss"]),
            gap=np.nan,
            support_vectors=len(members),
            rows=self.rows[members],
            alpha=alpha,
            u=np.clip(np.abs(alpha) * self.lam * self.m, 0.0, 1.0),
            square=square,
        )

    @property
    def counters(self) -> Counters:
        """What was done so far; a step is an iteration."""
        t = int(self.control["t"])
        return Counters(t, t, self.kernel_evaluations)
