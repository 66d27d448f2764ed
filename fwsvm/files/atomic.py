"""Files that appear whole under their name or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from fwsvm.errors import DataError, FwsvmError


@contextlib.contextmanager
def replacing(
    path: str | Path, refusal: type[FwsvmError] = DataError, *, binary: bool = False
) -> Iterator[IO[Any]]:
    """Open a text (or ``binary``) file that takes its name, from whatever has it, once all is written and on disk.

    What is written goes to a temporary file in the same folder, which is removed if anything fails. A path that is
    no regular file (a pipe, ``/dev/stdout``) is written to as it is.

    Raises
    ------
    FwsvmError
        The file cannot be written (no such folder, no permission, no space): a ``refusal``.
    """
    path = Path(path)
    form: dict[str, Any] = {} if binary else {"encoding": "utf-8", "newline": "\n"}
    kind = "b" if binary else ""
    try:
        if path.exists() and not path.is_file():
            with path.open(f"w{kind}", **form) as stream:
                yield stream
            return
        part = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
        try:
            with part.open(f"x{kind}", **form) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise refusal(f"{path} cannot be written: {error.strerror or error}") from None
