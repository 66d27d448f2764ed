"""A run of decomposition on one two-class problem."""

from typing import Any

import numpy as np

from fwsvm.kernels.kernel import self_values
from fwsvm.kernels.kernel_matrix import kernel_matrix
from fwsvm.kernels.rows import as_rows, in_precision, some_rows
from fwsvm.kernels.sums import value_rounding, weighted_sums
from fwsvm.numerics.threads import in_shares
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import SimplexCertificate, certificate, gradients
from fwsvm.solvers.decomposition.inner import add_signs, descend, filled
from fwsvm.solvers.decomposition.working_set import next_working_set
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate, outcome_of
from fwsvm.solvers.frank_wolfe.stopping import largest_gap
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome
from fwsvm.solvers.tuning import INNER_SHARE, INNER_STEPS, MARGIN
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.solvers.warm_up import GAPS, once, tiny_problem
from fwsvm.status import Status


class DecompositionRun:
    """A `Solver`: b >= 0 with f = K~ b at all rows; a step is a working set.

    The iterate is alpha = b / sum b, with q = f / sum b.
    """

    #: Working sets before the clock is first looked at (`fwsvm.solvers.loop.run`): one may take a second.
    first_steps = 1

    def __init__(
        self, problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None
    ) -> None:
        rule.check()
        self.rule, self.resolved, self.y = rule, resolved, problem.y
        self.exact_rows = as_rows(problem.X)  # float64, for certificates
        self.rows = in_precision(self.exact_rows, np.float32)  # for steps
        self.ridge = 1.0 / problem.penalties
        self.diagonal = self_values(resolved.kernel, self.exact_rows) + 1.0 + self.ridge
        self.widest, self.scale = float(self.diagonal.max()), 1.0 / np.sqrt(self.diagonal)
        self.outcome: Outcome | None = None  # of the present point, once computed
        self.last = np.inf  # the gap of the last certificate that missed the goal
        self.rounds = self.steps = self.evaluations = 0
        self.compile_seconds = 0.0
        self.room = np.empty(0, np.float32)  # for K~ of a working set
        self.working = np.empty(0, dtype=np.int64)
        self.first: np.ndarray | None = None  # the first working set, of a cold start
        if warm_start is None:
            self.first = np.random.default_rng(problem.stream).permutation(len(self.y))[: rule.size]
            alpha = np.zeros(len(self.y))  # between a row of each class, where R is above 0
            alpha[[self.y.argmax(), self.y.argmin()]] = 0.5
        else:
            alpha = warm_start.weights
        self._stand_at(alpha, self._gradient(alpha))

    def _gradient(self, alpha: np.ndarray, *, exact: bool = False) -> np.ndarray:
        """Return q = K~ alpha at all rows from scratch, in the precision of the steps or in float64."""
        rows, kernel, threads = (
            self.exact_rows if exact else self.rows,
            self.resolved.kernel,
            self.resolved.threads,
        )
        self.evaluations += len(alpha) * int(np.count_nonzero(alpha))
        return gradients(kernel, rows, self.y, alpha[:, None], self.ridge[:, None], threads)[:, 0]

    def _stand_at(self, alpha: np.ndarray, q: np.ndarray) -> None:
        """Make b = alpha / R the point of the run, with f = q / R; R is lost in rounding where it is not above 0."""
        R = float(alpha @ q)
        factor = 1.0 / R if R > 0.0 and np.isfinite(1.0 / R) else 1.0
        self.b, self.f = alpha * factor, q * factor
        self._look()

    def _look(self) -> None:
        """Find R and the gap of the present point."""
        total = float(self.b.sum())
        self.total = total if total > 0.0 else 1.0
        self.R = float(self.b @ self.f) / self.total / self.total
        self.gap = 2.0 * (self.R - float(self.f.min()) / self.total)

    # ---------------------------------------------------------------- a working set

    @np.errstate(over="ignore", invalid="ignore")  # of values that are found to be no numbers, and not taken
    def _round(self, working: np.ndarray) -> bool:
        """Solve on a working set and update f at all rows; return whether the run can go on.

        Rounded kernel values may be no positive definite matrix, on which b grows without bound: a point with a larger
        objective is not taken, and the run goes on in double precision, or ends where it did before.
        """
        few, y, ridge, size = (
            some_rows(self.rows, working),
            self.y[working],
            self.ridge[working],
            len(working),
        )
        before, dtype = self.b[working], self.rows.values.dtype
        b, g, scale = (
            filled(values, dtype) for values in (before, self.f[working] - 1.0, self.scale[working])
        )
        K = self._matrix(few, y, ridge, len(b))
        self.steps += int(descend(K, b, g, scale, dtype.type(INNER_SHARE), INNER_STEPS * size))
        change = np.where(b[:size] == before.astype(dtype), 0.0, b[:size] - before)
        moved = np.flatnonzero(change)
        self.rounds += 1
        self.evaluations += size * size + len(self.y) * len(moved)
        if not len(moved):
            return False
        kernel, threads, signed = self.resolved.kernel, self.resolved.threads, (change * y)[moved]
        sums = weighted_sums(kernel, few, moved, signed[:, None], self.rows, threads)[:, 0]
        f, after = self.f + self.y * (sums + signed.sum()), self.b.copy()
        f[working] += ridge * change
        after[working] += change
        if not _objective(after, f) <= _objective(self.b, self.f):
            return self._double()
        self.b, self.f, self.working, self.outcome = after, f, working, None
        self._look()
        return True

    def _next(self) -> np.ndarray:
        """Return the next working set."""
        if self.first is not None:
            first, self.first = self.first, None
            return first
        slope = self.f - 1.0
        gain = np.maximum(np.where(self.b > 0.0, slope, 0.0), -slope) * self.scale
        return next_working_set(gain, self.working, self.rule.size)

    def _matrix(self, few: Any, y: np.ndarray, ridge: np.ndarray, width: int) -> np.ndarray:
        """Return K~ of the rows ``few``, shape (n, width), zeros beyond n."""
        size, dtype, threads = len(y), few.values.dtype, self.resolved.threads
        if self.room.dtype != dtype or self.room.size < size * width:
            self.room = np.empty(
                size * width, dtype
            )  # kept: to touch new memory takes longer than to fill it
        K = self.room[: size * width].reshape(size, width)
        every = np.arange(size)
        kernel_matrix(self.resolved.kernel, few, every, np.resize(every, width), K, threads)
        np.fill_diagonal(K, self_values(self.resolved.kernel, few))  # as in columns: without rounding
        signs, ridge = y.astype(dtype), ridge.astype(dtype)
        in_shares(lambda first, last: add_signs(K, signs, ridge, first, last), size, threads)
        return K

    def _goal(self, R: float) -> float:
        return largest_gap(self.resolved.stop, self.resolved.tolerance, self.widest, R)

    @property
    def _within(self) -> bool:
        return self.gap <= (1.0 - MARGIN) * self._goal(self.R)

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Solve on up to so many working sets."""
        for taken in range(steps):
            if self._within:
                return taken
            if not self._round(self._next()):
                return taken
        return steps

    def check_stop(self) -> Status | None:
        """Recompute f in float64; end if that is a certificate, or if going on from there has not helped before."""
        if not self.resolved.final_gap:
            return Status.SAMPLED_STOP if self._within else Status.STALLED
        alpha = self.b / self.total
        q = self._gradient(alpha, exact=True)
        found: SimplexCertificate = certificate(
            self.ridge, self.diagonal, alpha, q, value_rounding(self.resolved.kernel, self.exact_rows)
        )
        outcome = outcome_of(found, self.resolved, self.widest)
        if not outcome.within:
            if found.gap >= 0.5 * self.last and not self._double():
                self.outcome = outcome
                return Status.STALLED
            self.last = found.gap
            self._stand_at(alpha, q)
            return None
        self.outcome = outcome
        return Status.CONVERGED

    def _double(self) -> bool:
        """Go on with kernel values in double precision; return whether they were not before."""
        if self.rows is self.exact_rows:
            return False
        self.compile_seconds += _compile(self.rule, self.resolved)
        self.rows = self.exact_rows
        return True

    def iterate(self) -> SimplexIterate:
        """Return alpha, R and the gap at all rows, from f as it was kept."""
        alpha = self.b / self.total
        return SimplexIterate(
            iterations=self.rounds,
            objective=self.R,
            gap=self.gap,
            support_vectors=int(np.count_nonzero(alpha)),
            outcome=self.outcome,
            warm_start=WarmStart(alpha),
            alpha=alpha,
        )

    @property
    def counters(self) -> Counters:
        """Working sets, entries moved, and kernel values so far."""
        return Counters(self.rounds, self.steps, self.evaluations, compile_seconds=self.compile_seconds)


def _objective(b: np.ndarray, f: np.ndarray) -> float:
    """Return 1/2 b' K~ b - sum b, NaN where b or f are no numbers."""
    return 0.5 * float(b @ f) - float(b.sum())


def _compile(rule: Any, resolved: Resolved) -> float:
    """Have a working set in double precision compiled, for dense rows and others; return the seconds."""

    def work() -> None:
        for gaps in (0, GAPS):
            tiny = DecompositionRun(tiny_problem(gaps), rule, resolved)
            tiny.rows = tiny.exact_rows
            tiny.advance(2)

    return once(("double working sets", type(resolved.kernel)), work)
