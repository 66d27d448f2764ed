"""Parsed copies: used when everything that decides their content is the same, and never otherwise."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from fwsvm.data import formats, parsed_copies
from fwsvm.data.dataset import LabelledRows
from fwsvm.errors import DataError

X = csr_array(np.array([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]]))
SPARSE = LabelledRows(X, np.array(["a", "b", "a"]))
DENSE = LabelledRows(np.arange(6.0).reshape(3, 2), np.array([1.0, -1.0, 1.0]))


class Reader:
    """Counts how often it reads."""

    def __init__(self, table: LabelledRows) -> None:
        self.table, self.times = table, 0

    def __call__(self) -> tuple[LabelledRows, tuple[str, ...]]:
        self.times += 1
        return self.table, ("a notice",)


@pytest.mark.parametrize("table", [SPARSE, DENSE], ids=["sparse", "dense"])
def test_a_copy_is_the_same_and_is_read_instead(table: LabelledRows, cache: Path) -> None:
    reader = Reader(table)
    first, _ = parsed_copies.table("d1", {"format": "svmlight"}, reader)
    second, notices = parsed_copies.table("d1", {"format": "svmlight"}, reader)
    assert reader.times == 1
    assert notices == ("a notice",)
    assert type(second.X) is type(first.X)
    assert second.X.shape == table.X.shape
    if isinstance(second.X, csr_array):
        assert second.X.has_canonical_format
        assert (second.X != table.X).nnz == 0
    else:
        assert np.array_equal(second.X, table.X)
        assert second.X.flags.c_contiguous
        assert second.X.flags.writeable
    assert np.array_equal(second.labels, table.labels)
    assert second.labels.dtype == table.labels.dtype


def test_other_bytes_options_or_readers_are_another_copy(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(DENSE)
    parsed_copies.table("d1", {"zero_based": False}, reader)
    parsed_copies.table("d2", {"zero_based": False}, reader)
    parsed_copies.table("d1", {"zero_based": True}, reader)
    monkeypatch.setattr(parsed_copies, "reader_version", lambda: "another")
    parsed_copies.table("d1", {"zero_based": False}, reader)
    assert reader.times == 4


def damage_truncate(folder: Path) -> None:
    path = folder / "X.npy"
    path.write_bytes(path.read_bytes()[:-8])


def damage_pickle(folder: Path) -> None:
    np.save(folder / "labels.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)


def damage_shape(folder: Path) -> None:
    np.save(folder / "labels.npy", np.zeros(2))


def damage_missing(folder: Path) -> None:
    (folder / "about.json").unlink()


@pytest.mark.parametrize("damage", [damage_truncate, damage_pickle, damage_shape, damage_missing])
def test_a_damaged_copy_is_made_anew(damage, cache: Path) -> None:  # type: ignore[no-untyped-def]
    reader = Reader(DENSE)
    parsed_copies.table("d1", {}, reader)
    folder = parsed_copies.folder("d1", {})
    damage(folder)
    again, _ = parsed_copies.table("d1", {}, reader)
    assert reader.times == 2
    assert np.array_equal(again.X, DENSE.X)
    parsed_copies.table("d1", {}, reader)
    assert reader.times == 2


def test_a_copy_that_another_process_finishes_first_stays(cache: Path) -> None:
    place, reader = parsed_copies.folder("d1", {}), Reader(DENSE)
    of_the_first = []

    def slower() -> tuple[LabelledRows, tuple[str, ...]]:
        parsed_copies.table("d1", {}, reader)
        of_the_first.append(place.stat().st_ino)
        return reader()

    table, _ = parsed_copies.table("d1", {}, slower)
    assert np.array_equal(table.X, DENSE.X)
    assert [place.stat().st_ino] == of_the_first
    assert list((cache / "parsed").iterdir()) == [place]


def test_a_copy_says_what_it_is_of_and_nothing_half_made_is_left(cache: Path) -> None:
    parsed_copies.table("d1", {}, Reader(DENSE))
    (folder,) = list((cache / "parsed").iterdir())
    about = json.loads((folder / "about.json").read_text("utf-8"))
    assert about["raw_sha256"] == "d1"
    assert about["readers"] == parsed_copies.reader_version()
    assert np.load(folder / "X.npy", mmap_mode="r").shape == (3, 2)


def test_a_cache_that_cannot_be_written_costs_only_time(cache: Path, tmp_path: Path) -> None:
    cache.write_text("a file where a folder should be", "utf-8")
    table, notices = parsed_copies.table("d1", {}, Reader(DENSE))
    assert np.array_equal(table.X, DENSE.X)
    assert "no parsed copy was kept" in notices[-1]


def test_a_file_that_changes_while_it_is_read_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n-1 1:2\n")
    read = formats._read

    def meanwhile(*given: object) -> tuple[LabelledRows, tuple[str, ...]]:
        with path.open("a") as stream:
            stream.write("1 1:3\n")
        return read(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as changed:
        changed.setattr(formats, "_read", meanwhile)
        with pytest.raises(DataError, match="changed while it was read"):
            formats.read_file(path, {"format": "svmlight"})
    table, _, _ = formats.read_file(path, {"format": "svmlight"})
    assert table.rows == 3


@pytest.mark.skipif(os.name == "nt", reason="has no such modes")
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_who_may_read_a_copy_is_what_the_umask_says(mask: int, cache: Path) -> None:
    before = os.umask(mask)
    try:
        parsed_copies.table("d1", {}, Reader(DENSE))
    finally:
        os.umask(before)
    place = parsed_copies.folder("d1", {})
    assert place.stat().st_mode & 0o777 == 0o777 & ~mask
    assert {file.stat().st_mode & 0o777 for file in place.iterdir()} == {0o666 & ~mask}
