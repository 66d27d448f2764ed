"""Weights of classes: factors of the penalty C of every row of a class, given by label or balanced by the rows."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from fwsvm.errors import SettingError, shown
from fwsvm.parameters import BALANCED, converted

ClassWeight: TypeAlias = str | Mapping[str, float] | None


def row_weights(
    given: ClassWeight, codes: np.ndarray, classes: Sequence[str], weights: np.ndarray
) -> np.ndarray:
    """Return the weights of rows (m,) times those of their classes; `SettingError` as of `of_classes`."""
    return weights if given is None else weights * of_classes(given, codes, classes, weights)[codes]


def of_classes(given: Any, codes: np.ndarray, classes: Sequence[str], weights: np.ndarray) -> np.ndarray:
    """Return the weight of each of K classes, shape (K,).

    Parameters
    ----------
    given : "balanced" or mapping of labels to numbers of at least 0
        Balanced are m / (K m_k), as in scikit-learn, so that the rows of all classes count alike. Classes that the
        mapping does not name have weight 1.
    codes : ndarray of int, shape (m,), places in ``classes``
    classes : sequence of K labels
    weights : ndarray, shape (m,), of rows, which balanced weights count by

    Raises
    ------
    SettingError
        Neither "balanced" nor a mapping, a label that no class has, or a weight that is negative.
    """
    if isinstance(given, str) and given == BALANCED:
        sums = np.bincount(codes, weights, minlength=len(classes))
        return np.asarray(sums.sum() / (len(classes) * np.maximum(sums, np.finfo(float).tiny)))
    if not isinstance(given, Mapping):
        raise SettingError(
            f"class_weight is {BALANCED} or a mapping of labels to weights, not {shown(given)}"
        )
    if unknown := [label for label in given if label not in classes]:
        some = ", ".join(shown(name) for name in classes[:8]) + (", ..." if len(classes) > 8 else "")
        raise SettingError(
            f"class_weight names {shown(unknown[0])}, which is no class; the classes are {some}"
        )
    found = {name: converted(f"the weight of class {shown(name)}", given[name], float) for name in given}
    for name, weight in found.items():
        if weight < 0.0:
            raise SettingError(f"the weight of class {shown(name)} must not be negative, as {weight:g} is")
    return np.array([found.get(label, 1.0) for label in classes])
