"""What the classes of a data set are and in what order, and labels as text.

Two classes: the larger label is the class +1 and comes first; numbers compare as numbers, names as text. More
classes: order of first appearance in the whole training file. A number has one text whatever the file writes:
``1`` for ``+1`` and ``1.0``, ``2.5`` for ``2.50``.
"""

import functools
import math
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fwsvm._memory import require
from fwsvm.errors import DataError, clipped, shown

NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?", re.IGNORECASE)
WHOLE = re.compile(r"[-+]?[0-9]{1,400}")
QUOTED = 40  # characters of a label in a message
CHARACTER = 4  # bytes, in arrays of text
PART = 1 << 20  # labels that are sorted at a time
EXACT_WHOLE = 1e15  # whole numbers below it are written as such, and not rounded


def classes(labels: NDArray[np.float64] | NDArray[np.str_]) -> tuple[str, ...]:
    """Return the classes of the labels, shape (m,), as text in the order that this module's docstring says.

    Raises
    ------
    DataError
        A row has no label.
    """
    names = [label_text(label) for label in _in_order(labels)]
    if "nan" in names:
        raise DataError("rows without labels have no classes")
    found = tuple(dict.fromkeys(names))
    return tuple(sorted(found, key=_rank(found), reverse=True)) if len(found) == 2 else found


def of_names(
    names: list[str], codes: NDArray[np.integer], where: str
) -> NDArray[np.float64] | NDArray[np.str_]:
    """Return the labels ``names[codes]``, shape (m,): numbers where all names are and none is rounded, else text.

    `DataError`, which ``where`` they stand begins, if text does not fit in the memory available.
    """
    values = [number(name) for name in names]
    if all(
        value is not None and (abs(value) < EXACT_WHOLE or label_text(name) == label_text(value))
        for name, value in zip(names, values, strict=True)
    ):
        return np.array(values)[codes]
    longest = max(map(len, names))
    what = f"{where}: keeping {len(codes):,} labels of up to {longest:,} characters"
    require(CHARACTER * len(codes) * longest, what, "write shorter labels", DataError)
    return np.array(names)[codes]


def objection(name: str) -> str:
    """Return why a text cannot be a label, as the end of a sentence; empty where it can.

    Model files take printable labels alone (`fwsvm.problems.model_files`), and so do predictions, a label a line.
    """
    if name.isprintable():
        return ""
    return f"the label {shown(name)} holds a character that is not printable; leave it out"


def first_objection(labels: NDArray[np.str_]) -> tuple[int, str] | None:
    """Return the number (from 0) of the first text that cannot be a label, and why (`objection`); None if all can."""
    for first in range(0, len(labels), PART):
        distinct, where = np.unique(labels[first : first + PART], return_index=True)
        found = [
            (int(at), said)
            for name, at in zip(distinct, where, strict=True)
            if (said := objection(str(name)))
        ]
        if found:
            at, said = min(found)
            return first + at, said
    return None


def as_numbers(labels: NDArray[np.generic], where: str = "") -> NDArray[np.float64]:
    """Return numbers as float64.

    Raises
    ------
    DataError
        Whole numbers that float64 would round; ``where`` they stand, such as a file, begins the sentence.
    """
    with np.errstate(invalid="ignore"):  # the largest of uint64 have no way back
        numbers = labels.astype(np.float64, copy=False)
        if labels.dtype.kind in "iu" and (numbers.astype(labels.dtype) != labels).any():
            said = "labels are whole numbers beyond 2^53, which would be rounded; give them as text"
            raise DataError(f"{where}: {said}" if where else said)
    return numbers


def encode(labels: NDArray[np.float64] | NDArray[np.str_], classes: tuple[str, ...]) -> NDArray[np.int32]:
    """Return each label's place in ``classes``, shape (m,), -1 where it is none of them."""
    place = {name: i for i, name in enumerate(classes)}
    codes = np.empty(len(labels), np.int32)
    for first in range(0, len(labels), PART):
        distinct, which = np.unique(labels[first : first + PART], return_inverse=True)
        places = np.array([place.get(label_text(label), -1) for label in distinct], np.int32)
        codes[first : first + PART] = places[which.reshape(-1)]
    return codes


def _in_order(labels: NDArray[np.float64] | NDArray[np.str_]) -> list[float] | list[str]:
    """Return the different labels in order of first appearance; the memory is that of a part of them."""
    found: dict[float | str, None] = {}
    for first in range(0, len(labels), PART):
        distinct, firsts = np.unique(labels[first : first + PART], return_index=True)
        found |= dict.fromkeys(distinct[np.argsort(firsts)].tolist())
    return list(found)  # type: ignore[return-value]


@functools.lru_cache(maxsize=1024)  # fits of a search meet the same few again and again
def label_text(label: float | str) -> str:
    """Return the one text of a label: a number's shortest, a name and a whole number that a double rounds as they are.

    >>> [label_text(label) for label in (1.0, "+1", "2.50", -0.0, "setosa")]
    ['1', '1', '2.5', '0', 'setosa']
    """
    value = number(label) if isinstance(label, str) else float(label)
    if value is None or not math.isfinite(value):
        return str(label)
    if (
        isinstance(label, str)
        and abs(value) >= EXACT_WHOLE
        and WHOLE.fullmatch(label)
        and int(label) != value
    ):
        return str(int(label))
    if value.is_integer() and abs(value) < EXACT_WHOLE:
        return str(int(value))
    return repr(value)


def unknown(labels: NDArray[np.float64] | NDArray[np.str_], classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels that are none of the classes, sorted; rows without a label are no such rows."""
    beyond = labels[encode(labels, classes) < 0]
    found = np.unique(beyond[~np.isnan(beyond)] if beyond.dtype.kind == "f" else beyond)
    return tuple(sorted(label_text(label) for label in found.tolist()))


def lacking(counts: NDArray[np.integer], classes: tuple[str, ...]) -> str | None:
    """Return the first class of which there are no rows, by the rows of each, shape (K,); None if each has a row."""
    return None if counts.all() else classes[int(np.argmin(counts))]


def first_labels(some: tuple[str, ...], most: int = 5) -> str:
    """Return the first of some labels, for a sentence."""
    return ", ".join(some[:most]) + (", ..." if len(some) > most else "")


def require_two(labels: NDArray[np.float64] | NDArray[np.str_], name: str) -> None:
    """Refuse labels from which nothing can be learned.

    Raises
    ------
    DataError
        All rows of ``name`` have the same label, or none has one, or each has its own.
    """
    found = classes(labels)
    if len(found) < 2:
        have = "the only row has" if len(labels) == 1 else f"all {len(labels)} rows have"
        raise DataError(f"{name}: {have} the label {clipped(found[0], QUOTED)}; two classes are needed")
    if len(found) == len(labels) > 2:
        raise DataError(
            f"{name}: each of the {len(labels)} rows has a label of its own; classes are labels that rows share "
            "(fwsvm does classification, not regression)"
        )


def number(word: str) -> float | None:
    """Return the number that a word writes, infinite where it is too large, or None where the word is a name.

    >>> number("-1.5e3"), number("nan"), number("1_000")
    (-1500.0, None, None)
    """
    return float(word) if NUMBER.fullmatch(word) else None


def _rank(found: tuple[str, ...]) -> Callable[[str], float | str]:
    """Return what classes are compared by: their numbers where all are numbers, else their names."""
    if any(number(name) is None for name in found):
        return str
    return lambda name: int(name) if WHOLE.fullmatch(name) else float(name)  # which compare exactly
