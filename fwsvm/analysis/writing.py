"""Write a file whole or not at all, and lines as CSV."""

import contextlib
import csv
import io
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fwsvm.errors import ResultsError


def write_whole(path: Path, content: bytes) -> None:
    """Write ``content`` under a temporary name beside ``path``, flush it to disk and move it into place."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error


def csv_bytes(lines: Iterable[Iterable[object]]) -> bytes:
    """Return lines as a CSV file with Unix line ends."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue().encode()
