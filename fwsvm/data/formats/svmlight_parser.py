"""One compiled pass over the text of a LIBSVM file: no Python object for a line, a token or a number.

It stops at the first row that is none, and leaves values that are not plain numbers to the caller.
"""

import math
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fwsvm.numerics.compile import njit, njit_inlined_step, njit_step
from fwsvm.numerics.simd import fused_muladd

MAX_INDEX = 2**31 - 2  # as in LIBSVM's int
MAX_INDEX_DIGITS = 18  # which an int64 holds
TAB, NEWLINE, RETURN, SPACE, HASH, PLUS, MINUS, DOT, DIGIT_0, COLON, LETTER_E = b"\t\n\r #+-.0:e"
#: What follows the lines of a text: the last line may lack its end, and `QUERY` is looked for.
PADDING = b"\n" + bytes(4)

UInt: TypeAlias = np.uint64  # positions and digits: compiled code need not look for negative ones
Text: TypeAlias = NDArray[np.uint8]
Places: TypeAlias = NDArray[np.int64]
U0, U1, U8, U9, U10 = (UInt(k) for k in (0, 1, 8, 9, 10))
ZERO = UInt(DIGIT_0)
QUERY = b"qid:"
MAX_DIGITS, TEN_TO_8 = UInt(19), UInt(10**8)  # so many digits a uint64 holds
MAX_SCALE = 64
MAX_SEARCHED = 128  # labels among which one is looked for: real-valued targets differ in every row
_SCALES = [Fraction(10) ** k for k in range(-MAX_SCALE, MAX_SCALE + 1)]
SCALE_HIGH = np.array([float(scale) for scale in _SCALES])  # the nearest doubles, and what they lack
SCALE_LOW = np.array([float(scale - Fraction(float(scale))) for scale in _SCALES])
EXACT_MANTISSA, EXACT_SCALE = UInt(1 << 53), 22  # both are doubles: their quotient is rounded once
QUOTIENT_ERROR = 2.0**-98  # relative, of a quotient of two doubles each; rounding errors sum to below 2^-101


class Parsed(NamedTuple):
    """What a text holds: rows as in a `csr_array`, their labels, and counts.

    Indices are as they are written. ``codes`` are the numbers of the rows' labels, -1 without; ``labels`` and
    ``unread`` are places in the text: of each label, and of each value that is NaN since only Python's ``float`` can
    tell it. Of a text that is not valid these are the lines before its first fault.
    """

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: Places
    codes: Places
    labels: Places
    unread: Places
    is_valid: bool
    lines: int
    empty: int  # lines without a row or a comment
    queries: int  # `qid:` tokens, which are skipped
    least: int  # the smallest index; `MAX_INDEX` without entries
    largest: int  # -1 without entries


@njit
def parse_rows(text: Text) -> Parsed:
    """Parse the lines of a text, which ends with `PADDING`."""
    size = len(text)
    # an entry is at least 1: and a blank, a row 1 and a newline; one large block of memory is soon used again
    values = np.empty(size // 3, np.float64)
    indices = np.empty(size // 3, np.int32)
    places = np.empty((4, size // 2), np.int64)
    ends, codes, labels, unread = places[0], places[1], places[2], places[3]
    pos = U0
    end = UInt(size - len(PADDING))
    m = U0
    z = U0
    lines, empty, classes, nans, queries = 0, 0, 0, 0, 0
    least = MAX_INDEX
    largest = -1
    is_valid = True
    ends[m] = 0
    while pos < end:
        pos = _skip_blanks(text, pos)
        if text[pos] not in (NEWLINE, HASH):
            at = pos
            while text[pos] != COLON and not _ends_token(text[pos]):
                pos += U1
            codes[m] = -1
            if text[pos] == COLON:
                pos = at
            else:
                code = _label_code(text, at, pos, labels, classes)
                codes[m], labels[code] = code, at
                classes = max(classes, code + 1)
            first = z
            pos, z, nans, row_queries = _parse_entries(text, pos, values, indices, unread, z, nans)
            if text[pos] not in (NEWLINE, HASH):
                is_valid = False
                break
            if z > first:
                least = min(least, indices[first])
                largest = max(largest, indices[z - U1])
            queries += row_queries
            m += U1
            ends[m] = z
        else:
            empty += text[pos] == NEWLINE
        while text[pos] != NEWLINE:
            pos += U1
        pos += U1
        lines += 1
    return Parsed(
        values[:z],
        indices[:z],
        ends[: m + U1],
        codes[:m],
        labels[:classes],
        unread[:nans],
        is_valid,
        lines,
        empty,
        queries,
        least,
        largest,
    )


@njit_step
def _parse_entries(
    text: Text,
    pos: UInt,
    values: NDArray[np.float64],
    indices: NDArray[np.int32],
    unread: Places,
    z: UInt,
    nans: int,
) -> tuple[UInt, UInt, int, int]:
    """Parse the entries of a row; return the position of what is none, z, nans, and the number of queries."""
    least = U0
    queries = 0
    while True:
        pos = _skip_blanks(text, pos)
        index, stop = _parse_digits(text, pos, U0)
        if text[stop] == COLON and least <= index <= MAX_INDEX and U0 < stop - pos <= MAX_INDEX_DIGITS:
            value, stop = _parse_value(text, stop + U1)
            indices[z], values[z] = index, value
            least = index + U1
            if math.isnan(value):
                unread[nans] = pos
                nans += 1
            z += U1
        elif least == U0 and _starts_query(text, pos):
            queries += 1
            while not _ends_token(text[stop]):
                stop += U1
        else:
            return pos, z, nans, queries
        pos = stop


@njit_step
def _starts_query(text: Text, pos: UInt) -> bool:
    """Return whether a token that is ignored starts at a position."""
    for byte in QUERY:
        if text[pos] != byte:
            return False
        pos += U1
    return True


@njit_step
def _ends_token(byte: int) -> bool:
    """Return whether a byte ends a token: a blank, the end of the line or a comment."""
    return byte in (SPACE, HASH) or TAB <= byte <= RETURN


@njit_step
def _skip_blanks(text: Text, pos: UInt) -> UInt:
    """Return the position of the next byte that is no blank: space, tab, vertical tab, form feed, carriage return."""
    while text[pos] == SPACE or (TAB <= text[pos] <= RETURN and text[pos] != NEWLINE):
        pos += U1
    return pos


@njit_step
def _label_code(text: Text, start: UInt, stop: UInt, labels: Places, known: int) -> int:
    """Return which of the known labels at these places stands from start to stop; their number if none of them does.

    With `MAX_SEARCHED` labels and more a label may have several codes.
    """
    for code in range(min(known, MAX_SEARCHED)):
        one = start
        other = UInt(labels[code])
        while one < stop and text[one] == text[other]:
            one += U1
            other += U1
        if one == stop and _ends_token(text[other]):
            return code
    return known


@njit_inlined_step
def _parse_digits(text: Text, pos: UInt, number: UInt) -> tuple[UInt, UInt]:
    """Append the digits at a position to a number; return it and the position after them."""
    digit = UInt(text[pos]) - ZERO
    while digit <= U9:
        number = number * U10 + digit
        pos += U1
        digit = UInt(text[pos]) - ZERO
    return number, pos


@njit_inlined_step
def _parse_value(text: Text, pos: UInt) -> tuple[float, UInt]:
    """Return the double that Python's ``float`` returns for a token, and the position after the token.

    It is NaN where only ``float`` can tell it, or that there is none.
    """
    while text[pos] == SPACE or text[pos] == TAB:  # as svm-train skips them
        pos += U1
    is_negative = text[pos] == MINUS
    start = pos + UInt(text[pos] in (MINUS, PLUS))
    whole, pos = _parse_digits(text, start, U0)
    mantissa, digits, decimals = whole, pos - start, U0
    if text[pos] == DOT:
        point = pos + U1
        mantissa, pos = _parse_digits(text, point, whole)
        decimals = pos - point
    scale = int(np.int64(decimals))  # the value is mantissa / 10^scale
    if text[pos] | 32 == LETTER_E:
        sign = text[pos + U1]
        start = pos + U1 + UInt(sign in (MINUS, PLUS))
        exponent, pos = _parse_digits(text, start, U0)
        if pos - start - U1 > U8:  # there are none or many
            exponent = TEN_TO_8
        scale += int(np.int64(exponent)) if sign == MINUS else -int(np.int64(exponent))
    value = math.nan
    # more than 19 digits may be a multiple of 2^64, which only looks like zeros
    is_short = digits + decimals > U0 and digits <= MAX_DIGITS
    is_short &= decimals + (digits if whole > U0 else U0) <= MAX_DIGITS
    if is_short and -MAX_SCALE <= scale <= MAX_SCALE and _ends_token(text[pos]):
        if mantissa <= EXACT_MANTISSA and 0 <= scale <= EXACT_SCALE:
            value = np.float64(np.int64(mantissa)) / SCALE_HIGH[UInt(MAX_SCALE + scale)]
        else:
            value = _round_quotient(mantissa, UInt(MAX_SCALE + scale))
    while not _ends_token(text[pos]):
        pos += U1
    return (-value if is_negative else value), pos


@njit_step
def _round_quotient(mantissa: UInt, scale: UInt) -> float:
    """Return the double nearest to mantissa / 10^(scale - 64), NaN where the error of the quotient leaves two.

    Both are sums of two doubles; a fused operation gives the remainder of the first two without an error.
    """
    high = np.float64(mantissa)
    divisor = SCALE_HIGH[scale]
    low = np.float64(np.int64(mantissa - UInt(high)))
    quotient = high / divisor
    rest = (fused_muladd(-quotient, divisor, high) + (low - quotient * SCALE_LOW[scale])) / divisor
    value = quotient + rest
    rest += quotient - value
    error = value * QUOTIENT_ERROR
    return value if value + (rest + error) == value and value + (rest - error) == value else math.nan
