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

from fwsvm import data, scaling
from fwsvm._mapped import RowMatrix, in_memory, slices
from fwsvm.data import formats, labels
from fwsvm.data.formats import loader_of, svmlight_writer
from fwsvm.data.formats.svmlight_parser import MAX_INDEX
from fwsvm.data.formats.text_files import open_text
from fwsvm.data.labels import Labels
from fwsvm.data.splits import take
from fwsvm.errors import DataError, UsageError, counted
from fwsvm.files.folders import require_file

BLOCK_VALUES = 1 << 22  # numbers held densely at a time


def scaled_text(X: RowMatrix, row_labels: Labels, ranges: scaling.Ranges) -> Iterator[str]:
    """Yield consecutive scaled rows, as svm-scale writes them.

    Where zero is not mapped to zero, only a few rows are held densely at a time.
    """
    known = ranges.features
    names = [name if isinstance(name, str) else f"{name:.17g}" for name in row_labels.tolist()]
    n = max(X.shape[1], int(known[-1]) + 1 if len(known) else 0)
    for some in slices(X.shape[0], X.shape[0] * len(known), BLOCK_VALUES):
        part = csr_array(in_memory(X, some))
        wide = csr_array((part.data, part.indices, part.indptr), shape=(part.shape[0], n))
        done = csr_array(scaling.apply(wide, ranges))
        yield from svmlight_writer.text_blocks(done, names[some], lambda value: f"{value:.6g}")


def read_ranges(path: Path) -> scaling.Ranges:
    """Read a range file; `DataError` where it is none."""
    require_file(path)
    try:
        mark, *words = path.read_text("utf-8").split() or [""]
        lower, upper, *numbers = map(float, words)
        places, minima, maxima = np.array(numbers).reshape(-1, 3).T
        fits = (np.diff(places, prepend=0) > 0).all() and (places % 1 == 0).all() and (minima < maxima).all()
        fits = fits and places.max(initial=1) <= MAX_INDEX and mark == "x"
    except ValueError:
        fits = False
    if not fits:
        raise DataError(
            f"{path}: not a range file of features: a line 'x', an interval, and a line 'index minimum maximum' for "
            "each feature are expected"
        )
    return scaling.Ranges(places.astype(np.int64) - 1, minima, maxima, lower, upper)


def lines_of(
    name_or_path: str | Path, label: str | None = None
) -> tuple[NDArray[np.int32], Callable[[NDArray[np.int64]], Iterator[str]]]:
    """Return numbers of the rows' classes (m,), and a function from ascending rows to their text.

    Rows of a file stay as they are written, those of a name are written anew, not scaled. ``label`` is the column of
    the labels of a CSV file.
    """
    path = Path(name_or_path)
    loader = loader_of(path, label=label) if path.exists() else {"format": ""}
    if loader["format"] != "svmlight":
        named = loader["format"] == ""
        table = data.load(name_or_path, raw=True).train if named else formats.read_path(path, loader)[0]

        def written(rows: NDArray[np.int64]) -> Iterator[str]:
            some = take(table, rows)
            return svmlight_writer.text_blocks(some.X, [*map(labels.label_text, some.labels.tolist())])

        return np.unique(table.labels, return_inverse=True)[1].astype(np.int32), written

    def lines() -> Iterator[str]:
        with open_text(path) as stream:
            try:
                for line in stream:
                    text = line.decode().lstrip()
                    if text and not text.startswith("#"):
                        yield text if text.endswith("\n") else f"{text}\n"
            except UnicodeDecodeError:
                raise DataError(f"{path} is not UTF-8 text") from None

    codes: dict[str, int] = {}
    found = [codes.setdefault(line.split("#")[0].split(None, 1)[0], len(codes)) for line in lines()]
    if not found:
        raise DataError(f"{path} has no rows")
    return (
        np.array(found, np.int32),
        lambda rows: itertools.compress(lines(), np.bincount(rows, minlength=len(found))),
    )


def draw(classes: NDArray[np.int32], size: int, seed: int, *, stratified: bool) -> NDArray[np.int64]:
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
    remaining, chosen = size, []
    for served, code in enumerate(np.argsort(counts, kind="stable")):
        to_come = len(counts) - served - 1
        share = min(remaining - to_come, max(1, math.ceil(int(counts[code]) * size / len(classes))))
        if share < 1:
            raise UsageError(
                f"{size} rows are too few to have one of each of the {len(counts)} classes: "
                f"take more, or draw with -s 1"
            )
        remaining -= share
        chosen.append(rng.choice(np.flatnonzero(classes == code), share, replace=False))
    return np.sort(np.concatenate(chosen))
