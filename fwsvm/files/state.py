"""Digests and state of a file, and whether it changed while it was read."""

import hashlib
import stat
from pathlib import Path
from typing import NamedTuple, Self

from fwsvm.errors import DataError


class FileState(NamedTuple):
    """Size, time of the last change in nanoseconds, and number of a regular file; zeros of another, such as a pipe."""

    bytes: int
    changed: int
    number: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return the present state of a file; `DataError` where there is none."""
        try:
            found = path.stat()
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
        if not stat.S_ISREG(found.st_mode):
            return cls(0, 0, 0)
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)

    def refuse_change(self, path: Path) -> None:
        """Raise `DataError` where the file is not what it was."""
        if FileState.of(path) != self:
            raise changed(path)


def changed(path: Path) -> DataError:
    """Return the refusal of a file that changed while it was read."""
    return DataError(f"{path} changed while it was read; give it when it is complete")


def file_digest(path: Path, kind: str = "sha256") -> str:
    """Return a digest (hex) of a file, of a kind that hashlib knows; `DataError` where it cannot be read."""
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: not a regular file; give a file")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, kind).hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
