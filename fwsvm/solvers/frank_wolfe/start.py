"""Where a simplex method starts: at the optimum over a few rows drawn at random, or from where earlier runs ended."""

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache
from fwsvm.numerics.compile import njit_lean
from fwsvm.numerics.simd import maximum, minimum
from fwsvm.solvers.frank_wolfe.iterate import AllRows
from fwsvm.solvers.frank_wolfe.sampled import matrix_of
from fwsvm.solvers.frank_wolfe.scans import TINY
from fwsvm.solvers.frank_wolfe.state import SimplexStart

POINTS = 20
CORE_TOLERANCE = 1e-3  # LIBCVM's, relative to the optimum here
ROUNDING = 2.0**-52  # of sums in double precision
SWAPS = 100_000  # then rounding keeps the pairs apart: kernel values of 1e20, say, whose sums are near 1


def starting_point(
    columns: ColumnCache, rows: AllRows, stream: tuple[int, ...], *, balanced: bool
) -> np.ndarray:
    """Return weights (m,): the optimum over a few rows drawn at random."""
    which = draw(rows.y, np.random.default_rng(stream), balanced=balanced)
    K = matrix_of(columns, which).astype(np.float64)
    y = rows.y[which]
    K = np.outer(y, y) * (K + 1.0) + np.diag(rows.ridge[which])
    alpha = np.zeros(len(rows.y))
    weights = np.full(len(which), 1.0 / len(which))
    improve_pairs(K, weights, K @ weights)
    alpha[which] = weights
    return alpha


def path_start(start: SimplexStart, ridge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return weights b (m,) for another ridge (m,), and K~ b: the best combination of the ends of earlier runs.

    It minimises 1/2 b' K~ b - sum b over their span, where K~ is known. The path of b along C is smooth: beside the
    last end alone, it leaves a half to a quarter of the steps to do. Some weights may be below 0, but not all.
    """
    b = np.stack([point.weights for point in (start, *start.earlier)])
    f = np.stack([p.gradient + (ridge - p.ridge) * p.weights for p in (start, *start.earlier)])
    products = b @ f.T
    R = products.diagonal()
    # near the end of Newton's run few rows change sides; R is lost in rounding where it is not above 0
    if start.newton or not start.earlier or not (R > 0.0).all():
        return b[0], f[0]
    scales = 1.0 / np.sqrt(R)
    factors = scales * np.linalg.lstsq(products * np.outer(scales, scales), scales, rcond=ROUNDING)[0]
    best = factors @ b
    total = np.maximum(best, 0.0).sum()
    return (best / total, factors @ f / total) if 0.0 < total < np.inf else (b[0], f[0])


def draw(y: np.ndarray, random: np.random.Generator, *, balanced: bool) -> np.ndarray:
    """Return distinct rows to start from: uniform (the papers), or class by class in turn (LIBCVM, FW-SVMs)."""
    if not balanced:
        return random.choice(len(y), min(POINTS, len(y)), replace=False)
    first, second = (random.permutation(np.flatnonzero(y == sign)) for sign in (1.0, -1.0))
    turns = np.concatenate([2 * np.arange(len(first)), 2 * np.arange(len(second)) + 1])
    return np.concatenate([first, second])[np.argsort(turns)[:POINTS]]


@njit_lean(nogil=False)  # microseconds, as releasing the interpreter lock would cost
def improve_pairs(K, alpha, q):
    """Swap weight between pairs by the second-order rule; a weight that is used up becomes exactly zero.

    Until no pair differs by more than `CORE_TOLERANCE` times the objective, or `SWAPS` are done: any point may be
    started from.
    """
    # by loops: what numba makes of arithmetic with whole arrays takes a second to compile
    for _ in range(SWAPS):
        i = 0
        R = 0.0
        for j in range(q.size):
            R += alpha[j] * q[j]
            if q[j] < q[i]:
                i = j
        partner = -1
        most = widest = step = 0.0
        for j in range(q.size):
            slope = q[j] - q[i]
            if alpha[j] > 0.0 and slope > 0.0:
                bend = maximum(K[i, i] - 2.0 * K[i, j] + K[j, j], TINY)
                widest = maximum(widest, slope)
                if slope * slope / bend > most:
                    partner, most, step = j, slope * slope / bend, slope / bend
        if not widest > CORE_TOLERANCE * R:  # also where kernel values are no numbers
            return
        j = partner
        step = minimum(step, alpha[partner])
        alpha[j] -= step
        alpha[i] += step
        for t in range(q.size):
            q[t] += step * (K[i, t] - K[j, t])
