"""Files in the cache: their paths, and whether they are what the lock says."""

import os
from pathlib import Path
from typing import NamedTuple

from fwsvm.data.lockfile import FIRST_USE, DataSource, RawFile
from fwsvm.files.folders import data_folder
from fwsvm.files.state import Measured, measure


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
        """A file that is incomplete or not verified."""
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def bad(self) -> Path:
        """A file that does not match its digest."""
        return self.path.with_name(f"{self.path.name}.bad")

    def verified(self) -> tuple[Path, str] | None:
        """Return path and sha256 of the cached file if it matches the lock, else None; change nothing."""
        if not self.path.is_file() or not self.file.pinned:
            return None
        found = measure(self.path)
        return (self.path, found.sha256) if mismatch(self.file, found) is None else None

    def keep(self) -> None:
        """Rename the ``.part``, which is verified, to its final name, after its bytes are flushed to the disk."""
        with self.part.open("r+b") as file:  # fsync needs a writable file on Windows
            os.fsync(file.fileno())
        self.part.replace(self.path)


def mismatch(file: RawFile, found: Measured) -> str | None:
    """Return how a file differs from the digests and size in the lock, or None if all that are pinned agree."""
    says = f"at first use on {file.recorded} it was" if file.evidence == FIRST_USE else "datasets.lock says"
    for kind in ("sha256", "md5"):
        pinned, here = getattr(file, kind), getattr(found, kind)
        if pinned and pinned != here:
            return f"{kind} is {here}, {says} {pinned}"
    if file.bytes is not None and file.bytes != found.bytes:
        return f"{found.bytes:,} bytes, datasets.lock says {file.bytes:,}"
    return None
