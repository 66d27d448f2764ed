"""Calls by address: what they return is what a call by name returns."""

import numpy as np
import pytest

from fwsvm.numerics.compile import njit
from fwsvm.numerics.machine import address_of, call


@njit
def count_above(bounds, values):
    count = 0
    for value in values:
        count += value > bounds[0] + bounds[1]
    return count


@njit
def half(x):
    return 0.5 * x


@njit
def twice_counted(at, bounds, values):
    return call(at, (bounds, values)) + call(at, (bounds, values))


def test_a_call_by_address_returns_what_the_function_does() -> None:
    values = np.linspace(0.0, 1.0, 11)
    at = address_of(count_above, (0.25, 0.25), values)
    assert twice_counted(at, (0.25, 0.25), values) == 2 * count_above((0.25, 0.25), values) == 10
    assert twice_counted(at, (0.5, 0.25), values[:-1]) == 2 * count_above((0.5, 0.25), values[:-1]) == 4


def test_other_types_have_another_address_and_the_same_types_the_same() -> None:
    one = address_of(count_above, (0, 1), np.zeros(1))
    assert one == address_of(count_above, (2, 3), np.ones(5))
    assert twice_counted(one, (0, 1), np.full(5, 1.5)) == 10
    other = address_of(count_above, (0, 1), np.zeros(1, np.float32))
    assert twice_counted(other, (0, 1), np.full(5, 1.5, np.float32)) == 10


def test_a_function_that_returns_no_count_has_no_address() -> None:
    with pytest.raises(TypeError, match="half returns float64, not int64"):
        address_of(half, 1.0)
