"""pegasos: stochastic subgradient steps of length 1/(lambda t) (Shalev-Shwartz et al. 2011, Figure 3)."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from fwsvm._mapped import RowMatrix, stacked
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import as_rows, no_rows, some_rows, stacked_rows
from fwsvm.kernels.sparse_tiles import (
    WIDE,
    clear,
    empty_left_block,
    fill_range,
    kernel_matrix,
    scatter,
    wide_row,
)
from fwsvm.kernels.sums import weighted_sums
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import together
from fwsvm.problems.binary import Binary
from fwsvm.problems.hinge import regularisation
from fwsvm.problems.machines import KernelModel
from fwsvm.settings import Settings
from fwsvm.solvers.fit import refuse_out_of_range
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import Result
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.stochastic.run import StochasticIterate, StochasticRun, picked_rows
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
        self.store = no_rows(problem.X.shape[1], self.dtype)  # the rows in the expansion
        self.own: np.ndarray = np.zeros(0, self.dtype)
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
            new += self.pool_at - WIDE
            self.store = stacked_rows([self.store, some_rows(self.pool, new)])
            self.own = np.concatenate([self.own, self.pool_own[new]])

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
        outs, rows, own = np.zeros((parts, WIDE)), self.store, self.own

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


# ---------------------------------------------------------------- rows that come in portions

PART = 1024  # rows that are visited together: their kernel values among one another are kept


def _after_one_pass(
    model: KernelModel, X: RowMatrix, codes: np.ndarray, seen: np.ndarray, lam: float, threads: int
) -> KernelModel:
    """Return the machine after a step at each row of each pair of classes, in order.

    The step needs w and t alone, so it can follow any machine of the hinge problem, whichever method it came from.

    Parameters
    ----------
    model : KernelModel
        Its support vectors may be none.
    X : ndarray or csr_array, shape (b, n)
    codes : ndarray of int, shape (b,), class numbers
    seen : ndarray of int, shape (K,), rows of each class visited before
    lam : float, of each pair's problem
    """
    K, kernel, weights = len(model.classes), model.kernel, model.pair_weights()
    classes, s = np.concatenate([np.repeat(np.arange(K), model.counts), codes]), len(weights)
    support, rows = as_rows(model.support), as_rows(X)
    coefficients = np.zeros((len(classes), K - 1))
    for pair, (i, j) in enumerate(combinations(range(K), 2)):
        places = np.flatnonzero((classes == i) | (classes == j))
        old, new, t = places[places < s], places[places >= s] - s, int(seen[i] + seen[j])
        b, beta, mine = len(new), weights[old, pair], some_rows(rows, new)
        sums, joined, products = np.zeros(b), np.zeros(b), np.empty((b, b))
        if len(old):
            scaled = lam * t * beta[:, None]
            sums = weighted_sums(kernel, some_rows(support, old), np.arange(len(old)), scaled, mine, threads)[
                :, 0
            ]
        kernel_matrix(kernel, mine, np.arange(b), np.arange(b), products)
        now = np.zeros(1, CONTROL)
        now["t"], now["scale"] = t, 1.0 / (lam * t) if t else 0.0
        visit(lam, now, np.where(codes[new] == i, 1.0, -1.0), sums, products, 0, b, joined)
        found = np.concatenate([beta * t, joined / lam]) / max(1, t + b)
        coefficients[places, np.where(classes[places] == i, j - 1, i)] = found
    kept = np.flatnonzero(coefficients.any(axis=1))
    kept = kept[np.argsort(classes[kept], kind="stable")]
    return replace(
        model,
        support=stacked([model.support, X])[kept],
        counts=np.bincount(classes[kept], minlength=K),
        coefficients=coefficients[kept],
    )


#: What a result says of a point that nothing is proven about.
UNPROVEN: dict[str, Any] = {
    "status": Status.MAX_ITERATIONS,
    "message": "Each row was visited once, as it came; that proves no gap.",
    "gap_kind": "none",
    "certified": False,
} | dict.fromkeys(("objective", "gap", "relative_gap", "primal", "dual", "gap_error"), math.nan)


def before_portions(X: RowMatrix, classes: Sequence[str], settings: Settings) -> Result:
    """Return the result of no rows yet: its width, and lambda where that is not given, are of the first portion X.

    Raises
    ------
    UsageError
        Settings that make no sense.
    """
    resolved = resolve(replace(settings, method="pegasos", parameters={}), X)
    regularisation(np.full(X.shape[0], resolved.C), "pegasos")
    K = len(classes)
    pairs = K * (K - 1) // 2
    nothing = np.zeros((0, K - 1))
    model = KernelModel(
        tuple(classes), resolved.kernel, X[:0], np.zeros(K, np.int64), nothing, np.zeros(pairs)
    )
    return Result(
        model=model,
        settings=resolved.as_columns(),
        subproblems=pairs,
        solved=pairs,
        **UNPROVEN,
    )


def after_portion(
    begun: Result, X: RowMatrix, codes: np.ndarray, seen: np.ndarray, settings: Settings
) -> Result:
    """Return the result after one pass over a portion of rows, in an order drawn by the seed.

    Parameters
    ----------
    begun : Result
        Of `before_portions`, of earlier portions, or of `fwsvm.solvers.fit`.
    X : ndarray or csr_array, shape (b, n)
    codes : ndarray of int, shape (b,), class numbers
    seen : ndarray of int, shape (K,), rows of each class that ``begun`` was trained on
    settings : Settings
        Its seed and threads are used.

    Raises
    ------
    RangeError
        Kernel values beyond what single precision holds.
    """
    started, model = time.perf_counter(), begun.model
    assert isinstance(model, KernelModel)  # noqa: S101  (what one-versus-one families make)
    refuse_out_of_range(model.kernel, str(begun.settings["kernel"]), X)
    order = np.random.default_rng((settings.seed, int(seen.sum()))).permutation(len(codes))
    K = len(model.classes)
    lam = begun.settings["lambda"] * K / 2.0
    for first in range(0, len(order), PART):
        some = order[first : first + PART]
        model = _after_one_pass(model, X[some], codes[some], seen, lam, settings.threads or 1)
        seen = seen + np.bincount(codes[some], minlength=K)
    visited = begun.iterations + (K - 1) * len(codes)
    return replace(
        begun,
        model=model,
        trace=(),
        support_vectors=int(model.counts.sum()),
        iterations=visited,
        steps=visited,
        train_seconds=begun.train_seconds + time.perf_counter() - started,
        **UNPROVEN,
    )
