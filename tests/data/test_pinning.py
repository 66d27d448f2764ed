"""Files added by hand and digests that are recorded: of the bytes that are moved to their names, and no others."""

import hashlib
from pathlib import Path

import pytest

from fwsvm import data
from fwsvm.data.fetching.cache_paths import CacheFile
from fwsvm.data.fetching.options import FetchOptions
from fwsvm.data.lock import lockfile, pinning
from fwsvm.data.lock.entry import UNPINNED, DataSource, RawFile
from fwsvm.errors import DataError, UsageError

ROWS = b"1 1:1\n-1 1:2\n1 1:3\n-1 2:4\n"


@pytest.fixture(autouse=True)
def installed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write to the overlay in the test's own cache, as for a user."""
    package = lockfile.lock_path()
    monkeypatch.setattr(lockfile, "lock_path", lambda: package)
    monkeypatch.setattr(lockfile, "in_checkout", lambda: False)


def test_two_files_of_the_same_bytes_are_both_added(tmp_path: Path) -> None:
    for name in ("a.svm", "b.svm"):
        (tmp_path / name).write_bytes(ROWS)
    pinning.add_new("mine", tmp_path / "a.svm", tmp_path / "b.svm", scaling="none", title="Mine")
    loaded = data.load("mine", offline=True)
    assert loaded.test is not None
    assert (loaded.train.rows, loaded.test.rows) == (4, 4)


@pytest.mark.parametrize("other", [ROWS.replace(b"4", b"5"), None], ids=["replaced", "removed"])
def test_a_file_that_another_process_changed_after_it_was_examined_is_not_recorded(
    other: bytes | None, tmp_path: Path
) -> None:
    files = tuple(RawFile(name, evidence=UNPINNED) for name in ("first", "second"))
    for file in files:
        (tmp_path / file.file).write_bytes(ROWS)
    source = DataSource("web", "mine", {"format": "svmlight"}, files)
    fetched = pinning.examine(source, FetchOptions(mirror=str(tmp_path), offline=True))
    target = CacheFile(source, files[1])
    target.part.unlink()
    if other is not None:
        target.part.write_bytes(other)
    with pytest.raises(DataError, match=r"second\.part is not the file that was examined"):
        pinning.accept(source, fetched)
    assert not lockfile.overlay_path().exists()
    assert not any(CacheFile(source, file).path.exists() for file in files)


def test_what_cannot_be_recorded_is_not_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RawFile("first", evidence=UNPINNED)
    (tmp_path / "first").write_bytes(ROWS)
    source = DataSource("web", "mine", {"format": "svmlight"}, (file,))
    fetched = pinning.examine(source, FetchOptions(mirror=str(tmp_path), offline=True))
    target = CacheFile(source, file)

    def refuse(*_: object, **__: object) -> None:
        raise UsageError("there is no checkout")

    monkeypatch.setattr(pinning.editing, "record", refuse)
    with pytest.raises(UsageError):
        pinning.accept(source, fetched)
    assert target.part.read_bytes() == ROWS
    assert not target.path.exists()


def test_a_copy_of_a_file_that_changed_after_its_digest_is_not_adopted(tmp_path: Path) -> None:
    given = tmp_path / "first"
    given.write_bytes(ROWS)
    file = RawFile("first", evidence="locked", sha256=hashlib.sha256(ROWS).hexdigest())
    source = DataSource("web", "mine", {"format": "svmlight"}, (file,))
    found = pinning.digests.measure(given)
    given.write_bytes(ROWS + b"1 1:9\n")
    with pytest.raises(DataError, match="is not the file that was examined"):
        pinning._adopt(source, file, given, found)
    assert not CacheFile(source, file).path.exists()
