"""Cross-validation of one setting (`fwsvm cv`): stratified folds, each held out once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import QUOTED, encode
from fwsvm.errors import DataError, clipped
from fwsvm.experiments import scores
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.experiments.plan import SELECT, run_id
from fwsvm.experiments.record import Row
from fwsvm.experiments.run import run_one
from fwsvm.experiments.validation import parts, validation_mask
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
    rule = ValidationRule(folds=folds)
    by_part = data.scaling != "none" and data.train.ranges is None
    words = f"{rule.description}, scaled by what is left" if by_part else rule.description
    _require_every_class(data, rule, settings.seed, chosen)
    for part, of_part in enumerate(parts(data, rule, settings.seed)):
        identity = run_id(data.name, data.fingerprint, "", settings, words, part)
        known = {"run_id": identity, "role": SELECT, "fold": part}
        result, row = run_one(of_part, settings, watch, identity=known)
        rows = of_part.test.rows if of_part.test is not None else 0
        if result.status is Status.INTERRUPTED or row["test_accuracy"] is None:
            yield Fold(result, row, rows, 0)
            continue
        yield Fold(result, row, rows, round(row["test_accuracy"] * rows), _scores(of_part, result, chosen))


def _scores(data: Dataset, result: Result, chosen: Sequence[str]) -> dict[str, float]:
    """Return scores of a result on the test rows."""
    if not chosen or data.test is None:
        return {}
    enter(Phase.PREDICT)
    X, _ = fitted(data.test.X, result.model.features)
    codes = encode(data.test.labels, data.classes)
    decision = result.model.decision(X, int(result.settings["threads"]))
    predicted = result.model.choose(decision)
    return {name: scores.SCORES[name].of(codes, predicted, decision) for name in chosen}


def _require_every_class(data: Dataset, rule: ValidationRule, seed: int, chosen: Sequence[str]) -> None:
    codes = encode(data.train.labels, data.classes)
    for name in (name for name in chosen if scores.SCORES[name].every_class):
        for part in range(rule.parts):
            held_out = codes[validation_mask(codes, rule, seed, part)]
            if missing := [label for k, label in enumerate(data.classes) if not (held_out == k).any()]:
                raise DataError(
                    f"{data.name}: class {clipped(missing[0], QUOTED)} has fewer rows than there are folds, and {name} "
                    "needs rows of each class in every fold; take fewer folds"
                )
