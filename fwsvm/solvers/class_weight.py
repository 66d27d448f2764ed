"""Weights of classes: factors of the penalty C of every row of a class, given by label or balanced by the rows."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from fwsvm.errors import UsageError, shown
from fwsvm.parameters import BALANCED, converted

ClassWeight: TypeAlias = str | Mapping[str, float] | None


def row_weights(
    given: ClassWeight, codes: np.ndarray, classes: Sequence[str], weights: np.ndarray
) -> np.ndarray:
    """Return the weights of rows (m,) times those of their classes.

    Raises
    ------
    UsageError
        See `of_classes`.
    """
    if given is None:
        return weights
    found: np.ndarray = weights * of_classes(given, codes, classes, weights)[codes]
    return found


def of_classes(
    given: str | Mapping[str, float],
    codes: np.ndarray,
    classes: Sequence[str],
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the weight of each of K classes, shape (K,).

    Parameters
    ----------
    given : "balanced" or mapping of labels to numbers of at least 0
        Classes that the mapping does not name have weight 1.
    codes : ndarray of int, shape (m,), places in ``classes``
    classes : sequence of K labels
    weights : ndarray, shape (m,), optional
        Of rows, which balanced weights count by.

    Raises
    ------
    UsageError
        Neither "balanced" nor a mapping, a label that no class has, or a weight that is negative.
    """
    if isinstance(given, str) and given == BALANCED:
        return balanced(codes, len(classes), weights)
    if not isinstance(given, Mapping):
        raise UsageError(f"class_weight is {BALANCED} or a mapping of labels to weights, not {shown(given)}")
    found = {label: _weight(label, value) for label, value in given.items()}
    if unknown := [label for label in found if label not in classes]:
        some = ", ".join(shown(name) for name in classes[:8]) + (", ..." if len(classes) > 8 else "")
        raise UsageError(f"class_weight names {shown(unknown[0])}, which is no class; the classes are {some}")
    return np.array([found.get(label, 1.0) for label in classes])


def balanced(codes: np.ndarray, K: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the weights (K,) by which the rows of all classes count alike: m / (K m_k), as in scikit-learn.

    Rows of a class, m_k, and of all, m, are counted by ``weights`` (m,) where these are given.
    """
    sums = np.bincount(codes, weights, minlength=K)
    found: np.ndarray = sums.sum() / (K * np.maximum(sums, np.finfo(float).tiny))
    return found


def label(given: ClassWeight) -> str:
    """Return class weights as the results name them.

    >>> label({"1": 5.0, "-1": 0.5}), label("balanced")
    ('1:5 -1:0.5', 'balanced')
    """
    if not isinstance(given, Mapping):
        return given or ""
    return " ".join(f"{name}:{value:g}" for name, value in given.items())


def _weight(name: Any, value: Any) -> float:
    number: float = converted(f"the weight of class {shown(name)}", value, float)
    if number < 0.0:
        raise UsageError(f"the weight of class {shown(name)} must not be negative, as {shown(value)} is")
    return number
