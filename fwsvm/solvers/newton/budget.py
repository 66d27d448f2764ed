"""How many steps swap-2o is given before Newton's first one, and how far a Newton step goes."""

import numpy as np

from fwsvm.solvers.frank_wolfe.run import SimplexRun
from fwsvm.solvers.tuning import FACTOR_RATE, FIRST_SWAPS, NEWTON_OVERHEAD


def swaps_left(simplex: SimplexRun, *, warm: bool) -> int:
    """Return how many steps of swap-2o to take before Newton's first, if the active rows are those of now.

    Swap-2o finds most of them, and has at least the time that a factor of them takes. ``warm`` says whether the run
    starts where another ended, which has found them.
    """
    now, rows = simplex.now, len(simplex.order)
    active, taken = int(now["active"]), int(now["steps"])
    factor = int((active**3 / FACTOR_RATE + NEWTON_OVERHEAD) / rows)
    return max(0, (0 if warm else FIRST_SWAPS * active) - taken, factor - taken)


def least_along(b: np.ndarray, f: np.ndarray, db: np.ndarray, df: np.ndarray, penalties: np.ndarray) -> float:
    """Return the step in [0, 1] of the least P(b + step db), with f = Q b and df = Q db, all of shape (m,).

    P' (t) = (b + t db)' df - sum_i C_i max(0, 1 - f_i - t df_i) df_i rises with t; its zero is found by bisection.
    """

    def rises(t: float) -> bool:
        loss = np.maximum(0.0, 1.0 - f - t * df)
        return bool((b + t * db - penalties * loss) @ df >= 0.0)

    if not rises(1.0):
        return 1.0
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if rises(middle) else (middle, high)
    return low
