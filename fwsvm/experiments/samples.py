"""The rows an experiment uses: loaded by name, thinned to a sample, divided for validation.

All is seeded and stratified: a sample or a fold depends on the labels and the seed alone, so it is the same
for every method, setting, worker and machine.
"""

import functools
import hashlib
from dataclasses import dataclass, replace

import numpy as np

from fwsvm import data
from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset, Table
from fwsvm.data.labels import classes, encode
from fwsvm.data.splits import permutation, take
from fwsvm.errors import DataError
from fwsvm.experiments.experiment import Data, HeldOut


@dataclass(frozen=True)
class Facts:
    """What is known of a data set once it was loaded; ``missing`` says why it could not be, if so."""

    fingerprint: str = ""
    rows: int = 0
    test_rows: int = 0
    features: int = 0
    classes: int = 0
    notices: tuple[str, ...] = ()
    missing: str = ""


def facts(wanted: Data, *, offline: bool = False) -> Facts:
    """Load the data set and return its facts."""
    try:
        found = load(wanted, offline=offline)
    except DataError as error:
        return Facts(missing=str(error))
    return Facts(
        fingerprint=found.fingerprint,
        rows=found.train.rows,
        test_rows=found.test.rows if found.test is not None else 0,
        features=found.train.features,
        classes=len(found.classes),
        notices=found.notices,
    )


@functools.lru_cache(maxsize=1)
def load(wanted: Data, *, offline: bool = False) -> Dataset:
    """Return a data set, thinned to the rows wanted; the last one stays in memory.

    With ``offline`` no server is asked.

    Raises
    ------
    DataError
        It is not to be had.
    UsageError
        There is no data set of that name.
    """
    found = data.load(wanted.name, source=wanted.source, seed=wanted.seed, offline=offline, raw=True)
    divided = found.test is None and not found.lacking and wanted.test_fraction is not None
    whole = scaled(_with_test_rows(found, wanted) if divided else found)
    train = thinned(whole.train, wanted.rows, wanted.seed)
    test = thinned(whole.test, wanted.test_rows, wanted.seed) if whole.test is not None else None
    if not divided and train is whole.train and test is whole.test:
        return whole
    drawn = (wanted.rows, wanted.test_rows, wanted.test_fraction, wanted.seed)
    named = hashlib.sha256(f"{found.fingerprint} {drawn}".encode()).hexdigest()
    of = f"{train.rows:,} rows to train on, {test.rows if test is not None else 0:,} to test on"
    notice = f"{found.name}: {of}, drawn by seed {wanted.seed} from {found.train.rows:,} training rows"
    if found.test is not None:
        notice += f" and {found.test.rows:,} test rows"
    return replace(whole, train=train, test=test, fingerprint=named, notices=(*found.notices, notice))


def _with_test_rows(found: Dataset, wanted: Data) -> Dataset:
    """Divide the training rows."""
    codes = encode(found.train.labels, found.classes)
    drawn = held_out_rows(codes, HeldOut(holdout=wanted.test_fraction), wanted.seed, 0)
    rest, test = take(found.train, np.flatnonzero(~drawn)), take(found.train, np.flatnonzero(drawn))
    return replace(found, train=rest, test=test)


def thinned(table: Table, rows: float | None, seed: int) -> Table:
    """Return a sample of so many rows, or of that part of them, in the file's order, each class in proportion."""
    rows = table.rows if rows is None else max(2, round(rows * table.rows)) if rows < 1 else round(rows)
    if rows >= table.rows:
        return table
    kept = spread(encode(table.labels, classes(table.labels)), seed)[_marks(table.rows, rows / table.rows)]
    return take(table, np.sort(kept))


def held_out_rows(codes: np.ndarray, rule: HeldOut, seed: int, part: int) -> np.ndarray:
    """Return which rows are held out for validation, a truth for each: shape (m,).

    A part held out leaves every class a row to train on: one that would lose all keeps one, for which a row of the
    class with most left goes out. Folds are what they are.
    """
    order = spread(codes, seed)
    chosen = np.zeros(len(codes), dtype=bool)
    marks = (
        np.arange(len(codes)) % rule.folds == part if rule.folds else _marks(len(codes), rule.holdout or 0.0)
    )
    chosen[order[marks]] = True
    if not rule.folds:
        for lost in np.setdiff1d(codes, codes[~chosen]):
            left = np.bincount(codes[~chosen], minlength=1)
            if left.max() > 1:
                chosen[np.flatnonzero((codes == left.argmax()) & ~chosen)[0]] = True
                chosen[np.flatnonzero(codes == lost)[0]] = False
    return chosen


def held_out_count(m: int, rule: HeldOut, part: int) -> int:
    """Return how many of m rows are held out."""
    if rule.folds:
        return len(range(part, m, rule.folds))
    return int(_marks(m, rule.holdout or 0.0).sum())


def spread(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return the rows in random order within each class, class after class: shape (m,).

    Whatever takes evenly spaced members of it takes from each class its share, up to one row.
    """
    order = permutation(len(codes), seed)
    return order[np.argsort(codes[order], kind="stable")]


def _marks(m: int, part: float) -> np.ndarray:
    """Return m truths, evenly spaced, of which ``part`` are true."""
    steps = np.floor(np.arange(m + 1) * part + 0.5)
    return np.asarray(np.diff(steps) > 0)
