"""Files inside zip archives, and files packed by Unix ``compress`` (``.Z``), as UCI serves some."""

import contextlib
import fnmatch
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from fwsvm.errors import DataError
from fwsvm.folders import parsed_folder


@contextlib.contextmanager
def extracted(path: Path, member: str) -> Iterator[Path]:
    """Give the path of one extracted file, gone again afterwards.

    ``member`` is the name inside a zip archive, possibly with ``*``; empty for a ``.Z`` file. `DataError`
    where the archive is damaged or has no or several such members.
    """
    parsed_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=parsed_folder()) as folder:
        plain = Path(folder) / Path(member.replace("*", "") or path.stem).name
        if member:
            _unzip(path, member, plain)
        else:
            plain.write_bytes(uncompress(path.read_bytes(), str(path)))
        yield plain


def _unzip(path: Path, member: str, plain: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            fits = [name for name in archive.namelist() if fnmatch.fnmatchcase(name, member)]
            if len(fits) != 1:
                there = ", ".join(archive.namelist()[:8])
                raise DataError(f"{path}: {len(fits)} members are called {member}; it has: {there}")
            with archive.open(fits[0]) as packed, plain.open("wb") as file:
                shutil.copyfileobj(packed, file, 1 << 20)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise DataError(f"{path}: not a whole zip archive: {error}") from None


def uncompress(packed: bytes, name: str) -> bytes:
    """Undo Unix ``compress``: LZW with codes of 9 to 16 bits, written in groups of eight (compress(1)).

    `DataError` names the file where it is not such a file, or is cut off or damaged.
    """
    if len(packed) < 3 or packed[:2] != b"\x1f\x9d":
        raise DataError(f"{name}: not a file packed by compress")
    widest, block_mode = packed[2] & 0x1F, bool(packed[2] & 0x80)
    if not 9 <= widest <= 16:
        raise DataError(f"{name}: codes of {widest} bits; compress writes 9 to 16")
    first_free = 257 if block_mode else 256
    words = [bytes([byte]) for byte in range(256)] + [b""] * (first_free - 256)
    out = bytearray()
    width, start, bit, previous = 9, 3, 0, b""
    while (start * 8) + bit + width <= len(packed) * 8:
        at = start + bit // 8
        code = (int.from_bytes(packed[at : at + 3], "little") >> (bit % 8)) & ((1 << width) - 1)
        bit += width
        if block_mode and code == 256:  # begin again with an empty table
            start, bit = start + _group_end(bit, width), 0
            del words[first_free:]
            width, previous = 9, b""
            continue
        if code < len(words):
            word = words[code]
        elif code == len(words) and previous:
            word = previous + previous[:1]
        else:
            raise DataError(f"{name}: damaged: a code nobody wrote at byte {at}")
        out += word
        if previous and len(words) < 1 << widest:
            words.append(previous + word[:1])
        previous = word
        if len(words) >= 1 << width and width < widest:
            start, bit = start + _group_end(bit, width), 0
            width += 1
    return bytes(out)


def _group_end(bit: int, width: int) -> int:
    """Return the bytes of the groups of eight codes that ``bit`` bits have begun: ``width`` bytes a group."""
    return -(-bit // (8 * width)) * width
