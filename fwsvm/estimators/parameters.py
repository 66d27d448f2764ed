"""Conversion of the classifiers' parameters, with scikit-learn's special values, to those of `Settings`.

An invalid value is a `ValueError` that says what it may be.
"""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from fwsvm.errors import shown
from fwsvm.parameters import BALANCED
from fwsvm.solvers.class_weight import balanced


def mapping(name: str, given: Any) -> Mapping[str, Any]:
    """Return a mapping; None is an empty one."""
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"{name} is a mapping or None, not {shown(given)}")
    return given or {}


def flag(name: str, given: Any) -> bool:
    """Return True or False."""
    if given is not True and given is not False and type(given) is not np.bool_:
        raise ValueError(f"{name} is True or False, not {shown(given)}")
    return bool(given)


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


def class_weights(
    given: Any, labels: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None
) -> np.ndarray | None:
    """Return the weight of each row's class, shape (m,), or None; balanced weights use the weights of rows."""
    if given is None:
        return None
    if isinstance(given, str) and given == BALANCED:
        each = balanced(codes, len(labels), sample_weight)
    elif isinstance(given, Mapping):
        names = labels.tolist()
        unknown = [label for label in given if label not in names]
        if unknown and any(label not in given for label in names):  # else a part of the rows may lack a class
            raise ValueError(f"class_weight has {shown(unknown[0])}, which is no label")
        each = np.array([_weight(given.get(label, 1.0)) for label in names])
    else:
        raise ValueError(f"class_weight is None, 'balanced' or a mapping, not {shown(given)}")
    weights: np.ndarray = each[codes]
    return weights


def _weight(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
        raise ValueError(f"the weight of a class is a number of at least 0, not {shown(value)}")
    return float(value)


def positive(name: str, given: Any) -> float:
    """Return a finite number above 0."""
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 < float(given) < np.inf:
        raise ValueError(f"{name} is a positive number, not {shown(given)}")
    return float(given)


def limit(given: Any) -> Any:
    """Return a limit; -1 means none, as in scikit-learn."""
    return None if isinstance(given, Integral) and given == -1 else given


def whole(given: Any) -> Any:
    """Return a number of MiB; a float such as 200.0 becomes an int."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def threads(n_jobs: Any) -> int:
    """Return the number of threads for n_jobs, as in joblib."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise ValueError(f"n_jobs is a whole number or None, not {shown(n_jobs)}")
    return 1 if n_jobs == 1 else int(effective_n_jobs(n_jobs))


def seed(random_state: Any) -> int:
    """Return the seed of a random_state: a number, a generator to draw it from, or None."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
