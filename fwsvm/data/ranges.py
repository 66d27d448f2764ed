"""LIBSVM's svm-scale: rows and labels scaled by their ranges, and range files.

A range file holds, for each feature that varies, ``index minimum maximum``, after a line ``x`` and the interval that
ranges are mapped to. If labels are scaled, a line ``y``, their interval and their range come first.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._mapped import RowMatrix, blocks, in_memory, slices
from fwsvm.data.formats import svmlight_writer
from fwsvm.data.formats.svmlight_parser import MAX_FEATURES
from fwsvm.data.formats.text_files import read_text
from fwsvm.data.labels import Labels
from fwsvm.errors import DataError, listed
from fwsvm.files.atomic import replacing

BLOCK_VALUES = 1 << 22  # numbers held densely at a time


class LabelRange(NamedTuple):
    """How numeric labels are scaled: their range, and the interval it is mapped to."""

    minimum: float
    maximum: float
    lower: float
    upper: float


class FileRanges(NamedTuple):
    """The content of a range file: how rows and labels are scaled."""

    features: scaling.Ranges
    target: LabelRange | None
    notices: tuple[str, ...] = ()


def fit_ranges(
    X: RowMatrix, given: Labels, lower: float, upper: float, target: tuple[float, float] | None
) -> FileRanges:
    """Return the rule that maps the columns' own ranges to ``[lower, upper]``, and the labels' to ``target``.

    `DataError` where labels are to be scaled and are no numbers.
    """
    found = scaling.fit(X, "[-1,1]")._replace(lower=lower, upper=upper)
    if target is None:
        return FileRanges(found, None)
    column = _numbers_of(given)
    return FileRanges(found, LabelRange(float(column.min()), float(column.max()), *target))


def restore_ranges(path: str | Path, X: RowMatrix) -> FileRanges:
    """Return the content of a range file, with a notice of the columns of ``X`` that it lacks, which become 0."""
    rule, stored = read(path), np.zeros(0, np.int64)
    for some in blocks(X):
        part = csr_array(in_memory(X, some))
        stored = np.union1d(stored, part.indices[part.data != 0])
    new = stored[~np.isin(stored, rule.features.features)] + 1
    said = f"{len(new)} features are not in {path} and become 0: {listed(map(str, new))}"
    return rule._replace(notices=(said,) * bool(len(new)))


class ScaledText(NamedTuple):
    """The lines of some scaled rows, how many entries they have, and how many the rows had before."""

    text: str
    entries: int
    before: int


def scaled_text(X: RowMatrix, given: Labels, rule: FileRanges, digits: int) -> Iterator[ScaledText]:
    """Yield consecutive scaled rows, as svm-scale writes them.

    Where zero is not mapped to zero, only a few rows are held densely at a time.
    """
    given, known = _scaled_labels(given, rule.target), rule.features.features
    names = [name if isinstance(name, str) else f"{name:.17g}" for name in given.tolist()]
    n = max(X.shape[1], int(known[-1]) + 1 if len(known) else 0)
    for some in slices(X.shape[0], X.shape[0] * len(known), BLOCK_VALUES):
        part = csr_array(in_memory(X, some))
        wide = csr_array((part.data, part.indices, part.indptr), shape=(part.shape[0], n))
        done, before = csr_array(scaling.apply(wide, rule.features)), part.nnz
        for text in svmlight_writer.text_blocks(done, names[some], lambda value: f"{value:.{digits}g}"):
            yield ScaledText(text, text.count(":"), before)
            before = 0


def _scaled_labels(given: Labels, target: LabelRange | None) -> Labels:
    """Return labels mapped to the target's interval, where there is one."""
    if target is None:
        return given
    values, span = _numbers_of(given), target.maximum - target.minimum
    with np.errstate(all="ignore"):
        scaled = target.lower + (target.upper - target.lower) * (values - target.minimum) / span
    scaled[values == target.maximum] = target.upper
    scaled[values == target.minimum] = target.lower
    return scaled


def _numbers_of(given: Labels) -> NDArray[np.float64]:
    """Return labels, shape (m,), as numbers; `DataError` where they are names."""
    if given.dtype.kind == "U":
        raise DataError(
            f"labels such as {listed(np.unique(given).tolist())} are no numbers and cannot be scaled"
        )
    return np.asarray(given, np.float64)


def write(path: str | Path, rule: FileRanges) -> None:
    """Write a range file; features that do not vary are left out."""
    lines = ""
    if rule.target is not None:
        low, high, lower, upper = rule.target
        lines = f"y\n{lower:.17g} {upper:.17g}\n{low:.17g} {high:.17g}\n"
    with replacing(path) as stream:
        stream.write(lines + rule.features.text())


def read(path: str | Path) -> FileRanges:
    """Read a range file.

    Raises
    ------
    DataError
        The file cannot be read or is no range file: file and line are named.
    """
    marks, numbers = "", []
    for line, text in enumerate(read_text(path).splitlines(), 1):
        if (words := text.split()) in (["x"], ["y"]):
            marks += words[0]
        elif words:
            try:
                numbers.append([*map(float, words)])
                *place, low, high = numbers[-1]
                fits = 0 <= high - low < np.inf and all(1 <= j <= MAX_FEATURES and j % 1 == 0 for j in place)
            except ValueError:
                fits = False
            if not fits:
                raise DataError(
                    f"{path}:{line}: not a range file: 'index minimum maximum' or an interval is expected"
                )
            marks += str(len(words))
    if not re.fullmatch("(y22)?x23*", marks):
        raise DataError(
            f"{path}: not a range file: a line 'x', an interval, and a line for each feature are expected"
        )
    target = None
    if marks.startswith("y"):
        (lower, upper), (low, high), *numbers = numbers
        target = LabelRange(low, high, lower, upper)
    (lower, upper), rows = numbers[0], np.array(numbers[1:]).reshape(-1, 3)
    features, last = np.unique(rows[::-1, 0].astype(np.int64) - 1, return_index=True)
    minima, maxima = rows[::-1][last, 1:].T  # the last line of a feature counts
    varies = minima < maxima
    return FileRanges(scaling.Ranges(features[varies], minima[varies], maxima[varies], lower, upper), target)
