"""Ranges: what is far outside them, what they do to dense and sparse rows, and what was scaled already."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from fwsvm import _memory, scaling
from fwsvm.errors import DataError
from fwsvm.scaling import out_of_range

VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3).map(lambda v: round(v, 6) + 0.0))
SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 5))


def naive(X, train, lower, upper):
    """Scale one number at a time."""
    scaled = np.zeros(X.shape)
    for j in range(X.shape[1]):
        low, high = min(train[:, j]), max(train[:, j])
        for i in range(len(X)):
            if low < high:
                new = lower + (upper - lower) * (X[i, j] - low) / (high - low)
                scaled[i, j] = upper if X[i, j] == high else new
    return scaled


@given(st.data(), st.sampled_from(sorted(scaling.TARGETS)), st.integers(0, 40))
def test_dense_and_sparse_rows_are_scaled_alike_and_as_one_number_at_a_time(draw, how, beside):
    m, n = draw.draw(SHAPES)
    train, X = (draw.draw(arrays(np.float64, (rows, n), elements=VALUES)) for rows in (m, 4))
    ranges = scaling.fit(train, how)
    expected = naive(X, train, *scaling.TARGETS[how])
    assert (scaling.apply(X, ranges) == expected).all()
    wide = csr_array(np.hstack([train, np.zeros((m, beside))]))  # features that no row has
    of_sparse = scaling.fit(wide, how)
    assert of_sparse.same_as(ranges)
    found = csr_array(scaling.apply(csr_array(np.hstack([X, np.ones((4, beside))])), of_sparse)).toarray()
    assert (found[:, :n] == expected).all()
    assert not found[:, n:].any()


@given(st.data())
def test_what_is_far_outside_is_beyond_its_range_by_more_than_its_width(draw):
    m, n = draw.draw(SHAPES)
    train, X = (draw.draw(arrays(np.float64, (rows, n), elements=VALUES)) for rows in (m, 5))
    ranges = scaling.fit(train, "[0,1]")
    beyond = np.zeros(X.shape)
    for j, low, high in zip(ranges.features, ranges.minimum, ranges.maximum, strict=True):
        beyond[:, j] = np.maximum(low - X[:, j], X[:, j] - high) / (high - low)
    far = beyond > 1.0 + 1e-9
    unsure = ((beyond > 1.0 - 1e-9) & ~far).any(axis=1)  # on the edge but for rounding
    for form in (np.asarray, csr_array):
        found = scaling.outside(form(X), ranges)
        rows = 0 if found is None else found.rows
        assert far.any(axis=1).sum() <= rows <= (far.any(axis=1) | unsure).sum()
        if far.any():
            assert found is not None
            assert found.widths == pytest.approx(beyond.max())
            assert found.value in X[:, found.feature]


def test_a_zero_that_no_file_writes_can_be_far_outside():
    train = np.array([[50.0, 1.0], [60.0, 2.0]])
    found = scaling.outside(csr_array([[0.0, 1.0], [55.0, 1.0], [0.0, 9.0]]), scaling.fit(train, "[-1,1]"))
    assert found == scaling.Outside(2, 1, 9.0, 1.0, 2.0)
    assert found.widths == 7.0


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_that_were_scaled_before_are_recognised(form):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, size=(50, 3)) * [1.0, 100.0, 5.0] + [0.0, 40.0, 20.0]
    ranges = scaling.fit(X[:25], "[0,1]")
    assert not scaling.seem_scaled(form(X), ranges)
    assert scaling.seem_scaled(form(scaling.apply(X, ranges)), ranges)
    near = scaling.fit(np.array([[0.0], [1.5]]), "[0,1]")  # nothing to tell by
    assert not scaling.seem_scaled(form(np.array([[0.2], [0.7]])), near)


@pytest.mark.parametrize(
    ("train", "X"), [([0.0, 1e-300], [1e300]), ([-1e308, 1e308], [0.0]), ([0.0, 5e-324], [1.0])]
)
def test_what_cannot_be_scaled_is_refused(train, X):
    rows = np.array(train)[:, None]
    with pytest.raises(DataError, match="feature 1 cannot be scaled"):
        scaling.apply(np.array(X)[:, None], scaling.fit(rows, "[-1,1]"))


def test_an_index_of_two_thousand_million_needs_no_memory_for_what_is_not_there():
    X = csr_array((np.array([1.0, 2.0, 3.0]), [0, 5, 2**31 - 3], [0, 1, 3]), shape=(2, 2**31 - 2))
    for how, expected in {"[0,1]": [1, 1, 1], "[-1,1]": [1, -1, -1, -1, 1, 1]}.items():
        assert scaling.apply(X, scaling.fit(X, how)).data.tolist() == expected


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_no_rows_or_no_features_are_scaled_to_as_many(form, shape):
    X = form(np.zeros(shape))
    for how in scaling.TARGETS:
        ranges = scaling.fit(X, how)
        assert scaling.apply(X, ranges).shape == shape
        assert scaling.outside(X, ranges) is None
        assert not scaling.seem_scaled(X, ranges)


def test_zeros_far_outside_are_written_out_only_where_they_fit(monkeypatch):
    ranges = scaling.fit(np.vstack([np.full(5, 10.0), np.full(5, 11.0)]), "[0,1]")
    X = csr_array((200, 5))
    assert scaling.outside(X, ranges).rows == 200
    monkeypatch.setattr(_memory, "UNASKED", 0)
    monkeypatch.setattr(_memory, "available_bytes", lambda: 1000)
    with pytest.raises(DataError, match="which makes 200 sparse rows of 5 features dense, would take"):
        scaling.outside(X, ranges)


@given(st.data())
def test_zeros_far_outside_are_the_same_some_rows_at_a_time(draw):
    X = draw.draw(arrays(float, SHAPES, elements=VALUES))
    ranges = scaling.fit(draw.draw(arrays(float, (3, X.shape[1]), elements=VALUES)) + 9.0, "[0,1]")
    whole = scaling.outside(csr_array(X), ranges)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(out_of_range, "NUMBERS", 2)
        parts = scaling.outside(csr_array(X), ranges)
    assert (whole is None) == (parts is None)
    if whole is not None:
        assert (parts.rows, parts.widths) == (whole.rows, whole.widths)


@pytest.mark.parametrize("left_out", [0, 1])
def test_ranges_of_counted_rows_take_no_copy_of_the_rows(left_out):
    X = np.random.default_rng(0).normal(size=(1 << 21, 4))  # 64 MiB, eight stretches
    counted = np.ones(len(X), bool)
    counted[:left_out] = False
    X[0] = 1e9
    tracemalloc.start()
    try:
        ranges = scaling.fit(X, "[0,1]", counted)
        assert tracemalloc.get_traced_memory()[1] < X.nbytes / 2
    finally:
        tracemalloc.stop()
    assert ranges.same_as(scaling.fit(X[left_out:], "[0,1]"))


@given(st.data(), st.sampled_from([np.asarray, csr_array]))
def test_ranges_of_counted_rows_are_those_of_the_rows_alone(draw, form):
    X = draw.draw(arrays(float, SHAPES, elements=VALUES))
    counted = draw.draw(arrays(bool, len(X)))
    expected = scaling.fit(X[counted] if counted.any() else X, "[-1,1]")
    assert scaling.fit(form(X), "[-1,1]", counted).same_as(expected)
