"""LIBSVM's svm-scale: rows scaled by the ranges of their features, and range files.

A range file has a line ``x``, the interval that ranges are mapped to, and ``index minimum maximum`` for each feature
that varies.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._mapped import RowMatrix, blocks, in_memory, slices
from fwsvm.data.formats import svmlight_writer
from fwsvm.data.formats.svmlight_parser import MAX_FEATURES
from fwsvm.data.formats.text_files import read_text
from fwsvm.data.labels import Labels
from fwsvm.errors import DataError

BLOCK_VALUES = 1 << 22  # numbers held densely at a time


def unknown_features(X: RowMatrix, known: scaling.Ranges) -> list[int]:
    """Return the features of ``X``, from 1, that have values and no range."""
    stored = np.zeros(0, np.int64)
    for some in blocks(X):
        part = csr_array(in_memory(X, some))
        stored = np.union1d(stored, part.indices[part.data != 0])
    found: list[int] = (np.setdiff1d(stored, known.features) + 1).tolist()
    return found


class ScaledText(NamedTuple):
    """The lines of some scaled rows, how many entries they have, and how many the rows had before."""

    text: str
    entries: int
    before: int


def scaled_text(X: RowMatrix, given: Labels, ranges: scaling.Ranges) -> Iterator[ScaledText]:
    """Yield consecutive scaled rows, as svm-scale writes them.

    Where zero is not mapped to zero, only a few rows are held densely at a time.
    """
    known = ranges.features
    names = [name if isinstance(name, str) else f"{name:.17g}" for name in given.tolist()]
    n = max(X.shape[1], int(known[-1]) + 1 if len(known) else 0)
    for some in slices(X.shape[0], X.shape[0] * len(known), BLOCK_VALUES):
        part = csr_array(in_memory(X, some))
        wide = csr_array((part.data, part.indices, part.indptr), shape=(part.shape[0], n))
        done, before = csr_array(scaling.apply(wide, ranges)), part.nnz
        for text in svmlight_writer.text_blocks(done, names[some], lambda value: f"{value:.6g}"):
            yield ScaledText(text, text.count(":"), before)
            before = 0


def read(path: str | Path) -> scaling.Ranges:
    """Read a range file; `DataError` where it cannot be read or is none."""
    mark, *words = read_text(path).split() or [""]
    try:
        lower, upper, *numbers = map(float, words)
        rows = np.array(numbers).reshape(-1, 3)
        places, minima, maxima = rows.T
        fits = (np.diff(places, prepend=0) > 0).all() and (places % 1 == 0).all() and (minima < maxima).all()
        fits = fits and places.max(initial=1) <= MAX_FEATURES
    except ValueError:
        fits = False
    if not fits or mark != "x":
        raise DataError(
            f"{path}: not a range file of features: a line 'x', an interval, and a line 'index minimum maximum' for "
            "each feature are expected"
        )
    return scaling.Ranges(places.astype(np.int64) - 1, minima, maxima, lower, upper)
