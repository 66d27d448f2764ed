"""Files that appear whole under their name or not at all, and the space that they need."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fwsvm.errors import FwsvmError, WriteError

STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}  # what this process has open under these names
OPEN_FILES = ("/dev/fd", "/proc/self/fd")


@contextlib.contextmanager
def replacing(path: str | Path, refusal: type[FwsvmError] = WriteError) -> Iterator[Any]:
    """Open a text file that takes its name, from whatever has it, once all is written and on disk.

    What is written goes to a temporary file in the same folder, which is removed if anything fails. A path that
    `is_written_in_place` (a pipe, ``/dev/stdout``) is written to as it is.

    Raises
    ------
    FwsvmError
        The file cannot be written (no such folder, no permission, no space): a ``refusal``.
    """
    path = Path(path)
    try:
        if is_written_in_place(path):
            target = os.dup(STANDARD[str(path)]) if str(path) in STANDARD else path
            mode = "a" if str(path.parent) in OPEN_FILES else "w"  # what a shell opened goes on where it is
            with open(target, mode, encoding="utf-8", newline="\n") as stream:  # noqa: PTH123  (also of a number)
                yield stream
            return
        part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        try:
            with part.open("x", encoding="utf-8", newline="\n") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise refusal(f"{path} cannot be written: {error.strerror or error}") from None


def is_written_in_place(path: str | Path) -> bool:
    """Return whether `replacing` writes to what has a path's name, and gives the name to no other file.

    That is what is no regular file, and what is the system's: after ``> file`` /dev/stdout leads to a regular file.
    """
    path = Path(path)
    return path.absolute().parts[1:2] in {("dev",), ("proc",)} or (path.exists() and not path.is_file())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file by `replacing`, and make its folder if need be; `WriteError` if that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{path.parent} cannot be made: {error.strerror or error}") from None
    with replacing(path) as stream:
        stream.buffer.write(content)


def shortest(value: float) -> str:
    """Return the shortest text that reads as the same double.

    >>> shortest(1.0), shortest(0.1), shortest(1e300)
    ('1', '0.1', '1e+300')
    """
    return repr(value).removesuffix(".0")
