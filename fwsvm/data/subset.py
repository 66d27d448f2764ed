"""Sampling lines of a file without parsing them: stratified by class, or uniformly."""

import codecs
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fwsvm._stretches import stretches
from fwsvm.data.formats.interning import intern
from fwsvm.data.formats.svmlight_parser import row_starts, skip_line, token_ends
from fwsvm.data.formats.text_file import read_text
from fwsvm.errors import DataError, UsageError


class FileLines:
    """The lines of a LIBSVM file that are rows, without empty lines and comments.

    Attributes
    ----------
    classes : ndarray of int32, shape (m,)
        A code for each label text.
    """

    def __init__(self, path: str | Path) -> None:
        self._text = read_text(path).content
        self._starts = row_starts(self._text)
        if not len(self._starts):
            raise DataError(f"{path} has no rows")
        if not _is_utf8(self._text):
            raise DataError(f"{path} is not UTF-8 text")
        self.classes, _ = intern(self._text, self._starts, token_ends(self._text, self._starts))

    def of(self, rows: NDArray[np.int64]) -> Iterator[str]:
        """Yield rows as they are written, each with its line end."""
        for row in rows:
            start = int(self._starts[row])
            yield self._text[start : skip_line(self._text, start)].tobytes().decode()


def _is_utf8(text: NDArray[np.uint8]) -> bool:
    """Whether text is UTF-8; the memory is that of a part of it."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for some in stretches(len(text), len(text)):
            decoder.decode(text[some].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


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
