"""Passes eight rows at a time return what plain loops would: the same place, the first of equals."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fwsvm.solvers.frank_wolfe.scans import highest_active, partner_scan, update_scan

seeds = st.integers(0, 2**32)
sizes = st.one_of(st.integers(1, 40), st.integers(505, 530), st.integers(1020, 1100))
both_precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def few(rng: np.random.Generator, m: int, dtype: type = np.float64) -> np.ndarray:
    """Return m of a few numbers on which arithmetic is exact, so that equals abound."""
    return rng.integers(-6, 7, m).astype(dtype) / 4


@both_precisions
@given(seeds, sizes)
@example(0, 512)
@settings(deadline=None, max_examples=60)
def test_shift(dtype, seed, m):
    rng = np.random.default_rng(seed)
    q, k_i, k_j = few(rng, m), few(rng, m, dtype), few(rng, m, dtype)
    first, last = np.sort(rng.integers(0, m + 1, 2))
    scale, a, b = rng.choice([0.5, 0.75, 1.0]), *few(rng, 2)
    earlier = (int(rng.integers(m)), float(rng.choice([np.inf, -0.25, -2.0])))
    expected, best, least = q.copy(), *earlier
    for t in range(first, last):
        expected[t] = scale * q[t] + a * (k_i[t] + 1.0) + b * (k_j[t] + 1.0)
        if expected[t] < least:
            best, least = t, expected[t]
    assert update_scan(q, k_i, k_j, scale, a, b, first, last, *earlier) == (best, least)
    np.testing.assert_array_equal(q, expected)


@both_precisions
@given(seeds, sizes)
@settings(deadline=None, max_examples=30)
def test_shift_of_any_numbers(dtype, seed, m):
    """Lanes may round once where plain numbers round twice; the place is that of the least number written."""
    rng = np.random.default_rng(seed)
    q, k_i, k_j = rng.normal(size=m), rng.normal(size=m).astype(dtype), rng.normal(size=m).astype(dtype)
    scale, a, b = rng.random(), *rng.normal(size=2)
    expected = scale * q + a * (k_i.astype(float) + 1.0) + b * (k_j.astype(float) + 1.0)
    best, least = update_scan(q, k_i, k_j, scale, a, b, 0, m, 0, np.inf)
    np.testing.assert_allclose(q, expected, rtol=1e-13, atol=1e-14)
    assert (best, least) == (q.argmin(), q.min())


@given(seeds, sizes, st.sampled_from([0.0, 0.02, 0.5, 1.0]))
@settings(deadline=None, max_examples=60)
def test_highest(seed, m, density):
    rng = np.random.default_rng(seed)
    q, alpha = few(rng, m), (rng.random(m) < density) / 8.0
    best, most = -1, -np.inf
    for t in range(m):
        if alpha[t] > 0 and q[t] > most:
            best, most = t, q[t]
    assert highest_active(q, alpha) == best


@both_precisions
@given(seeds, sizes, st.sampled_from([0.02, 0.5, 1.0]))
@settings(deadline=None, max_examples=60)
def test_partner(dtype, seed, m, density):
    rng = np.random.default_rng(seed)
    k_i, q, alpha = few(rng, m, dtype), few(rng, m), (rng.random(m) < density) / 8.0
    diagonal, K_ii, q_i = few(rng, m) + 4.0, 4.0, float(few(rng, 1)[0])
    twice, split = float(rng.choice([-2.0, 2.0])), int(rng.integers(0, m + 1))
    best, most = -1, 0.0
    for t in range(m):
        sign = twice if t < split else -twice
        if alpha[t] > 0 and q[t] > q_i:
            gain = (q[t] - q_i) ** 2 / max(diagonal[t] + K_ii - (float(k_i[t]) + 1.0) * sign, 1e-12)
            if gain > most:
                best, most = t, gain
    active_diagonal = np.where(alpha > 0.0, diagonal, -1.0)
    found = partner_scan(k_i, q, active_diagonal, q_i, K_ii, twice, 0, split, np.int64(-1), 0.0)
    assert partner_scan(k_i, q, active_diagonal, q_i, K_ii, -twice, split, m, *found) == (best, most)
