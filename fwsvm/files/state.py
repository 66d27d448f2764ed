"""Digests of a file."""

import hashlib
from pathlib import Path

from fwsvm.errors import DataError


def file_digest(path: Path, kind: str = "sha256") -> str:
    """Return a digest (hex) of a file, of a kind that hashlib knows; `DataError` where it cannot be read."""
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: not a regular file; give a file")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, kind).hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
