"""What a program gives to `fwsvm.api`: settings, data sets, rows and labels, checked and converted.

What is wrong with them is a `UsageError` or a `DataError`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fwsvm import data as data_sets
from fwsvm._mapped import RowMatrix, is_mapped
from fwsvm.data.class_weight import by_label_text
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.labels import as_numbers, label_text, number, refuse_regression
from fwsvm.data.labels import classes as classes_of
from fwsvm.data.scaled_copies import rows_sha256
from fwsvm.errors import DataError, UsageError, nearest, not_one_of
from fwsvm.kernels.rows import canonical
from fwsvm.problems.precomputed import with_numbers
from fwsvm.scaling import SCALINGS
from fwsvm.solvers import Settings
from fwsvm.solvers.unused_options import refuse_what_does_nothing


def settings_of(given: dict[str, Any]) -> Settings:
    """Return settings of keyword arguments; an unknown one, and one that would do nothing, are refused."""
    names = [field.name for field in fields(Settings)]
    for name in given:
        if name not in names:
            hint = nearest(name, names, f"the settings are {', '.join(names)}")
            raise UsageError(f"there is no setting {name!r}; {hint}")
    if isinstance(weights := given.get("class_weight"), Mapping):
        given = {**given, "class_weight": by_label_text(weights)}
    settings = Settings(**given)
    refuse_what_does_nothing(settings)
    return settings


def data_set_of(data: Any, y: ArrayLike | None, scale: str | None, *, given: bool) -> Dataset:
    """Return the data set to train on, without test rows, and not scaled unless it was scaled before.

    Where kernel values are ``given``, files have the number of a row at index 0, and arrays get it.
    """
    if isinstance(data, str | Path | Dataset):
        if y is not None:
            raise UsageError("a data set has labels of its own; give y with an array of rows only")
        found = (
            data
            if isinstance(data, Dataset)
            else data_sets.load(data, scale=scale, raw=True, zero_based=given or None)
        )
    elif y is None:
        raise UsageError("rows need labels: train(X, y)")
    else:
        rows, labels = rows_of(data), labels_of(y)
        if rows.shape[0] != len(labels):
            raise UsageError(f"there are {len(labels)} labels for rows of shape {rows.shape}")
        rows = with_numbers(rows) if given else rows
        # by its digest a scaled copy of mapped rows, a file as well, is told from those of other rows
        digest = rows_sha256(rows) if is_mapped(rows) and scale not in {None, "none"} else ""
        classes = classes_of(labels)
        refuse_regression(labels, classes)
        found = Dataset("", LabelledRows(rows, labels), None, classes, digest)
    how = found.scaling if scale is None else scale
    if how not in SCALINGS:
        raise UsageError(not_one_of("scale", SCALINGS, how))
    if how != found.scaling and found.train.ranges is not None:
        raise UsageError(
            f"{found.name} was scaled to {found.scaling} when it was loaded; load it with raw=True"
        )
    return replace(found, test=None, scaling=how)


class ConvertedBlocks:
    """Blocks converted to rows of float64 and labels of one type."""

    def __init__(self, blocks: Iterable[tuple[ArrayLike, ArrayLike]]) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[tuple[RowMatrix, np.ndarray]]:
        for X, y in self.blocks:
            yield rows_of(X), labels_of(y)


def rows_of(X: Any) -> RowMatrix:
    """Return rows as float64, C-contiguous or CSR with sorted indices; mapped ones may stay float32."""
    if sparse.issparse(X):
        array = canonical(sparse.csr_array(X, dtype=np.float64)) if X.ndim == 2 else X
    elif is_mapped(X) and X.dtype in (np.float32, np.float64) and X.flags.c_contiguous:
        array = np.asarray(X)  # as they lie in the file, which may be larger than memory
    else:
        array = np.ascontiguousarray(numbers_of("rows", X))
    if array.ndim != 2:
        raise UsageError(f"rows are an array of two dimensions, not of shape {np.shape(X)}")
    return array


def numbers_of(what: str, values: Any) -> np.ndarray:
    """Return values as float64; ``what`` they are is named where they are no numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what} must be numbers: {error}") from None


def labels_of(y: ArrayLike) -> np.ndarray:
    """Return labels as `LabelledRows` has them: float64, or text if they are not numbers."""
    labels = np.asarray(y)
    if labels.dtype.kind == "O" and any(map(_is_lacking, labels.ravel())):
        raise DataError("rows without labels have no classes")
    if labels.ndim != 1:
        raise UsageError(f"labels are an array of one dimension, not of shape {labels.shape}")
    if labels.dtype.kind not in "biuf":
        return labels.astype(str)
    return as_numbers(labels)


def _is_lacking(label: object) -> bool:
    """Return whether a label is None, NaN, or what pandas has in place of these."""
    return (
        label is None
        or type(label).__name__ in {"NAType", "NaTType"}
        or (isinstance(label, float) and math.isnan(label))
    )


def label_values(classes: tuple[str, ...]) -> np.ndarray:
    """Return the classes of a machine as labels of one type: int64 if all are whole, else float64, else text.

    Numbers that float64 would round are text.
    """
    values = [number(name) for name in classes]
    if any(value is None or label_text(value) != name for value, name in zip(values, classes, strict=True)):
        return np.array(classes)
    array = np.array(values, dtype=np.float64)
    whole = (array == np.rint(array)).all() and (np.abs(array) <= 2**53).all()
    return array.astype(np.int64) if whole else array
