"""What LIBSVM's svm-scale does: rows and labels scaled by their ranges, and files that keep the ranges.

A range file holds, for the features that vary, ``index minimum maximum`` after a line ``x`` and the interval
they are mapped to; before it, where labels are scaled too, a line ``y``, their interval, and their range.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm.atomic import replacing
from fwsvm.data import _writing, labels, scaling
from fwsvm.data._content import read_text
from fwsvm.data._scan import MOST_WIDTH
from fwsvm.errors import DataError

Labels = NDArray[np.float64] | NDArray[np.str_]

BLOCK = 1 << 22  # numbers held densely at a time
NAMED = 5  # features named in a notice


class Rule(NamedTuple):
    """How rows and labels are scaled."""

    features: scaling.Ranges
    target: scaling.Ranges | None  # of the labels, each of shape (1,)
    notices: tuple[str, ...] = ()


def fitted(
    X: csr_array, given: Labels, lower: float, upper: float, target: tuple[float, float] | None
) -> Rule:
    """Return the rule that maps the columns' own ranges to ``[lower, upper]``, and the labels' to ``target``.

    `DataError` where labels are to be scaled and are no numbers.
    """
    found = scaling.fit(X, "[-1,1]")._replace(lower=lower, upper=upper)
    if target is None:
        return Rule(found, None)
    of_labels = scaling.fit(_column(given), "[-1,1]")
    return Rule(found, of_labels._replace(lower=target[0], upper=target[1]))


def restored(path: str | Path, X: csr_array) -> Rule:
    """Return the rule of a range file, with the columns of ``X`` that it has not seen, which become 0."""
    rule = read(path)
    known, used = _columns(rule.features), np.unique(X.indices[X.data != 0])
    columns = np.union1d(known, used)
    minimum, maximum = np.zeros((2, len(columns)))
    places = np.searchsorted(columns, known)
    minimum[places], maximum[places] = rule.features.minimum, rule.features.maximum
    new = np.intersect1d(columns[minimum == maximum], used) + 1
    shown = ", ".join(map(str, new[:NAMED])) + (", ..." if len(new) > NAMED else "")
    notices = (f"{len(new)} features are not in {path} and become 0: {shown}",) if len(new) else ()
    ranges = rule.features._replace(minimum=minimum, maximum=maximum, columns=columns)
    return Rule(ranges, rule.target, notices)


def scaled_text(X: csr_array, given: Labels, rule: Rule, digits: int) -> Iterator[tuple[str, int]]:
    """Yield the lines of consecutive scaled rows, as svm-scale writes them, and how many entries they have.

    Where zero is not mapped to zero, only a few rows are held densely at a time.
    """
    names, ranges = _names(given, rule.target), rule.features
    m, columns = X.shape[0], _columns(ranges)
    wide = csr_array((X.data, X.indices, X.indptr), shape=(m, MOST_WIDTH))
    rows = max(1, BLOCK // max(1, len(columns)))
    for first in range(0, m, rows):
        with np.errstate(over="ignore", invalid="ignore"):
            some = csr_array(wide[first : first + rows])
            part = csr_array(scaling.apply(some, ranges._replace(columns=columns)))
        lost = part.indices[~np.isfinite(part.data)]
        if len(lost):
            place = int(np.searchsorted(columns, lost[0]))
            low, high = ranges.minimum[place], ranges.maximum[place]
            raise DataError(
                f"feature {lost[0] + 1} cannot be scaled: its range {low:g} to {high:g} is too extreme"
            )
        for text in _writing.blocks(part, names[first : first + rows], lambda value: f"{value:.{digits}g}"):
            yield text, text.count(":")


def _columns(ranges: scaling.Ranges) -> NDArray[np.int64]:
    """Return the numbers of the features, from 0, that the ranges are of."""
    return np.arange(len(ranges.minimum)) if ranges.columns is None else ranges.columns


def _names(given: Labels, target: scaling.Ranges | None) -> list[str]:
    """Return labels as svm-scale writes them: every number with 17 digits."""
    if target is not None:
        column = _column(given)
        given = np.where(column == target.minimum, target.lower, scaling.apply(column, target))[:, 0]
    return [name if isinstance(name, str) else f"{name:.17g}" for name in given.tolist()]


def _column(given: Labels) -> NDArray[np.float64]:
    """Return labels as one column of numbers."""
    if given.dtype.kind == "U":
        name = next(name for name in given.tolist() if labels.number(name) is None)
        raise DataError(f"labels such as '{name}' are no numbers and cannot be scaled")
    return np.asarray(given, np.float64)[:, None]


def write(path: str | Path, rule: Rule) -> None:
    """Write a range file; features that do not vary are left out."""
    lines = []
    if rule.target is not None:
        low, high, lower, upper, _ = rule.target
        lines = ["y", f"{lower:.17g} {upper:.17g}", f"{low[0]:.17g} {high[0]:.17g}"]
    minimum, maximum, lower, upper, _ = rule.features
    columns = _columns(rule.features)
    lines += ["x", f"{lower:.17g} {upper:.17g}"]
    lines += [
        f"{columns[j] + 1} {minimum[j]:.17g} {maximum[j]:.17g}" for j in np.flatnonzero(minimum != maximum)
    ]
    with replacing(path) as stream:
        stream.write("\n".join(lines) + "\n")


def read(path: str | Path) -> Rule:
    """Read a range file.

    Raises
    ------
    DataError
        The file cannot be read or is no range file: file and line are named.
    """
    content = read_text(path).content.tobytes().decode("utf-8", "replace")
    lines = [(number, line.split()) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    target = None
    if lines[:1] and lines[0][1] == ["y"]:
        lower, upper = _numbers(path, lines, 1, 2)
        low, high = _numbers(path, lines, 2, 2)
        target = scaling.Ranges(np.array([low]), np.array([high]), lower, upper)
        lines = lines[3:]
    if not lines or lines[0][1] != ["x"]:
        raise DataError(f"{path}:{lines[0][0] if lines else 1}: not a range file: it lacks the line 'x'")
    lower, upper = _numbers(path, lines, 1, 2)
    rows = np.array([_numbers(path, lines, k, 3) for k in range(2, len(lines))]).reshape(-1, 3)
    places = rows[:, 0]
    for (number, words), place in zip(lines[2:], places, strict=True):
        if not 1 <= place <= MOST_WIDTH or place != int(place):
            raise DataError(f"{path}:{number}: '{words[0]}' is not the index of a feature")
    columns, last = np.unique(places[::-1].astype(np.int64) - 1, return_index=True)
    ends = rows[::-1][last, 1:]  # of a feature that is named twice, as the last line says
    return Rule(scaling.Ranges(ends[:, 0].copy(), ends[:, 1].copy(), lower, upper, columns), target)


def _numbers(path: str | Path, lines: list[tuple[int, list[str]]], k: int, wanted: int) -> list[float]:
    """Return the numbers of the k-th line that is not empty."""
    if k >= len(lines):
        raise DataError(f"{path}: not a range file: it ends too early")
    values = [labels.number(word) for word in lines[k][1]]
    if len(values) != wanted or not all(value is not None and math.isfinite(value) for value in values):
        raise DataError(f"{path}:{lines[k][0]}: not a range file: {wanted} numbers were expected here")
    return [value for value in values if value is not None]
