"""Digests of files, compared with those in the lock."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from fwsvm.data.lock.entry import RawFile
from fwsvm.errors import DataError


class Measured(NamedTuple):
    """Size in bytes and digests (hex) of a file."""

    bytes: int
    sha256: str
    md5: str


def measure(path: Path, *, md5: bool = True) -> Measured:
    """Read a file once and return its size and digests (``md5`` is empty unless requested)."""
    digests = [hashlib.sha256()] + ([hashlib.md5(usedforsecurity=False)] if md5 else [])
    size = 0
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: not a regular file; give a file")
    buffer = bytearray(1 << 20)
    view = memoryview(buffer)
    try:
        with path.open("rb", buffering=0) as file:
            while count := file.readinto(view):
                size += count
                for digest in digests:
                    digest.update(view[:count])
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    return Measured(size, digests[0].hexdigest(), digests[1].hexdigest() if md5 else "")


def of_bytes(text: bytes) -> Measured:
    """Return size and digests of a file of these bytes."""
    md5 = hashlib.md5(text, usedforsecurity=False).hexdigest()
    return Measured(len(text), hashlib.sha256(text).hexdigest(), md5)


def file_sha256(path: Path) -> str:
    """Return the sha256 (hex) of a file."""
    return measure(path, md5=False).sha256


def mismatch(file: RawFile, found: Measured) -> str | None:
    """Return how a file differs from the digests and size in the lock, or None if all that are pinned agree."""
    if file.sha256 and file.sha256 != found.sha256:
        return f"sha256 is {found.sha256}, datasets.lock says {file.sha256}"
    if file.md5 and file.md5 != found.md5:
        return f"md5 is {found.md5}, datasets.lock says {file.md5}"
    if file.bytes is not None and file.bytes != found.bytes:
        return f"{found.bytes:,} bytes, datasets.lock says {file.bytes:,}"
    return None
