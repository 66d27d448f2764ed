"""One iteration of Wolfe's method, and of SCS on its current sample: subgradient, direction, step length.

The objective on a sample of n rows with kernel matrix Q is 004 problem (3),

    f(alpha) = lambda/2 alpha' Q alpha + 1/n sum_i max(0, 1 - w_i (Q alpha)_i).

The direction is minus the shortest vector of a set of subgradients (004 eq. 5; Wolfe 1975): of the last direction and
the new subgradient, which is conjugate gradients where f is quadratic, or of every subgradient since the last reset
(`Bundle`). Lengths are those of the kernel's space, c' Q c, or Euclidean ones of the coefficients (`Metric`).

The line search is the strong Wolfe line search within a ball (004 eq. 6 and Algorithm 2):

    L = { t > 0 : f(alpha + t d) - f(alpha) <= -m1 t |d|^2 }      enough decrease
    R = { t > 0 : 0 > <g(t), d> >= -m2 |d|^2 }                    enough increase of the slope

L and R intersect for a function bounded below (Wolfe 1975), but not always here: the ball may end before R begins, and
at a kink the slope may jump across R. In the first case the step goes to the boundary, in the second to the best t in L
that was tried.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.numerics.compile import njit
from fwsvm.problems.binary import Binary
from fwsvm.problems.hinge import box_dual
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome
from fwsvm.solvers.stochastic.run import StochasticIterate, StochasticRun, outcome_of
from fwsvm.solvers.tuning import SHORT_FRACTION
from fwsvm.status import Status

#: The vectors of a descent: the incumbent, the direction, w_i of the rows inside their margins at the last subgradient,
#: and its mean over the subgradients that make up the direction, which is a dual candidate.
ALPHA, DIRECTION, INSIDE, DUAL = range(4)
MAX_TRIALS = 60  # halvings that a double has room for


class Metric(Enum):
    """The metric in which lengths of subgradients and directions are measured."""

    RKHS = "rkhs"
    EUCLID = "euclid"


class Bundle:
    """Subgradients since the last reset, whose shortest combination makes d = -Nr(conv G).

    It is reset on request, when it is full, and when the path of the points is longer than ``budget``: a subgradient
    from far away carries little information about f here (Wolfe 1975).

    Parameters
    ----------
    size : int, subgradients that it holds
    rows : int
    budget : float, in units of the distance from 0 within which the minimiser lies
    """

    def __init__(self, size: int, rows: int, budget: float) -> None:
        self.pairs = np.empty((size, 2, 2 * rows))  # -g, and what is `INSIDE` at its point
        self.products = np.empty((size, size))
        self.used, self.path, self.budget = 0, 0.0, budget

    def turn(self, run: "DescentRun", g: np.ndarray) -> None:
        """Set d and its dual candidate from the subgradient g, and from earlier ones unless ``run.fresh``."""
        self.path += (run.t or run.ahead) * np.sqrt(run.length2) / run.unit
        if run.fresh or self.used == len(self.pairs) or self.path > self.budget:
            self.used = 0
            self.path = 0.0
        last = self.used
        self.used += 1
        self.pairs[last] = -g, run.vectors[INSIDE]
        pairs = self.pairs[: self.used]
        products = self.products[: self.used, : self.used]
        products[last] = products[:, last] = run.inner(pairs[:, 0], pairs[last, 0], run.euclid)
        run.vectors[[DIRECTION, DUAL]] = np.tensordot(shortest(products), pairs, 1)


def shortest(products: np.ndarray) -> np.ndarray:
    """Return the convex weights (k,) of the shortest vector, given all inner products (k, k).

    The multiple of a weight vector v >= 0 that is least in |sum_i v_i g_i|^2 + (sum v - 1)^2 is that of these weights.
    """
    from scipy.optimize import nnls  # late: it takes as long to import as numba

    scale = products.diagonal().max()
    values, vectors = np.linalg.eigh(products / scale if scale > 0.0 else products)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    found, _ = nnls(np.vstack([root, np.ones(len(root))]), np.append(np.zeros(len(root)), 1.0))
    return found / found.sum()


@njit(fastmath={"reassoc", "contract"})
def line_search(lacks, turn, linear, curvature, length2, longest, m1, m2, n):
    """Return t_k, or 0 where no t above b/n is in L; f there less f(alpha); the least t beyond R; trials.

    Parameters
    ----------
    lacks : ndarray, shape (rows,), 1 less the margins at alpha
    turn : ndarray, shape (rows,), slopes of the margins along d
    linear, curvature : float, of lambda/2 alpha' Q alpha along d
    length2 : float, |d|^2
    longest : float, b
    """
    low = best = lowest = start = 0.0
    high = t = longest
    rows = lacks.size
    trials = 0
    for lack in lacks:
        start += max(lack, 0.0)
    while trials < MAX_TRIALS:
        trials += 1
        losses = slopes = 0.0
        for i in range(rows):
            loss = lacks[i] - t * turn[i]
            losses += max(loss, 0.0)
            slopes += turn[i] if loss > 0.0 else 0.0  # at a kink the slope is that to the right
        change = t * (linear + 0.5 * t * curvature) + (losses - start) / rows
        slope = linear + t * curvature - slopes / rows
        decreases = change <= -m1 * t * length2
        reached = decreases and slope < 0.0 and (slope >= -m2 * length2 or t == longest)
        if reached or (decreases and change < lowest):
            best = t
            lowest = change
        if reached:
            break
        if decreases and slope < 0.0:
            low = t
        else:
            high = t
        t = 0.5 * (low + high)
        if t <= longest / n or high - low <= 1e-12 * longest:
            break
    return best, lowest, high, trials


@njit(fastmath={"contract"})
def combine(a, x, b, y, out):
    """Set out = a x + b y."""
    for i in range(out.size):
        out[i] = a * x[i] + b * y[i]


@njit(fastmath={"reassoc", "contract"})
def turn(g, inside, d, dual, n, start, fresh):
    """Set d = -Nr({-d, g}) (004 eq. 5), or -g where ``fresh``, and ``dual`` alike; return |g|^2.

    Inner products are of n coefficients with what stands from ``start`` on.
    """
    gradient2 = across = before2 = 0.0
    for i in range(n):
        gradient2 += g[i] * g[start + i]
        across += d[i] * g[start + i]
        before2 += d[i] * d[start + i]
    apart = before2 + 2.0 * across + gradient2
    last = 0.0
    if apart > 0.0 and not fresh:  # lam* = argmin over [0, 1] of |lam (-d) + (1 - lam) g|^2
        last = min(max((gradient2 + across) / apart, 0.0), 1.0)
    combine(last, d, last - 1.0, g, d)
    combine(last, dual, 1.0 - last, inside, dual)
    return gradient2


@njit(fastmath={"reassoc", "contract"})
def square_and_loss(x, w):
    """Return x' Q x and the mean hinge loss, for coefficients x and their products."""
    n = w.size
    square = loss = 0.0
    for i in range(n):
        square += x[i] * x[n + i]
        loss += max(0.0, 1.0 - w[i] * x[n + i])
    return square, loss / n


class DescentRun(StochasticRun):
    """The incumbent, the direction and the iteration on a sample, which may grow.

    Each vector holds its n coefficients over the sample, then its kernel products at the n rows, then its products at
    the rows of a test sample. All three are the same linear combinations.

    Parameters
    ----------
    rule : Scs or Wolfe, with a metric and the constants 0 < m1 < m2 < 1/2 and n > 1 of Algorithm 2

    Attributes
    ----------
    eps, goal : float, the stopping rule's tolerance of lengths and of gaps, 0 for the other one
    unit : float, the distance from 0 within which the minimiser lies, since f(0) = 1
    order : ndarray of int, rows of the problem; the first n are the sample
    w : ndarray of float64, shape (n,), labels +1 or -1
    vectors : ndarray of float64, shape (4, 2 n + tested)
    here : slice, of the products at the sample in a vector
    square, value : float, alpha' Q alpha and f at the incumbent
    lower : float, the best lower bound on min f found on this sample
    best_dual : ndarray, shape (n,), the dual candidate in [0, 1] that gives it
    length2, norm2 : float, |d|^2 in the metric, and d' Q d
    bundle : Bundle or None, for the last direction and the new subgradient
    ball : float, how far a step may go
    t : float, the step length, 0 where the line search found none
    square_after, value_after : float, the same at alpha + t d
    ahead : float, the next subgradient is taken at alpha + ahead d
    resets, trials : int, directions thrown away and step lengths tried
    stuck : bool, whether the method cannot get any further
    outcome : Outcome or None, of the present point, once computed over all rows
    """

    #: A method's: do one iteration, and return False where it stops; return sum_j weights[j] k(x_which[j], .) at the
    #: rows of the sample and of the test sample, for row numbers and weights.
    step: Callable[[], bool]
    products: Callable[[np.ndarray, np.ndarray], np.ndarray]

    bundle: Bundle | None = None
    outcome: Outcome | None = None
    square, value, lower, ball = 0.0, 1.0, -np.inf, np.inf
    square_after = value_after = t = ahead = length2 = norm2 = 0.0
    fresh, stuck, resets, trials, iterations = True, False, 0, 0, 0

    def __init__(self, rule: Any, problem: Binary, resolved: Resolved) -> None:
        super().__init__(problem, resolved)
        if not (0 < rule.m1 < rule.m2 < 0.5 and rule.n > 1):
            raise UsageError(
                f"the line search needs 0 < m1 < m2 < 1/2 and n > 1, not {rule.m1}, {rule.m2} and {rule.n}"
            )
        self.rule, self.m1, self.m2 = rule, rule.m1, rule.m2
        tolerance = resolved.tolerance
        self.eps, self.goal = (tolerance, 0.0) if resolved.stop == "eps" else (0.0, tolerance)
        self.euclid = rule.metric is Metric.EUCLID
        self.unit = 1.0 / self.lam if self.euclid else np.sqrt(2.0 / self.lam)
        self.order = np.arange(self.m)
        self.w = self.best_dual = np.empty(0)
        self.vectors = np.empty((4, 0))
        self.here = slice(0, 0)

    def advance(self, steps: int) -> int:
        """Iterate up to ``steps`` times."""
        self.outcome = None
        for taken in range(steps):
            if not self.step():
                return taken
        return steps

    def grow(self, w: np.ndarray, added: np.ndarray, tested: np.ndarray) -> None:
        """Append rows with labels w (r,) and zero coefficients to the sample.

        ``added`` (4, s) and ``tested`` (4, t) are the vectors' products at rows that come after those of the sample,
        and after those of the test sample, the first r - s of which join the sample.
        """
        n = len(self.w)
        v = self.vectors
        self.w = np.concatenate([self.w, w])
        self.vectors = np.hstack(
            [v[:, :n], np.zeros((4, len(w))), v[:, self.here], added, v[:, 2 * n :], tested]
        )
        self.here = slice(len(self.w), 2 * len(self.w))
        self.lower = -np.inf  # f is another function now
        self.best_dual = np.zeros(len(self.w))

    def carry(self, old: int) -> None:
        """Make d the same combination of subgradients over a sample that has grown from ``old`` rows.

        d = -lambda a + u / n for a mean a of points and the dual vector u. Over the grown sample u of a new row is its
        ``inside`` at the incumbent, and 1/n is smaller. Without this d fits the rows of the smaller sample.
        """
        n = len(self.w)
        v = self.vectors
        new = old + np.flatnonzero(self.w[old:] * v[ALPHA, self.here][old:] < 1.0)
        added = np.zeros(v.shape[1])
        added[new] = self.w[new]
        added[n:] = self.products(new, self.w[new])
        v[DIRECTION] += (1.0 / n - 1.0 / old) * v[DUAL] + added / n
        v[[DUAL, INSIDE]] += added

    def propose(self) -> bool:
        """Set g, d and t for the incumbent; return whether even -g there is short.

        A short d proves nothing: a combination of a subgradient here with one from elsewhere can vanish far from the
        optimum. So the direction is reset to -g at the incumbent and tested again.
        """
        self.square, loss = square_and_loss(self.vectors[ALPHA], self.w)
        self.value = 0.5 * self.lam * self.square + loss
        short = self._aim()
        self.t = 0.0
        if short:
            self.fresh = True
            self.ahead = 0.0
            self.resets += 1
            short = self._aim()
        if not short:
            self._search()
        return short

    @property
    def objective(self) -> float:
        """The objective at the incumbent, on the sample."""
        return self.value

    def move(self) -> None:
        """Take the step."""
        self.square = self.square_after
        self.value = self.value_after
        combine(1.0, self.vectors[ALPHA], self.t, self.vectors[DIRECTION], self.vectors[ALPHA])

    def gap_closed(self) -> bool:
        """Return whether the gap on the sample is within ``goal`` times the value."""
        return self.value - self.lower <= self.goal * self.value

    def inner(self, some: np.ndarray, one: np.ndarray, euclid: bool = False) -> Any:
        """Return the inner products of vectors in the kernel's space, or of their coefficients."""
        n = len(self.w)
        return some[..., :n] @ (one[:n] if euclid else one[self.here])

    def _aim(self) -> bool:
        """Set d by g at the point ahead, and the lower bound; return whether d is short.

        In the kernel's space g is sum_i c_i phi(x_i) with c = lambda alpha - u / n. The Euclidean reading of "g in the
        subdifferential of f(alpha)" is the vector Q c.

        Short is what is below ``eps``, or so short that it is to be made anew (`SHORT_FRACTION`). In the kernel's space
        f - min f <= |g|^2 / (2 lambda), so the known gap says how long d must be. Euclidean lengths have no such bound:
        d is compared with g. After a reset both are as long, and ``eps`` alone counts.
        """
        n, v, d, euclid = len(self.w), self.vectors, self.vectors[DIRECTION], self.euclid
        point = v[ALPHA] + self.ahead * d if self.ahead else v[ALPHA]
        inside = np.where(self.w * point[self.here] < 1.0, self.w, 0.0)
        flipped = np.flatnonzero(inside != v[INSIDE, :n])
        if len(flipped):
            v[INSIDE, n:] += self.products(flipped, inside[flipped] - v[INSIDE, flipped])
            v[INSIDE, :n] = inside
        g = np.empty_like(point)
        combine(self.lam, point, -1.0 / n, v[INSIDE], g)
        if euclid:
            g = np.append(g[self.here], self.products(np.arange(n), g[self.here]))
        if self.bundle:
            gradient2 = self.inner(g, g, euclid)
            self.bundle.turn(self, g)
        else:
            gradient2 = turn(g, v[INSIDE], d, v[DUAL], n, 0 if euclid else n, self.fresh)
        self.fresh = False
        self.norm2 = self.inner(d, d)
        self.length2 = self.inner(d, d, euclid)
        u = np.abs(v[DUAL, :n])
        square = self.inner(v[DUAL], v[DUAL]) / (self.lam * n * n)
        lower = box_dual(float(u.mean()), square, float(u.max()))
        if lower > self.lower:
            self.lower = lower
            self.best_dual = u
        least = gradient2 if euclid else 2.0 * self.lam * (self.value - self.lower)
        return self.length2 <= max(self.eps**2, SHORT_FRACTION * least)

    def _search(self) -> None:
        """Set ``t``, and what is known of alpha + t d.

        b = min(delta / |d|, |d|^2 / (lambda d' Q d)): beyond the second bound the slope, at least t lambda d' Q d -
        |d|^2, is not negative. ``ahead`` becomes the smallest t tried whose slope is above -m2 |d|^2; a null step takes
        its subgradient there.
        """
        at, along, *_ = self.vectors
        inner = self.inner(at, along)
        curvature = self.lam * self.norm2
        longest = min(self.ball / np.sqrt(self.length2), self.length2 / curvature)
        t, change, high, trials = line_search(
            1.0 - self.w * at[self.here],
            self.w * along[self.here],
            self.lam * inner,
            curvature,
            self.length2,
            longest,
            self.m1,
            self.m2,
            self.rule.n,
        )
        self.t = t
        self.ahead = high * (t == 0.0)
        self.trials += trials
        self.value_after = self.value + change
        self.square_after = self.square + t * (2.0 * inner + t * self.norm2)

    def check_stop(self) -> Status | None:
        """Hold the tracked gap against the one from scratch, where the sample is all rows.

        Where that misses, go on to a smaller goal, as far as the numbers at hand can tell any.
        """
        whole = len(self.w) == self.m
        if self.eps > 0.0 or not whole or not self.resolved.final_gap:
            return Status.STALLED if self.stuck and whole else Status.SAMPLED_STOP
        self.outcome = outcome_of(self.problem, self.resolved, self.iterate())
        if self.outcome.within:
            return Status.CONVERGED
        self.goal *= 0.5
        return Status.STALLED if self.stuck or self.goal <= 1e-3 * self.resolved.tolerance else None

    def iterate(self) -> StochasticIterate:
        """Return alpha over the sample, the objective, and the bound that the sample gives."""
        n = len(self.w)
        alpha = self.vectors[ALPHA, :n].copy()
        error = np.nan
        if n:
            losses = np.maximum(0.0, 1.0 - self.w * self.vectors[ALPHA, self.here])
            error = float(losses.std()) / np.sqrt(n) * np.sqrt(1.0 - n / self.m)
        return StochasticIterate(
            iterations=self.iterations,
            objective=self.objective,
            gap=self.objective - self.lower,
            support_vectors=int(np.count_nonzero(alpha)),
            outcome=self.outcome,
            rows=self.order[:n],
            alpha=alpha,
            u=self.best_dual,
            square=self.square,
            lower=self.lower,
            lower_error=error,
        )

    @property
    def counters(self) -> Counters:
        """What was done so far; a step is a step length looked at."""
        return Counters(self.iterations, self.trials, self.kernel_evaluations)
