"""pegasos: stochastic subgradient steps of length 1/(lambda t) (Shalev-Shwartz et al. 2011, Figure 3)."""

from typing import NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import some_rows
from fwsvm.kernels.sparse_tiles import WIDE, clear, empty_left_block, fill_range, scatter, wide_row
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import together
from fwsvm.problems.binary import Binary
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.stochastic.run import StochasticIterate, StochasticRun, begin
from fwsvm.solvers.stochastic.sample import RowBuffer, picked_rows
from fwsvm.solvers.tuning import EXPANSION_PER_THREAD, POOL_ROWS
from fwsvm.status import Status

CONTROL = np.dtype(
    [
        ("t", np.int64),  # steps done
        ("size", np.int64),  # rows in the expansion, those of the present block that joined included
        ("scale", np.float64),  # w = scale sum_j counts[j] y_j phi(x_j)
        ("square", np.float64),  # |w|^2
        ("scales", np.float64),  # sum of the scales of all w_t since the last projection
        ("loss", np.float64),  # hinge losses met in the present pool, before the step
        ("met", np.int64),
    ]
)


class PegasosState(NamedTuple):
    """The state of the compiled step.

    Attributes
    ----------
    lam, batch, projection : the method's numbers
    counts : ndarray of float64, shape (m,); without projection whole numbers
    missed : ndarray of float64, shape (m,), counts weighted by the ``scales`` of before they came, for the
        mean
    total : ndarray of float64, shape (m,), coefficients of the sum of all w_t before the last projection
    y : ndarray of float64, shape (m,)
    ids : ndarray of int64, shape (m,), the rows in the expansion
    place : ndarray of int32, shape (m,), where in the expansion a row is, -1 for nowhere
    now : ndarray of `CONTROL`, shape (1,)
    """

    lam: float
    batch: int
    projection: bool
    counts: np.ndarray
    missed: np.ndarray
    total: np.ndarray
    y: np.ndarray
    ids: np.ndarray
    place: np.ndarray
    now: np.ndarray


@njit
def step(s, rows, labels, sums, products, first):
    """Take one step with the block's rows first ... first + batch - 1.

    ``sums`` are sum_j counts[j] y_j k(x_j, .) at the block's rows (B,), kept right for the rows still to
    come; ``products`` their kernel values among one another (B, B).
    """
    now, k = s.now[0], s.batch
    now.t += 1
    t = now.t
    eta, decay = 1.0 / (s.lam * t * k), 1.0 - 1.0 / t
    violators, count = np.empty(k, np.int64), 0
    for i in range(first, first + k):
        margin = labels[i] * now.scale * sums[i]
        now.loss += max(0.0, 1.0 - margin)
        if margin < 1.0:
            violators[count] = i
            count += 1
    now.met += k
    cross = among = 0.0
    for a in range(count):
        i = violators[a]
        cross += labels[i] * now.scale * sums[i]
        for b in range(count):
            among += labels[i] * labels[violators[b]] * products[i, violators[b]]
    now.square = decay * decay * now.square + 2.0 * decay * eta * cross + eta * eta * among
    for a in range(count):
        i = violators[a]
        j = s.place[rows[i]]
        if j < 0:
            j = now.size
            now.size += 1
            s.place[rows[i]], s.ids[j], s.y[j] = j, rows[i], labels[i]
        s.counts[j] += 1.0
        s.missed[j] += now.scales
        for later in range(first + k, sums.size):
            sums[later] += labels[i] * products[i, later]
    if s.projection and s.lam * now.square > 1.0:
        _project(s, sums, first + k)
    now.scale = eta
    now.scales += now.scale


@njit
def _project(s, sums, later):
    """Draw w back into the ball of radius 1/sqrt(lambda).

    The factors go into the counts at once: their product over all projections is beyond double precision.
    """
    now = s.now[0]
    factor = 1.0 / np.sqrt(s.lam * now.square)
    now.square = 1.0 / s.lam
    for j in range(now.size):
        s.total[j] += now.scales * s.counts[j] - s.missed[j]
        s.counts[j], s.missed[j] = factor * s.counts[j], 0.0
    now.scales = 0.0
    for i in range(later, sums.size):
        sums[i] *= factor


@njit
def steps(s, rows, labels, sums, products, first, last):
    """Take the steps that use the block's rows first ... last - 1."""
    for at in range(first, last, s.batch):
        step(s, rows, labels, sums, products, at)


@register(
    "pegasos",
    family="stochastic",
    paper="Zhang and Sen (2024), section 4 (Shalev-Shwartz et al. 2011, Figure 3)",
    tolerance="no rule of its own: it runs to its iteration or time limit; then (P - D) / P is checked",
    stops=("relative",),
)
class Pegasos(NamedTuple):
    """Stochastic subgradient descent on random rows, one or a batch a step, with step lengths 1/(lambda t).

    Problem: min lambda/2 |w|^2 + mean hinge, no bias. Rows that violate their margin join the expansion of w.
    Stops at its iteration or time limit only.

    Parameters
    ----------
    batch : rows a step; 1 as in Figure 3. Kernel values come 64 rows at a time whatever it is
    projection : whether w is drawn back into the ball of radius 1/sqrt(lambda); false, as in Figure 3
    averaging : whether the answer is the mean of all w_t instead of the last; false, as in Figure 3
    """

    batch: int = 1
    projection: bool = False
    averaging: bool = False


@njit(fastmath={"contract"})
def _add_range(kernel, left_block, rows, own, counts, y, first, last, out):
    """Add values of rows first ... last - 1 of the expansion at the 64 rows of the left-hand block to ``out`` (64,)."""
    values = np.empty(WIDE, rows.values.dtype)
    for j in range(first, last):
        wide_row(kernel, left_block, rows, j, own[j], values, 0)
        weight = counts[j] * y[j]
        for c in range(WIDE):
            out[c] += weight * values[c]


def _shape(rule: Pegasos) -> tuple[int, int]:
    """Return the rows of a block, 64 or one batch, and of a pool, whole blocks."""
    batch = max(1, rule.batch)  # a batch below one row is refused when the run begins
    block = batch * max(1, WIDE // batch)
    return block, block * max(1, POOL_ROWS // block)


class PegasosRun(StochasticRun):
    """A `Solver`. Rows are drawn in blocks of 64 or one batch, which share a pass over the expansion.

    Within a block the sums are updated as rows join the expansion, so the steps are exactly those of Figure 3. Blocks
    depend on the step number alone, so results do not depend on how steps are divided among calls.
    """

    def __init__(self, rule: Pegasos, problem: Binary, resolved: Resolved) -> None:
        super().__init__(problem, resolved)
        if rule.batch < 1:
            raise UsageError(f"pegasos needs a batch of at least one row, not {rule.batch}")
        self.rule = rule
        self.block, self.pool_end = _shape(rule)
        self.random = np.random.default_rng(problem.stream)
        self.store = RowBuffer(resolved.kernel, problem.X.shape[1], self.dtype)
        counts, missed, total, y = np.zeros((4, self.m))
        self.state = PegasosState(
            self.lam,
            rule.batch,
            rule.projection,
            counts,
            missed,
            total,
            y,
            np.zeros(self.m, np.int64),
            np.full(self.m, -1, np.int32),
            np.zeros(1, CONTROL),
        )
        self.products: np.ndarray = np.empty((self.block, self.block), self.dtype)
        self.sums = np.empty(self.block)
        self.kernel_evaluations = 0
        self.at = self.block  # the next row of the block; the block is used up
        self.pool_at = self.pool_end  # the pool is used up
        self.mean_loss = 1.0

    def advance(self, steps_wanted: int) -> int:
        """Take that many steps."""
        left = steps_wanted
        while left > 0:
            if self.at == self.block:
                self._next_block()
            taken = min(left, (self.block - self.at) // self.rule.batch)
            until = self.at + taken * self.rule.batch
            steps(self.state, self.ids, self.labels, self.sums, self.products, self.at, until)
            self.at, left = until, left - taken
        return steps_wanted

    def _next_block(self) -> None:
        """Draw the next block's rows and compute the sums that its steps start from."""
        self._take_in()
        if self.pool_at == self.pool_end:
            self._draw()
        at, self.pool_at, self.at = self.pool_at, self.pool_at + self.block, 0
        self.ids = self.pool_ids[at : self.pool_at]
        self.labels = self.problem.y[self.ids]
        kernel, threads = self.resolved.kernel, self.resolved.threads
        everyone = np.arange(at, self.pool_at, dtype=np.int32)
        size = self.store.rows.height
        for first in range(0, self.block, WIDE):
            some = everyone[first : first + WIDE]
            used = scatter(self.left_block, self.pool, self.pool_own, some, WIDE)
            fill_range(
                kernel,
                self.left_block,
                WIDE,
                len(some),
                self.pool,
                self.pool_own,
                everyone,
                0,
                self.block,
                self.products,
                np.arange(first, first + len(some)),
            )
            self.sums[first : first + len(some)] = self._over_expansion(size, threads)[: len(some)]
            clear(self.left_block, used)
        self.kernel_evaluations += self.block * (self.block + size)

    def _over_expansion(self, size: int, threads: int) -> np.ndarray:
        """Return sum_j counts[j] y_j k(x_j, .) at the rows of the left-hand block, shape (64,)."""
        parts = threads if size * WIDE > EXPANSION_PER_THREAD else 1
        ends = [size * part // parts for part in range(parts + 1)]
        outs = np.zeros((parts, WIDE))
        rows, own = self.store.rows, self.store.own

        def add(part: int) -> None:
            _add_range(
                self.resolved.kernel,
                self.left_block,
                rows,
                own,
                self.state.counts,
                self.state.y,
                ends[part],
                ends[part + 1],
                outs[part],
            )

        together(add, parts)
        return outs.sum(axis=0)

    def _draw(self) -> None:
        """Draw a pool of rows, uniformly and with replacement."""
        now = self.state.now
        if now["met"][0]:
            self.mean_loss = float(now["loss"][0] / now["met"][0])
            now["loss"], now["met"] = 0.0, 0
        self.pool_at = 0
        self.pool_ids = self.random.integers(self.m, size=self.pool_end)
        self.pool = picked_rows(self.problem.X, self.pool_ids, self.dtype)
        self.pool_own = own_terms(self.resolved.kernel, self.pool)
        self.left_block = empty_left_block(self.pool)

    def _take_in(self) -> None:
        """Append to the stored rows those that joined the expansion in the last block."""
        old, size = self.store.rows.height, int(self.state.now["size"][0])
        if size > old:
            first = self.pool_at - self.block
            where = {row: first + i for i, row in enumerate(self.ids.tolist())}
            self.store.append(
                some_rows(self.pool, np.array([where[r] for r in self.state.ids[old:size].tolist()]))
            )

    def check_stop(self) -> Status | None:
        """Return None: the method has no stopping rule."""
        return None

    def iterate(self) -> StochasticIterate:
        """Return w, or the mean of all w_t, as coefficients of the expansion.

        The objective is that of w, with the mean hinge loss of the rows drawn last; no gap is known.
        """
        state, now = self.state, self.state.now[0]
        size, square = int(now["size"]), float(now["square"])
        loss = float(now["loss"] / now["met"]) if now["met"] >= POOL_ROWS // 4 else self.mean_loss
        ids, signed = state.ids[:size].copy(), state.y[:size]
        if not self.rule.averaging:
            alpha = signed * state.counts[:size] * float(now["scale"])
        else:
            since = float(now["scales"]) * state.counts[:size] - state.missed[:size]
            alpha = signed * (state.total[:size] + since) / max(1, int(now["t"]))
        return StochasticIterate(
            iterations=int(now["t"]),
            objective=0.5 * self.lam * square + loss,
            gap=np.nan,
            support_vectors=size,
            rows=ids,
            alpha=alpha,
            u=np.clip(signed * alpha * self.lam * self.m, 0.0, 1.0),
            square=None if self.rule.averaging else square,
            lower=np.nan,
            lower_error=np.nan,
        )

    @property
    def counters(self) -> Counters:
        """What was done so far; a step is an iteration."""
        t = int(self.state.now["t"][0])
        return Counters(t, t, self.kernel_evaluations, compile_seconds=self.compile_seconds)


begin.register(Pegasos, PegasosRun)
