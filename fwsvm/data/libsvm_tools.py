"""LIBSVM's svm-scale and subset.py: rows scaled by the ranges of their features, and sampled, as lines of text.

A range file has a line ``x``, the interval that ranges are mapped to, and ``index minimum maximum`` for each feature
that varies.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._mapped import RowMatrix, fitted, in_memory, slices
from fwsvm.data.formats import loader_of, svmlight
from fwsvm.data.formats.text_files import open_text
from fwsvm.data.inputs import read_rows
from fwsvm.data.labels import Labels
from fwsvm.errors import DataError, UsageError, counted
from fwsvm.files.folders import require_file

BLOCK_VALUES = 1 << 22  # numbers held densely at a time


def scaled_text(X: RowMatrix, row_labels: Labels, ranges: scaling.Ranges) -> Iterator[str]:
    """Yield consecutive scaled rows, as svm-scale writes them.

    Where zero is not mapped to zero, only a few rows are held densely at a time.
    """
    n = max(X.shape[1], 1 + ranges.features.max(initial=0))
    for some in slices(X.shape[0], X.shape[0] * len(ranges.features), BLOCK_VALUES):
        part, _ = fitted(csr_array(in_memory(X, some)), n)
        part = csr_array(scaling.apply(part, ranges))
        yield from svmlight.text_blocks(part, row_labels[some], lambda value: f"{value:.6g}")


def read_ranges(path: Path) -> scaling.Ranges:
    """Read a range file; `DataError` where it is none."""
    require_file(path)
    try:
        mark, lower, upper, *numbers = path.read_text("utf-8").split()
        places = np.array(numbers[::3], np.int64)
        _, minima, maxima = np.array(numbers, np.float64).reshape(-1, 3).T
        if mark == "x" and (np.diff(places, prepend=0) > 0).all() and (minima < maxima).all():
            return scaling.Ranges(places - 1, minima, maxima, float(lower), float(upper))
    except ValueError:
        pass
    raise DataError(
        f"{path}: not a range file of features: a line 'x', an interval, and a line 'index minimum maximum' for each "
        "feature are expected"
    )


def lines_of(
    name_or_path: str | Path, label: str | None = None
) -> tuple[NDArray[np.int64], Callable[[NDArray[np.int64]], Iterator[str]]]:
    """Return numbers of the rows' classes (m,), and a function from ascending rows to their text.

    Rows of a file stay as they are written, those of a name are written anew, not scaled. ``label`` is the column of
    the labels of a CSV file.
    """
    path = Path(name_or_path)
    if not path.exists() or loader_of(path, label=label)["format"] != "svmlight":
        table = read_rows(name_or_path, label=label)
        codes = np.unique(table.labels, return_inverse=True)[1]
        return codes, lambda rows: svmlight.text_blocks(table.X[rows], table.labels[rows])

    def lines() -> Iterator[str]:
        with open_text(path) as stream:
            for line in stream:
                text = line.decode().lstrip()
                if text and not text.startswith("#"):
                    yield text.removesuffix("\n") + "\n"

    known: dict[str, int] = {}
    found = [known.setdefault(line.split("#")[0].split(None, 1)[0], len(known)) for line in lines()]
    return np.array(found, np.int64), lambda rows: itertools.compress(lines(), np.bincount(rows))


def draw(classes: NDArray[np.int64], size: int, seed: int, *, stratified: bool) -> NDArray[np.int64]:
    """Return ``size`` row numbers, ascending, drawn without replacement: uniformly, or as LIBSVM's subset.py does.

    That is stratified by class: classes are drawn from in ascending size, with shares rounded up and at least one row
    each, so the largest gets fewer. Unlike subset.py, one row is reserved for each class that has not been drawn from.
    """
    if not 0 < size <= len(classes):
        raise UsageError(f"{counted(size, 'row')} cannot be drawn from the {len(classes)} that there are")
    rng = np.random.default_rng(seed)
    if not stratified:
        return np.sort(rng.choice(len(classes), size, replace=False))
    counts = np.bincount(classes)
    if size < len(counts):
        raise UsageError(
            f"SIZE {size} is too few to have one of each of the {len(counts)} classes: take more, or draw with -s 1"
        )
    chosen: list[int] = []
    for served, code in enumerate(np.argsort(counts, kind="stable"), 1):
        reserved = len(chosen) + len(counts) - served
        share = min(size - reserved, math.ceil(int(counts[code]) * size / len(classes)))
        chosen += rng.choice(np.flatnonzero(classes == code), share, replace=False).tolist()
    return np.sort(chosen)
