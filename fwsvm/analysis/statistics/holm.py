"""Holm's step-down adjustment of several p-values."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwsvm.errors import UsageError


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return adjusted p-values (shape ``(m,)``).

    Rejecting those at most alpha keeps the probability of any false rejection at most alpha. The i-th
    smallest of m is multiplied by m - i + 1, made non-decreasing and clipped at 1 (Holm 1979).
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise UsageError("Holm's adjustment needs a list of p-values between 0 and 1")
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, steps)
    return adjusted
