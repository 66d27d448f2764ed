"""What parameters of the classifiers become settings, as in scikit-learn; an invalid one is a `ValueError`."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fwsvm.errors import shown


def seed(random_state: Any) -> int:
    """Return the seed of a random_state: a number, a generator to draw it from, or None."""
    is_number = isinstance(random_state, Integral)
    return int(random_state if is_number else check_random_state(random_state).randint(2**31 - 1))


def gamma(given: Any, X: Any) -> Any:
    """Return the value of gamma "scale" or "auto" for rows X (m, n); other values are returned unchanged."""
    if not isinstance(given, str):
        return given
    if given == "auto":
        return 1.0 / X.shape[1]
    if given != "scale":
        raise ValueError(f"gamma is a positive number, 'scale', 'auto' or None, not {shown(given)}")
    mean = X.mean()
    variance = X.var() if isinstance(X, np.ndarray) else X.multiply(X).mean() - mean**2
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0
