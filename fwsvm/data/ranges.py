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
    """How rows, shape (m, n), and labels are scaled."""

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
    """Return the rule of a range file, widened to the columns of ``X``; what it has not seen becomes 0."""
    rule = read(path)
    known, n = len(rule.features.minimum), max(len(rule.features.minimum), X.shape[1])
    minimum, maximum, used = np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
    minimum[:known], maximum[:known] = rule.features.minimum, rule.features.maximum
    used[X.indices[X.data != 0]] = True
    new = np.flatnonzero(used & (minimum == maximum)) + 1
    shown = ", ".join(map(str, new[:NAMED])) + (", ..." if len(new) > NAMED else "")
    notices = (f"{len(new)} features are not in {path} and become 0: {shown}",) if len(new) else ()
    return Rule(rule.features._replace(minimum=minimum, maximum=maximum), rule.target, notices)


def scaled_text(X: csr_array, given: Labels, rule: Rule, digits: int) -> Iterator[tuple[str, int]]:
    """Yield the lines of consecutive scaled rows, as svm-scale writes them, and how many entries they have.

    Where zero is not mapped to zero, only a few rows are held densely at a time.
    """
    names = _names(given, rule.target)
    m, n = X.shape[0], len(rule.features.minimum)
    wide = csr_array((X.data, X.indices, X.indptr), shape=(m, n))
    rows = max(1, BLOCK // max(1, n))
    for first in range(0, m, rows):
        with np.errstate(over="ignore", invalid="ignore"):
            part = csr_array(scaling.apply(csr_array(wide[first : first + rows]), rule.features))
        lost = part.indices[~np.isfinite(part.data)]
        if len(lost):
            low, high = rule.features.minimum[lost[0]], rule.features.maximum[lost[0]]
            raise DataError(
                f"feature {lost[0] + 1} cannot be scaled: its range {low:g} to {high:g} is too extreme"
            )
        for text in _writing.blocks(part, names[first : first + rows], lambda value: f"{value:.{digits}g}"):
            yield text, text.count(":")


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
        low, high, lower, upper = rule.target
        lines = ["y", f"{lower:.17g} {upper:.17g}", f"{low[0]:.17g} {high[0]:.17g}"]
    minimum, maximum, lower, upper = rule.features
    lines += ["x", f"{lower:.17g} {upper:.17g}"]
    lines += [f"{j + 1} {minimum[j]:.17g} {maximum[j]:.17g}" for j in np.flatnonzero(minimum != maximum)]
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
    ends = np.zeros((2, int(places.max(initial=0))))
    ends[:, places.astype(np.int64) - 1] = rows[:, 1:].T
    return Rule(scaling.Ranges(ends[0], ends[1], lower, upper), target)


def _numbers(path: str | Path, lines: list[tuple[int, list[str]]], k: int, wanted: int) -> list[float]:
    """Return the numbers of the k-th line that is not empty."""
    if k >= len(lines):
        raise DataError(f"{path}: not a range file: it ends too early")
    values = [labels.number(word) for word in lines[k][1]]
    if len(values) != wanted or not all(value is not None and math.isfinite(value) for value in values):
        raise DataError(f"{path}:{lines[k][0]}: not a range file: {wanted} numbers were expected here")
    return [value for value in values if value is not None]
