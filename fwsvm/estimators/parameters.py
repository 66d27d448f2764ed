"""Conversion of the classifiers' parameters, with scikit-learn's special values, to those of `Settings`.

An invalid value is a `ValueError` that says what it may be.
"""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from fwsvm.errors import nearest, shown
from fwsvm.parameters import BALANCED
from fwsvm.problems.distinct import Distinct
from fwsvm.solvers.class_weight import balanced

#: Parameters of scikit-learn's classifiers that these do not have, and the alternatives.
ALTERNATIVES = {
    "probability": "sklearn.calibration.CalibratedClassifierCV gives probabilities",
    "shrinking": "methods leave rows out by themselves",
    "verbose": "result_ holds the certificate and the trace",
    "break_ties": "with decision_function_shape='ovr' the largest decision value breaks ties",
    "penalty": "the norm is l2",
    "dual": "the methods see to that themselves",
    "multi_class": "each family has its own way",
    "nu": "give C",
}


def refuse_unknown(owner: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise `ValueError` for an unknown name."""
    for name in given:
        if name not in known:
            hint = nearest(name, known, f"it has {', '.join(known)}")
            raise ValueError(f"{owner} has no parameter {shown(name)}; {ALTERNATIVES.get(name, hint)}")


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


def gamma(given: Any, rows: Distinct) -> Any:
    """Return the value of gamma "scale" or "auto"; other values are returned unchanged."""
    if not isinstance(given, str):
        return given
    n = int(rows.X.shape[1])
    if given == "auto":
        return 1.0 / n
    if given != "scale":
        raise ValueError(f"gamma is a positive number, 'scale', 'auto' or None, not {shown(given)}")
    each = np.ones(len(rows.codes)) if rows.weights is None else rows.weights
    values = float(np.sum(each)) * n
    mean = float(np.sum(each * np.ravel(rows.X.sum(axis=1)))) / values
    if isinstance(rows.X, np.ndarray):
        variance = float(np.sum(each * np.sum(np.square(rows.X - mean), axis=1))) / values
    else:
        apart = np.repeat(each, np.diff(rows.X.indptr)) * np.square(rows.X.data - mean)
        stored = float(np.sum(each * np.diff(rows.X.indptr)))
        variance = (float(np.sum(apart)) + (values - stored) * mean**2) / values  # zeros are not stored
    return 1.0 / (n * variance) if variance > 0.0 else 1.0


def class_weights(given: Any, labels: np.ndarray, rows: Distinct) -> np.ndarray | None:
    """Return the weight of each row's class, shape (m,), or None; balanced weights use the weights of rows."""
    if given is None:
        return None
    if isinstance(given, str) and given == BALANCED:
        each = balanced(rows.codes, len(labels), rows.weights)
    elif isinstance(given, Mapping):
        names = labels.tolist()
        unknown = [label for label in given if label not in names]
        if unknown and any(label not in given for label in names):  # else a part of the rows may lack a class
            raise ValueError(f"class_weight has {shown(unknown[0])}, which is no label")
        each = np.array([_weight(given.get(label, 1.0)) for label in names])
    else:
        raise ValueError(f"class_weight is None, 'balanced' or a mapping, not {shown(given)}")
    weights: np.ndarray = each[rows.codes]
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
