"""Splits: every row once, in the file's order, by the seed alone; and scaling as svm-scale does it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwsvm import scaling
from fwsvm.data import splits
from fwsvm.data.dataset import LabelledRows
from fwsvm.errors import DataError


def numbered(rows: int) -> LabelledRows:
    return LabelledRows(np.arange(float(rows)).reshape(-1, 1), np.arange(float(rows)))


@given(st.integers(2, 500), st.integers(0, 5), st.data())
def test_a_split_keeps_every_row_once_and_in_order(rows: int, seed: int, draw: st.DataObject) -> None:
    train_rows = draw.draw(st.integers(1, rows - 1))
    train, test = splits.split(numbered(rows), {"train_rows": train_rows}, seed)
    assert train.rows == train_rows
    assert sorted([*train.labels, *test.labels]) == list(range(rows))
    for part in (train, test):
        assert (np.diff(part.labels) > 0).all()
        assert np.array_equal(part.X[:, 0], part.labels)


def test_a_fraction_is_rounded_up_as_the_paper_s_is() -> None:
    train, test = splits.split(numbered(494_021), {"test_fraction": 0.2}, 0)
    assert (train.rows, test.rows) == (395_216, 98_805)


def test_the_order_is_fixed_for_ever() -> None:
    # the raw stream of PCG64 is stable by numpy's promise, so these numbers hold on every machine
    assert splits.permutation(10, 0).tolist() == [3, 2, 1, 8, 6, 0, 7, 4, 5, 9]
    assert splits.permutation(10, 1).tolist() == [9, 2, 4, 7, 5, 0, 8, 6, 3, 1]


@pytest.mark.parametrize("rule", [{"train_rows": 5}, {"train_rows": 9}, {"test_fraction": 1.0}])
def test_an_empty_part_is_refused(rule: dict[str, float]) -> None:
    with pytest.raises(DataError, match="cannot draw"):
        splits.split(numbered(5), rule, 0)


def test_test_rows_use_the_training_ranges() -> None:
    ranges = scaling.fit(np.array([[0.0, 5.0], [10.0, 5.0]]), "[-1,1]")
    assert scaling.apply(np.array([[20.0, 6.0], [5.0, 5.0]]), ranges).tolist() == [[3.0, 0.0], [0.0, 0.0]]
