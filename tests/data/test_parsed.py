"""Parsed copies of files: the same rows, made again where they are missing, damaged or of other bytes."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from fwsvm.data import formats, parsed_copies
from fwsvm.data.formats import loader_of, svmlight
from fwsvm.errors import DataError

FILES = {
    "numbers.svm": "1 1:2 4:3\n-1 2:5\n" * 30,
    "names.svm": "yes 1:2 4:3\nno 2:5\n" * 30,
    "a name at the end.svm": "1 1:2 4:3\n-1 2:5\n" * 30 + "one 1:1\n",
    "an index 0.svm": "1 0:2 4:3\n-1 2:5\n" * 30,
    "no last newline.svm": "# so\n\n1 1:2 4:3\n-1 qid:1 2:5\n" * 30 + "1 7:1",
    "a long line.svm": "1 " + " ".join(f"{j}:1" for j in range(1, 200)) + "\n-1 1:2\n",
    "table.csv": "a,b,class\n" + "1,2,x\n3,4,y\n" * 30,
}


@pytest.fixture(autouse=True)
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svmlight, "PIECE_BYTES", 64)


@pytest.mark.parametrize("mapped_from", [1, 1 << 24], ids=["mapped", "in memory"])
@pytest.mark.parametrize("name", FILES)
def test_a_copy_is_what_is_read(
    name: str, mapped_from: int, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsed_copies, "MAPPED_FROM", mapped_from)
    path = tmp_path / name
    path.write_text(FILES[name])
    wanted = formats.read_path(path, loader_of(path))
    for _ in range(2):  # made, and read
        found = formats.read(path, loader_of(path))
        assert found.notices == wanted.notices
        assert (found.X.shape, found.X.dtype) == (wanted.X.shape, wanted.X.dtype)
        assert (found.zero_based, found.feature_names) == (wanted.zero_based, wanted.feature_names)
        assert np.array_equal(found.labels, wanted.labels)
        assert found.labels.dtype == wanted.labels.dtype
        if isinstance(found.X, csr_array):
            assert (found.X != wanted.X).nnz == 0
            assert found.X.indices.dtype == found.X.indptr.dtype == np.int32
        else:
            assert np.array_equal(found.X, wanted.X)
    assert len(list((cache / "parsed").iterdir())) == 1


def test_mapped_copies_are_read_only(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_copies, "MAPPED_FROM", 1)
    path = tmp_path / "rows"
    path.write_text(FILES["numbers.svm"])
    X = formats.read(path, loader_of(path)).X
    with pytest.raises(ValueError, match="read-only"):
        X.data[0] = 1.0


@pytest.mark.parametrize("damage", ["truncated", "other array", "missing"])
def test_a_damaged_copy_is_made_again(damage: str, cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_text(FILES["numbers.svm"])
    wanted = formats.read(path, loader_of(path))
    (folder,) = (cache / "parsed").iterdir()
    if damage == "truncated":
        (folder / "data").write_bytes((folder / "data").read_bytes()[:-8])
    elif damage == "other array":
        (folder / "labels").write_bytes(bytes(16))
    else:
        (folder / "about.json").unlink()
    assert (formats.read(path, loader_of(path)).X != wanted.X).nnz == 0
    assert folder.name.startswith(parsed_copies.reader_version())
    assert (folder / "about.json").is_file()


def test_a_cache_that_cannot_be_written_costs_only_time(cache: Path, tmp_path: Path) -> None:
    cache.write_text("a file where a folder should be", "utf-8")
    path = tmp_path / "rows"
    path.write_text(FILES["numbers.svm"])
    table = formats.read(path, loader_of(path))
    assert table.rows == 60
    assert "no parsed copy was kept" in table.notices[-1]


@pytest.mark.skipif(os.name == "nt", reason="no RLIMIT_FSIZE")
def test_a_full_disk_costs_only_time(cache: Path, tmp_path: Path) -> None:
    import resource

    path = tmp_path / "rows"
    path.write_text(FILES["numbers.svm"])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        table = formats.read(path, loader_of(path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert table.rows == 60
    assert "no parsed copy was kept" in table.notices[-1]
    assert not [*(cache / "parsed").iterdir()]


def test_a_file_that_changes_while_it_is_read_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows"
    path.write_text(FILES["numbers.svm"])
    read = svmlight.read

    def meanwhile(*given, **options):  # type: ignore[no-untyped-def]
        with path.open("a") as stream:
            stream.write("1 1:3\n")
        return read(*given, **options)

    with monkeypatch.context() as changed:
        changed.setitem(formats.READERS, "svmlight", meanwhile)
        with pytest.raises(DataError, match="changed while it was read"):
            formats.read(path, loader_of(path))
    assert formats.read(path, loader_of(path)).rows == 61


def test_rows_to_predict_are_all_with_or_all_without_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_text("1:2 2:1\n" * 40)
    assert np.isnan(svmlight.read(path, unlabelled=True).labels).all()
    path.write_text("1:2 2:1\n" * 40 + "1 1:2\n" * 40)
    with pytest.raises(DataError, match="the row has a label, but rows above have none"):
        svmlight.read(path, unlabelled=True)
