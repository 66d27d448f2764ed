"""Ranges: what is far outside them, what they do to dense and sparse rows, and what was scaled already."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm.errors import DataError

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
    assert of_sparse.text() == ranges.text()
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
        rows, said = scaling.outside(scaling.apply(form(X), ranges), ranges)
        assert far.any(axis=1).sum() <= rows <= (far.any(axis=1) | unsure).sum()
        assert bool(said) == bool(rows)
        if far.any():
            assert said.endswith(f"it lies {beyond.max():.3g} range widths outside")


def test_a_zero_that_no_file_writes_can_be_far_outside():
    train = np.array([[50.0, 1.0], [60.0, 2.0]])
    ranges = scaling.fit(train, "[-1,1]")
    X = csr_array([[0.0, 1.0], [55.0, 1.0], [0.0, 9.0]])
    rows, said = scaling.outside(scaling.apply(X, ranges), ranges)
    assert rows == 2
    assert said == (
        "2 of 3 rows lie far outside the training ranges: feature 2 is 9 in one, and was 1 to 2 in training: it lies "
        "7 range widths outside"
    )


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
    with pytest.raises(DataError, match="the rows cannot be scaled"):
        scaling.apply(np.array(X)[:, None], scaling.fit(rows, "[-1,1]"))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_no_rows_or_no_features_are_scaled_to_as_many(form, shape):
    X = form(np.zeros(shape))
    for how in scaling.TARGETS:
        ranges = scaling.fit(X, how)
        assert scaling.apply(X, ranges).shape == shape
        assert scaling.outside(scaling.apply(X, ranges), ranges) == (0, "")
        assert not scaling.seem_scaled(X, ranges)
