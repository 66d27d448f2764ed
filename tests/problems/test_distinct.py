"""Equal rows are one row with their weights' sum, in an order that is theirs."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fwsvm.problems import distinct as module
from fwsvm.problems.distinct import distinct


def rows_of(seed, m=30, n=3):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (m, n)) * 0.5, rng.integers(0, 2, m), rng.integers(0, 4, m)


def counted(X, codes, weights):
    found = Counter()
    for row, code, weight in zip(X, codes, weights, strict=True):
        found[(*row.tolist(), int(code))] += weight
    return {key: weight for key, weight in found.items() if weight}


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_rows_weights_and_copies_are_counted_alike(seed):
    X, codes, weights = rows_of(seed)
    found = distinct(X, codes, weights.astype(float))
    each = np.ones(len(found.codes)) if found.weights is None else found.weights
    assert counted(found.X, found.codes, each) == counted(X, codes, weights)
    assert len({(*row, code) for row, code in zip(found.X.tolist(), found.codes, strict=True)}) == len(each)
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(X)), weights))
    for form in (X[order], sparse.csr_array(X[order])):
        copied = distinct(form, codes[order], None)
        as_dense = copied.X.toarray() if sparse.issparse(copied.X) else copied.X
        assert np.array_equal(as_dense, found.X)
        assert np.array_equal(copied.codes, found.codes)
        assert np.array_equal(
            1 if copied.weights is None else copied.weights, 1 if found.weights is None else each
        )


def test_rows_whose_hashes_meet_are_kept_apart(monkeypatch):
    X, codes, weights = rows_of(1)
    monkeypatch.setattr(module, "row_hashes", lambda _, codes: np.zeros(len(codes), np.uint64))
    for form in (X, sparse.csr_array(X)):
        found = distinct(form, codes, weights.astype(float))
        rows = found.X.toarray() if sparse.issparse(found.X) else found.X
        assert counted(rows, found.codes, found.weights) == counted(X, codes, weights)


def test_no_rows_are_no_rows():
    found = distinct(np.ones((3, 2)), np.array([0, 1, 1]), np.zeros(3))
    assert found.X.shape == (0, 2)
