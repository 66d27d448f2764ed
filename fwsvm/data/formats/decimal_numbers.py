"""Decimal text to the nearest double, compiled: the same bits as Python's ``float``.

Up to 2^53 times a power of ten up to 10^22 is one exact operation (Clinger, PLDI 1990). Everything else goes
through a 128-bit product with a table of powers of five (Lemire, Number Parsing at a Gigabyte per Second, SPE
2021; Mushtak and Lemire, 2023, for why its error never matters). Subnormals, and numbers of more digits than decide
between two neighbouring doubles, are left to Python's ``float`` (`fwsvm.data.formats.decimal_fallback`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from fwsvm.numerics.compile import njit

SPACE, PLUS, MINUS, DOT, ZERO, NINE, LETTER_E = 32, 43, 45, 46, 48, 57, 101
LOWER_CASE = 32  # or-ed to a letter
EXACT_MANTISSA = 1 << 53
EXACT_POWERS = np.array([float(10**k) for k in range(23)])
INT64_DIGITS = 18  # what an int64 holds without overflow
UINT64_DIGITS = 19  # what a uint64 holds without overflow
#: Beyond it, more digits of an exponent change nothing: no file holds so many digits of one number.
LARGEST_EXPONENT = 10**15
SMALLEST_POWER, LARGEST_POWER = -342, 308  # of ten: below it every number is 0, above it infinite


def _power_of_five(q: int) -> int:
    """Return the leading 128 bits of 5^q: rounded down for q >= 0, up for q < 0 (Lemire 2021, section 5)."""
    if q >= 0:
        power = 5**q
        excess = power.bit_length() - 128
        return power >> excess if excess > 0 else power << -excess
    power = 5**-q
    bits = power.bit_length() - (power & (power - 1) == 0)  # the least z with 2^z >= 5^-q
    inverse = (1 << (2 * bits + 128)) // power + 1 if q < -27 else (1 << (bits + 127)) // power + 1
    return inverse >> max(0, inverse.bit_length() - 128)


_POWERS = [_power_of_five(q) for q in range(SMALLEST_POWER, LARGEST_POWER + 1)]
POWER_HIGH = np.array([p >> 64 for p in _POWERS], np.uint64)
POWER_LOW = np.array([p & 0xFFFFFFFFFFFFFFFF for p in _POWERS], np.uint64)

#: A number that needs Python's ``float`` is stored as a NaN whose payload is its position in the text.
NAN_WITH_POSITION = np.int64(0x7FF8000000000000)
POSITION_BITS = np.int64(0x0007FFFFFFFFFFFF)

U0, U1, U3, U9 = (np.uint64(k) for k in (0, 1, 3, 9))
U10, U32, U63 = (np.uint64(k) for k in (10, 32, 63))
HALF_WORD = np.uint64(0xFFFFFFFF)
WORD = np.uint64(0xFFFFFFFFFFFFFFFF)
NEEDS_LOW_WORD = np.uint64(0x1FF)  # the bits below the 55 that a rounded mantissa needs
MANTISSA_END = np.uint64(1 << 53)


@njit
def parse_decimal(text: NDArray[np.uint8], pos: int) -> tuple[float, int]:
    """Read the number that starts at ``text[pos]``.

    Parameters
    ----------
    text : ndarray of uint8, ending in a byte that is no part of a number
    pos : int

    Returns
    -------
    value : float
        Infinite on overflow; NaN where only Python's ``float`` can tell the last bit.
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
    if (digit + ZERO) | LOWER_CASE == LETTER_E:
        exponent, pos = _parse_exponent(text, pos + 1)
        if pos < 0:
            return 0.0, start
    power = exponent - fraction
    if digits <= INT64_DIGITS and mantissa <= EXACT_MANTISSA and -22 <= power <= 22:
        value = mantissa / EXACT_POWERS[-power] if power < 0 else mantissa * EXACT_POWERS[power]
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
    mantissa = U0
    kept = 0
    dropped = 0
    inexact = False
    for at in range(first, stop):
        byte = int(text[at])
        if byte == DOT:
            continue
        if kept < UINT64_DIGITS:
            mantissa = mantissa * U10 + np.uint64(byte - ZERO)
            kept += mantissa != U0
        else:
            dropped += 1
            inexact |= byte != ZERO
    value = _nearest_double(mantissa, power + dropped)
    if inexact and _nearest_double(mantissa + U1, power + dropped) != value:
        return math.nan
    return value


@njit(inner=True)
def _nearest_double(mantissa: np.uint64, power: int) -> float:
    """Return the double nearest to mantissa * 10^power, ties to even; NaN for what would be subnormal."""
    if mantissa == U0 or power < SMALLEST_POWER:
        return 0.0
    if power > LARGEST_POWER:
        return math.inf
    shift = _leading_zeros(mantissa)
    mantissa <<= np.uint64(shift)
    high, low = _multiply_128(mantissa, POWER_HIGH[power - SMALLEST_POWER])
    if high & NEEDS_LOW_WORD == NEEDS_LOW_WORD:
        carry, _ = _multiply_128(mantissa, POWER_LOW[power - SMALLEST_POWER])
        if carry > WORD - low:
            high += U1
            low = carry - (WORD - low) - U1
        else:
            low += carry
    top = high >> U63
    rounded = high >> (top + U9)
    exponent = ((217706 * power) >> 16) + 63 + int(top) - shift  # of two; 217706 / 65536 is log2(10)
    if exponent < -1022:
        return math.nan
    halfway = low <= U1 and -4 <= power <= 23 and rounded & U3 == U1
    if halfway and rounded << (top + U9) == high:
        rounded -= U1
    rounded = (rounded + (rounded & U1)) >> U1
    if rounded >= MANTISSA_END:
        exponent += 1
        rounded >>= U1
    if exponent > 1023:
        return math.inf
    return math.ldexp(float(rounded), int(exponent) - 52)


@njit(inner=True)
def _leading_zeros(word: np.uint64) -> int:
    """Return the number of zero bits above the highest set bit of a uint64 that is not 0."""
    zeros = 0
    width = 32
    while width > 0:
        if word >> np.uint64(64 - width) == U0:
            zeros += width
            word <<= np.uint64(width)
        width >>= 1
    return zeros


@njit(inner=True)
def _multiply_128(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the high and the low word of the 128-bit product of two uint64."""
    a_high, a_low = a >> U32, a & HALF_WORD
    b_high, b_low = b >> U32, b & HALF_WORD
    low, left, right = a_low * b_low, a_high * b_low, a_low * b_high
    middle = (low >> U32) + (left & HALF_WORD) + (right & HALF_WORD)
    high = a_high * b_high + (left >> U32) + (right >> U32) + (middle >> U32)
    return high, ((middle & HALF_WORD) << U32) | (low & HALF_WORD)
