"""Rows held out in turn: the parts of a data set, what is trained without each, and what their accuracies select.

A part serves the parameter search of an experiment (`fwsvm.experiments.run`), cross-validation (``fwsvm cv``), the
choice of C and width (``fwsvm easy``), and the sigmoids of probabilities. Parts are stratified and depend on labels and
seed alone, so they are the same for every method, setting, worker and machine.

Of a search the candidate of highest validation accuracy wins, among those with finite numbers; ties go to the smallest
C, then to the largest sigma^2. The accuracy of a cross-validation is over the rows of all folds together.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import QUOTED, lacking
from fwsvm.data.splits import evenly_spaced, fold, holdout, take
from fwsvm.errors import DataError, shortened
from fwsvm.experiments.experiment import Selection, ValidationRule
from fwsvm.status import Status, is_finite

if TYPE_CHECKING:
    from fwsvm.experiments.plan import Cell

#: Relative gap of the runs of a search by exact kernel methods: it chooses values as good as 1e-3 does in less time
#: (`benchmarks/folds.py`).
SEARCH_TOLERANCE = 0.1


def validation_mask(codes: np.ndarray, rule: ValidationRule, seed: int, part: int) -> np.ndarray:
    """Return a boolean mask (m,) of the rows held out for validation.

    With a holdout every class keeps a training row. Folds are not adjusted.
    """
    return fold(codes, rule.folds, part, seed) if rule.folds else holdout(codes, rule.holdout or 0.0, seed)


def masks(codes: np.ndarray, rule: ValidationRule, seed: int) -> Iterator[np.ndarray]:
    """Yield the boolean mask (m,) of the rows held out by each part."""
    return (validation_mask(codes, rule, seed, part) for part in range(rule.parts))


def validation_count(m: int, rule: ValidationRule, part: int) -> int:
    """Return how many of m rows are held out."""
    if rule.folds:
        return len(range(part, m, rule.folds))
    return int(evenly_spaced(m, rule.holdout or 0.0).sum())


def refuse_lost_class(name: str, counts: np.ndarray, classes: tuple[str, ...]) -> None:
    """Raise `DataError` where a part leaves no row of a class to train on; ``counts`` (K,) are those left."""
    if (lost := lacking(counts, classes)) is not None:
        said = f"class {shortened(lost, QUOTED)} has too few rows to be in every training part"
        raise DataError(f"{name or 'the rows'}: {said}; add rows of it or leave it out")


def divided(data: Dataset, held_out: np.ndarray) -> Dataset:
    """Return a data set whose test rows are those held out, a mask (m,) of the training rows.

    Rows that are not scaled yet are scaled by the ranges of those left to train on.
    """
    train, test = (take(data.train, np.flatnonzero(which)) for which in (~held_out, held_out))
    return scaled(replace(data, train=train, test=test))


def refuse_few_rows(name: str, codes: np.ndarray, classes: tuple[str, ...], folds: int) -> None:
    """Raise `DataError` for fewer rows than folds, or a class with too few to be in every training part."""
    if len(codes) < folds:
        raise DataError(f"{name}: {len(codes)} rows cannot make {folds} folds")
    # a class with two rows has one in every training part
    refuse_lost_class(name, np.bincount(codes, minlength=len(classes)) - 1, classes)


@dataclass(frozen=True)
class Choice:
    """The selected parameters.

    Attributes
    ----------
    values : mapping of settings' fields to numbers
        The selected C, sigma2 or gamma; empty if no candidate has an accuracy.
    accuracy : float
        Validation accuracy of the selected candidate, 0 to 1.
    on_edge : tuple of str
        The parameters whose selected value is the smallest or largest candidate.
    tried : int
        How many candidates were judged.
    why_not : str
        Why none was selected, or empty.
    """

    values: Mapping[str, float]
    accuracy: float
    on_edge: tuple[str, ...] = ()
    tried: int = 0
    why_not: str = ""


def choose(
    selection: Selection, cells: Iterable["Cell"], rows: Mapping[str, Mapping[str, str]], training_rows: int
) -> Choice:
    """Return the best candidate of a selection, whose cells are given.

    ``rows`` are those of runs.csv by run id; each part holds out some of the ``training_rows``.
    """
    names, rule = tuple(selection.candidates.varied), selection.held_out
    sizes = [validation_count(training_rows, rule, part) for part in range(rule.parts)]
    right: Counter[tuple[float, ...]] = Counter()
    failed: dict[tuple[float, ...], str] = {}
    for cell in cells:
        point = tuple(getattr(cell.settings, name) for name in names)
        row = rows.get(cell.run_id, {"status": "missing", "message": "not run"})
        if (accuracy := _accuracy(row)) is not None:
            right[point] += round(accuracy * sizes[cell.part or 0])
        else:
            done = Status(row["status"]).done  # its message speaks of something else
            failed.setdefault(point, "its runs have no accuracy or objective" if done else row["message"])
    judged = right.keys() - failed.keys()
    if not judged:
        return Choice({}, math.nan, why_not=f"no candidate could be judged: {next(iter(failed.values()))}")

    def rank(point: tuple[float, ...]) -> tuple[float, ...]:
        values = dict(zip(names, point, strict=True))
        return -right[point], values.get("C", 0.0), values.get("gamma", -values.get("sigma2", 0.0))

    best = min(judged, key=rank)
    tried = zip(names, best, zip(*judged, strict=True), strict=True)
    on_edge = tuple(
        name for name, value, some in tried if min(some) < max(some) and value in {min(some), max(some)}
    )
    return Choice(dict(zip(names, best, strict=True)), right[best] / sum(sizes), on_edge, len(judged))


def _accuracy(row: Mapping[str, str]) -> float | None:
    """Return the validation accuracy of a finished run with finite numbers, else None."""
    if not Status(row["status"]).done:
        return None
    accuracy, objective = (float(row.get(name) or "nan") for name in ("test_accuracy", "objective"))
    return accuracy if 0.0 <= accuracy <= 1.0 and is_finite(objective, row["flags"]) else None
