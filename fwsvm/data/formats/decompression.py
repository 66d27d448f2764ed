"""Decompression of gzip, bzip2, xz and compress: detected from the first bytes, complete, and of bounded size."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from fwsvm.data.formats import lzw
from fwsvm.errors import DataError

#: A compressed file may expand to this many bytes, or this many times its own size, whichever is more.
#: Real data sets expand 3 to 50 times; a decompression bomb a thousand times and more.
ALWAYS_ALLOWED_BYTES = 16 << 20
MAX_EXPANSION = 250
#: Memory of the xz decompressor in bytes: the file names the size of its dictionary, 64 MiB at ``xz -9``.
MAX_DICTIONARY_BYTES = 128 << 20

READ_BYTES, DECOMPRESSED_BYTES = 1 << 14, 1 << 20  # bytes read from a file, and unpacked, at a time


class Decompressor(Protocol):
    """The interface of bz2's and lzma's decompressors, of one stream."""

    @property
    def eof(self) -> bool: ...  # noqa: D102
    @property
    def needs_input(self) -> bool: ...  # noqa: D102
    @property
    def unused_data(self) -> bytes: ...  # noqa: D102
    def decompress(self, data: bytes, max_length: int) -> bytes: ...  # noqa: D102


class _GzipDecompressor:
    """A gzip member with the interface that bz2 and lzma have."""

    def __init__(self) -> None:
        self.member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        given = self.member.decompress(self.member.unconsumed_tail + data, max_length)
        self.needs_input = not self.member.unconsumed_tail and len(given) < max_length
        return given

    @property
    def eof(self) -> bool:
        return self.member.eof

    @property
    def unused_data(self) -> bytes:
        return self.member.unused_data


class Compression(NamedTuple):
    """A compression format: name, magic bytes, and decompressor of one stream (None: `fwsvm.data.formats.lzw`)."""

    name: str
    magic: bytes
    unpacker: Callable[[], Decompressor] | None
    padded: bool = False  # zeros may follow a stream


COMPRESSIONS = (
    Compression("gzip", b"\x1f\x8b", _GzipDecompressor, padded=True),
    Compression("bzip2", b"BZh", bz2.BZ2Decompressor),
    Compression(
        "xz",
        b"\xfd7zXZ\x00",
        lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_DICTIONARY_BYTES),
        padded=True,
    ),
    Compression("compress", lzw.MAGIC, None),
)


def detect(head: bytes) -> Compression | None:
    """Return the compression format of a file that starts with ``head``, or None."""
    return next((kind for kind in COMPRESSIONS if head.startswith(kind.magic)), None)


def max_decompressed(size: int) -> int:
    """Return how many bytes a compressed file of ``size`` bytes may expand to."""
    return max(ALWAYS_ALLOWED_BYTES, MAX_EXPANSION * size)


def decompress(name: str | Path, source: IO[bytes], kind: Compression, most: int) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in chunks of at most about 1 MiB.

    Parameters
    ----------
    name : str or Path
        The file's name in messages.
    source : binary stream
        Positioned at the file's first byte.
    kind : Kind
    most : int
        Bytes it may expand to, see `max_decompressed`.

    Raises
    ------
    DataError
        The file is truncated or damaged, goes on after its end, or holds more than ``most`` bytes.
    """
    given = 0
    try:
        for piece in _decompressed(name, source, kind):
            given += len(piece)
            if given > most:
                raise DataError(
                    f"{name} expands to more than {most >> 20} MiB, {MAX_EXPANSION} times its own size, "
                    f"as no data set does; if it is right, unpack it first"
                )
            yield piece
    except EOFError:
        raise DataError(f"{name} is a truncated {kind.name} file; fetch it again") from None
    except (OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{name} is a damaged {kind.name} file ({error}); fetch it again") from None


def _decompressed(name: str | Path, source: IO[bytes], kind: Compression) -> Iterator[bytes]:
    if kind.unpacker is None:
        yield from lzw.decompress(source.read(), str(name))
        return
    unpacker, data = kind.unpacker(), source.read(READ_BYTES)
    while True:
        yield unpacker.decompress(data, DECOMPRESSED_BYTES)
        data = b""
        if unpacker.eof:
            data = _next_stream(unpacker.unused_data, source, kind)
            if not data:
                return
            unpacker = kind.unpacker()
        elif unpacker.needs_input:
            data = source.read(READ_BYTES)
            if not data:
                raise EOFError


def _next_stream(rest: bytes, source: IO[bytes], kind: Compression) -> bytes:
    """Return the beginning of the stream that follows one, empty at the file's end; `ValueError` for anything else."""
    while True:
        rest = rest.lstrip(b"\0") if kind.padded else rest
        more = source.read(READ_BYTES) if len(rest) < len(kind.magic) else b""
        if not more:
            break
        rest += more
    if rest and not rest.startswith(kind.magic):
        raise ValueError("something else follows its end")
    return rest
