"""The rows of an experiment: loaded by name, subsampled, split for validation.

Samples and folds are stratified and depend on the labels and the seed alone, so they are the same for every method,
setting, worker and machine.
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
from fwsvm.data.splits import holdout, subsample
from fwsvm.errors import DataError, shortened
from fwsvm.experiments.experiment import DataSpec
from fwsvm.experiments.validation import divided


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
            m = int(row["rows"]) if row["role"] == "final" else found.rows
            found = replace(found, fingerprint=row["data_sha256"], rows=m)
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
        codes = encode(found.train.labels, found.classes)
        whole = divided(found, holdout(codes, wanted.test_fraction or 0.0, wanted.seed))
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
    of = f"{train.rows:,} rows to train on, {test.rows if test is not None else 0:,} to test on"
    notice = f"{found.name}: {of}, drawn by seed {wanted.seed} from {found.train.rows:,} training rows"
    if found.test is not None:
        notice += f" and {found.test.rows:,} test rows"
    return replace(whole, train=train, test=test, fingerprint=named, notices=(*found.notices, notice))
