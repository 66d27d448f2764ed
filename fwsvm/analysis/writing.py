"""CSV formatting."""

import csv
import io
import re
from collections.abc import Iterable

_NUMERAL = re.compile(r"[+-](?:[0-9]+\.?[0-9]*|\.[0-9]+|inf)(?:[eE][+-]?[0-9]+)?|-")


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
