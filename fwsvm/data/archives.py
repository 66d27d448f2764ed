"""Files inside zip archives, as UCI serves them."""

import contextlib
import fnmatch
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fwsvm.data import unpacking
from fwsvm.errors import DataError
from fwsvm.files.folders import parsed_folder

PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
ENCRYPTED = 0x1  # bit of a member's flags
HEAD, TAKEN = 16, 1 << 20  # bytes
SHOWN = 60  # characters of a member's name

#: What the zipfile module raises for archives that are damaged or made to harm, besides its own errors.
DAMAGE = (
    zipfile.BadZipFile, EOFError, LookupError, OSError, OverflowError, RuntimeError, ValueError, struct.error,
    zlib.error,
)  # fmt: skip


@contextlib.contextmanager
def extracted(path: Path, member: str) -> Iterator[Path]:
    """Give the path of one extracted file, gone again afterwards.

    ``member`` is the name inside a zip archive, possibly with ``*``. A member that is compressed itself is
    unpacked, too. The names in the archive name no file on the disk.

    Raises
    ------
    DataError
        The archive is damaged, goes on after its end, has no or several such members, or one that is encrypted,
        packed in a way no data set needs, or larger inside than a data set can be.
    """
    parsed_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=parsed_folder()) as folder:
        plain = Path(folder) / (re.sub(r"[^\w.-]", "", member.rpartition("/")[2]).strip(".") or "member")
        try:
            with plain.open("wb") as file:
                for piece in _pieces(path, member):
                    file.write(piece)
        except OSError as error:
            raise DataError(f"{plain} cannot be written: {error.strerror or error}") from None
        with plain.open("rb") as file:
            if unpacking.kind_of(file.read(HEAD)):
                raise DataError(f"{path}: {member} inside it is compressed twice; unpack it first")
        yield plain


def _pieces(path: Path, member: str) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_more(path, archive)
            info = _member(path, archive, member)
            most = unpacking.bound(path.stat().st_size)
            inside = f"{path}: {_shown(info.filename)} inside it"
            with archive.open(info) as packed:
                kind = unpacking.kind_of(packed.read(HEAD))
            with archive.open(info) as packed:
                if kind is None:
                    yield from _bounded(inside, packed, most)
                else:
                    yield from unpacking.pieces(inside, packed, kind, most)
    except DAMAGE as error:
        raise DataError(f"{path}: not a whole zip archive: {error}") from None


def _bounded(name: str, packed: IO[bytes], most: int) -> Iterator[bytes]:
    given = 0
    while piece := packed.read(TAKEN):
        given += len(piece)
        if given > most:
            raise DataError(
                f"{name} is larger than {most >> 20} MiB, {unpacking.MOST_EXPANSION} times the archive, "
                f"as no data set is; if it is right, unpack it first"
            )
        yield piece


def _refuse_more(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse bytes after the archive's end."""
    with path.open("rb") as file:
        file.seek(-(22 + len(archive.comment)), 2)
        if file.read(4) != b"PK\x05\x06":
            raise DataError(f"{path}: something else follows the end of the zip archive")


def _member(path: Path, archive: zipfile.ZipFile, member: str) -> zipfile.ZipInfo:
    fits = [info for info in archive.infolist() if fnmatch.fnmatchcase(info.filename, member)]
    if len(fits) != 1:
        there = ", ".join(_shown(name) for name in archive.namelist()[:8])
        raise DataError(f"{path}: {len(fits)} members are called {member}; it has: {there}")
    info = fits[0]
    if info.flag_bits & ENCRYPTED:
        raise DataError(f"{path}: {_shown(info.filename)} inside it is encrypted; unpack it first")
    if info.compress_type not in PACKED:
        raise DataError(
            f"{path}: {_shown(info.filename)} inside it is packed by zip's method {info.compress_type}; "
            f"stored, deflated and bzip2 are read"
        )
    return info


def _shown(name: str) -> str:
    short = name if len(name) <= SHOWN else name[: SHOWN - 3] + "..."
    return short if short.isprintable() else ascii(short)
