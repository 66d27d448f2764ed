"""Compressed files made plain: known by their first bytes, whole or refused, never larger than a bound."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from fwsvm.data import lzw
from fwsvm.errors import DataError

#: A compressed file may hold this many bytes, or this many times its own size, whichever is more.
#: Real data sets expand 3 to 50 times; a file made to fill the memory expands a thousand times and more.
ALWAYS_ALLOWED = 16 << 20
MOST_EXPANSION = 250
#: What unpacking may take by itself, in bytes: an xz file names the size of its dictionary, 64 MiB at ``xz -9``.
MOST_DICTIONARY = 128 << 20

TAKEN, GIVEN = 1 << 14, 1 << 20  # bytes read from a file, and unpacked, at a time


class Unpacker(Protocol):
    """One stream being unpacked: the interface of bz2's and lzma's decompressors."""

    @property
    def eof(self) -> bool: ...  # noqa: D102
    @property
    def needs_input(self) -> bool: ...  # noqa: D102
    @property
    def unused_data(self) -> bytes: ...  # noqa: D102
    def decompress(self, data: bytes, max_length: int) -> bytes: ...  # noqa: D102


class _Gzip:
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


class Kind(NamedTuple):
    """A way of compressing: its name, its first bytes, and what unpacks one stream (None: all at once)."""

    name: str
    magic: bytes
    unpacker: Callable[[], Unpacker] | None
    padded: bool = False  # zeros may follow a stream


KINDS = (
    Kind("gzip", b"\x1f\x8b", _Gzip, padded=True),
    Kind("bzip2", b"BZh", bz2.BZ2Decompressor),
    Kind(
        "xz",
        b"\xfd7zXZ\x00",
        lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_DICTIONARY),
        padded=True,
    ),
    Kind("compress", lzw.MAGIC, None),
)


def kind_of(head: bytes) -> Kind | None:
    """Return how a file that starts with ``head`` is compressed, or None."""
    return next((kind for kind in KINDS if head.startswith(kind.magic)), None)


def bound(size: int) -> int:
    """Return how many bytes a compressed file of ``size`` bytes may hold."""
    return max(ALWAYS_ALLOWED, MOST_EXPANSION * size)


def pieces(name: str | Path, source: IO[bytes], kind: Kind, most: int) -> Iterator[bytes]:
    """Yield what a compressed file holds, in pieces of at most about 1 MiB.

    Parameters
    ----------
    name : str or Path
        What messages call the file.
    source : binary stream
        Stands at the file's first byte.
    kind : Kind
    most : int
        The bytes it may hold, see `bound`.

    Raises
    ------
    DataError
        The file is truncated or damaged, goes on after its end, or holds more than ``most`` bytes.
    """
    given = 0
    try:
        for piece in _unpacked(name, source, kind):
            given += len(piece)
            if given > most:
                raise DataError(
                    f"{name} expands to more than {most >> 20} MiB, {MOST_EXPANSION} times its own size, "
                    f"as no data set does; if it is right, unpack it first"
                )
            yield piece
    except EOFError:
        raise DataError(f"{name} is a truncated {kind.name} file; fetch it again") from None
    except (OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{name} is a damaged {kind.name} file ({error}); fetch it again") from None


def _unpacked(name: str | Path, source: IO[bytes], kind: Kind) -> Iterator[bytes]:
    if kind.unpacker is None:
        yield from lzw.pieces(source.read(), str(name))
        return
    unpacker, data = kind.unpacker(), source.read(TAKEN)
    while True:
        yield unpacker.decompress(data, GIVEN)
        data = b""
        if unpacker.eof:
            data = _next_stream(unpacker.unused_data, source, kind)
            if not data:
                return
            unpacker = kind.unpacker()
        elif unpacker.needs_input:
            data = source.read(TAKEN)
            if not data:
                raise EOFError


def _next_stream(rest: bytes, source: IO[bytes], kind: Kind) -> bytes:
    """Return the beginning of the stream that follows one, empty at the file's end; `ValueError` for anything else."""
    while True:
        rest = rest.lstrip(b"\0") if kind.padded else rest
        more = source.read(TAKEN) if len(rest) < len(kind.magic) else b""
        if not more:
            break
        rest += more
    if rest and not rest.startswith(kind.magic):
        raise ValueError("something else follows its end")
    return rest
