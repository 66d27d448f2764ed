"""What runs of all stochastic methods share: the rows drawn, kernel sums over them, and what an iterate is worth.

A method that draws a large sample and changes few coefficients needs each kernel value about twice: values are computed
anew and not kept. Rows with few zeros are packed in tiles, which takes about half the time.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.dense_tiles import empty_dense_tiles, pack_range
from fwsvm.kernels.distances import single_error
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows, as_rows, no_rows, some_rows, stacked_rows
from fwsvm.kernels.source import row_source
from fwsvm.kernels.sums import sums_of_tables
from fwsvm.kernels.tables import DENSE, Table, fill
from fwsvm.problems.binary import Binary, Expansion
from fwsvm.problems.hinge import EXACT_ROWS, certificate, estimate, fixed_sample, regularisation
from fwsvm.solvers.certify import Candidate, Certified, estimated, proven, tracked
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Iterate, Outcome
from fwsvm.solvers.stochastic.descent import ALPHA, Descent
from fwsvm.solvers.tuning import SINGLE_TOLERATED
from fwsvm.status import Status

#: Kernel values are float32 where the tolerance leaves room for their error.
FLOAT32_TOLERANCE = 1e-5


@dataclass(frozen=True, kw_only=True)
class StochasticIterate(Iterate):
    """An iterate of a stochastic method.

    Attributes
    ----------
    rows : ndarray of int, shape (s,), rows of the problem
    alpha : ndarray, shape (s,), their coefficients in beta = sum_j alpha_j phi(x_j)
    u : ndarray, shape (s,), in [0, 1], a dual candidate b = u/(lambda m)
    square : float, <beta, beta>
    lower : float
        A lower bound on the objective on the sample it was drawn from, NaN if none is known.
    lower_error : float
        Standard error of that sample's objective.
    """

    rows: np.ndarray
    alpha: np.ndarray
    u: np.ndarray
    square: float
    lower: float = np.nan
    lower_error: float = np.nan


def far_from_origin(problem: Binary, resolved: Resolved) -> bool:
    """Whether rows lie so far from the origin that their kernel values in float32 are noise, by the fixed sample."""
    some = row_source(problem.X).take(fixed_sample(len(problem.y)))
    return single_error(resolved.kernel, own_terms(resolved.kernel, some)) > SINGLE_TOLERATED


def certify(candidates: Sequence[Candidate[StochasticIterate]], *, exact: bool) -> list[Certified]:
    """Return what iterates are worth, and their machines; see `fwsvm.solvers.registry.Family`.

    With at most `EXACT_ROWS` rows objective and gap are computed over all of them. With more, the objective
    is estimated on a fixed sample, without bias; a method that solves a random sample S to a lower bound D_S
    also gets the gap estimate (objective - D_S), which is at least the true gap on average, for E[min f_S] <=
    min f (Mak, Morton & Wood 1999).
    """
    found = []
    for problem, resolved, at in candidates:
        outcome = tracked(at)
        if exact:
            from_scratch = outcome_of if len(problem.y) <= EXACT_ROWS else _estimated
            outcome = at.outcome or from_scratch(problem, resolved, at)
        used = np.flatnonzero(at.alpha)
        used = used[np.argsort(at.rows[used])]
        found.append(Certified(outcome, Expansion(at.rows[used], at.alpha[used], 0.0)))
    return found


def outcome_of(problem: Binary, resolved: Resolved, at: StochasticIterate) -> Outcome:
    """Return the outcome from scratch over all rows; the length of a subgradient (``eps``) proves no gap."""
    lam = regularisation(problem.penalties, resolved.method.name)
    found = certificate(resolved.kernel, problem.X, problem.y, lam, at.rows, at.alpha, at.u, resolved.threads)
    goal = resolved.tolerance * found.primal if resolved.stop == "relative" else -np.inf
    return proven(
        found.primal, found.gap, found.primal, found.dual, goal=goal, measured=found.gap + found.rounding
    )


def _estimated(problem: Binary, resolved: Resolved, at: StochasticIterate) -> Outcome:
    """Return the outcome on the fixed sample of the rows."""
    lam = regularisation(problem.penalties, resolved.method.name)
    dtype = np.float64 if far_from_origin(problem, resolved) else np.float32
    value = estimate(
        resolved.kernel, problem.X, problem.y, lam, at.rows, at.alpha, at.square, resolved.threads, dtype
    )
    if not np.isfinite(at.lower):
        return estimated(value.value, np.nan, "none", value.error)
    error = float(np.hypot(value.error, at.lower_error))
    return estimated(value.value, max(0.0, value.value - at.lower), "estimate", error)


def repeated(iterate: Callable[[], bool], steps: int) -> int:
    """Iterate up to ``steps`` times, until an iteration returns False; return how many came before that."""
    for k in range(steps):
        if not iterate():
            return k
    return steps


class StochasticRun(ABC):
    """The part of a `Solver` that does not depend on the method."""

    def __init__(self, problem: Binary, resolved: Resolved) -> None:
        self.problem, self.resolved = problem, resolved
        self.lam = regularisation(problem.penalties, resolved.method.name)
        self.m = len(problem.y)
        self.dtype: type = np.float32 if resolved.tolerance >= FLOAT32_TOLERANCE else np.float64
        if self.dtype is np.float32 and far_from_origin(problem, resolved):
            self.dtype = np.float64
        by_length = resolved.stop == "eps"
        self.eps, self.goal = (resolved.tolerance, 0.0) if by_length else (0.0, resolved.tolerance)
        self.checked: tuple[int, Outcome] | None = None  # an iteration, and the outcome of its iterate

    @abstractmethod
    def iterate(self) -> StochasticIterate:
        """Return where the run stands."""

    def new_sample(self, order: np.ndarray) -> "Sample":
        """Return a sample that is to have rows in this order, and has none."""
        return Sample(self.problem, self.resolved.kernel, self.dtype, order, self.resolved.threads)

    def iterate_of(
        self, now: Descent, iterations: int, rows: np.ndarray, objective: float, lower_error: float = 0.0
    ) -> StochasticIterate:
        """Return the incumbent of a descent on a sample of these rows."""
        alpha = now.vectors[ALPHA, : len(rows)].copy()
        return StochasticIterate(
            iterations=iterations,
            objective=objective,
            gap=objective - now.lower,
            support_vectors=int(np.count_nonzero(alpha)),
            outcome=self.checked[1] if self.checked is not None and self.checked[0] == iterations else None,
            rows=rows,
            alpha=alpha,
            u=now.best_dual,
            square=now.square,
            lower=now.lower,
            lower_error=lower_error,
        )

    def stop_of_gap(self, *, exhausted: bool = False) -> Status | None:
        """Hold the tracked gap against the one from scratch over all rows; None to go on to a smaller goal.

        Where the numbers at hand cannot tell any smaller gap, or the method is ``exhausted``, the run has stalled.
        """
        at = self.iterate()
        outcome = outcome_of(self.problem, self.resolved, at)
        self.checked = at.iterations, outcome
        if outcome.within:
            return Status.CONVERGED
        self.goal *= 0.5
        return Status.STALLED if exhausted or self.goal <= 1e-3 * self.resolved.tolerance else None


# ---------------------------------------------------------------- samples


def picked_rows(X: RowMatrix, which: np.ndarray, dtype: type) -> Rows:
    """Return the rows ``which`` of X (m, n). Dense rows keep their zeros: finding them costs more than it saves."""
    taken = X[which]
    if sparse.issparse(taken):
        return as_rows(taken, dtype)
    m, n = taken.shape
    features = np.tile(np.arange(n, dtype=np.int32), m)
    return Rows(taken.astype(dtype).reshape(-1), features, n * np.arange(m + 1, dtype=np.int64), n)


class Sample:
    """A sample that grows in an order fixed by the seed, so that each sample is a prefix of the next.

    Attributes
    ----------
    order : ndarray of int, shape (most,), the first ``size`` entries are the rows drawn
    size : int
    kernel_evaluations : int, of `sums`
    """

    def __init__(self, problem: Binary, kernel: Any, dtype: type, order: np.ndarray, threads: int) -> None:
        self.kernel, self.dtype, self.order, self.threads = kernel, dtype, order, threads
        X: Any = problem.X
        self.X = X
        self.size = self.kernel_evaluations = 0
        m, n = X.shape
        self.is_dense = not sparse.issparse(X) or X.nnz >= DENSE * m * n
        rows, own = no_rows(n, dtype), np.zeros(0, np.dtype(dtype))  # of sparse rows
        self.table = Table(rows, own, empty_dense_tiles(len(order) if self.is_dense else 0, n, dtype))

    def draw(self, size: int) -> None:
        """Draw rows until there are ``size``."""
        drawn = picked_rows(self.X, self.order[self.size : size], self.dtype)
        self._append(drawn, own_terms(self.kernel, drawn))

    def take(self, other: "Sample", which: np.ndarray) -> None:
        """Go on with the rows ``which`` of another sample."""
        size = self.size + len(which)
        self.order[self.size : size] = other.order[which]
        if self.is_dense:
            self.draw(size)
        else:
            self._append(some_rows(other.table.rows, which), other.table.own[which])

    def _append(self, drawn: Rows, own: np.ndarray) -> None:
        old, (rows, before, tiles) = self.size, self.table
        self.size += drawn.height
        if self.is_dense:
            tiles.own[old : self.size] = own
            pack_range(drawn, 0, drawn.height, -old, tiles.numbers)
        else:
            self.table = Table(stacked_rows([rows, drawn]), np.concatenate([before, own]), tiles)

    def sums(
        self, at: "Sample", which: np.ndarray, weights: np.ndarray, first: int = 0, last: int | None = None
    ) -> np.ndarray:
        """Return sum_j weights[o, j] k(x_which[j], x_t) at the rows ``first`` ... ``last`` - 1 of a sample.

        Parameters
        ----------
        which : ndarray of int, shape (j,), rows of this sample
        weights : ndarray, shape (outputs, j)

        Returns
        -------
        ndarray of float64, shape (outputs, last - first)
        """
        last = at.size if last is None else last
        self.kernel_evaluations += len(which) * (last - first)
        tables = self.kernel, self.table, which, weights.T, at.table
        return sums_of_tables(*tables, first, last, self.threads).T

    def products(self, first: int, last: int) -> np.ndarray:
        """Return the kernel matrix of at most 64 rows ``first`` ... ``last`` - 1; ``first`` is a multiple of 64."""
        count = last - first
        out: np.ndarray = np.empty((count, count), self.dtype)
        wanted = np.arange(first, last, dtype=np.int32)
        fill(self.kernel, self.table, wanted, self.table, out, np.arange(count), first, last, first)
        return out


def random_order(m: int, most: int, stream: tuple[int, ...]) -> np.ndarray:
    """Return ``most`` different rows of m in random order."""
    return np.random.default_rng(stream).choice(m, most, replace=False)
