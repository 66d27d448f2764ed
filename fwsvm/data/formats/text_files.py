"""Text of data files: plain, compressed (seen from the first bytes, not from the name), or inside a zip archive."""

import bz2
import contextlib
import fnmatch
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.errors import DataError

#: A compressed file may expand to this many bytes, or this many times its own size, whichever is more.
#: Real data sets expand 3 to 50 times.
ALWAYS_ALLOWED_BYTES, MAX_EXPANSION = 16 << 20, 250
HEAD_BYTES, PIECE_BYTES, LONGEST_LINE_BYTES = 4096, 1 << 19, 1 << 30
PADDING = 16  # bytes after a text that may be read, too
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: First bytes of compressed files, and what opens them.
COMPRESSIONS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x1f\x9d": lambda file: io.BytesIO(decompress_lzw(file.read())),
}
NOT_TEXT = {
    b"PK\x03\x04": "is a zip archive; unpack it and give the file inside",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it, or compress it with gzip, bzip2 or xz",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
HTML_STARTS = (b"<!doctype", b"<html", b"<head", b"<body", b"<?xml", b"<!--")


def is_compressed(head: bytes) -> bool:
    """Whether a file that starts with ``head`` is compressed."""
    return head.startswith(tuple(COMPRESSIONS))


class _LimitedStream(io.RawIOBase):
    """A stream that is read no further than a number of bytes."""

    def __init__(self, path: Path, stream: IO[bytes], left: int) -> None:
        self.path, self.stream, self.left = path, stream, left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(len(buffer))
        self.left -= len(data)
        if self.left < 0:
            raise DataError(
                f"{self.path} expands to more than {MAX_EXPANSION} times its own size, as no data set does; if it is "
                "right, unpack it first"
            )
        buffer[: len(data)] = data
        return len(data)


@contextlib.contextmanager
def open_text(path: Path, member: str = "") -> Iterator[IO[bytes]]:
    """Open the decompressed bytes of a text file, without a byte order mark.

    Parameters
    ----------
    path : Path
    member : str
        The name inside a zip archive, possibly with ``*``; empty for the file itself.

    Raises
    ------
    DataError
        There is no such file or member; it is a directory, empty, truncated, damaged, larger inside than a data set can
        be, an HTML page, or not text. Damage far inside is found when it is read.
    """
    if path.is_dir():
        raise DataError(f"{path} is a directory; give a data file")
    named = f"{path}: {member}" if member else str(path)
    try:
        with contextlib.ExitStack() as stack:
            most = max(ALWAYS_ALLOWED_BYTES, MAX_EXPANSION * path.stat().st_size)
            stream: Any = stack.enter_context(path.open("rb"))
            if member:
                archive = stack.enter_context(zipfile.ZipFile(stream))
                stream = _limited(
                    path, stack.enter_context(archive.open(_find_member(archive, path, member))), most
                )
            head = stream.peek(HEAD_BYTES)
            kind = next((opened for magic, opened in COMPRESSIONS.items() if head.startswith(magic)), None)
            if kind is not None:
                stream = _limited(path, kind(stream), most)
                head = stream.peek(HEAD_BYTES)
            refuse_not_text(named, head[:HEAD_BYTES])
            if head.startswith(BYTE_ORDER_MARK):
                stream.read(len(BYTE_ORDER_MARK))
            yield stream
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except EOFError:
        raise DataError(f"{named} is a truncated file; fetch it again") from None
    except (OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        if isinstance(error, OSError) and error.strerror:
            raise DataError(f"{named} cannot be read: {error.strerror}") from None
        raise DataError(f"{named} is damaged ({error}); fetch it again") from None


def _limited(path: Path, stream: IO[bytes], most: int) -> io.BufferedReader:
    return io.BufferedReader(_LimitedStream(path, stream, most), 1 << 16)


def _find_member(archive: zipfile.ZipFile, path: Path, member: str) -> zipfile.ZipInfo:
    fits = [info for info in archive.infolist() if fnmatch.fnmatchcase(info.filename, member)]
    if len(fits) != 1:
        there = ", ".join(ascii(name) for name in archive.namelist()[:8])
        raise DataError(f"{path}: {len(fits)} members are called {member}; it has: {there}")
    if fits[0].flag_bits & 1:
        raise DataError(f"{path}: {member} inside it is encrypted; unpack it first")
    return fits[0]


def refuse_not_text(named: str | Path, head: bytes) -> None:
    """Raise DataError where the first bytes of a file show that it is something else than text."""
    for start, complaint in NOT_TEXT.items():
        if head.startswith(start):
            raise DataError(f"{named} {complaint}")
    if head.removeprefix(BYTE_ORDER_MARK).lstrip().lower().startswith(HTML_STARTS):
        raise DataError(f"{named} is an HTML page, not data: most likely a server's error page")
    if b"\0" in head:
        raise DataError(f"{named} is binary, not text")
    if not head:
        raise DataError(f"{named} is empty")


def read_text(path: str | Path, member: str = "") -> str:
    """Return the text of a small file; `DataError` as of `open_text`, or where it is not UTF-8."""
    with open_text(Path(path), member) as stream:
        try:
            return stream.read().decode()
        except UnicodeDecodeError:
            raise DataError(f"{path} is not UTF-8 text") from None


class TextLines(NamedTuple):
    """Whole lines of a file.

    Attributes
    ----------
    text : ndarray of uint8, read-only, ending in a newline; some bytes of memory follow it
    ended : bool, whether the file has that newline, which only its last line may lack
    """

    text: NDArray[np.uint8]
    ended: bool


def lines_of(path: str | Path, stream: IO[bytes]) -> Iterator[TextLines]:
    """Yield the lines of a stream, about `PIECE_BYTES` at a time; a text is valid until the next one."""
    buffer, stop = bytearray(PIECE_BYTES), 0
    while got := stream.readinto(memoryview(buffer)[stop:-PADDING]):  # type: ignore[attr-defined]
        stop += got
        end = buffer.rfind(b"\n", stop - got, stop) + 1
        if end:
            yield TextLines(_view(buffer, end), ended=True)
            buffer[: stop - end] = buffer[end:stop]
            stop -= end
        elif stop + PADDING == len(buffer):
            if stop > LONGEST_LINE_BYTES:
                raise DataError(f"{path}: a line has more than {LONGEST_LINE_BYTES >> 20:,} MiB")
            buffer = buffer + bytes(len(buffer))
    if stop:
        buffer[stop : stop + 1] = b"\n"
        yield TextLines(_view(buffer, stop + 1), ended=False)


def _view(buffer: bytearray, size: int) -> NDArray[np.uint8]:
    return np.frombuffer(memoryview(buffer).toreadonly(), np.uint8, size)


def decompress_lzw(packed: bytes) -> bytes:
    """Return what a file packed by Unix ``compress`` (``.Z``) holds: LZW with codes of 9 to 16 bits.

    `OSError` where the file is damaged. The format has no end mark: a file that is cut off between two codes cannot be
    told from a whole one.
    """
    widest, block_mode = (packed[2] & 0x1F, bool(packed[2] & 0x80)) if len(packed) > 2 else (0, False)
    if not 9 <= widest <= 16:
        raise OSError(f"codes of {widest} bits")
    first_free = 257 if block_mode else 256
    words = [bytes([byte]) for byte in range(256)] + [b""] * (first_free - 256)
    out = bytearray()
    width, start, bit, previous = 9, 3, 0, b""
    while start * 8 + bit + width <= len(packed) * 8:
        at = start + bit // 8
        code = (int.from_bytes(packed[at : at + 3], "little") >> (bit % 8)) & ((1 << width) - 1)
        bit += width
        if block_mode and code == 256:  # begin again with an empty table
            start, bit = start + _group_bytes(bit, width), 0
            del words[first_free:]
            width, previous = 9, b""
            continue
        if code > len(words) or (code == len(words) and not previous):
            raise OSError(f"invalid code at byte {at}")
        word = words[code] if code < len(words) else previous + previous[:1]
        out += word
        if previous and len(words) < 1 << widest:
            words.append(previous + word[:1])
        previous = word
        if len(words) >= 1 << width and width < widest:
            start, bit = start + _group_bytes(bit, width), 0
            width += 1
    return bytes(out)


def _group_bytes(bits: int, width: int) -> int:
    """Return the bytes of the groups of eight codes that so many bits have begun: ``width`` bytes a group."""
    return -(-bits // (8 * width)) * width
