"""Where a simplex method starts: at the optimum over a few rows drawn at random, or from where earlier runs ended."""

from itertools import zip_longest

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache
from fwsvm.numerics.simd import WIDTH
from fwsvm.solvers.frank_wolfe.descent import solve_small
from fwsvm.solvers.frank_wolfe.iterate import AllRows
from fwsvm.solvers.frank_wolfe.sampled import matrix_of
from fwsvm.solvers.frank_wolfe.state import SimplexStart

POINTS = 20
CORE_TOLERANCE = 1e-3  # LIBCVM's, relative to the optimum here
ROUNDING = 2.0**-52  # of sums in double precision
MOST_STEPS = (
    100_000  # then rounding keeps the optimum away: kernel values of 1e20, say, whose sums are near 1
)


def starting_point(
    columns: ColumnCache, rows: AllRows, stream: tuple[int, ...], *, balanced: bool
) -> np.ndarray:
    """Return weights (m,): the optimum over a few rows drawn at random."""
    which = draw(rows.y, np.random.default_rng(stream), balanced=balanced)
    count = len(which)
    K, alpha = np.zeros((count, count + -count % WIDTH)), np.zeros(len(rows.y))
    K[:, :count] = matrix_of(columns, which)
    nothing = np.zeros(count), np.full(count, -1.0)
    b, _ = solve_small(K, rows.y[which], rows.ridge[which], *nothing, CORE_TOLERANCE, MOST_STEPS)
    alpha[which] = b / b.sum() if 0.0 < b.sum() < np.inf else 1.0 / count
    return alpha


def path_start(start: SimplexStart, ridge: np.ndarray) -> np.ndarray:
    """Return weights (m,) for another ridge (m,): the best combination of the ends of earlier runs, cut off below 0.

    The combination b minimises 1/2 b' K~ b - sum b over their span, where K~ is known. The path of b along C is smooth:
    beside the last end alone, it leaves a half to a quarter of the steps to do.
    """
    if start.newton or not start.earlier:  # near the end of Newton's run few rows change sides
        return start.weights
    points = (*start.earlier, start)
    b = np.stack([point.weights for point in points])
    f = np.stack([point.gradient + (ridge - point.ridge) * point.weights for point in points])
    products = b @ f.T
    R = products.diagonal()
    if not (R > 0.0).all():  # lost in rounding
        return start.weights
    scales = 1.0 / np.sqrt(R)
    factors = scales * np.linalg.lstsq(products * np.outer(scales, scales), scales, rcond=ROUNDING)[0]
    alpha = np.maximum(factors @ b, 0.0)
    total = float(alpha.sum())
    return alpha / total if 0.0 < total < np.inf else start.weights


def draw(y: np.ndarray, random: np.random.Generator, *, balanced: bool) -> np.ndarray:
    """Return distinct rows to start from: uniform (the papers), or class by class in turn (LIBCVM, FW-SVMs)."""
    if not balanced:
        return random.choice(len(y), min(POINTS, len(y)), replace=False)
    turns = (random.permutation(np.flatnonzero(y == sign))[:POINTS] for sign in (1.0, -1.0))
    mixed = [row for pair in zip_longest(*turns) for row in pair if row is not None]
    return np.array(mixed[:POINTS])
