"""Scores of a machine on rows whose classes are known, such as the rows that a fold holds out.

Each is 0 to 1, the higher the better, and defined as in scikit-learn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from fwsvm.errors import UsageError


def accuracy(true: np.ndarray, predicted: np.ndarray, _decision: np.ndarray) -> float:
    """Return the fraction of rows that are predicted right; ``true`` and ``predicted`` are class numbers, (t,)."""
    return float(np.mean(true == predicted))


def balanced_accuracy(true: np.ndarray, predicted: np.ndarray, _decision: np.ndarray) -> float:
    """Return the mean of the accuracies on the rows of each class that occurs."""
    right, rows = np.bincount(true, true == predicted), np.bincount(true)
    return float(np.mean(right[rows > 0] / rows[rows > 0]))


def f1(true: np.ndarray, predicted: np.ndarray, _decision: np.ndarray) -> float:
    """Return the harmonic mean of precision and recall of the class +1, which is number 0."""
    return _f1_of(0, true, predicted)


def f1_macro(true: np.ndarray, predicted: np.ndarray, _decision: np.ndarray) -> float:
    """Return the mean of the F1 of each class that occurs or is predicted."""
    return float(np.mean([_f1_of(k, true, predicted) for k in np.union1d(true, predicted)]))


def auc(true: np.ndarray, _predicted: np.ndarray, decision: np.ndarray) -> float:
    """Return how often a row of the class +1, number 0, has a higher decision value than one of the other.

    ``decision`` has the shape (t, 1), and both classes have rows; equal values count as half (Mann and Whitney's U).
    """
    positive = true == 0
    P, N = int(positive.sum()), int((~positive).sum())
    return float((rankdata(decision[:, 0])[positive].sum() - P * (P + 1) / 2) / (P * N))


def _f1_of(k: int, true: np.ndarray, predicted: np.ndarray) -> float:
    both = int(np.sum((true == k) & (predicted == k)))
    return 2.0 * both / max(1, int(np.sum(true == k)) + int(np.sum(predicted == k)))


@dataclass(frozen=True)
class Score:
    """A score: a function of true and predicted class numbers (t,) and decision values; which classes it is for."""

    of: Callable[[np.ndarray, np.ndarray, np.ndarray], float]
    title: str
    two_classes: bool = False
    every_class: bool = False


#: By the name that ``fwsvm cv --score`` knows; ``every_class``: the rows must be of each class.
SCORES = {
    "accuracy": Score(accuracy, "accuracy"),
    "balanced-accuracy": Score(balanced_accuracy, "balanced acc."),
    "f1": Score(f1, "F1", two_classes=True),
    "f1-macro": Score(f1_macro, "F1, macro"),
    "auc": Score(auc, "AUC", two_classes=True, every_class=True),
}


def refuse_scores(names: Sequence[str], classes: Sequence[str]) -> None:
    """Raise `UsageError` for scores of two classes where there are more."""
    for name in names:
        if SCORES[name].two_classes and len(classes) > 2:
            fit = ", ".join(known for known, score in SCORES.items() if not score.two_classes)
            raise UsageError(
                f"{name} is for two classes, and these rows have {len(classes)}; choose among {fit}"
            )
