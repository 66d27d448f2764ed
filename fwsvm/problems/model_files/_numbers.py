"""Numbers in model files: decimal text that C's strtod and Python's float read alike."""

import math
import re

#: Neither nan nor inf; written without choices to go back to, so that no text takes long to refuse.
NUMBER = r"[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?"
LARGEST = 2**31 - 1  # LIBSVM and LIBLINEAR read counts, labels and indices into an int
_NUMBER = re.compile(NUMBER)
_WHOLE = re.compile(r"[-+]?[0-9]{1,10}")


def finite_number(text: str) -> float | None:
    """Return the finite number a text writes, or None.

    >>> [finite_number(text) for text in ("-1.5e3", "inf", "1e999", "1_000")]
    [-1500.0, None, None, None]
    """
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


def whole(text: str) -> int | None:
    """Return the whole number a text writes if it fits an int of C, or None.

    >>> whole("-1"), whole("2147483648"), whole("1.0")
    (-1, None, None)
    """
    value = int(text) if _WHOLE.fullmatch(text) else LARGEST + 1
    return value if -LARGEST - 1 <= value <= LARGEST else None
