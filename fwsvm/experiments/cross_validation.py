"""Cross-validation of one setting (`fwsvm cv`): stratified folds, each held out once, and their scores.

Each score is 0 to 1, the higher the better, and defined as in scikit-learn.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import QUOTED, encode
from fwsvm.errors import DataError, UsageError, clipped
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.experiments.record import Row
from fwsvm.experiments.run import LocalRows, TrainingRows, identity_of, run_one
from fwsvm.experiments.validation import parts
from fwsvm.phases import Phase, enter
from fwsvm.problems.features import fitted
from fwsvm.solvers import Result, Settings, Status
from fwsvm.solvers.loop import Watch

if TYPE_CHECKING:
    from fwsvm.experiments.cluster_training import RemoteRows


def balanced_accuracy(true: np.ndarray, predicted: np.ndarray, _decision: np.ndarray) -> float:
    """Return the mean of the accuracies on the rows of each class that occurs; class numbers of shape (t,)."""
    right, rows = np.bincount(true, true == predicted), np.bincount(true)
    return float(np.mean(right[rows > 0] / rows[rows > 0]))


def f1(true: np.ndarray, predicted: np.ndarray, _decision: np.ndarray, k: int = 0) -> float:
    """Return the harmonic mean of precision and recall of a class, by default +1, which is number 0."""
    both = int(np.sum((true == k) & (predicted == k)))
    return 2.0 * both / max(1, int(np.sum(true == k)) + int(np.sum(predicted == k)))


def f1_macro(true: np.ndarray, predicted: np.ndarray, decision: np.ndarray) -> float:
    """Return the mean of the F1 of each class that occurs or is predicted."""
    return float(np.mean([f1(true, predicted, decision, k) for k in np.union1d(true, predicted)]))


def auc(true: np.ndarray, _predicted: np.ndarray, decision: np.ndarray) -> float:
    """Return how often a row of the class +1, number 0, has a higher decision value than one of the other.

    ``decision`` has the shape (t, 1), and both classes have rows; equal values count as half (Mann and Whitney's U).
    """
    positive = true == 0
    P, N = int(positive.sum()), int((~positive).sum())
    return float((rankdata(decision[:, 0])[positive].sum() - P * (P + 1) / 2) / (P * N))


#: By the name that ``fwsvm cv --score`` knows, of true and predicted class numbers and decision values.
SCORES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], float]] = {
    "balanced-accuracy": balanced_accuracy,
    "f1": f1,
    "f1-macro": f1_macro,
    "auc": auc,
}
TITLES = {
    "accuracy": "accuracy",
    "balanced-accuracy": "balanced acc.",
    "f1": "F1",
    "f1-macro": "F1, macro",
    "auc": "AUC",
}
TWO_CLASSES = {"f1", "auc"}


def refuse_scores(names: Sequence[str], classes: Sequence[str]) -> None:
    """Raise `UsageError` for scores of two classes where there are more."""
    for name in TWO_CLASSES.intersection(names) if len(classes) > 2 else ():
        fit = ", ".join(known for known in TITLES if known not in TWO_CLASSES)
        raise UsageError(f"{name} is for two classes, and these rows have {len(classes)}; choose among {fit}")


@dataclass(frozen=True)
class Fold:
    """One fold: the result of training without it, its row, its size, and how many of its rows are predicted right.

    ``scores`` are those asked for by name, of the rows held out. A fold that was interrupted, or could not predict its
    rows, has none right and no scores.
    """

    result: Result
    row: Row
    held_out: int
    right: int
    scores: Mapping[str, float] = field(default_factory=dict)


def cross_validate(
    data: "Dataset | RemoteRows",
    settings: Settings,
    folds: int,
    watch: Watch | None = None,
    *,
    chosen: Sequence[str] = (),
) -> Iterator[Fold]:
    """Train on all training rows but a fold and test on the fold, for each fold in turn; the settings' seed draws them.

    If ``data`` is not scaled yet (`fwsvm.data.load`), each fold scales by the ranges of the rows it trains on.
    ``chosen`` are names of `SCORES`, which need the rows in this process.

    Raises
    ------
    DataError
        There are fewer rows than folds, a class with a single row, or one that a score needs and not every fold has.
    UsageError
        A score of two classes where there are more.
    """
    rule = ValidationRule(folds=folds)
    words = rule.description
    if isinstance(data, Dataset):
        refuse_scores(chosen, data.classes)
        if data.scaling != "none" and data.train.ranges is None:
            words += ", scaled by what is left"
        counts = np.bincount(encode(data.train.labels, data.classes), minlength=len(data.classes))
        if "auc" in chosen and counts.min() < folds:
            lost = clipped(data.classes[int(counts.argmin())], QUOTED)
            raise DataError(
                f"{data.name}: class {lost} has fewer rows than there are folds, and auc needs rows of each class in "
                "every fold; take fewer folds"
            )
        every: Iterator[TrainingRows] = map(LocalRows, parts(data, rule, settings.seed))
    else:
        every = data.parts(folds, settings.seed)
    for part, rows in enumerate(every):
        identity = identity_of(rows, settings, words, part)
        result, row = run_one(rows, settings, watch, identity=identity)
        if result.status is Status.INTERRUPTED or row["test_accuracy"] is None:
            yield Fold(result, row, rows.test_count, 0)
            continue
        scores = _scores(rows.data, result, chosen) if chosen and isinstance(rows, LocalRows) else {}
        yield Fold(result, row, rows.test_count, round(row["test_accuracy"] * rows.test_count), scores)


def _scores(data: Dataset, result: Result, chosen: Sequence[str]) -> dict[str, float]:
    """Return scores of a result on the test rows."""
    assert data.test is not None  # noqa: S101 - the rows held out
    enter(Phase.PREDICT)
    X, _ = fitted(data.test.X, result.model.features)
    codes = encode(data.test.labels, data.classes)
    decision = result.model.decision(X, int(result.settings["threads"]))
    return {name: SCORES[name](codes, result.model.choose(decision), decision) for name in chosen}
