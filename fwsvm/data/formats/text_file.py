"""The bytes of a text file; compression is detected from the first bytes, not from the name."""

import contextlib
import io
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm._memory import require
from fwsvm.data.formats import decompression
from fwsvm.errors import DataError

HEAD_BYTES, CHUNK = 4096, 1 << 20  # bytes
FEWER = "take fewer rows (fwsvm subset), or give the process more memory"
NEWLINE = 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Bytes that are read from a pipe or another file of unknown size.
MAX_PIPE_BYTES = 1 << 30
#: Bytes of unpacked text after which it is asked whether there is memory for as many more.
ASKED_EVERY = 1 << 26

NOT_TEXT = {
    b"PK\x03\x04": "is a zip archive; unpack it and give the file inside",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it, or compress it with gzip, bzip2 or xz",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
HTML_STARTS = (b"<!doctype", b"<html", b"<head", b"<body", b"<?xml", b"<!--")


class TextFile(NamedTuple):
    """The bytes of a text file."""

    content: NDArray[np.uint8]  # ends in a newline, added if the file does not
    ended: bool  # whether the file ends in a newline


def read_text(path: str | Path) -> TextFile:
    """Return the bytes of a plain or compressed file (gzip, bzip2, xz, compress), ending in a newline.

    A plain file is memory-mapped, not copied. A byte order mark is left out.

    Raises
    ------
    DataError
        There is no such file, or it is a directory, empty, truncated, larger inside than a data set can be,
        an HTML page, or not text.
    """
    path = Path(path)
    with _open_seekable(path) as source:
        data = _contents(path, source)
    content = np.frombuffer(data, np.uint8)
    content.flags.writeable = False  # numba compiles the parsers once, for read-only arrays
    refuse_not_text(path, content[:HEAD_BYTES].tobytes())
    if content[:3].tobytes() == BYTE_ORDER_MARK:
        content = content[3:]
    if not content.size:
        raise DataError(f"{path} is empty")
    ended = bool(content[-1] == NEWLINE)
    if not ended:
        what = f"{path}: copying the text to add the missing last line feed"
        require(content.nbytes, what, f"end the file with a line feed, or {FEWER}", DataError)
        content = np.append(content, np.uint8(NEWLINE))
        content.flags.writeable = False
    return TextFile(content, ended)


@contextlib.contextmanager
def open_decompressed(path: Path) -> Iterator[IO[bytes]]:
    """Give a stream of the decompressed bytes of a file, for readers that take a part at a time.

    Raises
    ------
    DataError
        As `read_text`; damage far inside is detected when it is read.
    """
    with _open_seekable(path) as source:
        pieces, _ = _unpacking(path, source)
        yield source if pieces is None else io.BufferedReader(_ChunkStream(pieces))


class _ChunkStream(io.RawIOBase):
    """An iterator of bytes as a readable stream."""

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
def _open_seekable(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading; a pipe is read into memory, so that the stream can seek."""
    if path.is_dir():
        raise DataError(f"{path} is a directory; give a data file")
    try:
        with path.open("rb") as file:
            yield file if file.seekable() else io.BytesIO(_read_stream(path, file))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def _read_stream(path: Path, source: IO[bytes]) -> bytearray:
    """Return all bytes of a stream of unknown size, at most `MAX_PIPE_BYTES`."""
    data = bytearray()
    while piece := source.read(CHUNK):
        data += piece
        if len(data) > MAX_PIPE_BYTES:
            raise DataError(
                f"{path} gives more than {MAX_PIPE_BYTES >> 20} MiB and names no size; save it as a file first"
            )
    return data


def _contents(path: Path, source: IO[bytes]) -> Any:
    """Return the bytes of an open file: decompressed, or memory-mapped if plain and on a disk."""
    pieces, size = _unpacking(path, source)
    if pieces is not None:
        return _unpacked(path, pieces)
    if size and not isinstance(source, io.BytesIO):
        return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
    return _read_stream(path, source)


def _unpacking(path: Path, source: IO[bytes]) -> tuple[Iterator[bytes] | None, int]:
    """Return what an open file is unpacked to, piece by piece, None where it is not packed; and its size as it is."""
    kind = decompression.detect(source.read(HEAD_BYTES))
    size = source.seek(0, io.SEEK_END)
    source.seek(0)
    most = decompression.max_decompressed(size)
    return None if kind is None else decompression.decompress(path, source, kind, most), size


def _unpacked(path: Path, pieces: Iterator[bytes]) -> bytearray:
    """Return the bytes of a compressed file, which names no size, in memory that is asked for as they grow."""
    data, asked = bytearray(), ASKED_EVERY
    for piece in pieces:
        data += piece
        if len(data) >= asked:
            asked = len(data) + ASKED_EVERY
            what = f"{path}: unpacking its text ({len(data) >> 20:,} MiB so far)"
            require(asked, what, FEWER, DataError, held=len(data))
    return data


def refuse_not_text(path: Path, head: bytes) -> None:
    """Raise DataError where the first bytes of a file show that it is something else than text."""
    for start, complaint in NOT_TEXT.items():
        if head.startswith(start):
            raise DataError(f"{path} {complaint}")
    first = head.removeprefix(BYTE_ORDER_MARK).lstrip().lower()
    if first.startswith(HTML_STARTS):
        raise DataError(f"{path} is an HTML page, not data: most likely a server's error page")
    if b"\0" in head:
        raise DataError(f"{path} is binary, not text")
