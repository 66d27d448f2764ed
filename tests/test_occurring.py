"""Rows without the features that none of them stores."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fwsvm import scaling
from fwsvm._occurring import FEW, occurring, only_columns, widened

rows_of_entries = st.lists(
    st.dictionaries(st.integers(0, 2**31 - 3), st.floats(-10, 10, width=16), max_size=4),
    min_size=1,
    max_size=6,
)


def table(rows):
    """Return rows given as {column: value}."""
    entries = [sorted(row.items()) for row in rows]
    columns = np.array([c for row in entries for c, _ in row], np.int32)
    values = np.array([v for row in entries for _, v in row], float)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in entries])]).astype(np.int32)
    return sparse.csr_array((values, columns, starts), shape=(len(rows), 2**31 - 2))


def entries(X):
    """Return the entries of each row as {column: value}."""
    return [
        dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
        for a, b in zip(X.indptr, X.indptr[1:], strict=False)
    ]


@given(rows_of_entries)
def test_every_value_keeps_its_place_among_the_features_that_occur(rows):
    found = occurring(table(rows))
    stored = sorted({column for row in rows for column in row})
    assert found.columns.tolist() == stored
    assert found.X.shape == (len(rows), len(stored))
    assert entries(found.X) == [{stored.index(c): v for c, v in row.items()} for row in rows]
    assert entries(widened(found.X, found.columns, 2**31 - 2)) == rows


@given(rows_of_entries, st.sets(st.integers(0, 2**31 - 3), max_size=5))
def test_only_some_features_are_those_and_no_others(rows, wanted):
    wanted = sorted(wanted | set(rows[0]))
    taken = only_columns(table(rows), np.array(wanted, np.int64))
    assert taken.shape == (len(rows), len(wanted))
    assert entries(taken) == [{wanted.index(c): v for c, v in row.items() if c in wanted} for row in rows]


def test_rows_of_few_features_or_of_few_that_do_not_occur_stay_what_they_are():
    X = sparse.csr_array(([1.0], [3], [0, 1]), shape=(1, FEW))
    full = sparse.csr_array(np.ones((3, FEW + 1)))
    dense = np.ones((2, 3))
    for rows in (X, full, dense):
        assert occurring(rows).X is rows
        assert occurring(rows).columns is None


@given(rows_of_entries, rows_of_entries, st.sampled_from(["[-1,1]", "[0,1]"]))
def test_scaling_does_to_numbers_what_it_does_where_features_are_numbered_without_gaps(rows, others, how):
    columns = sorted({column for row in rows + others for column in row})
    dense = np.zeros((len(rows) + len(others), len(columns)))
    for t, row in enumerate(rows + others):
        for column, value in row.items():
            dense[t, columns.index(column)] = value
    X, Z = dense[: len(rows)], dense[len(rows) :]
    ranges = scaling.fit(table(rows), how)
    assert len(ranges.features) <= len(columns)
    for wide, narrow in ((table(rows), X), (table(others), Z)):
        scaled = scaling.apply(wide, ranges)
        assert scaled.shape == wide.shape
        expected = scaling.apply(narrow, scaling.fit(X, how))
        assert np.array_equal(only_columns(scaled, np.array(columns, np.int64)).toarray(), expected)
        assert set(scaled.indices.tolist()) <= set(columns)
