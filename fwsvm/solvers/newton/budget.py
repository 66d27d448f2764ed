"""How many steps swap-2o is given before Newton's first one, and how far a Newton step goes."""

import numpy as np

from fwsvm.solvers.frank_wolfe.run import SimplexRun
from fwsvm.solvers.tuning import FACTOR_RATE, FIRST_SWAPS, LINE_ACCURACY, NEWTON_OVERHEAD


def swaps_left(simplex: SimplexRun, *, warm: bool) -> int:
    """Return how many steps of swap-2o to take before Newton's first, or before the next look at that.

    Rows with weight and rows that lack it have `FIRST_SWAPS` each, which find most of the active rows. ``warm`` says
    whether the run starts where another ended: then weights are right. A factor of the rows with weight is worth as
    many steps as take its time.
    """
    s, now, rows = simplex.state, simplex.now, len(simplex.order)
    active, taken = int(now["active"]), int(now["steps"])
    factor = int((active**3 / FACTOR_RATE + NEWTON_OVERHEAD) / rows)
    lacking = int(np.count_nonzero((s.q < now["R"]) & (s.alpha == 0.0)))
    concerned = lacking if warm else lacking + active
    return max(0, min(FIRST_SWAPS * concerned - taken, rows // 2), factor - taken)


def least_along(f: np.ndarray, df: np.ndarray, slope: float, bend: float, penalties: np.ndarray) -> float:
    """Return the step t in [0, 1] of the least P where f becomes f + t df, both of shape (m,).

    P'(t) = slope + t bend - sum_i C_i max(0, 1 - f_i - t df_i) df_i rises with t, where the first two terms are of the
    weights; its zero is found by bisection.
    """

    def rises(t: float) -> bool:
        loss = np.maximum(0.0, 1.0 - f - t * df)
        return bool(slope + t * bend >= (penalties * loss) @ df)

    if not rises(1.0):
        return 1.0
    low, high = 0.0, 1.0
    while high - low > max(1e-12, LINE_ACCURACY * low):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if rises(middle) else (middle, high)
    return low
