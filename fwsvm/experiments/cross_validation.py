"""Cross-validation of one setting (`fwsvm cv`): stratified folds, each held out once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fwsvm.data.dataset import Dataset
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.experiments.record import Row
from fwsvm.experiments.run import LocalRows, TrainingRows, identity_of, run_one
from fwsvm.experiments.validation import parts
from fwsvm.solvers import Result, Settings, Status
from fwsvm.solvers.loop import Watch

if TYPE_CHECKING:
    from fwsvm.experiments.cluster_training import RemoteRows


@dataclass(frozen=True)
class Fold:
    """One fold: the result of training without it, its row, its size, and how many of its rows are predicted right.

    A fold that was interrupted, or could not predict its rows, has none right.
    """

    result: Result
    row: Row
    held_out: int
    right: int


def cross_validate(
    data: "Dataset | RemoteRows",
    settings: Settings,
    folds: int,
    watch: Watch | None = None,
) -> Iterator[Fold]:
    """Train on all training rows but a fold and test on the fold, for each fold in turn; the settings' seed draws them.

    If ``data`` is not scaled yet (`fwsvm.data.load`), each fold scales by the ranges of the rows it trains on.

    Raises
    ------
    DataError
        There are fewer rows than folds, or a class with a single row.
    """
    rule = ValidationRule(folds=folds)
    words = rule.description
    if isinstance(data, Dataset):
        if data.scaling != "none" and data.train.ranges is None:
            words += ", scaled by what is left"
        every: Iterator[TrainingRows] = map(LocalRows, parts(data, rule, settings.seed))
    else:
        every = data.parts(folds, settings.seed)
    for part, rows in enumerate(every):
        identity = identity_of(rows, settings, words, part)
        result, row = run_one(rows, settings, watch, identity=identity)
        measured = result.status is not Status.INTERRUPTED and row["test_accuracy"] is not None
        right = round(row["test_accuracy"] * rows.test_count) if measured else 0
        yield Fold(result, row, rows.test_count, right)
