"""Eight numbers at once: what they do is what plain numbers do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm.numerics import simd
from fwsvm.numerics.compile import njit

both_precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@njit
def _exp(x, out):
    for t in range(0, x.size, 8):
        simd.store(out, t, simd.exp(simd.load(x, t)))


_LINES = np.array([3, 1, 0, 2, 7, 6, 5, 4])


@njit
def _transpose(x, out):
    simd.store_transposed(x, 0, 8, out, _LINES, 0, 8, 0)


@njit
def _formulas(x, z, out):
    a, b = simd.load(x, 0), simd.load(z, 0)
    simd.store(out, 0, 2.0 * a - b / 4.0 + 1.0)
    simd.store(out, 8, simd.maximum(a, 0.5))
    simd.store(out, 16, simd.absolute(a - b))
    simd.store(out, 24, simd.minimum(a, b))
    simd.store(out, 32, simd.maximum(a, b))
    simd.store(out, 40, simd.where_positive(a, b, a))
    return simd.reduce_min(a), simd.reduce_max(a)


def exp(x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    _exp(x, out)
    return out


@both_precisions
def test_exp_is_right_to_the_last_places_over_its_range(dtype):
    lowest = {np.float32: -87.0, np.float64: -708.0}[dtype]
    x = np.linspace(lowest, 0.0, 80_000).astype(dtype)
    truth = np.exp(x.astype(np.longdouble))
    error = np.abs((exp(x) - truth) / truth).max()
    assert error <= 2.0 * np.finfo(dtype).eps


@both_precisions
def test_exp_at_its_ends_and_never_rising_as_its_argument_falls(dtype):
    tiny = np.finfo(dtype).tiny
    found = exp(np.array([0.0, -0.0, -tiny, -1e-30, -1000.0, -1e30, np.finfo(dtype).min, -np.inf], dtype))
    np.testing.assert_array_equal(found[:4], 1.0)
    assert ((found[4:] >= 0.0) & (found[4:] <= 2.0 * tiny)).all()
    found = exp(-np.linspace(0.0, 20.0, 40_000).astype(dtype))
    assert (np.diff(found) <= np.finfo(dtype).eps * found[1:]).all()


@both_precisions
def test_eight_rows_of_eight_are_written_as_columns(dtype):
    x = np.arange(64, dtype=dtype)
    out = np.empty_like(x)
    _transpose(x, out)
    np.testing.assert_array_equal(out.reshape(8, 8)[_LINES], x.reshape(8, 8).T)


@both_precisions
@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_formulas_act_number_by_number(dtype, seed):
    rng = np.random.default_rng(seed)
    x, z = (rng.integers(-8, 9, 8).astype(dtype) for _ in range(2))
    out = np.empty(48, dtype)
    least, greatest = _formulas(x, z, out)
    expected = [
        2 * x - z / 4 + 1, np.maximum(x, 0.5), abs(x - z), np.minimum(x, z), np.maximum(x, z), np.where(x > 0, z, x),
    ]  # fmt: skip
    np.testing.assert_array_equal(out.reshape(6, 8), np.array(expected, dtype))
    assert (least, greatest) == (x.min(), x.max())
