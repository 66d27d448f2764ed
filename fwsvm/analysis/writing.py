"""Atomic writing of result files, and CSV formatting."""

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

from fwsvm.errors import ResultsError
from fwsvm.files.atomic import replacing

_NUMERAL = re.compile(r"[+-](?:[0-9]+\.?[0-9]*|\.[0-9]+|inf)(?:[eE][+-]?[0-9]+)?|-")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, and its folder if need be; ResultsError if that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"{path.parent} cannot be made: {error.strerror or error}") from None
    with replacing(path, ResultsError, binary=True) as stream:
        stream.write(content)


def without_formula(field: object) -> object:
    """Return a CSV field, with an apostrophe before text that a spreadsheet would evaluate as a formula.

    Names may come from untrusted files. A signed number is no formula.
    """
    if isinstance(field, str) and field.startswith(("=", "+", "-", "@")) and not _NUMERAL.fullmatch(field):
        return f"'{field}"
    return field


def csv_bytes(lines: Iterable[Iterable[object]]) -> bytes:
    """Return lines as a CSV file with Unix line ends."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue().encode()
