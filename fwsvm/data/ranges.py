"""LIBSVM's svm-scale: rows and labels scaled by their ranges, and range files.

A range file holds, for each feature that varies, ``index minimum maximum``, after a line ``x`` and the interval that
ranges are mapped to. If labels are scaled, a line ``y``, their interval and their range come first.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._mapped import RowMatrix, blocks, in_memory
from fwsvm.data import labels
from fwsvm.data.formats import svmlight_writer
from fwsvm.data.formats.svmlight_parser import MAX_FEATURES
from fwsvm.data.formats.text_files import read_text
from fwsvm.errors import DataError
from fwsvm.files.atomic import replacing

Labels = NDArray[np.float64] | NDArray[np.str_]

BLOCK_VALUES = 1 << 22  # numbers held densely at a time
LEAST_ENTRY = len(" 1:1")  # bytes of a number with its index
MAX_NAMED = 5  # features named in a notice


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
    rule = read(path)
    stored = np.zeros(0, np.int64)
    for part in _parts(X):
        stored = np.union1d(stored, part.indices[part.data != 0])
    new = stored[~np.isin(stored, rule.features.features)] + 1
    shown = ", ".join(map(str, new[:MAX_NAMED])) + (", ..." if len(new) > MAX_NAMED else "")
    notices = (f"{len(new)} features are not in {path} and become 0: {shown}",) if len(new) else ()
    return rule._replace(notices=notices)


def _parts(X: RowMatrix) -> Iterator[csr_array]:
    """Yield consecutive rows, some at a time, whose memory is their own: X may be mapped."""
    for some in blocks(X):
        yield csr_array(in_memory(X, some))


def least_bytes(X: RowMatrix, rule: FileRanges) -> int:
    """Return what the text of the scaled rows, (m, n), takes at least: every number of a feature whose zero moves."""
    known = rule.features
    from_zero = (0.0 - known.minimum) * (known.upper - known.lower) + known.lower * (
        known.maximum - known.minimum
    )
    return LEAST_ENTRY * X.shape[0] * int(np.count_nonzero(from_zero))


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
    n = max(X.shape[1], int(known[-1]) + 1 if len(known) else 0)
    rows, first = max(1, BLOCK_VALUES // max(1, len(known))), 0
    for part in _parts(X):
        wide = csr_array((part.data, part.indices, part.indptr), shape=(part.shape[0], n))
        for start in range(0, part.shape[0], rows):
            some = csr_array(wide[start : start + rows])
            names = _names(given[first : first + some.shape[0]])
            first += some.shape[0]
            before = some.nnz
            done = csr_array(scaling.apply(some, rule.features))
            for text in svmlight_writer.text_blocks(done, names, lambda value: f"{value:.{digits}g}"):
                yield ScaledText(text, text.count(":"), before)
                before = 0


def _names(given: Labels) -> list[str]:
    """Return labels as svm-scale writes them: every number with 17 digits."""
    return [name if isinstance(name, str) else f"{name:.17g}" for name in given.tolist()]


def _scaled_labels(given: Labels, target: LabelRange | None) -> Labels:
    """Return labels mapped to the target's interval, where there is one."""
    if target is None:
        return given
    values, span = _numbers_of(given), target.maximum - target.minimum
    with np.errstate(all="ignore"):
        scaled = target.lower + (target.upper - target.lower) * (values - target.minimum) / span
    scaled[values == target.maximum] = target.upper
    scaled[values == target.minimum] = target.lower
    if not np.isfinite(scaled).all():
        raise DataError(
            f"the labels cannot be scaled: their range {target.minimum:g} to {target.maximum:g} is too extreme"
        )
    return scaled


def _numbers_of(given: Labels) -> NDArray[np.float64]:
    """Return labels, shape (m,), as numbers; `DataError` where they are names."""
    if given.dtype.kind == "U":
        name = next(name for name in given.tolist() if labels.number(name) is None)
        raise DataError(f"labels such as '{name}' are no numbers and cannot be scaled")
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
    lines = [(n, line.split()) for n, line in enumerate(read_text(path).splitlines(), 1) if line.strip()]
    target = None
    if lines and lines[0][1] == ["y"]:
        lower, upper = _interval(path, lines[1:2], 2)
        low, high = _interval(path, lines[2:3], 2)
        target = LabelRange(low, high, lower, upper)
        lines = lines[3:]
    if not lines or lines[0][1] != ["x"]:
        raise DataError(f"{path}:{lines[0][0] if lines else 1}: not a range file: it lacks the line 'x'")
    lower, upper = _interval(path, lines[1:2], 2)
    rows = np.array([_interval(path, [line], 3) for line in lines[2:]]).reshape(-1, 3)
    is_place = (rows[:, 0] >= 1) & (rows[:, 0] <= MAX_FEATURES) & (rows[:, 0] % 1 == 0)
    if not is_place.all():
        number, words = lines[2 + int(np.argmin(is_place))]
        raise DataError(f"{path}:{number}: not a range file: '{words[0]}' is not the index of a feature")
    features, last = np.unique(rows[::-1, 0].astype(np.int64) - 1, return_index=True)
    minima, maxima = rows[::-1][last, 1:].T  # the last line of a feature counts
    varies = minima < maxima
    return FileRanges(scaling.Ranges(features[varies], minima[varies], maxima[varies], lower, upper), target)


def _interval(path: str | Path, line: list[tuple[int, list[str]]], count: int) -> list[float]:
    """Return the numbers of a line, the last two of which are the ends of an interval; `DataError` if they are not."""
    number, words = line[0] if line else ("end", [])
    values = [value for word in words if (value := labels.number(word)) is not None]
    if len(words) != count or len(values) != count or not 0 <= values[-1] - values[-2] < math.inf:
        what = "the ends of an interval" if count == 2 else "a feature and the ends of its range"
        raise DataError(f"{path}:{number}: not a range file: {what} are expected here")
    return values
