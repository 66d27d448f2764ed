"""The rows of an experiment: loaded by name, subsampled, and parts of them held out in turn.

A part serves the parameter search of an experiment (`fwsvm.experiments.run`), cross-validation (``fwsvm cv``), the
choice of C and width (``fwsvm easy``), and the sigmoids of probabilities. Samples and parts are stratified and depend
on the labels and the seed alone, so they are the same for every method, setting, worker and machine.
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fwsvm import data
from fwsvm.data import lockfile
from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import QUOTED, encode, lacking
from fwsvm.data.splits import fold, holdout, subsample, take
from fwsvm.errors import DataError, shortened
from fwsvm.experiments.experiment import DataSpec, ValidationRule


@dataclass(frozen=True)
class DataInfo:
    """Name in rows, fingerprint and training rows of a data set; ``missing`` says why it could not be loaded."""

    name: str = ""
    fingerprint: str = ""
    rows: int = 0
    missing: str = ""


def info_of_rows(wanted: DataSpec, rows: Iterable[Mapping[str, str]]) -> DataInfo:
    """Return what finished runs on a data set tell of it, without loading it; without any only its name is known."""
    found = DataInfo(name_in_rows(wanted.name))
    for row in rows:
        if row["dataset"] == found.name and row["rows"]:
            # of a search the rows are those that were not held out
            found = replace(
                found,
                fingerprint=row["data_sha256"],
                rows=int(row["rows"]) if row["role"] == "final" else found.rows,
            )
    return found


def name_in_rows(name: str) -> str:
    """Return the name that rows have for data that cannot be loaded: that of `load` where it can be."""
    if Path(name).is_file():
        return str(Path(name))
    entry = lockfile.read().find(name)
    return name if entry is None else entry.name


@functools.lru_cache(maxsize=1)
def load(wanted: DataSpec, *, offline: bool = False) -> Dataset:
    """Return a data set with the requested rows; the last one stays in memory.

    With ``offline`` no server is asked.

    Raises
    ------
    DataError
        The data cannot be found or read.
    UsageError
        There is no data set of that name.
    """
    found = data.load(
        wanted.name,
        test=wanted.test,
        label=wanted.label,
        source=wanted.source,
        seed=wanted.seed,
        offline=offline,
        zero_based=wanted.zero_based,
        scale=wanted.scale,
        raw=True,
    )
    is_divided = found.test is None and not found.lacking and wanted.test_fraction is not None
    if is_divided:
        whole = divided(found, holdout(found.codes, wanted.test_fraction or 0.0, wanted.seed))
    else:
        whole = scaled(found)
    train = subsample(whole.train, wanted.rows, wanted.seed)
    counts = np.bincount(encode(train.labels, whole.classes), minlength=len(whole.classes))
    if train is not whole.train and (lost := lacking(counts, whole.classes)) is not None:
        raise DataError(
            f"{whole.name}: {train.rows:,} of its rows hold none of class {shortened(lost, QUOTED)}; take more rows"
        )
    test = subsample(whole.test, wanted.test_rows, wanted.seed) if whole.test is not None else None
    if not is_divided and train is whole.train and test is whole.test:
        return whole
    drawn = (wanted.rows, wanted.test_rows, wanted.test_fraction, wanted.seed)
    named = hashlib.sha256(f"{found.fingerprint} {drawn}".encode()).hexdigest()
    return replace(whole, train=train, test=test, fingerprint=named)


def validation_mask(codes: np.ndarray, rule: ValidationRule, seed: int, part: int) -> np.ndarray:
    """Return a boolean mask (m,) of the rows held out for validation.

    With a holdout every class keeps a training row. Folds are not adjusted.
    """
    return fold(codes, rule.folds, part, seed) if rule.folds else holdout(codes, rule.holdout or 0.0, seed)


def refuse_lost_class(name: str, counts: np.ndarray, classes: tuple[str, ...]) -> None:
    """Raise `DataError` where a part leaves no row of a class to train on; ``counts`` (K,) are those left."""
    if (lost := lacking(counts, classes)) is not None:
        raise DataError(
            f"{name or 'the rows'}: class {shortened(lost, QUOTED)} has too few rows to be in every training part; "
            "add rows of it or leave it out"
        )


def divided(data: Dataset, held_out: np.ndarray) -> Dataset:
    """Return a data set whose test rows are those held out, a mask (m,) of the training rows.

    Rows that are not scaled yet are scaled by the ranges of those left to train on.
    """
    train, test = (take(data.train, np.flatnonzero(which)) for which in (~held_out, held_out))
    return scaled(replace(data, train=train, test=test))


def refuse_folds(name: str, rows: int, folds: int) -> None:
    """Raise `DataError` for fewer rows than folds."""
    if rows < folds:
        raise DataError(f"{name}: {rows} rows cannot make {folds} folds")


def refuse_few_rows(name: str, codes: np.ndarray, classes: tuple[str, ...], folds: int) -> None:
    """Raise `DataError` for fewer rows than folds, or a class with too few to be in every training part."""
    refuse_folds(name, len(codes), folds)
    # a class with two rows has one in every training part
    refuse_lost_class(name, np.bincount(codes, minlength=len(classes)) - 1, classes)
