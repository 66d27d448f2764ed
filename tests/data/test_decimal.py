"""Decimal text becomes the same bits as Python's ``float``, or NaN where the last bit is left to Python."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fwsvm.data.formats.decimal_numbers import parse_decimal

UNTIMED = settings(deadline=None)  # the first example compiles


def read(word: str) -> tuple[float, int]:
    return parse_decimal(np.frombuffer(word.encode() + b"\n", np.uint8), 0)


def bits(value: float) -> bytes:
    return struct.pack("d", value)


def agrees(word: str) -> bool:
    """Tell whether the number was settled and has Python's bits; a wrong one fails."""
    value, end = read(word)
    assert end == len(word)
    assert math.isnan(value) or bits(value) == bits(float(word))
    return not math.isnan(value)


@UNTIMED
@given(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False))
@example(5e-324 * 2**52)
@example(1.7976931348623157e308)
@example(-0.0)
def test_every_shortest_text_is_settled(x):
    assert agrees(repr(x))
    assert agrees(f"{x:.16e}")
    agrees(f"{x:+.18E}")  # just below the smallest normal double, left to Python


@UNTIMED
@given(st.integers(0, 2**64 - 1), st.integers(-400, 400))
@example(9007199254740993, 0)  # halfway between two doubles
@example(9007199254740993, -23)
@example(10**19 - 1, 289)
def test_whole_numbers_times_powers_of_ten(whole, power):
    agrees(f"{whole}e{power}")


@UNTIMED
@given(st.integers(2**52, 2**53 - 1), st.integers(-80, 80), st.integers(-1, 1))
def test_halfway_between_two_doubles(mantissa, power, nudge):
    """The hardest texts: exactly halfway, and one unit of the last digit to either side."""
    half = Fraction(2 * mantissa + 1) * Fraction(2) ** (power - 1)
    places = max(0, 1 - power)
    digits = half.numerator * 10**places // half.denominator + nudge
    agrees(f"{digits}e-{places}")


@UNTIMED
@given(st.from_regex(r"[-+]?([0-9]{0,30}\.[0-9]{0,30}|[0-9]{1,30})([eE][-+]?[0-9]{1,4})?", fullmatch=True))
def test_any_decimal(word):
    try:
        float(word)
    except ValueError:
        assert read(word)[1] < len(word)
    else:
        agrees(word)


@pytest.mark.parametrize("word", ["", "-", "+", ".", "e5", "-.e1", "1e", "1e+", "nan", "inf", "x1", "--1"])
def test_no_number_at_all(word):
    assert read(word) == (0.0, 0)


@pytest.mark.parametrize(
    ("word", "end"), [("1_0", 1), ("0x10", 1), ("1.5.2", 3), ("1d5", 1), ("7:3", 1), ("2-1", 1), ("1e5e5", 3)]
)
def test_the_number_ends_where_the_digits_do(word, end):
    assert read(word)[1] == end


@pytest.mark.parametrize(
    "word",
    [
        "0." + "0" * 100_001 + "1e100002",
        "1" + "0" * 100_001 + "e-100001",
        "-0." + "0" * 200_000 + "25e200003",
        "1e" + "9" * 30,
        "1e-" + "9" * 30,
    ],
    ids=["small", "large", "negative", "infinite", "zero"],
)
def test_an_exponent_may_make_up_for_any_number_of_digits(word):
    assert agrees(word)
