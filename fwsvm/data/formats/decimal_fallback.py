"""Numbers that the compiled parsers leave to Python's ``float``: too many digits to round at once, or subnormal."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fwsvm.data.formats.decimal_numbers import POSITION_BITS
from fwsvm.data.formats.svmlight_errors import QUOTED, FormatError, line_number

NUMBER_BYTES = frozenset(b"+-.0123456789eE")


def parse_by_python(
    path: str | Path, text: NDArray[np.uint8], values: NDArray[np.float64], bits: NDArray[np.int64]
) -> None:
    """Replace every NaN in ``values``, shape (z,), by the number at the position of the text in its payload.

    ``bits`` is the same memory as int64. `DataError` if a number is too large for a double.
    """
    for i in np.flatnonzero(np.isnan(values)):
        start = stop = int(bits[i] & POSITION_BITS)
        while int(text[stop]) in NUMBER_BYTES:
            stop += 1
        word = text[start:stop].tobytes()
        values[i] = float(word)
        if math.isinf(values[i]):
            shown = word.decode()[:QUOTED]
            raise FormatError(path, line_number(text, start), f"'{shown}' is too large for a double")
