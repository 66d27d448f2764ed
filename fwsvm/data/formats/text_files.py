"""Text of data files: plain, compressed (seen from the first bytes, not from the name), or inside a zip archive."""

import bz2
import contextlib
import fnmatch
import gzip
import io
import lzma
import subprocess
import zipfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from fwsvm.errors import DataError, listed
from fwsvm.files.folders import require_file

#: A compressed file may expand to this many bytes, or this many times its own size, whichever is more.
#: Real data sets expand 3 to 50 times.
ALWAYS_ALLOWED_BYTES = 16 << 20
MAX_EXPANSION = 250
HEAD_BYTES = 4096


def _uncompress(file: IO[bytes]) -> IO[bytes]:
    """Return what a file packed by Unix ``compress`` (``.Z``) holds."""
    try:
        done = subprocess.run(["gzip", "-dc"], input=file.read(), capture_output=True, check=True)
    except FileNotFoundError:
        raise DataError("gzip, which unpacks .Z files, is not installed; unpack the file first") from None
    return io.BytesIO(done.stdout)


#: First bytes of compressed files, and what opens them.
COMPRESSIONS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x1f\x9d": _uncompress,
}
#: First bytes of other files, in lower case, and what these are.
NOT_TEXT = {
    b"pk\x03\x04": "is a zip archive; unpack it and give the file inside",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it, or compress it with gzip, bzip2 or xz",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
    **dict.fromkeys(
        (b"<!doctype", b"<html", b"<head", b"<?xml"),
        "is an HTML page, not data: most likely a server's error page",
    ),
}


class FormatError(DataError):
    """Lines that break the format of their file; ``faults`` are all that were looked for, as (line, why)."""

    def __init__(self, path: str | Path, faults: list[tuple[int, str]]) -> None:
        line, why = faults[0]
        super().__init__(f"{path}:{line}: {why}")
        self.faults = faults


class _LimitedStream(io.RawIOBase):
    """A stream that is read no further than a number of bytes."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path = path
        self.stream = stream
        self.left = max(ALWAYS_ALLOWED_BYTES, MAX_EXPANSION * path.stat().st_size)

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
        be, an HTML page, or not text.
        Damage far inside is found when it is read.
    """
    require_file(path)
    named = f"{path}: {member}" if member else str(path)
    try:
        with path.open("rb") as file:
            stream: Any = file
            start = stream.peek(HEAD_BYTES)
            inside = next(
                (each(file) for magic, each in COMPRESSIONS.items() if start.startswith(magic)), None
            )
            if member:
                archive = zipfile.ZipFile(file)
                fits = fnmatch.filter(archive.namelist(), member)
                if len(fits) != 1:
                    there = listed(map(ascii, archive.namelist()))
                    raise DataError(f"{path}: {len(fits)} members are called {member}; it has: {there}")
                inside = archive.open(fits[0])
            if inside is not None:
                stream = io.BufferedReader(_LimitedStream(path, inside), 1 << 16)
            head = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
            start = head.removeprefix(BOM_UTF8).lstrip().lower()
            complaints = [said for magic, said in NOT_TEXT.items() if start.startswith(magic)]
            if b"\0" in head or not head:
                complaints.append("is binary, not text" if head else "is empty")
            if complaints:
                raise DataError(f"{named} {complaints[0]}")
            if head.startswith(BOM_UTF8):
                stream.read(len(BOM_UTF8))
            yield stream
    except EOFError:
        raise DataError(f"{named} is a truncated file; fetch it again") from None
    except (OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        if said := getattr(error, "strerror", None):
            raise DataError(f"{named} cannot be read: {said}") from None
        raise DataError(f"{named} is damaged ({error}); fetch it again") from None
