"""How many steps swap-2o is given before Newton's first one and between Newton's, and how far a Newton step goes.

Methods with away or swap steps converge linearly on a polytope (Lacoste-Julien & Jaggi 2015): seen over many steps the
logarithm of swap-2o's gap falls along a line.
"""

from collections.abc import Iterator
from math import log

import numpy as np

from fwsvm.solvers.frank_wolfe.run import SimplexRun
from fwsvm.solvers.tuning import FACTOR_RATE, FIRST_SWAPS, NEWTON_OVERHEAD


def swap_periods(simplex: SimplexRun, *, warm: bool) -> Iterator[int]:
    """Yield how many steps of swap-2o to take before Newton's first, a part at a time.

    The first steps find most of the active rows. Then swap-2o has the time that a factor of the active rows takes: they
    may become more meanwhile, and the factor dearer. Then it may have as much again, while by the fall of its gap it
    needs less to the goal. ``warm`` says whether the run starts where another ended, which has found most active rows.
    """
    now, rows = simplex.now[0], len(simplex.order)

    def seen() -> tuple[int, float]:
        """Return the steps so far, and the gap."""
        return int(now["steps"]), 2.0 * float(now["R"] - simplex.state.q.min())

    def as_a_factor() -> int:
        """Return how many steps take as long as a factor of the active rows."""
        return int(int(now["active"]) ** 3 / (FACTOR_RATE * rows))

    more, (earlier, wider) = int(FIRST_SWAPS * rows), seen()
    if warm:
        more = min(more, NEWTON_OVERHEAD + as_a_factor())
    while True:
        if more > 0:
            yield more - more // 2
            earlier, wider = seen()
            yield more // 2
        else:
            (steps, gap), factor, goal = seen(), as_a_factor(), simplex.all_rows.goal(float(now["R"]))
            if not (wider > gap > 0.0 and goal > 0.0):
                return
            to_e = (steps - earlier) / log(wider / gap)  # steps in which the gap falls by a factor of e
            to_goal = to_e * max(0.0, log(gap / goal))
            if to_goal > factor or steps > 2 * factor:
                return
            earlier, wider = steps, gap
            yield 1 + int(min(max(to_goal / 2.0, to_e), 2 * factor - steps))
        more = as_a_factor() - int(now["steps"])


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
