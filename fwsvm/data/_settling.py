"""Numbers that the compiled readers leave to Python: too many digits to round at once, or subnormal."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fwsvm.data._decimal import PLACE
from fwsvm.data._refusals import SHOWN, FormatError, line_number

NUMBER_BYTES = frozenset(b"+-.0123456789eE")


def settle(
    path: str | Path, text: NDArray[np.uint8], values: NDArray[np.float64], bits: NDArray[np.int64]
) -> None:
    """Replace every NaN in ``values``, shape (z,), by the number whose place in the text it carries.

    ``bits`` is the same memory as whole numbers. `DataError` where a number is too large for a double.
    """
    for i in np.flatnonzero(np.isnan(values)):
        start = stop = int(bits[i] & PLACE)
        while int(text[stop]) in NUMBER_BYTES:
            stop += 1
        word = text[start:stop].tobytes()
        values[i] = float(word)
        if math.isinf(values[i]):
            shown = word.decode()[:SHOWN]
            raise FormatError(path, line_number(text, start), f"'{shown}' is too large for a double")
