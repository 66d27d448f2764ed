"""Weights of classes as users write them, with labels as the classes of a data set have them."""

from collections.abc import Mapping, Sequence
from typing import Any

from fwsvm.data.labels import number_text
from fwsvm.errors import UsageError, shown
from fwsvm.parameters import BALANCED, converted


def by_label_text(pairs: Mapping[Any, Any]) -> dict[str, float]:
    """Return weights by the one text of each label, sorted by it.

    >>> by_label_text({"+1": "5", -1.0: 2})
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


def from_words(option: str, words: Sequence[str]) -> str | dict[str, float] | None:
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
    return by_label_text(pairs)
