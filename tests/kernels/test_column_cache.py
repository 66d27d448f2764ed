"""The store of kernel columns: its budget, what it replaces, what it counts."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwsvm.kernels.column_cache import EVALUATIONS, FEWEST, MISSES, USED, column_cache, compute
from fwsvm.kernels.polynomial import Linear
from fwsvm.kernels.rows import as_rows

MIB = 1 << 20


def store(m: int, budget: int, dtype: type = np.float32):
    """Return columns of the linear kernel on rows 1, 2, ..., m: column i is i + 1 times (1, ..., m)."""
    return column_cache(Linear(), as_rows(np.arange(1.0, m + 1)[:, None], dtype), budget)


def consistent(columns) -> None:
    """Assert that every column said to be kept is there, and is right."""
    m = len(columns.slot_of)
    for slot in range(int(columns.counts[USED])):
        assert columns.slot_of[columns.row_of[slot]] == slot
    for i in np.flatnonzero(columns.slot_of >= 0):
        assert columns.row_of[columns.slot_of[i]] == i
        np.testing.assert_array_equal(columns.cached[columns.slot_of[i]], (i + 1.0) * np.arange(1.0, m + 1))
    assert np.count_nonzero(columns.slot_of >= 0) == columns.counts[USED]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_budget_is_kept(dtype):
    m, size = 1000, np.dtype(dtype).itemsize
    for budget, slots in ((0, FEWEST), (100 * m * size, 100), (100 * m * size - 1, 99), (1 << 40, m)):
        assert store(m, budget, dtype).cached.shape == (slots, m)
    assert store(5, 0, dtype).cached.shape == (5, 5)


def test_what_is_computed_is_counted():
    columns = store(100, MIB)
    compute(columns, np.arange(7, dtype=np.int32), np.ones(100))
    compute(columns, np.arange(7, 30, dtype=np.int32), np.ones(100))
    assert columns.counts[EVALUATIONS] == 30 * 100
    assert columns.counts[MISSES] == 2
    assert columns.counts[USED] == 30
    consistent(columns)


@given(st.integers(0, 2**32), st.integers(FEWEST, 25), st.booleans())
@settings(deadline=None, max_examples=50)
def test_a_full_store_gives_up_worthless_columns_and_never_the_one_in_use(seed, slots, worthy):
    m, rng = 60, np.random.default_rng(seed)
    columns = store(m, slots * m * 4)
    keep = int(rng.integers(m))
    compute(columns, np.array([keep], np.int32), np.ones(m))
    for _ in range(12):
        missing = np.flatnonzero(columns.slot_of < 0).astype(np.int32)
        wanted = rng.permutation(missing)[: rng.integers(1, min(9, len(missing)) + 1)]
        priority = np.ones(m) if worthy else (rng.random(m) < 0.5).astype(float)
        before = columns.cached[columns.slot_of[keep]].copy()
        compute(columns, wanted, priority, keep)
        assert (columns.slot_of[wanted] >= 0).all()
        np.testing.assert_array_equal(columns.cached[columns.slot_of[keep]], before)
        consistent(columns)


def test_columns_of_no_worth_go_first():
    """With 15 of 16 columns worthless, eight tries at random find one of these but once in 16^8 times."""
    m = 60
    columns = store(m, 0)
    compute(columns, np.arange(16, dtype=np.int32), np.ones(m))
    priority = np.zeros(m)
    priority[3] = 1.0
    for i in range(16, 60):
        compute(columns, np.array([i], np.int32), priority)
        assert columns.slot_of[3] >= 0
    consistent(columns)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems set memory aside before it is used")
def test_places_beyond_two_to_the_31_are_addressed():
    m = 50_000
    try:
        columns = store(m, 9 << 30)
    except MemoryError:
        pytest.skip("this process may not reserve 9 GiB of address space")
    slots = len(columns.row_of)
    assert slots == (9 << 30) // (4 * m)
    assert slots * m > 2**31
    columns.counts[USED] = slots - 8  # as if all but the last had come
    wanted = np.arange(8, dtype=np.int32)
    compute(columns, wanted, np.ones(m))
    np.testing.assert_array_equal(np.sort(columns.slot_of[wanted]), np.arange(slots - 8, slots))
    for i in wanted:
        column = columns.cached[columns.slot_of[i]]
        np.testing.assert_array_equal(column[[0, 1, m - 1]], (i + 1.0) * np.array([1.0, 2.0, m]))
