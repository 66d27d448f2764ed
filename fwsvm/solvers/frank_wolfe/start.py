"""Where a simplex method starts: the optimum over a few rows drawn at random, all rows alike, or from earlier ends."""

import numpy as np

from fwsvm.kernels.column_cache import pieces
from fwsvm.kernels.kernel import self_values
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.kernels.sums import weighted_sums
from fwsvm.numerics.compile import njit
from fwsvm.numerics.simd import maximum
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import SimplexQP, gradient_by_columns, signs
from fwsvm.solvers.frank_wolfe.scans import TINY
from fwsvm.solvers.frank_wolfe.state import ROUNDED, SimplexStart
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import WarmStart
from fwsvm.solvers.tuning import EVEN_SAMPLE, MOST_DROPPED

POINTS = 20
CORE_TOLERANCE = 1e-3  # LIBCVM's, relative to the optimum here
TOLERATED_ERROR = 1e-9  # of a gradient made of earlier ones, in parts of R
SWAPS = 100_000  # then rounding keeps the pairs apart: kernel values of 1e20, say, whose sums are near 1


def starting_point(
    qp: SimplexQP, rows: Rows, resolved: Resolved, stream: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and positive weights: the optimum over a few rows drawn at random."""
    which = draw(qp, np.random.default_rng(stream), balanced=resolved.protocol.balanced_start)
    if resolved.search == "sampled":
        few = some_rows(rows, which)
        gram = weighted_sums(resolved.kernel, few, np.arange(len(which)), np.eye(len(which)), few)
    else:  # steps will ask for these columns
        columns = qp.columns
        gram = np.concatenate(
            [columns.cached[columns.slot_of[some][:, None], which] for some in pieces(columns, which)]
        )
        gram = gram.astype(np.float64)
    weights = optimum(gram, qp, which)
    return which[weights > 0], weights[weights > 0]


def path_start(start: SimplexStart, qp: SimplexQP, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return alpha, q and the error of q, in parts of R, that the ends of the runs before this one give.

    ``order`` holds the rows of the problem in the order of ``qp``.
    """
    ridge = np.empty_like(qp.ridge)
    ridge[order] = qp.ridge
    last = start.weights[order], start.gradient_at(ridge)[order], ROUNDED
    if start.newton or not start.earlier:  # near the end of Newton's run few rows change sides
        return last
    b, f, error = start.extrapolated(ridge)
    b, f = b[order], f[order]
    below = np.minimum(b, 0.0)
    total = float((b - below).sum())
    if not 0.0 < total < np.inf:
        return last
    if error > TOLERATED_ERROR:
        f, error = gradient_by_columns(qp, b - below), ROUNDED
    else:
        f -= gradient_by_columns(qp, below)
    return (b - below) / total, f / total, error


def draw(qp: SimplexQP, random: np.random.Generator, *, balanced: bool) -> np.ndarray:
    """Return distinct rows to start from: uniform (the papers), or class by class in turn (LIBCVM, FW-SVMs)."""
    m = len(qp.ridge)
    if not balanced:
        return random.choice(m, min(POINTS, m), replace=False)
    turns = (random.permutation(qp.plus), qp.plus + random.permutation(m - qp.plus))
    shorter = min(map(len, turns))
    mixed = np.concatenate(
        [np.stack([turn[:shorter] for turn in turns], 1).ravel(), *(turn[shorter:] for turn in turns)]
    )
    return mixed[: min(POINTS, m)]


def optimum(gram: np.ndarray, qp: SimplexQP, which: np.ndarray) -> np.ndarray:
    """Return weights that minimise alpha' K~ alpha over the simplex of the rows ``which``.

    ``gram`` holds their kernel values. Pairs are chosen by the second-order rule until no pair differs by
    more than `CORE_TOLERANCE` times the objective, or `SWAPS` are done: any point may be started from.
    """
    y = signs(qp)[which]
    K = np.outer(y, y) * (gram + 1.0) + np.diag(qp.ridge[which])
    alpha = np.full(len(which), 1.0 / len(which))
    _improve_pairs(K, alpha, K @ alpha)
    return alpha


@njit(nogil=False)  # microseconds, as releasing the interpreter lock would cost
def _improve_pairs(K, alpha, q):
    """Swap weight between pairs until they agree; a weight that is used up becomes exactly zero."""
    # by loops: what numba makes of arithmetic with whole arrays takes a second to compile
    for _ in range(SWAPS):
        i, R = 0, 0.0
        for j in range(q.size):
            R += alpha[j] * q[j]
            if q[j] < q[i]:
                i = j
        partner, most, widest = -1, 0.0, 0.0
        for j in range(q.size):
            slope = q[j] - q[i]
            if alpha[j] > 0.0 and slope > 0.0:
                gain = slope * slope / maximum(K[i, i] - 2.0 * K[i, j] + K[j, j], TINY)
                widest = maximum(widest, slope)
                if gain > most:
                    partner, most = j, gain
        if not widest > CORE_TOLERANCE * R:  # also where kernel values are no numbers
            return
        j = partner
        step = (q[j] - q[i]) / maximum(K[i, i] - 2.0 * K[i, j] + K[j, j], TINY)
        if step >= alpha[j]:
            step = alpha[j]
            alpha[j] = 0.0
        else:
            alpha[j] -= step
        alpha[i] += step
        for t in range(q.size):
            q[t] += step * (K[i, t] - K[j, t])


def even_start(problem: Binary, resolved: Resolved) -> WarmStart | None:
    """Return equal weights for all rows of a class, where a sample expects most rows to be support vectors; else None.

    With them q has the same mean over both classes. A row is no support vector if the best change of its weight alone
    takes more than it has. The kernel matrix of the problem has to fit in the cache, for all of it is wanted.
    """
    m = len(problem.y)
    if m < EVEN_SAMPLE or 4 * m * m > resolved.cache_bytes:
        return None
    which = np.random.default_rng(problem.stream).choice(m, EVEN_SAMPLE, replace=False)
    few, y, ridge = some_rows(as_rows(problem.X), which), problem.y[which], 1.0 / problem.penalties[which]
    own, mine = self_values(resolved.kernel, few), np.stack([y > 0.0, y < 0.0], axis=1)
    others = mine.sum(axis=0) - mine  # in the sample
    if not others.all():
        return None
    sums = weighted_sums(resolved.kernel, few, np.arange(len(which)), mine.astype(np.float64), few)
    sizes = np.array([np.count_nonzero(problem.y > 0.0), np.count_nonzero(problem.y < 0.0)])
    # a column for each class: K~ at the rows of the sample with even weights of that class
    by_class = y[:, None] * ((sums - mine * own[:, None]) / others + 1.0) * [1.0, -1.0]
    by_class += mine * ((own + ridge)[:, None] / sizes)
    means = mine.T @ by_class / mine.sum(axis=0)[:, None]
    try:
        shares = np.linalg.solve(means, np.ones(2))
    except np.linalg.LinAlgError:
        return None
    shares /= shares.sum()
    weights, q = mine @ (shares / sizes), by_class @ shares
    dropped = np.count_nonzero(weights < (q - q.mean()) / (own + 1.0 + ridge))
    if not (shares > 0.0).all() or dropped > MOST_DROPPED * len(which):
        return None
    return WarmStart(np.where(problem.y > 0.0, *(shares / sizes)))
