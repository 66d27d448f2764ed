"""Files inside zip archives, as UCI serves them."""

import contextlib
import fnmatch
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fwsvm.data.formats import decompression
from fwsvm.errors import DataError, clipped
from fwsvm.files.folders import BUILDING, parsed_folder
from fwsvm.files.zip_members import DAMAGE, ENCRYPTED

METHODS_READ = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile unpacks others without a bound
HEAD_BYTES, READ_BYTES = 16, 1 << 20  # bytes
QUOTED = 60  # characters of a member's name


@contextlib.contextmanager
def extracted(path: Path, member: str) -> Iterator[Path]:
    """Give the path of one extracted file, which is deleted on leaving the context.

    ``member`` is the name inside the zip archive, possibly with ``*``. A compressed member is decompressed. The names
    in the archive are never used as paths.

    Raises
    ------
    DataError
        The archive is damaged, goes on after its end, has no or several such members, or one that is encrypted,
        packed in a way no data set needs, or larger inside than a data set can be; or there is no room for it.
    """
    with _scratch() as folder:
        plain = Path(folder) / (re.sub(r"[^\w.-]", "", member.rpartition("/")[2]).strip(".") or "member")
        try:
            with plain.open("wb") as file:
                for piece in _decompressed(path, member):
                    file.write(piece)
        except OSError as error:
            raise DataError(f"{plain} cannot be written: {error.strerror or error}") from None
        with plain.open("rb") as file:
            if decompression.detect(file.read(HEAD_BYTES)):
                raise DataError(f"{path}: {member} inside it is compressed twice; unpack it first")
        yield plain


def _scratch() -> "tempfile.TemporaryDirectory[str]":
    """Return a folder for a short time: in the cache, or where that is only to be read, the system's."""
    try:
        parsed_folder().mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=BUILDING, dir=parsed_folder())
    except OSError:
        try:
            return tempfile.TemporaryDirectory(prefix=BUILDING)
        except OSError as error:
            raise DataError(f"no folder to unpack to can be made: {error.strerror or error}") from None


def _decompressed(path: Path, member: str) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_trailing_bytes(path, archive)
            info = _member(path, archive, member)
            most = decompression.max_decompressed(path.stat().st_size)
            inside = f"{path}: {_quoted(info.filename)} inside it"
            with archive.open(info) as packed:
                kind = decompression.detect(packed.read(HEAD_BYTES))
            with archive.open(info) as packed:
                if kind is None:
                    yield from _bounded(inside, packed, most)
                else:
                    yield from decompression.decompress(inside, packed, kind, most)
    except DAMAGE as error:
        raise DataError(f"{path}: not a whole zip archive: {error}") from None


def _bounded(name: str, packed: IO[bytes], most: int) -> Iterator[bytes]:
    given = 0
    while piece := packed.read(READ_BYTES):
        given += len(piece)
        if given > most:
            raise DataError(
                f"{name} is larger than {most >> 20} MiB, {decompression.MAX_EXPANSION} times the archive, "
                f"as no data set is; if it is right, unpack it first"
            )
        yield piece


def _refuse_trailing_bytes(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse bytes after the archive's end."""
    with path.open("rb") as file:
        file.seek(-(22 + len(archive.comment)), 2)
        if file.read(4) != b"PK\x05\x06":
            raise DataError(f"{path}: something else follows the end of the zip archive")


def _member(path: Path, archive: zipfile.ZipFile, member: str) -> zipfile.ZipInfo:
    fits = [info for info in archive.infolist() if fnmatch.fnmatchcase(info.filename, member)]
    if len(fits) != 1:
        there = ", ".join(_quoted(name) for name in archive.namelist()[:8])
        raise DataError(f"{path}: {len(fits)} members are called {member}; it has: {there}")
    info = fits[0]
    if info.flag_bits & ENCRYPTED:
        raise DataError(f"{path}: {_quoted(info.filename)} inside it is encrypted; unpack it first")
    if info.compress_type not in METHODS_READ:
        raise DataError(
            f"{path}: {_quoted(info.filename)} inside it is packed by zip's method {info.compress_type}; "
            f"stored and deflated are read; unpack it first"
        )
    return info


def _quoted(name: str) -> str:
    short = clipped(name, QUOTED)
    return short if short.isprintable() else ascii(short)
