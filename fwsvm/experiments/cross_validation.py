"""Cross-validation of one setting (`fwsvm cv`): stratified folds, each held out once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import QUOTED, encode
from fwsvm.data.splits import take
from fwsvm.errors import DataError, clipped
from fwsvm.experiments import samples, training
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.experiments.plan import SELECT, run_id
from fwsvm.experiments.record import Row
from fwsvm.solvers import Result, Settings
from fwsvm.solvers.loop import Watch


@dataclass(frozen=True)
class Fold:
    """One fold: the result of training without it, its row, its size, and how many of its rows are predicted right."""

    result: Result
    row: Row
    held_out: int
    right: int


def cross_validate(
    data: Dataset, settings: Settings, folds: int, watch: Watch | None = None
) -> Iterator[Fold]:
    """Train on all training rows but a fold and test on the fold, for each fold in turn; the settings' seed draws them.

    If ``data`` is not scaled yet (`fwsvm.data.load`), each fold scales by the ranges of the rows it trains on.

    Raises
    ------
    DataError
        There are fewer rows than folds, or a class with a single row.
    """
    codes, rule = encode(data.train.labels, data.classes), ValidationRule(folds=folds)
    if len(codes) < folds:
        raise DataError(f"{data.name}: {len(codes)} rows cannot make {folds} folds")
    by_part = data.scaling != "none" and data.train.ranges is None
    words = f"{rule.description}, scaled by what is left" if by_part else rule.description
    for part in range(folds):
        held_out = samples.validation_mask(codes, rule, settings.seed, part)
        lost = [c for k, c in enumerate(data.classes) if not (codes[~held_out] == k).any()]
        if lost:
            raise DataError(
                f"{data.name}: class {clipped(lost[0], QUOTED)} has too few rows to be in every training part"
            )
        train, test = (take(data.train, np.flatnonzero(chosen)) for chosen in (~held_out, held_out))
        result, row = training.train(replace(data, train=train, test=test), settings, watch)
        row |= {
            "run_id": run_id(data.fingerprint, "", settings, words, part),
            "role": SELECT,
            "fold": part,
        }
        yield Fold(result, row, test.rows, round(row["test_accuracy"] * test.rows))
