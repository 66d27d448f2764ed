"""Paths of a raw file in the cache: verified, downloading, refused."""

import os
from pathlib import Path
from typing import NamedTuple

from fwsvm.data.fetching import digests
from fwsvm.data.lock.entry import DataSource, RawFile
from fwsvm.files.folders import data_folder


def cached_path(source: DataSource, file: RawFile) -> Path:
    """Return the path of a verified file in the cache (or in the package, if it is shipped)."""
    if file.shipped:
        return (Path(source.home) if source.home else Path(__file__).parents[1] / "shipped") / file.file
    return data_folder() / source.owner / source.name / file.file


class CacheFile(NamedTuple):
    """A file of a source, and its paths in the cache."""

    source: DataSource
    file: RawFile

    @property
    def path(self) -> Path:
        """The verified file."""
        return cached_path(self.source, self.file)

    @property
    def part(self) -> Path:
        """A download that is incomplete or not verified."""
        return self.beside(".part")

    @property
    def bad(self) -> Path:
        """A file that does not match its digest."""
        return self.beside(".bad")

    def beside(self, ending: str) -> Path:
        """Return the path with an ending added to its name."""
        return self.path.with_name(self.path.name + ending)


def verified_on_disk(target: CacheFile) -> tuple[Path, str] | None:
    """Return path and sha256 of a cached file that matches the lock, else None; change nothing."""
    if not target.path.is_file() or not target.file.pinned:
        return None
    found = digests.measure(target.path, md5=target.file.md5 is not None)
    return (target.path, found.sha256) if digests.mismatch(target.file, found) is None else None


def move_verified(part: Path, path: Path) -> None:
    """Rename a verified file to its final name, after its bytes are flushed to the disk."""
    with part.open("r+b") as file:  # fsync needs a writable file on Windows
        os.fsync(file.fileno())
    part.replace(path)
