"""Labels of rows: as numbers or text, the classes that they form, the order of these, and their weights.

Two classes: the larger label is the class +1 and comes first; numbers compare as numbers, names as text. More
classes: order of first appearance in the whole training file. Labels that are numbers have one text whatever the file
writes: ``1`` for ``+1`` and ``1.0``. Labels that are text stay as they are: ``01`` is not ``1``.
"""

import functools
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwsvm.errors import DataError, UsageError, shortened, shown
from fwsvm.parameters import converted

NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?", re.IGNORECASE)
LEADING_ZERO = re.compile(r"[-+]?0[0-9]")  # of text that consists of digits, such as a postal code
QUOTED = 40  # characters of a label in a message
MANY = 20  # different labels, some of them fractions, that are a regression target rather than classes
EXACT_WHOLE = 1e15  # whole numbers below it are written as such

Labels = NDArray[np.float64] | NDArray[np.str_]


def classes(labels: Labels) -> tuple[str, ...]:
    """Return the classes of labels, shape (m,), as text in the order that this module's docstring says.

    `DataError` where a row has no label, or labels are numbers so large that neighbours are alike.
    """
    distinct, firsts = np.unique(labels, return_index=True)
    found = tuple(map(label_text, distinct[np.argsort(firsts)].tolist()))
    if "nan" in found:
        raise DataError("rows without labels have no classes")
    if distinct.dtype.kind == "f" and any(2.0**53 <= abs(label) < 2.0**64 for label in distinct.tolist()):
        raise DataError("whole numbers of 2^53 and more cannot be told apart as labels; write smaller ones")
    if len(found) != 2:
        return found
    return tuple(sorted(found, key=str if None in map(number, found) else float, reverse=True))


def of_names(names: list[str], codes: NDArray[np.integer]) -> Labels:
    """Return the labels ``names[codes]``, shape (m,): numbers where all names are, else text."""
    if all(number(name) is not None and not LEADING_ZERO.match(name) for name in names):
        return np.array([*map(float, names)])[codes]
    return np.array(names)[codes]


def encode(labels: Labels, classes: tuple[str, ...]) -> NDArray[np.int32]:
    """Return each label's place in ``classes``, shape (m,), -1 where it is none of them.

    Text matches as it is written; where all classes are numbers, also as the number that it writes.
    """
    place = {name: i for i, name in enumerate(classes)}
    distinct, which = np.unique(labels, return_inverse=True)
    names = [*map(label_text, distinct.tolist())]
    if not place.keys() >= {*names} and all(
        number(each) is not None and number_text(each) == each for each in classes
    ):
        names = [*map(number_text, names)]
    return np.array([place.get(name, -1) for name in names], np.int32)[which]


@functools.lru_cache(maxsize=1024)  # fits of a search meet the same few again and again
def label_text(label: float | str) -> str:
    """Return the one text of a label: a number's shortest; text as it is.

    >>> [label_text(label) for label in (1.0, 2.50, -0.0, "01", "setosa")]
    ['1', '2.5', '0', '01', 'setosa']
    """
    if isinstance(label, str):
        return str(label)
    value = float(label)
    if value.is_integer() and abs(value) < EXACT_WHOLE:
        return str(int(value))
    return repr(value)


def number_text(word: str) -> str:
    """Return the one text of the number that a word writes; a word that is no number as it is.

    >>> [number_text(word) for word in ("+1", "2.50", "01", "setosa")]
    ['1', '2.5', '01', 'setosa']
    """
    value = number(word)
    return word if value is None or LEADING_ZERO.match(word) else label_text(value)


def unknown(labels: Labels, classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels that are none of the classes, sorted; rows without a label are no such rows."""
    found = np.unique(labels[encode(labels, classes) < 0])
    return tuple(sorted({*map(label_text, found.tolist())} - {"nan"}))


def lacking(counts: NDArray[np.integer], classes: tuple[str, ...]) -> str | None:
    """Return the first class of which there are no rows, by the rows of each, shape (K,); None if each has a row."""
    return None if counts.all() else classes[int(np.argmin(counts))]


def require_two(labels: Labels, name: str = "data") -> tuple[str, ...]:
    """Return the `classes` of the labels of ``name``, shape (m,), where a classifier can learn them.

    Raises
    ------
    DataError
        All rows have the same label, or none has one. Or there are too many to be classes: one for each row, or, with
        fractions among them, more than `MANY` or than one for two rows.
    """
    found = classes(labels)
    rows = len(labels)
    if len(found) == 1:
        raise DataError(
            f"{name}: all rows have the label {shortened(found[0], QUOTED)}; two classes are needed"
        )
    fractions = [label for label in found if labels.dtype.kind == "f" and not float(label).is_integer()]
    if len(found) > max(2, min(MANY, rows // 2) if fractions else rows - 1):
        raise DataError(
            f"{name}: {len(found)} different labels in {rows} rows, such as {[*fractions, *found][0]}, look like the "
            "target of a regression; fwsvm does classification: write classes as whole numbers or names that rows share"
        )
    return found


def number(word: str) -> float | None:
    """Return the number that a word writes, infinite where it is too large, or None where the word is a name.

    >>> number("-1.5e3"), number("nan"), number("1_000")
    (-1500.0, None, None)
    """
    return float(word) if NUMBER.fullmatch(word) else None


def weights_by_label(pairs: Iterable[tuple[Any, Any]]) -> dict[str, float]:
    """Return weights by the one text of each label, sorted by it.

    >>> weights_by_label([("+1", "5"), (-1.0, 2)])
    {'-1': 2.0, '1': 5.0}

    Raises
    ------
    UsageError
        A label has two weights, or a weight is not a number.
    """
    found: dict[str, float] = {}
    for label, value in pairs:
        name = number_text(str(label))
        if name in found:
            raise UsageError(f"class {shown(name)} has two weights; give it one")
        found[name] = converted(f"the weight of class {shown(name)}", value, float)
    return dict(sorted(found.items()))
