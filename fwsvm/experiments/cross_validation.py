"""Cross-validation of one setting (`fwsvm cv`): stratified folds, each held out once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import QUOTED, encode, lacking
from fwsvm.data.splits import take
from fwsvm.errors import DataError, clipped
from fwsvm.experiments import samples, scores, training
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.experiments.plan import SELECT, run_id
from fwsvm.experiments.record import Row
from fwsvm.phases import Phase, enter
from fwsvm.problems.features import fitted
from fwsvm.solvers import Result, Settings, Status
from fwsvm.solvers.loop import Watch


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
    data: Dataset, settings: Settings, folds: int, watch: Watch | None = None, *, chosen: Sequence[str] = ()
) -> Iterator[Fold]:
    """Train on all training rows but a fold and test on the fold, for each fold in turn; the settings' seed draws them.

    If ``data`` is not scaled yet (`fwsvm.data.load`), each fold scales by the ranges of the rows it trains on.
    ``chosen`` are names of `fwsvm.experiments.scores`.

    Raises
    ------
    DataError
        There are fewer rows than folds, a class with a single row, or one that a score needs and not every fold has.
    UsageError
        A score of two classes where there are more.
    """
    scores.refuse_scores(chosen, data.classes)
    codes, rule = encode(data.train.labels, data.classes), ValidationRule(folds=folds)
    samples.refuse_more_folds(data.name, len(codes), folds)
    by_part = data.scaling != "none" and data.train.ranges is None
    words = f"{rule.description}, scaled by what is left" if by_part else rule.description
    parts = [samples.validation_mask(codes, rule, settings.seed, part) for part in range(folds)]
    for name in chosen:
        if scores.SCORES[name].every_class:
            _require_every_class(data, codes, parts, name)
    for part, held_out in enumerate(parts):
        lost = lacking(np.bincount(codes[~held_out], minlength=len(data.classes)), data.classes)
        if lost is not None:
            raise DataError(
                f"{data.name}: class {clipped(lost, QUOTED)} has too few rows to be in every training part"
            )
        train, test = (take(data.train, np.flatnonzero(which)) for which in (~held_out, held_out))
        of_part = scaled(replace(data, train=train, test=test))
        result, row = training.train(of_part, settings, watch)
        row |= {
            "run_id": run_id(data.name, data.fingerprint, "", settings, words, part),
            "role": SELECT,
            "fold": part,
        }
        if result.status is Status.INTERRUPTED or row["test_accuracy"] is None:
            yield Fold(result, row, test.rows, 0)
            continue
        measured = _scores(of_part, result, codes[held_out], chosen)
        yield Fold(result, row, test.rows, round(row["test_accuracy"] * test.rows), measured)


def _scores(data: Dataset, result: Result, codes: np.ndarray, chosen: Sequence[str]) -> dict[str, float]:
    """Return scores of a result on the test rows, whose class numbers are ``codes`` (t,)."""
    if not chosen or data.test is None:
        return {}
    enter(Phase.PREDICT)
    X, _ = fitted(data.test.X, result.model.features)
    decision = result.model.decision(X, int(result.settings["threads"]))
    predicted = result.model.choose(decision)
    return {name: scores.SCORES[name].of(codes, predicted, decision) for name in chosen}


def _require_every_class(data: Dataset, codes: np.ndarray, parts: Sequence[np.ndarray], score: str) -> None:
    for k, name in enumerate(data.classes):
        if not all((codes[part] == k).any() for part in parts):
            raise DataError(
                f"{data.name}: class {clipped(name, QUOTED)} has fewer rows than there are folds, and {score} needs "
                "rows of each class in every fold; take fewer folds"
            )
