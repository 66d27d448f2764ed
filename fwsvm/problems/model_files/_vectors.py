"""The support vectors of a LIBSVM model file: a line each, coefficients first, then ``index:value``."""

from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm.errors import shown
from fwsvm.problems.model_files._lines import Lines
from fwsvm.problems.model_files._numbers import LARGEST, finite_number, whole


def read_vectors(
    lines: Lines, rest: Iterator[str], count: int, width: int, *, numbers_only: bool = False
) -> tuple[NDArray[np.float64], csr_array]:
    """Read ``count`` lines of ``width`` coefficients and a sparse vector each.

    Memory grows with what the file holds, never with what its header promises. With ``numbers_only`` a vector is
    ``0:i``, and i, a whole number of 1 or more, stands in column 0.

    Returns
    -------
    coefficients : ndarray, shape (count, width)
    vectors : csr_array, shape (count, largest index)
    """
    coefficients, values, columns, ends = array("d"), array("d"), array("q"), array("q", [0])
    start = lines.number + 1
    for _ in range(count):
        line = next(rest, None)
        if line is None:
            raise lines.refusal(f"the file ends after {len(ends) - 1} of {count} support vectors")
        words = line.split()
        if len(words) < width:
            raise lines.refusal(_layout(width))
        for place, word in enumerate(words):
            index, colon, number = word.partition(":") if place >= width else ("1", "", word)
            column, value = whole(index), finite_number(number)
            if column is None or value is None or (place >= width and not colon):
                raise lines.refusal(_why_not(word, width))
            if place < width:
                coefficients.append(value)
            else:
                columns.append(column - (not numbers_only))
                values.append(value)
        ends.append(len(columns))
    vectors = _checked(lines, start, np.array(columns), np.array(values), np.array(ends))
    if numbers_only:
        _refuse_other_than_numbers(lines, start, vectors)
    return np.array(coefficients).reshape(count, width), vectors


def _checked(
    lines: Lines, start: int, columns: NDArray[np.int64], values: NDArray[np.float64], ends: NDArray[np.int64]
) -> csr_array:
    """Return the sparse vectors; ``start`` is the line of the first."""

    def refuse(wrong: NDArray[np.bool_], why: str) -> None:
        if wrong.any():
            row = int(np.searchsorted(ends, int(np.argmax(wrong)), side="right")) - 1
            raise lines.refusal(why, start + row)

    refuse((columns < 0) | (columns >= LARGEST - 1), f"an index must be 1 to {LARGEST - 1}")
    falls = np.zeros(len(columns), dtype=bool)
    falls[1:] = columns[1:] <= columns[:-1]
    falls[ends[:-1][ends[:-1] < len(columns)]] = False
    refuse(falls, "indices must increase along the line")
    width = int(columns.max()) + 1 if len(columns) else 0
    return csr_array((values, columns, ends), shape=(len(ends) - 1, width))


def _refuse_other_than_numbers(lines: Lines, start: int, vectors: csr_array) -> None:
    """Refuse a vector that is not ``0:i``; ``start`` is the line of the first."""
    lengths = np.diff(vectors.indptr)
    wrong = lengths != 1
    if not wrong.any():
        wrong = (vectors.indices != 0) | (vectors.data < 1) | (vectors.data >= LARGEST - 1)
        wrong |= vectors.data != np.rint(vectors.data)
    if wrong.any():
        why = "a support vector of a precomputed kernel must be 0:i, the number of a training row"
        raise lines.refusal(why, start + int(np.argmax(wrong)))


def _why_not(word: str, width: int) -> str:
    """Return what is wrong with a word of a support vector's line."""
    index, colon, value = word.partition(":")
    if finite_number(word) is not None or (
        colon and whole(index) is not None and finite_number(value) is not None
    ):
        return _layout(width)
    return f"{shown(word)} is neither a finite number nor index:value"


def _layout(width: int) -> str:
    return f"a support vector is expected here: {width} coefficients, then index:value pairs"
