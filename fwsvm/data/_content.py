"""The bytes of a text file, decompressed by what they are, not by what the name says."""

import contextlib
import io
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.data import unpacking
from fwsvm.errors import DataError

HEAD, PIECE = 4096, 1 << 20  # bytes
NEWLINE = 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Bytes that may come through a pipe, or from a file that names no size; there, only reading shows how many.
MOST_PIPED = 1 << 30

FOREIGN = {
    b"PK\x03\x04": "is a zip archive; unpack it and give the file inside",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it, or compress it with gzip, bzip2 or xz",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
PAGE_STARTS = (b"<!doctype", b"<html", b"<head", b"<body", b"<?xml", b"<!--")


class Text(NamedTuple):
    """The bytes of a text file."""

    content: NDArray[np.uint8]  # ends in a newline
    ended: bool  # the file does so too


def read_text(path: str | Path) -> Text:
    """Return the bytes of a plain or compressed file, ending in a newline that is added where missing.

    Compressed by gzip, bzip2, xz or compress, which is seen from the first bytes. A plain file is mapped, not
    copied. A byte order mark is left out.

    Raises
    ------
    DataError
        There is no such file, or it is a directory, empty, truncated, larger inside than a data set can be,
        an HTML page, or not text.
    """
    path = Path(path)
    with _opened(path) as source:
        data = _bytes(path, source)
    content = np.frombuffer(data, np.uint8)
    content.flags.writeable = False  # one type of array, so that the readers are compiled once
    _refuse_foreign(path, content[:HEAD].tobytes())
    if content[:3].tobytes() == BYTE_ORDER_MARK:
        content = content[3:]
    if not content.size:
        raise DataError(f"{path} is empty")
    ended = bool(content[-1] == NEWLINE)
    if not ended:
        content = np.append(content, np.uint8(NEWLINE))
        content.flags.writeable = False
    return Text(content, ended)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Give a stream of the bytes of a plain or compressed file, for a reader that takes them a part at a time.

    Raises
    ------
    DataError
        As `read_text`; what is wrong far inside is seen when it is read.
    """
    with _opened(path) as source:
        kind = unpacking.kind_of(source.read(HEAD))
        size = source.seek(0, io.SEEK_END)
        source.seek(0)
        if kind is None:
            yield source
        else:
            yield io.BufferedReader(_Stream(unpacking.pieces(path, source, kind, unpacking.bound(size))))


class _Stream(io.RawIOBase):
    """Pieces of bytes as a stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.left = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self.left:
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.left = memoryview(piece)
        count = min(len(room), len(self.left))
        room[:count], self.left = self.left[:count], self.left[count:]
        return count


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file so that one can go back in it."""
    if path.is_dir():
        raise DataError(f"{path} is a directory; give a data file")
    try:
        with path.open("rb") as file:
            yield file if file.seekable() else io.BytesIO(_all(path, file))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def _all(path: Path, source: IO[bytes]) -> bytearray:
    """Return what comes from a source that names no size."""
    data = bytearray()
    while piece := source.read(PIECE):
        data += piece
        if len(data) > MOST_PIPED:
            raise DataError(
                f"{path} gives more than {MOST_PIPED >> 20} MiB and names no size; save it as a file first"
            )
    return data


def _bytes(path: Path, source: IO[bytes]) -> Any:
    """Return what an opened file holds: unpacked, or mapped where it is plain and on a disk."""
    kind = unpacking.kind_of(source.read(HEAD))
    size = source.seek(0, io.SEEK_END)
    source.seek(0)
    if kind is not None:
        data = bytearray()
        for piece in unpacking.pieces(path, source, kind, unpacking.bound(size)):
            data += piece
        return data
    if size and not isinstance(source, io.BytesIO):
        return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
    return _all(path, source)


def _refuse_foreign(path: Path, head: bytes) -> None:
    for start, complaint in FOREIGN.items():
        if head.startswith(start):
            raise DataError(f"{path} {complaint}")
    first = head.removeprefix(BYTE_ORDER_MARK).lstrip().lower()
    if first.startswith(PAGE_STARTS):
        raise DataError(f"{path} is an HTML page, not data: most likely a server's error page")
    if b"\0" in head:
        raise DataError(f"{path} is binary, not text")
