"""One compiled pass over the text of a LIBSVM file: no Python object for a line, a token or a number.

The text ends in a newline, so no loop checks for its end: reading a token stops at the first byte that cannot belong
to it. Parsing stops at the first invalid token and returns its position; `fwsvm.data.formats.svmlight_errors` makes the
message.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.numerics.compile import njit

TAB, NEWLINE, SPACE, HASH, PLUS, COMMA, MINUS, DOT = 9, 10, 32, 35, 43, 44, 45, 46
ZERO, NINE, COLON, LETTER_E, DELETE = 48, 57, 58, 101, 127
MAX_INDEX_DIGITS = 18  # no overflow of the int64 they are read into
MAX_FEATURES = 2**31 - 2  # the largest index, as in LIBSVM's int
INT64_DIGITS, UINT64_DIGITS = 18, 19  # that fit without overflow
LARGEST_EXPONENT = 10**15  # what is added to an exponent beyond it changes nothing
NAN_WITH_POSITION = np.int64(0x7FF8000000000000)  # the payload is the place of the number in the text
POSITION_BITS = np.int64(0x0007FFFFFFFFFFFF)

EXACT_MANTISSA = 1 << 53
MAX_POWER = 270  # of ten, for which the products below neither overflow nor lose bits
_POWERS = [Fraction(10) ** k for k in range(-MAX_POWER, MAX_POWER + 1)]
POWER_HIGH = np.array([float(power) for power in _POWERS])  # the nearest doubles, and what they lack
POWER_LOW = np.array([float(power - Fraction(float(power))) for power in _POWERS])
SPLITTER = 134217729.0  # 2^27 + 1
PRODUCT_ERROR = (
    2.0**-98
)  # relative, of a product of two doubles each; the rounding errors sum to less than 2^-102


class Rules(NamedTuple):
    """Which variants of the format are accepted."""

    first_index: int = 1  # 0 for zero-based files
    width: int = MAX_FEATURES  # an index is below first_index + width
    unlabelled: bool = False  # rows may start with index:value
    strict: bool = (
        False  # refuse what LIBSVM's tools refuse: empty and comment lines, labels that are names, qid:
    )


class RowBuffers(NamedTuple):
    """Arrays that the parser fills: at most m rows with z entries in all."""

    indptr: np.ndarray  # (m + 1,) int64
    indices: np.ndarray  # (z,) int32, from 0
    values: np.ndarray  # (z,) float64
    bits: np.ndarray  # (z,) int64, the same memory as values
    labels: np.ndarray  # (m,) float64, NaN for text
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


@njit
def parse_rows(
    text: NDArray[np.uint8], start: int, rules: Rules, rows: RowBuffers
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


@njit
def skip_line(text: NDArray[np.uint8], pos: int) -> int:
    """Return the position after the next newline."""
    while text[pos] != NEWLINE:
        pos += 1
    return pos + 1


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


@njit(inner=True)
def parse_label(text: NDArray[np.uint8], pos: int, rules: Rules) -> tuple[int, float, int]:
    """Return the position after the label (-1: invalid), its value (NaN: text), its position (~pos: no label)."""
    value, end = parse_decimal(text, pos)
    first = pos + (text[pos] in (PLUS, MINUS))
    leading_zero = text[first] == ZERO and ZERO <= text[first + 1] <= NINE  # text, such as "007"
    if end > pos and ends_token(int(text[end])) and not leading_zero:
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
    text: NDArray[np.uint8], pos: int, rules: Rules, rows: RowBuffers, z: int
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


@njit
def parse_decimal(text: NDArray[np.uint8], pos: int) -> tuple[float, int]:
    """Read the number that starts at ``text[pos]``.

    Returns
    -------
    value : float
        The double that Python's ``float`` returns; infinite on overflow; NaN where only ``float`` can tell.
    end : int
        One past the number; ``pos`` where there is none.
    """
    start = pos
    byte = int(text[pos])
    if ZERO <= byte <= NINE and text[pos + 1] <= SPACE:  # most numbers of sparse data
        return float(byte - ZERO), pos + 1
    negative = byte == MINUS
    if negative or byte == PLUS:
        pos += 1
    first = pos
    mantissa = 0
    digit = int(text[pos]) - ZERO
    while 0 <= digit <= 9:
        mantissa = mantissa * 10 + digit
        pos += 1
        digit = int(text[pos]) - ZERO
    digits = pos - first
    fraction = 0
    if digit == DOT - ZERO:
        pos += 1
        dot = pos
        digit = int(text[pos]) - ZERO
        while 0 <= digit <= 9:
            mantissa = mantissa * 10 + digit
            pos += 1
            digit = int(text[pos]) - ZERO
        fraction = pos - dot
    digits += fraction
    if digits == 0:
        return 0.0, start
    stop = pos
    exponent = 0
    if (digit + ZERO) | 32 == LETTER_E:
        exponent, pos = _parse_exponent(text, pos + 1)
        if pos < 0:
            return 0.0, start
    power = exponent - fraction
    if digits <= INT64_DIGITS and mantissa <= EXACT_MANTISSA and -22 <= power <= 22:  # one exact operation
        scale = POWER_HIGH[MAX_POWER + abs(power)]
        value = mantissa / scale if power < 0 else mantissa * scale
    elif mantissa > 0 and digits <= INT64_DIGITS and abs(power) <= MAX_POWER:
        value = _round_product(np.uint64(mantissa), power, False)
    else:
        value = _parse_long(text, first, stop, power)
    return -value if negative else value, pos


@njit(inner=True)
def _parse_exponent(text: NDArray[np.uint8], pos: int) -> tuple[int, int]:
    """Read what follows the ``e``; return it and one past it, or (0, -1) where no digit follows."""
    byte = int(text[pos])
    negative = byte == MINUS
    if negative or byte == PLUS:
        pos += 1
    first = pos
    exponent = 0
    digit = int(text[pos]) - ZERO
    while 0 <= digit <= 9:
        exponent = min(LARGEST_EXPONENT, exponent * 10 + digit)
        pos += 1
        digit = int(text[pos]) - ZERO
    if pos == first:
        return 0, -1
    return -exponent if negative else exponent, pos


@njit(inner=True)
def _parse_long(text: NDArray[np.uint8], first: int, stop: int, power: int) -> float:
    """Return ``text[first:stop]``, digits and perhaps a dot, read as a whole number, times 10^power."""
    mantissa = np.uint64(0)
    kept = 0
    dropped = 0
    for at in range(first, stop):
        byte = int(text[at])
        if byte == DOT:
            continue
        if kept < UINT64_DIGITS:
            mantissa = mantissa * np.uint64(10) + np.uint64(byte - ZERO)
            kept += mantissa != np.uint64(0)
        else:
            dropped += 1
    power += dropped
    if mantissa == np.uint64(0):
        return 0.0
    if not -MAX_POWER <= power <= MAX_POWER:
        return math.nan
    return _round_product(mantissa, power, dropped > 0)


@njit(inner=True)
def _round_product(mantissa: np.uint64, power: int, is_cut: bool) -> float:
    """Return the double nearest to mantissa * 10^power, NaN where the error of the product leaves two.

    Both factors are sums of two doubles (Dekker 1971); of a mantissa that ``is_cut`` the rest is below 1.
    """
    high, low = POWER_HIGH[MAX_POWER + power], POWER_LOW[MAX_POWER + power]
    m_high = np.float64(mantissa)
    m_low = np.float64(np.int64(mantissa - np.uint64(m_high)))
    product = m_high * high
    scaled = SPLITTER * m_high
    a = scaled - (scaled - m_high)
    scaled = SPLITTER * high
    b = scaled - (scaled - high)
    rest = ((a * b - product) + a * (high - b) + (m_high - a) * b) + (m_high - a) * (high - b)
    rest += m_high * low + m_low * high
    value = product + rest
    rest += product - value
    error = product * PRODUCT_ERROR
    above = rest + error + (high if is_cut else 0.0)
    return value if value + above == value and value + (rest - error) == value else math.nan
