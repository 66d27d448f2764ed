"""A file that is wanted: where it and what becomes of it lie in the cache."""

import os
from pathlib import Path
from typing import NamedTuple

from fwsvm.data import digests
from fwsvm.data.entry import File, Source
from fwsvm.files.folders import data_folder


def cached_path(source: Source, file: File) -> Path:
    """Return where a file lies in the cache once it is verified (or in the package, if it is shipped)."""
    if file.shipped:
        return Path(__file__).parent / "shipped" / file.file
    return data_folder() / source.owner / source.name / file.file


class Wanted(NamedTuple):
    """A file of a source, and the paths it has on its way into the cache."""

    source: Source
    file: File

    @property
    def path(self) -> Path:
        """Where the verified file lies."""
        return cached_path(self.source, self.file)

    @property
    def part(self) -> Path:
        """A download that is not complete, or not verified."""
        return self.beside(".part")

    @property
    def bad(self) -> Path:
        """A file that is not what the lock says."""
        return self.beside(".bad")

    def beside(self, ending: str) -> Path:
        """Return the path with an ending added to its name."""
        return self.path.with_name(self.path.name + ending)


def whole_on_disk(want: Wanted) -> tuple[Path, str] | None:
    """Return path and digest of a file that is there and what the lock says; touch nothing."""
    if not want.path.is_file() or not want.file.pinned:
        return None
    found = digests.measure(want.path, md5=want.file.sha256 is None)
    return (want.path, found.sha256) if digests.mismatch(want.file, found) is None else None


def settle(part: Path, path: Path) -> None:
    """Move a verified file to its final name, on disk before it is seen there."""
    with part.open("r+b") as file:  # fsync needs a writable file on Windows
        os.fsync(file.fileno())
    part.replace(path)
