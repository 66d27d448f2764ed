"""Labels of rows: as numbers or text, the classes that they form, the order of these, and their weights.

Two classes: the larger label is the class +1 and comes first; numbers compare as numbers, names as text. More
classes: order of first appearance in the whole training file. Labels that are numbers have one text whatever the file
writes: ``1`` for ``+1`` and ``1.0``. Labels that are text stay as they are: ``01`` is not ``1``.
"""

import functools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwsvm._memory import require
from fwsvm.errors import DataError, UsageError, clipped, shown
from fwsvm.parameters import BALANCED, converted

NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?", re.IGNORECASE)
WHOLE = re.compile(r"[-+]?[0-9]{1,400}")
LEADING_ZERO = re.compile(r"[-+]?0[0-9]")  # of text that consists of digits, such as a postal code
QUOTED = 40  # characters of a label in a message
CHARACTER = 4  # bytes, in arrays of text
MANY = 20  # different labels, some of them fractions, that are a regression target rather than classes
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
    if len(found) != 2:
        return found
    if any(number(name) is None for name in found):
        return max(found), min(found)
    values = [int(name) if WHOLE.fullmatch(name) else float(name) for name in found]  # compared exactly
    return found if values[0] >= values[1] else found[::-1]


def of_names(
    names: list[str], codes: NDArray[np.integer], where: str
) -> NDArray[np.float64] | NDArray[np.str_]:
    """Return the labels ``names[codes]``, shape (m,): numbers where all names are and none is rounded, else text.

    `DataError`, which ``where`` they stand begins, if text does not fit in the memory available.
    """
    if all(number(name) is not None and not LEADING_ZERO.match(name) for name in names):
        values = np.array([float(name) for name in names])
        if not any(map(_is_rounded, names, values.tolist())):
            return values[codes]
        names = [str(int(name)) if WHOLE.fullmatch(name) else name for name in names]
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


def _is_rounded(name: str, value: float) -> bool:
    """Whether a whole number has another value as float64."""
    return abs(value) >= EXACT_WHOLE and WHOLE.fullmatch(name) is not None and int(name) != value


def encode(labels: NDArray[np.float64] | NDArray[np.str_], classes: tuple[str, ...]) -> NDArray[np.int32]:
    """Return each label's place in ``classes``, shape (m,), -1 where it is none of them.

    Text matches as it is written; where all classes are numbers, also as the number that it writes.
    """
    place = {name: i for i, name in enumerate(classes)}
    numeric = all(number(name) is not None and number_text(name) == name for name in classes)
    codes = np.empty(len(labels), np.int32)
    for first in range(0, len(labels), PART):
        distinct, which = np.unique(labels[first : first + PART], return_inverse=True)
        names = [label_text(label) for label in distinct.tolist()]
        found = [place.get(name, place.get(number_text(name), -1) if numeric else -1) for name in names]
        codes[first : first + PART] = np.array(found, np.int32)[which.reshape(-1)]
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
    if value is None or not math.isfinite(value) or LEADING_ZERO.match(word):
        return word
    return str(int(word)) if _is_rounded(word, value) else label_text(value)


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
    refuse_regression(labels, found, name)


def refuse_regression(
    labels: NDArray[np.float64] | NDArray[np.str_], found: tuple[str, ...], name: str = ""
) -> None:
    """Refuse labels, shape (m,), that are no classes but the target of a regression.

    Such are labels of which each row has its own, and numbers with fractions that are more than `MANY` or more than
    half as many as the rows. ``found`` are the labels' `classes`, ``name`` is that of the data.

    Raises
    ------
    DataError
        The sentence names regression.
    """
    where = f"{name}: " if name else ""
    if len(found) == len(labels) > 2:
        raise DataError(
            f"{where}each of the {len(labels)} rows has a label of its own; classes are labels that rows share "
            "(fwsvm does classification, not regression)"
        )
    if labels.dtype.kind != "f" or len(found) <= min(MANY, max(2, len(labels) // 2)):
        return
    fraction = next((label for label in found if WHOLE.fullmatch(label) is None), None)
    if fraction is not None:
        raise DataError(
            f"{where}the labels are continuous: {len(found)} different numbers in {len(labels)} rows, such as "
            f"{fraction}; fwsvm does classification, not regression"
        )


def number(word: str) -> float | None:
    """Return the number that a word writes, infinite where it is too large, or None where the word is a name.

    >>> number("-1.5e3"), number("nan"), number("1_000")
    (-1500.0, None, None)
    """
    return float(word) if NUMBER.fullmatch(word) else None


def weights_by_label(pairs: Mapping[Any, Any]) -> dict[str, float]:
    """Return weights by the one text of each label, sorted by it.

    >>> weights_by_label({"+1": "5", -1.0: 2})
    {'-1': 2.0, '1': 5.0}

    Raises
    ------
    UsageError
        A label in two spellings, or a weight that is not a number.
    """
    found: dict[str, float] = {}
    for label, value in pairs.items():
        name = number_text(str(label))
        if name in found:
            raise UsageError(f"class {shown(name)} has two weights; give it one")
        found[name] = converted(f"the weight of class {shown(name)}", value, float)
    return dict(sorted(found.items()))


def weights_from_words(option: str, words: Sequence[str]) -> str | dict[str, float] | None:
    """Return what the words LABEL=W, or the one word balanced, of an option say; None without words.

    Raises
    ------
    UsageError
        A word of another form, a label given twice, or balanced beside other words.
    """
    if not words:
        return None
    if BALANCED in words:
        if len(words) > 1:
            raise UsageError(f"{option} {BALANCED} weighs all classes; leave the other {option} out")
        return BALANCED
    pairs: dict[str, str] = {}
    for word in words:
        label, sign, value = word.rpartition("=")
        if not (sign and label):
            raise UsageError(f"{option} takes LABEL=W or {BALANCED}, not {shown(word)}")
        if label in pairs:
            raise UsageError(f"{option} gives class {shown(label)} two weights")
        pairs[label] = value
    return weights_by_label(pairs)
