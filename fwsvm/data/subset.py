"""Sampling rows as lines of LIBSVM's format, stratified by class or uniformly."""

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm import data
from fwsvm._mapped import slices
from fwsvm.data import formats, labels
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats import loader_of, svmlight_writer
from fwsvm.data.formats.text_files import open_text
from fwsvm.errors import DataError, UsageError, counted


class Lines(NamedTuple):
    """Rows as lines: numbers (m,) that are equal where labels are, and a function from ascending rows to lines."""

    classes: NDArray[np.int32]
    of: Callable[[NDArray[np.int64]], Iterator[str]]


def lines_of(name_or_path: str | Path, label: str | None = None) -> Lines:
    """Return rows as text: those of a file as they are written, those of a name written anew, not scaled.

    ``label`` is the column of the labels of a CSV file.
    """
    path = Path(name_or_path)
    if not path.exists():
        return _formatted(data.load(name_or_path, raw=True).train)
    loader = loader_of(path, label=label)
    return (
        _written(path) if loader["format"] == "svmlight" else _formatted(formats.read_path(path, loader)[0])
    )


def _written(path: Path) -> Lines:
    """Return the lines of a LIBSVM file that are rows, as they are written, without empty lines and comments."""

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
    return Lines(
        np.array(found, np.int32),
        lambda rows: itertools.compress(lines(), np.bincount(rows, minlength=len(found))),
    )


def _formatted(table: LabelledRows) -> Lines:
    """Return rows of any data set, formatted as lines."""

    def of(rows: NDArray[np.int64]) -> Iterator[str]:
        X = table.X
        numbers = X.nnz if isinstance(X, csr_array) else X.size
        for some in slices(len(rows), numbers * len(rows) // max(1, table.rows)):
            names = [labels.label_text(label) for label in table.labels[rows[some]].tolist()]
            for block in svmlight_writer.text_blocks(X[rows[some]], names):
                yield from block.splitlines(keepends=True)

    return Lines(np.unique(table.labels, return_inverse=True)[1].astype(np.int32), of)


def stratified(classes: NDArray[np.int32], size: int, seed: int) -> NDArray[np.int64]:
    """Return ``size`` row numbers, ascending, stratified by class as LIBSVM's subset.py does.

    Classes are drawn from in ascending size, with shares rounded up and at least one row each, so the largest gets
    fewer. Unlike subset.py, one row is reserved for each class that has not been drawn from.
    """
    _require(size, len(classes))
    rng = np.random.default_rng(seed)
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


def uniform(classes: NDArray[np.int32], size: int, seed: int) -> NDArray[np.int64]:
    """Return ``size`` row numbers, ascending, drawn uniformly without replacement."""
    _require(size, len(classes))
    return np.sort(np.random.default_rng(seed).choice(len(classes), size, replace=False))


def _require(size: int, rows: int) -> None:
    if not 0 < size <= rows:
        raise UsageError(f"{counted(size, 'row')} cannot be drawn from the {rows} that there are")
