"""One compiled pass over the bytes of a LIBSVM file: no Python object for a line, a token or a number.

The text ends in a newline, so no loop checks for its end: reading a token stops at the first byte that cannot belong
to it. Parsing stops at the first invalid token and returns its position; the message is made afterwards
(`fwsvm.data.formats.svmlight_errors`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.data.formats.decimal_numbers import MINUS, NAN_WITH_POSITION, NINE, PLUS, ZERO, parse_decimal
from fwsvm.numerics.compile import njit

TAB, NEWLINE, SPACE, HASH, COMMA, COLON = 9, 10, 32, 35, 44, 58
DELETE = 127
MAX_INDEX_DIGITS = 18  # no overflow of the int64 they are read into
MAX_FEATURES = 2**31 - 2  # the largest index, as in LIBSVM's int


class TextFormat(NamedTuple):
    """Which variants of the format are accepted."""

    first_index: int  # 1, or 0 for zero-based files
    width: int  # number of features allowed: an index is below first_index + width
    unlabelled: bool  # rows may start with index:value
    strict: (
        bool  # refuse what LIBSVM's own tools refuse: empty and comment lines, labels that are names, qid:
    )


class RowBuffers(NamedTuple):
    """Arrays that the parser fills: at most m rows with z entries in all."""

    indptr: np.ndarray  # (m + 1,) int64
    indices: np.ndarray  # (z,) int32, from 0
    values: np.ndarray  # (z,) float64
    bits: np.ndarray  # (z,) int64, the same memory as values
    labels: np.ndarray  # (m,) float64, NaN for a name
    label_at: np.ndarray  # (m,) int64, position of the label in the text; ~start of the row if it has none


@njit
def count_newlines_and_colons(text: NDArray[np.uint8]) -> tuple[int, int]:
    """Return the numbers of newlines and of colons, upper bounds on the numbers of rows and of entries."""
    lines = 0
    colons = 0
    for byte in text:
        lines += byte == NEWLINE
        colons += byte == COLON
    return lines, colons


@njit(inner=True)
def is_blank(byte: int) -> bool:
    """Return whether a byte separates tokens: space, tab, vertical tab, form feed, carriage return."""
    return byte == SPACE or (9 <= byte <= 13 and byte != NEWLINE)


@njit(inner=True)
def ends_token(byte: int) -> bool:
    """Return whether a byte ends a token: a blank, the end of the line or a comment."""
    return byte in (SPACE, HASH) or 9 <= byte <= 13


@njit(inner=True)
def skip_blanks(text: NDArray[np.uint8], pos: int) -> int:
    """Return the position of the next byte that is no blank."""
    while is_blank(int(text[pos])):
        pos += 1
    return pos


@njit
def skip_line(text: NDArray[np.uint8], pos: int) -> int:
    """Return the position after the next newline."""
    while text[pos] != NEWLINE:
        pos += 1
    return pos + 1


@njit
def token_ends(text: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position after each of the tokens that start at ``starts``."""
    stops = np.empty(len(starts), np.int64)
    for i in range(len(starts)):
        pos = starts[i]
        while not ends_token(int(text[pos])):
            pos += 1
        stops[i] = pos
    return stops


@njit
def row_starts(text: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return where each line starts, after leading blanks, that is neither empty nor a comment."""
    starts = np.empty(count_newlines_and_colons(text)[0], np.int64)
    m = 0
    pos = 0
    while pos < len(text):
        pos = skip_blanks(text, pos)
        if text[pos] not in (NEWLINE, HASH):
            starts[m] = pos
            m += 1
        pos = skip_line(text, pos)
    return starts[:m].copy()


@njit
def parse_rows(
    text: NDArray[np.uint8], start: int, rules: TextFormat, rows: RowBuffers
) -> tuple[int, int, int, int, int, int]:
    """Parse rows from ``text[start]`` to the end into ``rows``.

    Returns
    -------
    stopped : int
        Where the first invalid token starts; -1 if there is none.
    m, z : int
        Rows and entries read.
    width : int
        One more than the largest index (from 0).
    skipped, queries : int
        Empty lines skipped, and ``qid:`` tokens ignored.
    """
    pos = start
    end = len(text)
    m = 0
    z = int(np.int64(0))  # for a literal 0 numba compiles a version of `parse_entries` of its own
    width = 0
    skipped = 0
    queries = 0
    while pos < end:
        pos = skip_blanks(text, pos)
        byte = text[pos]
        if byte in (NEWLINE, HASH):
            if rules.strict:
                return pos, m, z, width, skipped, queries
            skipped += byte == NEWLINE
            pos = skip_line(text, pos)
            continue
        at = pos
        pos, rows.labels[m], rows.label_at[m] = parse_label(text, pos, rules)
        if pos < 0:
            return at, m, z, width, skipped, queries
        pos = skip_blanks(text, pos)
        if is_query(text, pos):
            if rules.strict:
                return pos, m, z, width, skipped, queries
            queries += 1
            while not ends_token(int(text[pos])):
                pos += 1
        pos, z = parse_entries(text, pos, rules, rows, z)
        if pos < 0:
            return ~pos, m, z, width, skipped, queries
        if rules.strict and text[pos] == HASH:
            return pos, m, z, width, skipped, queries
        if z > rows.indptr[m]:
            width = max(width, int(rows.indices[z - 1]) + 1)
        m += 1
        rows.indptr[m] = z
        pos = skip_line(text, pos)
    return -1, m, z, width, skipped, queries


@njit(inner=True)
def parse_label(text: NDArray[np.uint8], pos: int, rules: TextFormat) -> tuple[int, float, int]:
    """Return the position after the label (-1: invalid), its value (NaN: a name), its position (~pos: no label)."""
    value, end = parse_decimal(text, pos)
    first = pos + (text[pos] in (PLUS, MINUS))
    is_text = text[first] == ZERO and ZERO <= text[first + 1] <= NINE  # a leading zero, as in "007"
    if end > pos and ends_token(int(text[end])) and not is_text:
        return (-1 if np.isinf(value) else end), value, pos
    end = pos
    byte = int(text[end])
    while not ends_token(byte):
        if byte == COLON and rules.unlabelled:
            return pos, np.nan, ~pos
        if byte in (COLON, COMMA, DELETE) or byte < SPACE:
            return -1, np.nan, pos
        end += 1
        byte = int(text[end])
    return (-1 if rules.strict else end), np.nan, pos


@njit(inner=True)
def is_query(text: NDArray[np.uint8], pos: int) -> bool:
    """Return whether ``qid:`` stands at a position; an index has no letters, so the text does not end before."""
    return text[pos] == 113 and text[pos + 1] == 105 and text[pos + 2] == 100 and text[pos + 3] == COLON


@njit(inner=True)
def parse_entries(
    text: NDArray[np.uint8], pos: int, rules: TextFormat, rows: RowBuffers, z: int
) -> tuple[int, int]:
    """Parse ``index:value`` pairs; return the position of the line's end (~position of an invalid token), and z."""
    least = rules.first_index
    limit = rules.first_index + rules.width
    while True:
        pos = skip_blanks(text, pos)
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
        if digit != COLON - ZERO or not 0 < pos - at <= MAX_INDEX_DIGITS or not least <= index < limit:
            return ~at, z
        least = index + 1
        pos += 1
        while text[pos] in (SPACE, TAB):  # as svm-train skips them
            pos += 1
        value, end = parse_decimal(text, pos)
        if end == pos or not ends_token(int(text[end])) or np.isinf(value):
            return ~at, z
        rows.indices[z] = index - rules.first_index
        rows.values[z] = value
        if np.isnan(value):
            rows.bits[z] = NAN_WITH_POSITION | pos
        z += 1
        pos = end
