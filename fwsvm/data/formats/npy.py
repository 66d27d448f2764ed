"""Rows in numpy's own format: ``NAME.npy`` holds an array of rows, ``NAME.labels.npy`` their labels.

Large arrays are mapped, not read, so they may be more than memory; float32 rows then stay float32. For these no parsed
copy is made: the file is one.
"""

import tokenize
from pathlib import Path

import numpy as np

from fwsvm import _mapped
from fwsvm._mapped import all_finite
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.labels import objection
from fwsvm.errors import DataError


def labels_path(path: Path) -> Path:
    """Return the file of the labels of a file of rows."""
    return path.with_suffix(".labels.npy")


def read(
    path: str | Path, *, unlabelled: bool = False, checked: bool = True
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Read rows (m, n) of numbers and labels (m,), numbers or text; with ``unlabelled`` labels may be missing.

    A large file is gone through for values that are no finite numbers, unless it is not to be ``checked``: `refuse` is
    then for who goes through it anyhow.

    Raises
    ------
    DataError
        A file that is missing, cut off or no ``.npy`` file, or arrays that are no rows and labels.
    """
    path = Path(path)
    X = _array(path)
    if X.ndim != 2 or X.dtype.kind not in "biuf" or not X.size:
        raise DataError(
            f"{path} holds an array of {X.dtype}, shape {X.shape}; rows of numbers are wanted, (m, n)"
        )
    m, beside = len(X), labels_path(path)
    if unlabelled and not beside.exists():
        labels: np.ndarray = np.full(m, np.nan)
    else:
        labels = _array(beside)
    if labels.shape != (m,) or labels.dtype.kind not in "biufU":
        raise DataError(
            f"{beside} holds an array of {labels.dtype}, shape {labels.shape}; the {m:,} rows of {path} have a "
            "label each"
        )
    if labels.dtype.kind != "U":
        labels = _numbers(labels, beside)
    elif wrong := next(filter(None, map(objection, np.unique(labels).tolist())), ""):
        raise DataError(f"{beside}: {wrong}")
    if path.stat().st_size < _mapped.LARGE:
        X = np.ascontiguousarray(X, np.float64)
        refuse(path, X)
    elif X.dtype not in (np.float32, np.float64) or not X.flags.c_contiguous:
        order = "C" if X.flags.c_contiguous else "Fortran"
        raise DataError(
            f"{path}: so large an array is used as it lies in the file, so it must be of float32 or float64 in C order "
            f"(it is of {X.dtype} in {order} order); write it with numpy.save(file, numpy.ascontiguousarray(X, "
            "numpy.float32))"
        )
    elif checked:
        for some in _mapped.blocks(X):
            refuse(path, X[some])
    return LabelledRows(X, labels), ()


def refuse(path: Path, rows: np.ndarray) -> None:
    """Refuse rows of a file, with `DataError`, where a value is no finite number."""
    if not all_finite(rows):
        raise DataError(f"{path}: a value is not a finite number")


def _numbers(labels: np.ndarray, path: Path) -> np.ndarray:
    """Return labels as float64; all of them NaN are rows without labels, some of them are an error."""
    numbers = labels.astype(np.float64, copy=False)
    with np.errstate(invalid="ignore"):  # the largest of uint64 have no way back
        is_rounded = labels.dtype.kind in "iu" and bool((numbers.astype(labels.dtype) != labels).any())
    if is_rounded:
        raise DataError(
            f"{path}: labels are whole numbers beyond 2^53, which would be rounded; give them as text"
        )
    wrong = ~np.isfinite(numbers)
    if wrong.any() and not np.isnan(numbers).all():
        row = int(np.argmax(wrong))
        what = "row {} has no label (it is NaN), and others have one"
        what = what if np.isnan(numbers[row]) else "the label of row {} is not a finite number"
        raise DataError(f"{path}: {what.format(row + 1)}")
    return numbers


def _array(path: Path) -> np.ndarray:
    """Return the array of a file: in memory, or mapped where the file is large.

    Small files are mapped first, too: how much the header claims is held against the file before room is made for it.
    """
    try:
        large = path.stat().st_size >= _mapped.LARGE
        found = np.lib.format.open_memmap(path, mode="r")
        return np.asarray(found) if large else np.array(found)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (
        OSError,
        ValueError,
        EOFError,
        OverflowError,
        TypeError,
        SyntaxError,
        RecursionError,
        tokenize.TokenError,  # of headers that are no dictionary
    ) as error:
        said = " ".join(str(error).split())
        raise DataError(f"{path} is no complete .npy file of numbers or text: {said}") from None
