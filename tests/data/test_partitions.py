"""Partitions: the rows of the files they are cut from, whatever the cuts; and what is said of files that change."""

import bz2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fwsvm.data import partitions
from fwsvm.data.formats import svmlight
from fwsvm.errors import DataError

LINES = st.sampled_from(["1 1:2 3:4", "-1 2:0.5", "1", "", "# of no row", "-1 1:1e-3 # a comment", "  1 4:7"])


@pytest.fixture
def small(monkeypatch):
    """Cut files of some lines."""
    monkeypatch.setattr(partitions, "LEAST", 16)


@given(
    st.lists(LINES, max_size=40),
    st.sampled_from(["", "\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.integers(1, 60),
)
@settings(max_examples=60)
def test_the_partitions_of_a_file_hold_its_rows_in_order(tmp_path_factory, lines, end, mark, least):
    path = tmp_path_factory.mktemp("cut") / "rows.svm"
    path.write_text(mark + "\n".join([*lines, "1 1:1"]) + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partitions, "LEAST", least)
        parts = partitions.cut(path)
    whole = svmlight.read(path)
    tables = [partitions.read(part) for part in parts]
    assert [part.stop for part in parts][:-1] == [part.start for part in parts][1:]
    np.testing.assert_array_equal(np.concatenate([table.labels for table in tables]), whole.labels)
    for table in tables:
        table.X.resize(table.rows, whole.features)
    assert (sparse.vstack([table.X for table in tables]) != whole.X).nnz == 0


def test_a_folder_is_its_files_in_the_order_of_their_names(tmp_path, small):
    for name, label in (("b.svm", 2), ("a.svm", 1), (".hidden", 3)):
        (tmp_path / name).write_text(f"{label} 1:1\n" * 10)
    labels = [partitions.read(part).labels for part in partitions.cut(tmp_path)]
    assert np.concatenate(labels).tolist() == [1.0] * 10 + [2.0] * 10
    assert len(labels) > 2


@pytest.mark.parametrize("change", ["1 1:1\n" * 20, "1 1:1\n" * 60])
def test_a_file_of_another_size_than_before_is_refused(tmp_path, small, change):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n" * 40)
    part = partitions.cut(path)[0]
    path.write_text(change)
    with pytest.raises(
        DataError, match=r"has \d+ bytes and had 240 when training began: it was cut off or changed"
    ):
        partitions.read(part)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("before", [0, 40])
def test_an_error_names_the_line_in_the_file(tmp_path, small, mark, before):
    path = tmp_path / "rows.svm"
    path.write_text(mark + "1 1:1\n" * before + "1 1:x\n" + "1 1:1\n" * 40, encoding="utf-8")
    with pytest.raises(DataError, match=rf"rows\.svm:{before + 1}: "):
        [partitions.read(part) for part in partitions.cut(path)]


def test_what_has_no_parts_is_refused(tmp_path):
    empty, packed, folder = tmp_path / "empty", tmp_path / "packed", tmp_path / "folder"
    empty.write_bytes(b"")
    packed.write_bytes(bz2.compress(b"1 1:1\n"))
    folder.mkdir()
    for place, said in (
        (empty, "is empty"), (packed, "is compressed, so no part of it can be read by itself; unpack it"),
        (folder, "there is no file in this folder"), (tmp_path / "none", "no such file"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=said):
            partitions.cut(place)
