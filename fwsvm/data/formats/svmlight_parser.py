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

MAX_INDEX = 2**31 - 2  # as in LIBSVM's int
TAB, NEWLINE, RETURN, SPACE, HASH, PLUS, MINUS, DOT, DIGIT_0, COLON, LETTER_E = b"\t\n\r #+-.0:e"

U0, U1, U8, U9, U10, U16, U32 = (np.uint64(k) for k in (0, 1, 8, 9, 10, 16, 32))
ZERO = np.uint64(DIGIT_0)
QUERY, FOUR_BYTES = np.uint64(int.from_bytes(b"qid:", "little")), np.uint64(0xFFFFFFFF)
#: Of eight digits in a word, the first in its lowest byte.
EIGHT_ZEROS, TO_HIGH_BITS, HIGH_BITS = (np.uint64(0x0101010101010101 * byte) for byte in (0x30, 0x76, 0x80))
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
ENDS, CODES, FIRSTS, UNREAD = range(4)


class Parsed(NamedTuple):
    """What a text holds."""

    stopped: int  # where the first invalid entry or row starts; -1 if there is none
    rows: int
    end: int  # of the entries in the buffers
    width: int  # one more than the largest index
    unread: int  # values that only Python's `float` can tell
    empty: int  # lines without a row or a comment
    queries: int  # `qid:` tokens, which are skipped
    lines: int
    classes: int  # different labels
    labelled: int  # 1 where rows have labels, 0 where they have none, -1 without rows


@njit(each_step=True, inner=False)
def parse_rows(
    text: NDArray[np.uint8],
    words: NDArray[np.uint64],
    first_index: int,
    labelled: int,
    used: int,
    values: NDArray[np.float64],
    indices: NDArray[np.int32],
    lists: NDArray[np.int64],
) -> Parsed:
    """Parse all rows of a text.

    Parameters
    ----------
    text : ndarray of uint8
    words : ndarray of uint64
        The eight bytes from each place of the text on.
    first_index : int
    labelled : int
        As in `Parsed`; -1 where the first row decides.
    used : int
        Where the entries start in ``values`` and ``indices``.
    values : ndarray of float64
        Filled with values; NaN where only Python's ``float`` can tell it.
    indices : ndarray of int32
        Filled with indices from 0.
    lists : ndarray of int64, shape (4, rows + 1)
        Filled with ``used`` and the end of each row; the number of each row's label, -1 without; the first place in
        the text of each label; the places in it of the values that are NaN.
    """
    pos, end = U0, np.uint64(len(text))
    m, z, width = U0, np.uint64(used), U0
    unread, empty, queries, lines, classes = 0, 0, 0, 0, 0
    stopped = -1
    lists[ENDS, m] = z
    while pos < end and stopped < 0:
        pos = _skip_blanks(text, pos)
        if text[pos] != NEWLINE and text[pos] != HASH:
            at, is_entry = pos, 0
            while not _ends_token(text[pos]):
                is_entry |= text[pos] == COLON
                pos += U1
            if labelled < 0:
                labelled = 1 - is_entry
            lists[CODES, m] = -1
            if labelled:
                code = _label_code(text, at, pos, lists[FIRSTS, :classes])
                lists[CODES, m] = code
                if code == classes:
                    lists[FIRSTS, code] = at
                    classes += 1
            else:
                pos = at
            is_valid, pos, z, row_width, unread, queries = _parse_entries(
                text, words, pos, np.uint64(first_index), values, indices, lists[UNREAD], z, unread, queries
            )
            if labelled == is_entry or not is_valid:
                stopped = int(np.int64(at if labelled == is_entry else pos))
            width = max(width, row_width)
            m += U1
            lists[ENDS, m] = z
        else:
            empty += text[pos] == NEWLINE
        while text[pos] != NEWLINE:
            pos += U1
        pos += U1
        lines += 1
    return Parsed(
        stopped,
        int(np.int64(m)),
        int(np.int64(z)),
        int(np.int64(width)),
        unread,
        empty,
        queries,
        lines,
        classes,
        labelled,
    )


@njit(each_step=True)
def _parse_entries(
    text: NDArray[np.uint8],
    words: NDArray[np.uint64],
    pos: np.uint64,
    first: np.uint64,
    values: NDArray[np.float64],
    indices: NDArray[np.int32],
    places: NDArray[np.int64],
    z: np.uint64,
    unread: int,
    queries: int,
) -> tuple[bool, np.uint64, np.uint64, np.uint64, int, int]:
    """Parse the entries of a row; return whether all are valid, and the position after them or of one that is not.

    Further z, the row's width, and the two counts are returned.
    """
    least = first
    while True:
        pos = _skip_blanks(text, pos)
        at = pos
        index, pos = _parse_digits(text, at, U0)
        if text[pos] == COLON and pos > at:
            value, stop = _parse_value(text, words, pos + U1)
            if stop == U0 or not least <= index <= MAX_INDEX or pos - at > INDEX_DIGITS:
                return False, at, z, least - first, unread, queries
            indices[z] = np.int64(index - first)
            values[z] = value
            if math.isnan(value):
                places[unread] = pos + U1
                unread += 1
            z += U1
            least = index + U1
            pos = stop
        elif words[at] & FOUR_BYTES == QUERY and least == first:
            queries += 1
            while not _ends_token(text[pos]):
                pos += U1
        else:
            ends_row = text[at] == NEWLINE or text[at] == HASH
            return ends_row, at, z, least - first, unread, queries


@njit(each_step=True)
def _ends_token(byte: int) -> bool:
    """Return whether a byte ends a token: a blank, the end of the line or a comment."""
    return byte in (SPACE, HASH) or TAB <= byte <= RETURN


@njit(each_step=True)
def _skip_blanks(text: NDArray[np.uint8], pos: np.uint64) -> np.uint64:
    """Return the position of the next byte that is no blank: space, tab, vertical tab, form feed, carriage return."""
    while text[pos] == SPACE or (TAB <= text[pos] <= RETURN and text[pos] != NEWLINE):
        pos += U1
    return pos


@njit(each_step=True)
def _label_code(text: NDArray[np.uint8], start: np.uint64, stop: np.uint64, firsts: NDArray[np.int64]) -> int:
    """Return which of the labels at ``firsts`` stands from start to stop; their number if it is none of them."""
    for code in range(len(firsts)):
        one, other = start, np.uint64(firsts[code])
        while one < stop and text[one] == text[other]:
            one += U1
            other += U1
        if one == stop and _ends_token(text[other]):
            return code
    return len(firsts)


@njit(each_step=True, forceinline=True)
def _parse_digits(text: NDArray[np.uint8], pos: np.uint64, number: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Append the digits at a position to a number; return it and the position after them."""
    digit = np.uint64(text[pos]) - ZERO
    while digit <= U9:
        number = number * U10 + digit
        pos += U1
        digit = np.uint64(text[pos]) - ZERO
    return number, pos


@njit(each_step=True, forceinline=True)
def _parse_value(
    text: NDArray[np.uint8], words: NDArray[np.uint64], pos: np.uint64
) -> tuple[float, np.uint64]:
    """Return the double that Python's ``float`` returns for a token, and the position after it; 0 if it is invalid.

    The value is NaN where only ``float`` can tell it.
    """
    while text[pos] == SPACE or text[pos] == TAB:  # as svm-train skips them
        pos += U1
    is_negative = text[pos] == MINUS
    pos += np.uint64(is_negative or text[pos] == PLUS)
    mantissa, stop = _parse_digits(text, pos, U0)
    digits, power = stop - pos, 0
    if text[stop] == DOT:
        start = stop + U1
        mantissa, stop = _parse_many_digits(text, words, start, mantissa)
        digits += stop - start
        power = int(np.int64(start - stop))
    if text[stop] | 32 == LETTER_E:
        exponent, stop = _parse_exponent(text, stop + U1)
        power += exponent
    if digits == U0 or not _ends_token(text[stop]):
        return 0.0, U0
    while digits > MANTISSA_DIGITS and (text[pos] == DIGIT_0 or text[pos] == DOT):
        digits -= np.uint64(text[pos] == DIGIT_0)  # zeros in front do not count
        pos += U1
    value = float(np.int64(mantissa))
    if digits > MANTISSA_DIGITS or abs(power) > MAX_POWER:
        value = math.nan
    elif mantissa > EXACT_MANTISSA or abs(power) > EXACT_POWER:
        value = _round_product(mantissa, np.uint64(MAX_POWER + power))
    elif power < 0:  # one exact operation
        value /= POWER_HIGH[np.uint64(MAX_POWER - power)]
    elif power > 0:
        value *= POWER_HIGH[np.uint64(MAX_POWER + power)]
    return (-value if is_negative else value), stop


@njit(each_step=True, forceinline=True)
def _parse_many_digits(
    text: NDArray[np.uint8], words: NDArray[np.uint64], pos: np.uint64, number: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Append the digits at a position to a number, eight at a time; return it and the position after them."""
    while True:
        word = words[pos] ^ EIGHT_ZEROS
        if ((word + TO_HIGH_BITS) | word) & HIGH_BITS != U0:
            return _parse_digits(text, pos, number)
        word = word * U10 + (word >> U8)  # a pair in every other byte
        low, high = word & PAIRS, (word >> U16) & PAIRS
        number = number * TEN_TO_8 + ((low * FIRST_PAIRS + high * LAST_PAIRS) >> U32)
        pos += U8


@njit(each_step=True)
def _parse_exponent(text: NDArray[np.uint8], pos: np.uint64) -> tuple[int, np.uint64]:
    """Return the whole number at a position and the position after it; the letter's if there is no number."""
    is_negative = text[pos] == MINUS
    start = pos + np.uint64(is_negative or text[pos] == PLUS)
    number, stop = _parse_digits(text, start, U0)
    if stop == start:
        return 0, pos - U1
    exponent = int(np.int64(LARGE_EXPONENT if stop - start > U8 else number))
    return (-exponent if is_negative else exponent), stop


@njit(each_step=True)
def _round_product(mantissa: np.uint64, power: np.uint64) -> float:
    """Return the double nearest to mantissa * 10^(power - 64), NaN where the error of the product leaves two.

    Both factors are sums of two doubles (Dekker 1971).
    """
    high, low = POWER_HIGH[power], POWER_LOW[power]
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
