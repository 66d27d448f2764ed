"""Sampling rows as lines of LIBSVM's format, stratified by class or uniformly."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import slices
from fwsvm.data import labels
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats import svmlight_writer
from fwsvm.data.formats.text_files import open_text
from fwsvm.errors import DataError, UsageError


class Lines(Protocol):
    """Rows as lines; ``classes``, (m,) of int32, are equal where the labels are."""

    classes: NDArray[np.int32]

    def of(self, rows: NDArray[np.int64]) -> Iterator[str]:
        """Yield rows (their numbers, ascending), each with its line end."""
        ...


class FileLines:
    """The lines of a LIBSVM file that are rows, as they are written, without empty lines and comments."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        codes: dict[str, int] = {}
        found = [codes.setdefault(line.split("#")[0].split(None, 1)[0], len(codes)) for line in self._lines()]
        self.classes = np.array(found, np.int32)
        if not found:
            raise DataError(f"{path} has no rows")

    def _lines(self) -> Iterator[str]:
        with open_text(self.path) as stream:
            try:
                for line in stream:
                    text = line.decode().lstrip()
                    if text and not text.startswith("#"):
                        yield text
            except UnicodeDecodeError:
                raise DataError(f"{self.path} is not UTF-8 text") from None

    def of(self, rows: NDArray[np.int64]) -> Iterator[str]:
        """Yield rows (their numbers, ascending), each with its line end."""
        wanted = iter(rows.tolist())
        row = next(wanted, None)
        for number, line in enumerate(self._lines()):
            if number == row:
                yield line if line.endswith("\n") else f"{line}\n"
                row = next(wanted, None)


class FormattedLines:
    """Rows of any data set, formatted as lines."""

    def __init__(self, table: LabelledRows) -> None:
        self._table = table
        self.classes = np.unique(table.labels, return_inverse=True)[1].astype(np.int32)

    def of(self, rows: NDArray[np.int64]) -> Iterator[str]:
        """Yield rows (their numbers), each with its line end."""
        X = self._table.X
        numbers = X.nnz if isinstance(X, csr_array) else X.size
        for some in slices(len(rows), numbers * len(rows) // max(1, X.shape[0])):
            names = [labels.label_text(label) for label in self._table.labels[rows[some]].tolist()]
            for block in svmlight_writer.text_blocks(X[rows[some]], names):
                yield from block.splitlines(keepends=True)


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
        raise UsageError(f"{size} rows cannot be drawn from the {rows} that there are")
