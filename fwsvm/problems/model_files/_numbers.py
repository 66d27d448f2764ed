"""Numbers in model files: decimal text that C's strtod and Python's float read alike."""

import math

LARGEST = 2**31 - 1  # LIBSVM and LIBLINEAR read counts, labels and indices into an int


def finite_number(text: str) -> float | None:
    """Return the finite number a text writes, or None.

    >>> [finite_number(text) for text in ("-1.5e3", "inf", "1e999", "1_000")]
    [-1500.0, None, None, None]
    """
    try:
        value = math.inf if "_" in text else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def whole(text: str) -> int | None:
    """Return the whole number a text writes if it fits an int of C, or None.

    >>> whole("-1"), whole("2147483648"), whole("1.0")
    (-1, None, None)
    """
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isdecimal() and digits.isascii() and len(digits) <= 10):
        return None
    value = int(text)
    return value if -LARGEST - 1 <= value <= LARGEST else None
