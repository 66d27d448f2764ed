"""Classes and their order (conventions 6)."""

import numpy as np
import pytest

from fwsvm.data import labels
from fwsvm.errors import DataError


@pytest.mark.parametrize(
    ("given_labels", "expected"),
    [
        ([-1.0, 1.0, -1.0], ("1", "-1")),
        ([1.0, -1.0], ("1", "-1")),
        ([1.0, 2.0], ("2", "1")),
        ([10.0, 9.0], ("10", "9")),  # numbers, not texts
        (["10", "9", "9"], ("10", "9")),
        (["B", "M", "B"], ("M", "B")),
        (["b", "10"], ("b", "10")),  # one is a name: compared as text
        ([3.0, 1.0, 2.0, 1.0], ("3", "1", "2")),
        (["setosa", "virginica", "setosa", "versicolor"], ("setosa", "virginica", "versicolor")),
        ([2.5, -1e300], ("2.5", "-1e+300")),
        ([-0.0, 1.0], ("1", "0")),
        ([7.0, 7.0], ("7",)),
    ],
)
def test_classes(given_labels, expected):
    assert labels.classes(np.array(given_labels)) == expected


def test_text_stays_text():
    found = labels.classes(np.array(["01", "1", "x", "1.0"]))
    assert found == ("01", "1", "x", "1.0")
    assert labels.encode(np.array(["1", "x", "01", "+1"]), found).tolist() == [1, 2, 0, -1]
    assert labels.classes(np.array(["1", "01"])) == ("1", "01")


def test_numbers_of_a_file_are_classes_however_they_are_written():
    codes = np.arange(3)
    assert labels.classes(labels.of_names(["+1", "1.0", "-1"], codes)) == ("1", "-1")
    assert labels.of_names(["007", "12", "12"], codes).tolist() == ["007", "12", "12"]
    assert labels.encode(np.array(["+1", "1e0", "x"]), ("1", "-1")).tolist() == [0, 0, -1]


@pytest.mark.parametrize("rows", [60, 4000])
def test_a_regression_target_is_no_class(rows):
    target = np.round(np.random.default_rng(0).normal(size=rows), 1)
    with pytest.raises(DataError, match="look like the target of a regression"):
        labels.require_two(target, "file")
    labels.require_two(np.arange(rows) % 30.0, "file")
    labels.require_two(np.array([str(value) for value in target]), "file")
    labels.require_two(np.arange(rows) % 5 / 2, "file")


def test_numbers_find_their_class_among_names():
    assert labels.encode(np.array([2.0, 1.0]), ("1", "other")).tolist() == [-1, 0]


def test_rows_without_labels_have_no_classes():
    with pytest.raises(DataError, match="without labels"):
        labels.classes(np.array([np.nan, 1.0]))


def test_numbers_beyond_2_to_the_53_are_no_classes():
    with pytest.raises(DataError, match="cannot be told apart"):
        labels.classes(np.array([2.0**53, 1.0]))
    assert labels.classes(np.array([2.0**53 - 1, 1.0])) == ("9007199254740991.0", "1")


def test_labels_that_no_rows_share_are_no_classes():
    """Numbers to be fitted, most likely: 60 classes would mean 1,770 machines of two rows."""
    labels.require_two(np.array([1.5, 2.5, 2.5]), "file")
    with pytest.raises(DataError, match=r"file: 3 different labels in 3 rows, such as 1\.5, look like"):
        labels.require_two(np.array([1.5, 2.5, 3.5]), "file")
