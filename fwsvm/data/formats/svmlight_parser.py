"""One compiled pass over the text of a LIBSVM file: no Python object for a line, a token or a number.

The text ends in a newline, which ends every token, so no loop checks for its end. Labels become numbers, and the
caller looks at each one's text once.
Parsing stops at the first invalid entry; `fwsvm.data.formats.svmlight` makes the message.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.numerics.compile import njit

MAX_FEATURES = 2**31 - 2  # the largest index, as in LIBSVM's int
TAB, NEWLINE, RETURN, SPACE, HASH, PLUS, MINUS, DOT, COLON, LETTER_E = b"\t\n\r #+-.:e"

U0, U1, U2, U3, U8, U9, U10 = (np.uint64(k) for k in (0, 1, 2, 3, 8, 9, 10))
ZERO = np.uint64(ord("0"))
#: Of eight digits in a word, the first in its lowest byte.
EIGHT_ZEROS, EIGHT_SIXES, HIGH_HALVES = (np.uint64(0x0101010101010101 * byte) for byte in (0x30, 0x06, 0xF0))
PAIRS, TEN_TO_8 = np.uint64(0x000000FF000000FF), np.uint64(10**8)
FIRST_PAIRS, LAST_PAIRS = np.uint64((10**6 << 32) + 100), np.uint64((10**4 << 32) + 1)
INDEX_DIGITS, MANTISSA_DIGITS = 18, np.uint64(19)  # without overflow of an int64 and a uint64
EXACT_MANTISSA, EXACT_POWER, MAX_POWER = np.uint64(1 << 53), 22, 64  # 10^22 is a double
_POWERS = [Fraction(10) ** k for k in range(-MAX_POWER, MAX_POWER + 1)]
POWER_HIGH = np.array([float(power) for power in _POWERS])  # the nearest doubles, and what they lack
POWER_LOW = np.array([float(power - Fraction(float(power))) for power in _POWERS])
SPLITTER = 134217729.0  # 2^27 + 1
PRODUCT_ERROR = 2.0**-98  # relative, of a product of two doubles each; rounding errors sum to below 2^-102
LARGE_EXPONENT = np.uint64(10**8)  # with which every number is 0 or infinite
NAN_WITH_POSITION = np.int64(0x7FF8000000000000)  # the payload is the place of the number in the text


class RowBuffers(NamedTuple):
    """Arrays that the parser fills: at most m rows with z entries in all."""

    indptr: np.ndarray  # (m + 1,) int64, the first is 0
    starts: np.ndarray  # (m,) int64, where the row starts in the text
    codes: np.ndarray  # (m,) int64, the number of the row's label, -1 of a row without
    firsts: np.ndarray  # (m,) int64, the first row that has each label
    indices: np.ndarray  # (z,) int32, from 0
    values: np.ndarray  # (z,) float64
    bits: np.ndarray  # (z,) int64, the same memory


@njit(each_step=True, inner=False)
def parse_rows(
    text: NDArray[np.uint8], first_index: int, unlabelled: bool, rows: RowBuffers
) -> tuple[int, int, int, int, int, int, int, int, int]:
    """Parse all rows of a text.

    Parameters
    ----------
    text : ndarray of uint8
    first_index : int
    unlabelled : bool
        Rows may start with ``index:value``.
    rows : RowBuffers

    Returns
    -------
    stopped : int
        Where the first invalid entry starts; -1 if there is none.
    m, z : int
        Rows and entries read.
    width : int
        One more than the largest index (from 0).
    unread : int
        Values that only Python's ``float`` can tell: NaN with the place of the number as payload.
    empty, queries, lines : int
        Empty lines and ``qid:`` tokens that were skipped, and all lines read.
    classes : int
        Different labels.
    """
    pos, end = U0, np.uint64(len(text))
    m = classes = int(np.int64(0))  # for a literal 0 numba compiles a version of `_parse_label` of its own
    z, width, unread, empty, queries, lines = 0, 0, 0, 0, 0, 0
    stopped = int(np.int64(-1))
    while pos < end and stopped < 0:
        pos = _skip_blanks(text, pos)
        if text[pos] != NEWLINE and text[pos] != HASH:
            pos, classes = _parse_label(text, pos, unlabelled, m, classes, rows)
            least = np.uint64(first_index)
            while True:
                pos = _skip_blanks(text, pos)
                at = pos
                index, pos = _parse_digits(text, at, U0)
                if text[pos] != COLON or pos == at:
                    if text[at] == NEWLINE or text[at] == HASH:
                        break
                    if z > rows.indptr[m] or not _is_query(text, at):
                        stopped = int(np.int64(at))
                        break
                    queries += 1
                    pos = _token_end(text, at)
                    continue
                value, stop = _parse_value(text, pos + U1)
                is_next = least <= index < np.uint64(first_index + MAX_FEATURES) and pos - at <= np.uint64(
                    INDEX_DIGITS
                )
                if not is_next or stop == U0:
                    stopped = int(np.int64(at))
                    break
                rows.indices[z] = np.int64(index) - first_index
                rows.values[z] = value
                if math.isnan(value):
                    rows.bits[z] = NAN_WITH_POSITION | np.int64(pos + U1)
                    unread += 1
                z += 1
                least = index + U1
                pos = stop
            width = max(width, int(np.int64(least)) - first_index)
            m += 1
            rows.indptr[m] = z
        else:
            empty += text[pos] == NEWLINE
        while text[pos] != NEWLINE:
            pos += U1
        pos += U1
        lines += 1
    return stopped, m, z, width, unread, empty, queries, lines, classes


@njit(each_step=True)
def _ends_token(byte: int) -> bool:
    """Return whether a byte ends a token: a blank, the end of the line or a comment."""
    return byte in (SPACE, HASH) or TAB <= byte <= RETURN


@njit(each_step=True)
def _token_end(text: NDArray[np.uint8], pos: np.uint64) -> np.uint64:
    while not _ends_token(text[pos]):
        pos += U1
    return pos


@njit(each_step=True)
def _skip_blanks(text: NDArray[np.uint8], pos: np.uint64) -> np.uint64:
    """Return the position of the next byte that is no blank: space, tab, vertical tab, form feed, carriage return."""
    byte = text[pos]
    while byte == SPACE or (TAB <= byte <= RETURN and byte != NEWLINE):
        pos += U1
        byte = text[pos]
    return pos


@njit(each_step=True)
def _is_query(text: NDArray[np.uint8], pos: np.uint64) -> bool:
    """Return whether ``qid:`` stands at a position."""
    return text[pos] == 113 and text[pos + U1] == 105 and text[pos + U2] == 100 and text[pos + U3] == COLON


@njit(each_step=True)
def _parse_label(
    text: NDArray[np.uint8], pos: np.uint64, unlabelled: bool, m: int, classes: int, rows: RowBuffers
) -> tuple[np.uint64, int]:
    """Store start and label of row m; return the position after the label, and the number of different labels."""
    at, is_entry = pos, False
    while not _ends_token(text[pos]):
        is_entry |= text[pos] == COLON
        pos += U1
    rows.starts[m] = np.int64(at)
    rows.codes[m] = -1
    if is_entry and unlabelled:
        return at, classes
    code = 0
    while code < classes and not _is_same(text, at, np.uint64(rows.starts[rows.firsts[code]])):
        code += 1
    if code == classes:
        rows.firsts[code] = m
        classes += 1
    rows.codes[m] = code
    return pos, classes


@njit(each_step=True)
def _is_same(text: NDArray[np.uint8], one: np.uint64, other: np.uint64) -> bool:
    """Return whether the same token stands at two positions."""
    while text[one] == text[other] and not _ends_token(text[one]):
        one += U1
        other += U1
    return _ends_token(text[one]) and _ends_token(text[other])


@njit(each_step=True)
def _parse_digits(text: NDArray[np.uint8], pos: np.uint64, number: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Append the digits at a position to a number; return it and the position after them."""
    digit = np.uint64(text[pos]) - ZERO
    while digit <= U9:
        number = number * U10 + digit
        pos += U1
        digit = np.uint64(text[pos]) - ZERO
    return number, pos


@njit(each_step=True)
def _parse_many_digits(
    text: NDArray[np.uint8], pos: np.uint64, number: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Append the digits at a position to a number, eight at a time; return it and the position after them."""
    while True:
        word = U0
        for k in range(8):
            word |= np.uint64(text[pos + np.uint64(k)]) << np.uint64(8 * k)
        digits = word - EIGHT_ZEROS
        if (word & HIGH_HALVES) != EIGHT_ZEROS or ((word + EIGHT_SIXES) & HIGH_HALVES) != EIGHT_ZEROS:
            return _parse_digits(text, pos, number)
        digits = digits * U10 + (digits >> U8)  # a pair in every other byte
        low, high = digits & PAIRS, (digits >> np.uint64(16)) & PAIRS
        number = number * TEN_TO_8 + ((low * FIRST_PAIRS + high * LAST_PAIRS) >> np.uint64(32))
        pos += U8


@njit(each_step=True)
def _parse_value(text: NDArray[np.uint8], pos: np.uint64) -> tuple[float, np.uint64]:
    """Return the double that Python's ``float`` returns for a token, and the position after it; 0 if it is invalid.

    The value is NaN where only ``float`` can tell it.
    """
    while text[pos] == SPACE or text[pos] == TAB:  # as svm-train skips them
        pos += U1
    is_negative = text[pos] == MINUS
    pos += np.uint64(is_negative or text[pos] == PLUS)
    mantissa, stop = _parse_digits(text, pos, U0)
    digits, fraction = stop - pos, U0
    if text[stop] == DOT:
        start = stop + U1
        mantissa, stop = _parse_many_digits(text, start, mantissa)
        fraction = stop - start
        digits += fraction
    power = -np.int64(fraction)
    if digits == U0:
        return 0.0, U0
    if text[stop] | 32 == LETTER_E:
        is_small = text[stop + U1] == MINUS
        start = stop + U1 + np.uint64(is_small or text[stop + U1] == PLUS)
        exponent, stop = _parse_digits(text, start, U0)
        if stop == start:
            return 0.0, U0
        if stop - start > U8:
            exponent = LARGE_EXPONENT
        power += -np.int64(exponent) if is_small else np.int64(exponent)
    if not _ends_token(text[stop]):
        return 0.0, U0
    value = np.float64(math.nan)
    if digits <= MANTISSA_DIGITS and mantissa <= EXACT_MANTISSA and abs(power) <= EXACT_POWER:
        value = np.float64(np.int64(mantissa))  # one exact operation follows
        high = POWER_HIGH[MAX_POWER + abs(power)]
        value = value / high if power < 0 else value * high
    elif digits <= MANTISSA_DIGITS and abs(power) <= MAX_POWER and mantissa > U0:
        value = np.float64(_round_product(mantissa, power))
    return (-value if is_negative else value), stop


@njit(each_step=True)
def _round_product(mantissa: np.uint64, power: int) -> float:
    """Return the double nearest to mantissa * 10^power, NaN where the error of the product leaves two.

    Both factors are sums of two doubles (Dekker 1971).
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
    return value if value + (rest + error) == value and value + (rest - error) == value else math.nan
