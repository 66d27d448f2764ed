"""pegasos: stochastic subgradient steps of length 1/(lambda t) (Shalev-Shwartz et al. 2011, Figure 3)."""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import some_rows
from fwsvm.kernels.sparse_tiles import WIDE, clear, empty_left_block, fill_range, scatter, wide_row
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import together
from fwsvm.problems.binary import Binary
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.stochastic.run import StochasticIterate, StochasticRun
from fwsvm.solvers.stochastic.sample import RowBuffer, picked_rows
from fwsvm.solvers.tuning import EXPANSION_PER_THREAD, POOL_ROWS
from fwsvm.status import Status

CONTROL = np.dtype(
    [
        ("t", np.int64),  # steps done
        ("scale", np.float64),  # w = scale sum_j counts[j] phi(x_j)
        ("square", np.float64),  # |w|^2
        ("loss", np.float64),  # hinge losses met in the present pool, before the step
        ("met", np.int64),
    ]
)


@njit
def visit(lam, control, labels, sums, products, first, last, joined):
    """Take the steps of the rows first ... last - 1 of a block.

    Parameters
    ----------
    control : ndarray of `CONTROL`, shape (1,)
    labels : ndarray of float64, shape (B,)
    sums : ndarray of float64, shape (B,)
        sum_j counts[j] k(x_j, .), kept right for the rows still to come.
    products : ndarray, shape (B, B), kernel values of the block's rows among one another
    joined : ndarray of float64, shape (B,)
        Becomes what each row visited adds to its count: its label if it violates its margin, else 0.
    """
    now = control[0]
    for i in range(first, last):
        now.t += 1
        eta, decay = 1.0 / (lam * now.t), 1.0 - 1.0 / now.t
        margin = labels[i] * now.scale * sums[i]
        now.loss += max(0.0, 1.0 - margin)
        now.met += 1
        now.square *= decay * decay
        joined[i] = 0.0
        if margin < 1.0:
            now.square += 2.0 * decay * eta * margin + eta * eta * products[i, i]
            joined[i] = labels[i]
            for later in range(i + 1, sums.size):
                sums[later] += labels[i] * products[i, later]
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


@njit(fastmath={"contract"})
def _add_range(kernel, left_block, rows, own, weights, first, last, out):
    """Add weighted values of rows first ... last - 1 at the 64 rows of the left-hand block to ``out`` (64,)."""
    values = np.empty(WIDE, rows.values.dtype)
    for j in range(first, last):
        wide_row(kernel, left_block, rows, j, own[j], values, 0)
        for c in range(WIDE):
            out[c] += weights[j] * values[c]


class PegasosRun(StochasticRun):
    """A `Solver`. Rows are drawn in blocks of 64, which share a pass over the expansion.

    Within a block the sums are updated as rows join the expansion, so the steps are exactly those of Figure 3. Blocks
    depend on the step number alone, so results do not depend on how steps are divided among calls.
    """

    def __init__(self, problem: Binary, resolved: Resolved) -> None:
        super().__init__(problem, resolved)
        self.random = np.random.default_rng(problem.stream)
        self.store = RowBuffer(resolved.kernel, problem.X.shape[1], self.dtype)
        self.counts = np.zeros(self.m)  # y_i times the times that a row violated its margin
        self.members = np.zeros(self.m, np.int64)  # the rows in the expansion, in order of coming
        self.size = 0
        self.control = np.zeros(1, CONTROL)
        self.products: np.ndarray = np.empty((WIDE, WIDE), self.dtype)
        self.joined = np.empty(WIDE)
        self.kernel_evaluations = 0
        self.at, self.pool_at = WIDE, POOL_ROWS  # the next row of the block and of the pool: none
        self.mean_loss = 1.0

    def advance(self, steps: int) -> int:
        """Take that many steps."""
        left = steps
        while left > 0:
            if self.at == WIDE:
                self._next_block()
            first, self.at = self.at, min(WIDE, self.at + left)
            visit(self.lam, self.control, self.labels, self.sums, self.products, first, self.at, self.joined)
            self._join(first, self.at)
            left -= self.at - first
        return steps

    def _join(self, first: int, last: int) -> None:
        """Count the rows of the block that violated their margins, and store those that had not before."""
        places = first + np.flatnonzero(self.joined[first:last])
        rows = self.ids[places]
        new = places[self.counts[rows] == 0.0]
        new = new[np.sort(np.unique(self.ids[new], return_index=True)[1])]
        np.add.at(self.counts, rows, self.joined[places])
        old, self.size = self.size, self.size + len(new)
        self.members[old : self.size] = self.ids[new]
        if len(new):
            self.store.append(some_rows(self.pool, self.pool_at - WIDE + new))

    def _next_block(self) -> None:
        """Draw the next block's rows and compute the sums that its steps start from."""
        if self.pool_at == POOL_ROWS:
            self._draw()
        at, self.pool_at, self.at = self.pool_at, self.pool_at + WIDE, 0
        self.ids = self.pool_ids[at : self.pool_at]
        self.labels = self.problem.y[self.ids]
        block, lines = np.arange(at, self.pool_at, dtype=np.int32), np.arange(WIDE)
        used = scatter(self.left_block, self.pool, self.pool_own, block, WIDE)
        count, some = WIDE, (self.pool, self.pool_own, block, 0, WIDE)
        fill_range(self.resolved.kernel, self.left_block, WIDE, count, *some, self.products, lines)
        self.sums = self._over_expansion()
        clear(self.left_block, used)
        self.kernel_evaluations += WIDE * (WIDE + self.size)

    def _over_expansion(self) -> np.ndarray:
        """Return sum_j counts[j] k(x_j, .) at the rows of the left-hand block, shape (64,)."""
        size, weights = self.size, self.counts[self.members[: self.size]]
        parts = self.resolved.threads if size * WIDE > EXPANSION_PER_THREAD else 1
        ends = [size * part // parts for part in range(parts + 1)]
        outs, rows, own = np.zeros((parts, WIDE)), self.store.rows, self.store.own

        def add(part: int) -> None:
            first, last = ends[part], ends[part + 1]
            _add_range(self.resolved.kernel, self.left_block, rows, own, weights, first, last, outs[part])

        together(add, parts)
        return np.asarray(outs.sum(axis=0))

    def _draw(self) -> None:
        """Draw a pool of rows, uniformly and with replacement."""
        now = self.control
        if now["met"][0]:
            self.mean_loss = float(now["loss"][0] / now["met"][0])
            now["loss"], now["met"] = 0.0, 0
        self.pool_at = 0
        self.pool_ids = self.random.integers(self.m, size=POOL_ROWS)
        self.pool = picked_rows(self.problem.X, self.pool_ids, self.dtype)
        self.pool_own = own_terms(self.resolved.kernel, self.pool)
        self.left_block = empty_left_block(self.pool)

    def check_stop(self) -> Status | None:
        """Return None: the method has no stopping rule."""
        return None

    def iterate(self) -> StochasticIterate:
        """Return w as coefficients of the expansion.

        The objective is that of w, with the mean hinge loss of the rows drawn last; no gap is known.
        """
        now, rows = self.control[0], self.members[: self.size].copy()
        loss = float(now["loss"] / now["met"]) if now["met"] >= POOL_ROWS // 4 else self.mean_loss
        alpha, square = self.counts[rows] * float(now["scale"]), float(now["square"])
        return StochasticIterate(
            iterations=int(now["t"]),
            objective=0.5 * self.lam * square + loss,
            gap=np.nan,
            support_vectors=self.size,
            rows=rows,
            alpha=alpha,
            u=np.clip(np.abs(alpha) * self.lam * self.m, 0.0, 1.0),
            square=square,
        )

    @property
    def counters(self) -> Counters:
        """What was done so far; a step is an iteration."""
        t = int(self.control["t"][0])
        return Counters(t, t, self.kernel_evaluations)
