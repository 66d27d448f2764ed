"""Rows held out in turn: the parts of a data set, and what is trained without each of them.

A part serves the parameter search of an experiment (`fwsvm.experiments.run`), cross-validation (``fwsvm cv``), the
choice of C and width (``fwsvm easy``), and the sigmoids of probabilities. Parts are stratified and depend on labels and
seed alone, so they are the same for every method, setting, worker and machine.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import QUOTED, encode, lacking
from fwsvm.data.splits import evenly_spaced, fold, holdout, take
from fwsvm.errors import DataError, clipped
from fwsvm.experiments.experiment import ValidationRule


def validation_mask(codes: np.ndarray, rule: ValidationRule, seed: int, part: int) -> np.ndarray:
    """Return a boolean mask (m,) of the rows held out for validation.

    With a holdout every class keeps a training row. Folds are not adjusted.
    """
    return fold(codes, rule.folds, part, seed) if rule.folds else holdout(codes, rule.holdout or 0.0, seed)


def validation_count(m: int, rule: ValidationRule, part: int) -> int:
    """Return how many of m rows are held out."""
    if rule.folds:
        return len(range(part, m, rule.folds))
    return int(evenly_spaced(m, rule.holdout or 0.0).sum())


def refuse_more_folds(name: str, rows: int, folds: int) -> None:
    """Raise `DataError` where there are fewer rows than folds."""
    if rows < folds:
        raise DataError(f"{name}: {rows} rows cannot make {folds} folds")


def refuse_lost_class(name: str, counts: np.ndarray, classes: tuple[str, ...]) -> None:
    """Raise `DataError` where a part leaves no row of a class to train on; ``counts`` (K,) are those left."""
    if (lost := lacking(counts, classes)) is not None:
        raise DataError(
            f"{name}: class {clipped(lost, QUOTED)} has too few rows to be in every training part; add rows of it or "
            "leave it out"
        )


def divided(data: Dataset, held_out: np.ndarray) -> Dataset:
    """Return a data set whose test rows are those held out, a mask (m,) of the training rows.

    Rows that are not scaled yet are scaled by the ranges of those left to train on.
    """
    train, test = (take(data.train, np.flatnonzero(which)) for which in (~held_out, held_out))
    return scaled(replace(data, train=train, test=test))


def parts(data: Dataset, rule: ValidationRule, seed: int) -> Iterator[Dataset]:
    """Yield the data set with each part held out in turn.

    Raises
    ------
    DataError
        There are fewer rows than folds, or a class has too few rows to be in every training part.
    """
    codes = encode(data.train.labels, data.classes)
    refuse_more_folds(data.name, len(codes), rule.parts)
    masks = [validation_mask(codes, rule, seed, part) for part in range(rule.parts)]
    for held_out in masks:
        refuse_lost_class(data.name, np.bincount(codes[~held_out], minlength=len(data.classes)), data.classes)
    for held_out in masks:
        yield divided(data, held_out)
