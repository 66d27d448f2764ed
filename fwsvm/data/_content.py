"""The bytes of a text file, decompressed by what they are, not by what the name says."""

import bz2
import gzip
import io
import lzma
import mmap
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.errors import DataError

#: A compressed file may hold this many bytes of text, or this many times its own size, whichever is more.
#: Real data sets expand 3 to 50 times; a file made to fill the memory expands a thousand times and more.
ALWAYS_ALLOWED = 64 << 20
MOST_EXPANSION = 250

CHUNK = 1 << 20
HEAD = 4096
NEWLINE = 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Opener = Callable[[IO[bytes]], Any]
COMPRESSIONS: dict[bytes, tuple[str, Opener]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
}
FOREIGN = {
    b"PK\x03\x04": "is a zip archive; unpack it and give the file inside",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it, or compress it with gzip, bzip2 or xz",
    b"\x1f\x9d": "is compressed with compress (.Z); unpack it, or compress it with gzip, bzip2 or xz",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
PAGE_STARTS = (b"<!doctype", b"<html", b"<head", b"<body", b"<?xml", b"<!--")


class Text(NamedTuple):
    """The bytes of a text file."""

    content: NDArray[np.uint8]  # ends in a newline
    ended: bool  # the file does so too


def read_text(path: str | Path) -> Text:
    """Return the bytes of a plain, gzip, bzip2 or xz file, ending in a newline that is added where missing.

    A plain file is mapped, not copied. A byte order mark is left out.

    Raises
    ------
    DataError
        There is no such file, or it is a directory, empty, truncated, larger inside than a data set can be,
        an HTML page, or not text.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a directory; give a data file")
    try:
        with path.open("rb") as file:
            source = file if file.seekable() else io.BytesIO(file.read())
            data = _bytes(path, source)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    content = np.frombuffer(data, np.uint8)
    _refuse_foreign(path, content[:HEAD].tobytes())
    if content[:3].tobytes() == BYTE_ORDER_MARK:
        content = content[3:]
    if not content.size:
        raise DataError(f"{path} is empty")
    ended = bool(content[-1] == NEWLINE)
    if not ended:
        content = np.append(content, np.uint8(NEWLINE))
        content.flags.writeable = False  # one type of array, so that the readers are compiled once
    return Text(content, ended)


def _bytes(path: Path, source: IO[bytes]) -> Any:
    """Return what an opened file holds: decompressed, or mapped where it is plain and on a disk."""
    magic = source.read(HEAD)
    size = source.seek(0, io.SEEK_END)
    source.seek(0)
    for start, (kind, opener) in COMPRESSIONS.items():
        if magic.startswith(start):
            return _unpacked(path, kind, opener(source), max(ALWAYS_ALLOWED, MOST_EXPANSION * size))
    if size and not isinstance(source, io.BytesIO):
        return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
    return source.read()


def _unpacked(path: Path, kind: str, stream: IO[bytes], bound: int) -> bytes:
    """Return the decompressed content; refuse a damaged file and one that expands beyond the bound."""
    parts, size = [], 0
    try:
        while part := stream.read(CHUNK):
            parts.append(part)
            size += len(part)
            if size > bound:
                raise DataError(
                    f"{path} expands to more than {bound >> 20} MiB, {MOST_EXPANSION} times its own size, "
                    f"as no data set does; if it is right, unpack it first"
                )
    except EOFError:
        raise DataError(f"{path} is a truncated {kind} file; fetch it again") from None
    except (OSError, zlib.error, lzma.LZMAError, ValueError) as error:
        raise DataError(f"{path} is a damaged {kind} file ({error}); fetch it again") from None
    return b"".join(parts)


def _refuse_foreign(path: Path, head: bytes) -> None:
    for start, complaint in FOREIGN.items():
        if head.startswith(start):
            raise DataError(f"{path} {complaint}")
    first = head.removeprefix(BYTE_ORDER_MARK).lstrip().lower()
    if first.startswith(PAGE_STARTS):
        raise DataError(f"{path} is an HTML page, not data: most likely a server's error page")
    if b"\0" in head:
        raise DataError(f"{path} is binary, not text")
