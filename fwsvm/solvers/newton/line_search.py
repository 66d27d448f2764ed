"""The least value of the primal L2-SVM along a line, where it is convex and piecewise quadratic."""

import numpy as np

ROUNDS = 60


def least_along(b: np.ndarray, f: np.ndarray, db: np.ndarray, df: np.ndarray, penalties: np.ndarray) -> float:
    """Return the step in [0, 1] of the least P(b + step db), with f = Q b and df = Q db, all of shape (m,).

    P' (t) = (b + t db)' df - sum_i C_i max(0, 1 - f_i - t df_i) df_i rises with t. Its zero is found by Newton's
    method kept inside a bracket: on the piece that holds the zero the next point is the zero itself.
    """

    def slope(t: float) -> tuple[float, float]:
        loss = 1.0 - f - t * df
        hurt = loss > 0.0
        weighted = penalties[hurt] * df[hurt]
        return float((b + t * db) @ df - weighted @ loss[hurt]), float(db @ df + weighted @ df[hurt])

    if slope(0.0)[0] >= 0.0:
        return 0.0
    t, (low, high) = 1.0, (0.0, 1.0)
    at, rise = slope(t)
    if at <= 0.0:
        return 1.0
    for _ in range(ROUNDS):
        newton = t - at / rise if rise > 0.0 else low
        t = newton if low < newton < high else 0.5 * (low + high)
        at, rise = slope(t)
        if at == 0.0 or high - low < 1e-12:
            break
        low, high = (t, high) if at < 0.0 else (low, t)
    return t
