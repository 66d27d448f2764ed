"""One pass over the bytes of a LIBSVM file, compiled: no Python object for a line, a token or a number.

The text ends in a newline, so that no loop needs to look where the end is: whatever reads a token stops at a
byte that does not belong to it. The scan stops at the first token it refuses and says where; why is found out
afterwards (`fwsvm.data._refusals`), since only one token ever needs it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.data._decimal import UNSETTLED, ZERO, decimal
from fwsvm.numerics.compile import njit

NEWLINE, SPACE, HASH, COMMA, COLON = 10, 32, 35, 44, 58
DELETE = 127
MOST_INDEX_DIGITS = 18  # no overflow of the int64 they are read into
MOST_WIDTH = 2**31 - 2  # the largest index, as in LIBSVM's int


class Rules(NamedTuple):
    """What a file may look like."""

    first_index: int  # 1, or 0 for zero-based files
    width: int  # the number of features allowed: no index reaches first_index + width
    unlabelled: bool  # rows may start with index:value
    strict: bool  # stop at what LIBSVM's own tools refuse: blank and comment lines, names, qid:


class Rows(NamedTuple):
    """What a scan fills: m rows with z entries at most."""

    indptr: np.ndarray  # (m + 1,) int64
    indices: np.ndarray  # (z,) int32, from 0
    values: np.ndarray  # (z,) float64
    bits: np.ndarray  # (z,) int64, the same memory as values
    labels: np.ndarray  # (m,) float64, NaN for a name
    label_at: np.ndarray  # (m,) int64, where in the text the label is; ~start of the row where there is none


@njit
def count(text: NDArray[np.uint8]) -> tuple[int, int]:
    """Return the numbers of newlines and of colons: bounds on the rows and on the entries."""
    lines = 0
    colons = 0
    for byte in text:
        lines += byte == NEWLINE
        colons += byte == COLON
    return lines, colons


@njit
def blank(byte: int) -> bool:
    """Tell whether a byte separates tokens: space, tab, vertical tab, form feed, carriage return."""
    return byte == SPACE or (9 <= byte <= 13 and byte != NEWLINE)


@njit
def ends(byte: int) -> bool:
    """Tell whether a byte ends a token: a blank, the end of the line or a comment."""
    return byte in (SPACE, HASH) or 9 <= byte <= 13


@njit
def past_blanks(text: NDArray[np.uint8], pos: int) -> int:
    """Return the place of the next byte that is no blank."""
    while blank(int(text[pos])):
        pos += 1
    return pos


@njit
def past_line(text: NDArray[np.uint8], pos: int) -> int:
    """Return the place after the next newline."""
    while text[pos] != NEWLINE:
        pos += 1
    return pos + 1


@njit
def past_tokens(text: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place after each of the tokens that start at ``starts``."""
    stops = np.empty(len(starts), np.int64)
    for i in range(len(starts)):
        pos = starts[i]
        while not ends(int(text[pos])):
            pos += 1
        stops[i] = pos
    return stops


@njit
def row_starts(text: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return where the lines start that are neither empty nor comments, blanks before them left out."""
    starts = np.empty(count(text)[0], np.int64)
    m = 0
    pos = 0
    while pos < len(text):
        pos = past_blanks(text, pos)
        if text[pos] not in (NEWLINE, HASH):
            starts[m] = pos
            m += 1
        pos = past_line(text, pos)
    return starts[:m].copy()


@njit
def scan(
    text: NDArray[np.uint8], start: int, rules: Rules, rows: Rows
) -> tuple[int, int, int, int, int, int]:
    """Read rows from ``text[start]`` to the end, into ``rows`` from its beginning.

    Returns
    -------
    stopped : int
        Where the first refused token starts; -1 where all was read.
    m, z : int
        Rows and entries read.
    width : int
        One more than the largest index (from 0).
    skipped, queries : int
        Blank lines among the rows that were skipped, and ``qid:`` tokens ignored.
    """
    pos = start
    end = len(text)
    m = 0
    z = 0
    width = 0
    skipped = 0
    queries = 0
    while pos < end:
        pos = past_blanks(text, pos)
        byte = text[pos]
        if byte in (NEWLINE, HASH):
            if rules.strict:
                return pos, m, z, width, skipped, queries
            skipped += byte == NEWLINE
            pos = past_line(text, pos)
            continue
        at = pos
        pos, rows.labels[m], rows.label_at[m] = label(text, pos, rules)
        if pos < 0:
            return at, m, z, width, skipped, queries
        pos = past_blanks(text, pos)
        if query(text, pos):
            if rules.strict:
                return pos, m, z, width, skipped, queries
            queries += 1
            while not ends(int(text[pos])):
                pos += 1
        pos, z = entries(text, pos, rules, rows, z)
        if pos < 0:
            return ~pos, m, z, width, skipped, queries
        if rules.strict and text[pos] == HASH:
            return pos, m, z, width, skipped, queries
        if z > rows.indptr[m]:
            width = max(width, int(rows.indices[z - 1]) + 1)
        m += 1
        rows.indptr[m] = z
        pos = past_line(text, pos)
    return -1, m, z, width, skipped, queries


@njit
def label(text: NDArray[np.uint8], pos: int, rules: Rules) -> tuple[int, float, int]:
    """Return one past the label (-1: refused), its number (NaN: a name) and where it is (~pos: nowhere)."""
    value, end = decimal(text, pos)
    if end > pos and ends(int(text[end])):
        return (-1 if np.isinf(value) else end), value, pos
    end = pos
    byte = int(text[end])
    while not ends(byte):
        if byte == COLON and rules.unlabelled:
            return pos, np.nan, ~pos
        if byte in (COLON, COMMA, DELETE) or byte < SPACE:
            return -1, np.nan, pos
        end += 1
        byte = int(text[end])
    return (-1 if rules.strict else end), np.nan, pos


@njit
def query(text: NDArray[np.uint8], pos: int) -> bool:
    """Tell whether ``qid:`` is at a place: four bytes, the first of which are in no index."""
    return text[pos] == 113 and text[pos + 1] == 105 and text[pos + 2] == 100 and text[pos + 3] == COLON


@njit
def entries(text: NDArray[np.uint8], pos: int, rules: Rules, rows: Rows, z: int) -> tuple[int, int]:
    """Read ``index:value`` to the end of the line; return where it is (~place of a refused token) and z."""
    least = rules.first_index
    limit = rules.first_index + rules.width
    while True:
        pos = past_blanks(text, pos)
        byte = int(text[pos])
        if byte in (NEWLINE, HASH):
            return pos, z
        at = pos
        index = 0
        digit = byte - ZERO
        while 0 <= digit <= 9:
            index = index * 10 + digit
            pos += 1
            digit = int(text[pos]) - ZERO
        if digit != COLON - ZERO or not 0 < pos - at <= MOST_INDEX_DIGITS or not least <= index < limit:
            return ~at, z
        least = index + 1
        value, end = decimal(text, pos + 1)
        if end == pos + 1 or not ends(int(text[end])) or np.isinf(value):
            return ~at, z
        rows.indices[z] = index - rules.first_index
        rows.values[z] = value
        if np.isnan(value):
            rows.bits[z] = UNSETTLED | (pos + 1)
        z += 1
        pos = end
