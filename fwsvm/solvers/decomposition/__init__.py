"""decomposition: solve on a working set, update the gradient at all rows, repeat (ours; none of the papers' methods).

With b = alpha / R the problem on the simplex is min 1/2 b' K~ b - sum b over b >= 0, whose gradient is f - 1 with
f = K~ b. There is no constraint that ties one entry to another, so an entry moves by itself: to max(0, b_i - (f_i - 1)
/ K~_ii). Osuna, Freund & Girosi (1997), Joachims (1999, SVM-light) and Wen et al. (2018, "ThunderSVM") solve such
problems on working sets:

1. Take the rows W that are half of the last working set, the half that came in last, and those of largest
   (f_i - 1)^2 / K~_ii among the others that may move (b_i > 0 or f_i < 1).
2. Compute K~_WW and move the entry of W that gains most, again and again, until what is violated most in W is a tenth
   of what it was, or 8 |W| entries have moved.
3. Add K~_.W (b_new - b_old) to f at all rows.

Kernel values of step 3 are used as they are computed and never stored: memory is that of the rows, a few vectors
and one matrix, where methods that keep columns recompute most of them once they do not fit. A row enters some ten
working sets of a tenth of the rows on cover type, and twice as many of a twentieth. Without the half that is kept the
next working set undoes what the last one did.

Kernel values are float32 and sums float64. Where the goal seems reached f is recomputed in float64 from scratch: that
is the certificate, and where it misses the goal the run goes on from there, with float64 values if that did not help.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.kernels.rows import in_precision, some_rows
from fwsvm.kernels.source import row_source
from fwsvm.kernels.values import kernel_matrix, weighted_sums
from fwsvm.numerics.compile import njit, njit_step
from fwsvm.numerics.simd import WIDTH, broadcast, load, maximum, reduce_max, store, where_positive
from fwsvm.problems.binary import Binary
from fwsvm.solvers.frank_wolfe.iterate import AllRows, SimplexIterate, on_simplex
from fwsvm.solvers.frank_wolfe.scans import LANES, first_of
from fwsvm.solvers.registry import FAMILIES, register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome, WarmStart
from fwsvm.solvers.tuning import INNER_SHARE, INNER_STEPS, MARGIN, ROWS_A_SET
from fwsvm.status import Status

LEAST, MOST = 2, 16384  # rows of a working set: its matrix takes 4 bytes times their square
USUAL, LARGE = 2048, 8192  # the same by default, least and most: matrices of 16 and 256 MiB


@register(
    "decomposition",
    family="decomposition",
    paper="ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q), recomputed from scratch where the goal seems reached",
)
class Decomposition(NamedTuple):
    """Solve on one small working set after another, with no kernel columns kept. For many support vectors.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap.

    Parameters
    ----------
    size : rows of a working set; 0 for a tenth of the rows, but 2,048 at least and 8,192 at most
    """

    size: int = 0

    def check(self) -> None:
        """Refuse a working set too small to hold a kept and a new row, or too large, with `UsageError`."""
        if self.size and not LEAST <= self.size <= MOST:
            raise UsageError(f"decomposition: size must be {LEAST} to {MOST:,} rows, not {self.size}")


def next_working_set(gain: np.ndarray, last: np.ndarray, size: int) -> np.ndarray:
    """Return the rows of the next working set: the later half of the last one, then those of most gain.

    Parameters
    ----------
    gain : ndarray, shape (m,), 0 where a row cannot move; the entries of rows that are kept are changed
    last : ndarray of int, the last working set, those that came in last at its end
    size : int, rows of a working set; all rows where there are no more
    """
    if size >= len(gain):
        return np.arange(len(gain))
    kept = last[-(size // 2) :]
    gain[kept] = -1.0
    wanted = size - len(kept)
    new = np.argpartition(-gain, wanted - 1)[:wanted]
    return np.concatenate([kept, np.sort(new)])


@njit_step
def move_entry(b, h, scale, row, step):
    """Add ``step`` times row + 1 to h = y g; return the entry that then gains most, and |g| / sqrt(K~_ii) of it.

    That is the square root of twice the gain; 0 where b = 0 and g > 0. The entries of ``scale`` are y / sqrt(K~_ii).
    """
    zero, lanes = broadcast(b.dtype.type(0)), load(LANES, 0)
    most, where = zero, broadcast(0.0)
    for t in range(0, b.size, WIDTH):
        signed = load(h, t) + (load(row, t) * step + step)
        store(h, t, signed)
        slope = signed * load(scale, t)
        gain = maximum(where_positive(load(b, t), slope, zero), zero - slope)
        where = where_positive(gain - most, lanes + np.float64(t), where)
        most = maximum(gain, most)
    highest = reduce_max(most)
    return first_of(highest - most, where), highest


@njit(each_step=True, inner=False)
def descend(K, b, h, y, ridge, scale, share, steps):
    """Minimise 1/2 b' K~ b - sum b over b >= 0 until the largest gain is ``share`` of what it was; return the steps.

    Parameters
    ----------
    K : ndarray, shape (n, p), the kernel matrix of n rows, filled up with columns of zeros
    b, h : ndarray, shape (p,), changed: b >= 0 and y times its gradient; beyond n zeros, and no less
    y, ridge, scale : ndarray, shape (p,), classes, 1 / C_i and y / sqrt(K~_ii), beyond n 0
    steps : int, at most so many; all arrays have one precision
    """
    i, most = move_entry(b, h, scale, K[0], b.dtype.type(0))
    goal, taken = most * share, 0
    while taken < steps and most > goal:
        step = -y[i] * h[i] * scale[i] * scale[i]
        if b[i] + step > 0:
            b[i] += step
        else:
            step, b[i] = -b[i], 0
        h[i] += y[i] * ridge[i] * step  # before the pass, so that it meets every entry as it will be
        i, most = move_entry(b, h, scale, K[i], y[i] * step)
        taken += 1
    return taken


def filled(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return values (n,) in a precision, with zeros up to the next multiple of `WIDTH`.

    Lines a power of two apart would share few places of a processor's cache.
    """
    out = np.zeros((len(values) // WIDTH + 1) * WIDTH, dtype)
    out[: len(values)] = values
    return out


class DecompositionRun:
    """A `Solver`: b >= 0 with f = K~ b at all rows; a step is a working set.

    The iterate is alpha = b / sum b, with q = f / sum b.
    """

    def __init__(
        self, problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None
    ) -> None:
        rule.check()
        self.resolved, self.y = resolved, problem.y
        self.size = rule.size or min(max(USUAL, len(self.y) // ROWS_A_SET), LARGE)
        self.exact_rows = row_source(problem.X).take(np.arange(len(problem.y)))  # float64, for certificates
        self.rows = in_precision(self.exact_rows, np.float32)  # for steps
        self.all_rows = AllRows(problem._replace(X=self.exact_rows), resolved)
        self.ridge, self.scale = self.all_rows.ridge, 1.0 / np.sqrt(self.all_rows.diagonal)
        self.outcome: Outcome | None = None  # of the present point, once computed
        self.last = np.inf  # the gap of the last certificate that missed the goal
        self.rounds = self.steps = self.evaluations = 0
        self.working = np.empty(0, dtype=np.int64)
        self.room = np.empty(0, np.int8)  # for the matrix of a working set
        if warm_start is None:  # half of the first working set at random
            self.working = np.random.default_rng(problem.stream).permutation(len(self.y))[: self.size // 2]
            alpha = np.zeros(len(self.y))  # between a row of each class, where R is above 0
            alpha[[self.y.argmax(), self.y.argmin()]] = 0.5
        else:
            alpha = warm_start.weights
        self._stand_at(alpha, self._gradient(alpha, np.float32))

    def _gradient(self, alpha: np.ndarray, dtype: type) -> np.ndarray:
        """Return q = K~ alpha at all rows from scratch, in a precision."""
        self.evaluations += len(alpha) * int(np.count_nonzero(alpha))
        return self.all_rows.gradient(alpha, dtype)

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
    def _round(self) -> bool:
        """Solve on the next working set and update f at all rows; return whether the run can go on.

        Rounded kernel values may be no positive definite matrix, on which b grows without bound: a point with a larger
        objective is not taken, and the run goes on in double precision, or ends where it did before.
        """
        slope = self.f - 1.0
        gain = np.maximum(np.where(self.b > 0.0, slope, 0.0), -slope) * self.scale
        working = next_working_set(gain, self.working, self.size)
        few, y, ridge = some_rows(self.rows, working), self.y[working], self.ridge[working]
        before, dtype, size = self.b[working], self.rows.values.dtype, len(working)
        signed = y * slope[working], y, ridge, y * self.scale[working]
        here = [filled(each, dtype) for each in (before, *signed)]
        b, width = here[0], len(here[0])
        if self.room.dtype != dtype:
            self.room = np.full((size, width), 0.0, dtype)  # of large pages, which np.zeros does not ask for
        K = kernel_matrix(self.resolved.kernel, few, self.resolved.threads, self.room)
        self.steps += int(descend(K, *here, dtype.type(INNER_SHARE), INNER_STEPS * size))
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

    @property
    def _within(self) -> bool:
        return self.gap <= (1.0 - MARGIN) * self.all_rows.goal(self.R)

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Solve on up to so many working sets."""
        for taken in range(steps):
            if self._within or not self._round():
                return taken
        return steps

    def check_stop(self) -> Status | None:
        """Recompute f in float64; end if that is a certificate, or if going on from there has not helped before."""
        if not self.resolved.final_gap:
            return Status.SAMPLED_STOP if self._within else Status.STALLED
        alpha = self.b / self.total
        q = self._gradient(alpha, np.float64)
        self.outcome = found = self.all_rows.outcome(alpha, q)
        if found.within:
            return Status.CONVERGED
        if found.gap >= 0.5 * self.last and not self._double():
            return Status.STALLED
        self.last, self.outcome = found.gap, None
        self._stand_at(alpha, q)
        return None

    def _double(self) -> bool:
        """Go on with kernel values in double precision; return whether they were not before."""
        if self.rows is self.exact_rows:
            return False
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
        return Counters(self.rounds, self.steps, self.evaluations)


def _objective(b: np.ndarray, f: np.ndarray) -> float:
    """Return 1/2 b' K~ b - sum b, NaN where b or f are no numbers."""
    return 0.5 * float(b @ f) - float(b.sum())


FAMILIES["decomposition"] = on_simplex(
    "decomposition",
    lambda problem, rule, resolved, start=None, _=None: DecompositionRun(problem, rule, resolved, start),
    keeps_values=False,
)
