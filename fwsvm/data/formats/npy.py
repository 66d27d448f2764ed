"""Rows in numpy's own format: ``NAME.npy`` holds an array of rows, ``NAME.labels.npy`` their labels.

Large arrays are mapped, not read, so they may be more than memory; float32 rows then stay float32. For these no parsed
copy is made: the file is one.
"""

from pathlib import Path

import numpy as np

from fwsvm import _mapped
from fwsvm.data.dataset import LabelledRows
from fwsvm.errors import DataError
from fwsvm.files.folders import require_file


def labels_path(path: Path) -> Path:
    """Return the file of the labels of a file of rows."""
    return path.with_suffix(".labels.npy")


def read(path: Path, *, unlabelled: bool = False) -> LabelledRows:
    """Read rows (m, n) of numbers and labels (m,), numbers or text; with ``unlabelled`` labels may be missing.

    Raises
    ------
    DataError
        A file that is missing, cut off or no ``.npy`` file, or arrays that are no rows and labels.
    """
    X = _array(path)
    beside = labels_path(path)
    if X.ndim != 2 or X.dtype.kind not in "biuf" or not X.size:
        raise DataError(
            f"{path} holds an array of {X.dtype}, shape {X.shape}; rows of numbers are wanted, (m, n)"
        )
    labels = np.full(len(X), np.nan) if unlabelled and not beside.exists() else _array(beside)
    if labels.shape != (len(X),) or labels.dtype.kind not in "biufU":
        raise DataError(
            f"{beside} holds an array of {labels.dtype}, shape {labels.shape}; the {len(X):,} rows of {path} have a "
            "label each"
        )
    if labels.dtype.kind != "U":
        labels = labels.astype(np.float64)
        wrong = np.flatnonzero(~np.isfinite(labels))
        if 0 < len(wrong) < len(labels):  # else no row has a label
            raise DataError(
                f"{beside}: the label of row {wrong[0] + 1} is {labels[wrong[0]]}, not a finite number"
            )
    if path.stat().st_size < _mapped.LARGE:
        X = np.array(X, np.float64, order="C")
    elif X.dtype not in (np.float32, np.float64) or not X.flags.c_contiguous:
        raise DataError(
            f"{path}: so large an array must be of float32 or float64 in C order, since it is not copied; "
            "write it with numpy.save(file, numpy.ascontiguousarray(X, numpy.float32))"
        )
    if not _mapped.all_finite(X):
        raise DataError(f"{path}: a value is not a finite number")
    return LabelledRows(X, labels)


def _array(path: Path) -> np.ndarray:
    """Return the mapped array of a file."""
    require_file(path)
    try:
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except (OSError, ValueError, EOFError) as error:
        raise DataError(
            f"{path} is no complete .npy file of numbers or text: {' '.join(str(error).split())}"
        ) from None
