"""Checks and conversions of what a Python program passes in: settings, data sets, rows, weights and labels.

An invalid input is a `UsageError` or a `DataError`.
"""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fwsvm import data as data_sets
from fwsvm._mapped import RowMatrix, is_mapped
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.labels import of_names, require_two, weights_by_label
from fwsvm.errors import DataError, SettingError, UsageError
from fwsvm.kernels.kernel import SHARED
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.kernels.rows import canonical
from fwsvm.plugins import entry_of
from fwsvm.problems.precomputed import with_numbers
from fwsvm.scaling import SCALINGS
from fwsvm.solvers import Settings
from fwsvm.solvers.registry import FAMILIES, method
from fwsvm.solvers.resolve import check, check_values, search_of

MOST_EXACT = 2**53  # whole numbers up to it are exact in float64


def make_settings(given: dict[str, Any]) -> Settings:
    """Return settings from keyword arguments; refuse an unknown one, and one that has no effect."""
    for name in given:
        entry_of(Settings.__dataclass_fields__, "setting", name)
    if isinstance(weights := given.get("class_weight"), Mapping):
        given = {**given, "class_weight": weights_by_label(weights.items())}
    settings = Settings(**given)
    refuse_what_does_nothing(settings)
    return settings


def refuse_what_does_nothing(settings: Settings) -> None:
    """Raise `SettingError` for a value that is not allowed, or that differs from its default and would change nothing.

    Experiments are not held to this: in a grid one setting may be about some of the methods only.
    """
    check_values(settings)
    chosen = method(settings.method)
    family = FAMILIES[chosen.family]
    name = settings.kernel or family.default_kernel
    kernel = f"the {name} kernel"
    known = kernel_family(name)
    can_sample = "sampled" in family.searches
    samples = can_sample and search_of(settings) == "sampled"
    unsampled = "" if samples else "full search" if can_sample else chosen.name
    width = "a width that is given" if (settings.gamma, settings.sigma2) != (None, None) else ""
    idle = {
        **{each: kernel for each in SHARED if each not in known.parameters},
        "sigma2": "" if known.sigma2 else kernel,
        "width_rule": width if len(known.widths) > 1 else kernel,
        "search": "" if family.searches else chosen.name,
        "cache_mib": "" if family.keeps_values else chosen.name,
        "protocol": "" if can_sample or "meb" in chosen.stops else chosen.name,
        "first_level": "" if can_sample else chosen.name,
        "candidates": unsampled or ("" if chosen.name == "cvm" else chosen.name),
        "retries": unsampled,
        "gradient": unsampled,
    }
    for setting, whose in idle.items():
        if whose and getattr(settings, setting) != getattr(Settings, setting):
            raise SettingError(f"{setting} means nothing to {whose}; leave it out")


def make_dataset(
    data: Any, y: ArrayLike | None, scale: str | None, *, precomputed: bool
) -> tuple[Dataset, np.ndarray | None]:
    """Return the data set to train on, without test rows and not yet scaled, and the values of its classes, (K,).

    The values are None where the labels come from a file of numbers. In files of a ``precomputed`` kernel index 0 is
    the number of the row; arrays get such a column.
    """
    if isinstance(data, str | Path):
        data = data_sets.load(data, scale=scale, raw=True, zero_based=True if precomputed else None)
    if isinstance(data, Dataset):
        if y is not None:
            raise UsageError("a data set has its own labels; give y with an array of rows only")
        values = np.array(data.classes) if data.train.labels.dtype.kind == "U" else None
    elif y is None:
        raise UsageError("rows need labels: train(X, y)")
    else:
        names, rows, y = column_names(data), as_rows(data), check_labels(y)
        labels = label_keys(y)
        if rows.shape[0] != len(labels):
            raise UsageError(f"there are {len(labels)} labels for rows of shape {rows.shape}")
        if is_mapped(rows) and scale not in {None, "none"}:
            raise UsageError(
                "rows of a mapped array are scaled from their file: give the path of the .npy file"
            )
        rows = with_numbers(rows) if precomputed else rows
        data = Dataset("", LabelledRows(rows, labels, feature_names=names), None, require_two(labels), "")
        values = np.empty(len(data.classes), y.dtype)
        values[data.codes[::-1]] = y[::-1]  # the first of each class stays
    chosen = data.scaling if scale is None else scale
    check("scale", chosen, SCALINGS)
    if chosen != data.scaling and data.train.ranges is not None:
        raise UsageError(
            f"{data.name} was scaled to {data.scaling} when it was loaded; load it with raw=True"
        )
    if data.test is not None or chosen != data.scaling:
        data = replace(data, test=None, scaling=chosen)
    return data, values


def as_rows(X: Any) -> RowMatrix:
    """Return rows as float64, C-contiguous or CSR with sorted indices; mapped ones may stay float32."""
    array: Any
    if not isinstance(X, np.ndarray) and scipy.sparse.issparse(X):
        array = canonical(scipy.sparse.csr_array(_real("rows", X), dtype=np.float64))
    elif is_mapped(X) and X.dtype in (np.float32, np.float64) and X.flags.c_contiguous:
        array = np.asarray(X)  # as they lie in the file, which may be larger than memory
    else:
        array = np.ascontiguousarray(as_numbers("rows", X))
    if array.ndim != 2:
        raise UsageError(f"rows are an array of two dimensions, not of shape {np.shape(X)}")
    return array


def as_numbers(what: str, values: Any) -> np.ndarray:
    """Return values as float64; `UsageError` names ``what`` they are."""
    refuse_masked(what, values)
    try:
        array: np.ndarray = _real(what, np.asarray(values)).astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise UsageError(
            f"{what} must be numbers; turn dates and text into numbers, or leave them out"
        ) from None
    return array


def _real(what: str, array: Any) -> Any:
    """Return an array; refuse numbers and times of which a conversion to float64 would lose a part."""
    if array.dtype.kind in "cmM":
        raise UsageError(f"{what} must be real numbers, not {array.dtype}")
    return array


def refuse_masked(what: str, values: Any) -> None:
    """Raise `UsageError` where an array has masked values, which a conversion would unmask."""
    if np.ma.is_masked(values):
        raise UsageError(f"{what} have masked values; fill them, or leave these rows out")


def column_names(X: Any) -> tuple[str, ...]:
    """Return the names of a data frame's columns; none for arrays, and where a name is not text."""
    names = tuple(getattr(X, "columns", ()))
    return names if all(isinstance(name, str) for name in names) else ()


def check_labels(y: Any) -> np.ndarray:
    """Return labels as an array of shape (m,) with the type that predictions have.

    Raises
    ------
    UsageError
        Masked labels, or those of several types.
    DataError
        A row has no label.
    """
    refuse_masked("labels", y)
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise UsageError(f"labels are an array of one dimension, not of shape {labels.shape}")
    # of a list of text and other values numpy makes text
    each = y if isinstance(y, list | tuple) else labels.tolist() if labels.dtype.kind == "O" else []
    kinds = {type(label) for label in each}
    nothing = any(kind.__name__ in {"NoneType", "NAType"} for kind in kinds)
    if nothing or any(label != label for label in each) or (labels != labels).any():  # noqa: PLR0124
        raise DataError("rows without labels have no classes")
    if not any(all(issubclass(kind, types) for kind in kinds) for types in (str, Real | np.bool_)):
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise UsageError(f"labels must be all text or all numbers, not of the types {found}")
    return labels


def label_keys(labels: np.ndarray) -> np.ndarray:
    """Return labels, shape (m,), that `check_labels` passed, as `LabelledRows` has them: float64 or text."""
    if labels.dtype.kind == "O":
        labels = np.array(labels.tolist())
    kind = labels.dtype.kind
    exact = kind in "bf" or (kind in "iu" and np.abs(labels.astype(np.float64)).max(initial=0.0) < MOST_EXACT)
    return labels.astype(np.float64 if exact else str)


def label_values(classes: tuple[str, ...]) -> np.ndarray:
    """Return classes of a file as labels of one type: int64 if all are whole, else float64, else text."""
    values: np.ndarray = of_names([*classes], np.arange(len(classes)))
    is_whole = values.dtype.kind == "f" and np.all((values % 1 == 0) & (np.abs(values) <= MOST_EXACT))
    return values.astype(np.int64) if is_whole else values
