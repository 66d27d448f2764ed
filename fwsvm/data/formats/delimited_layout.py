"""The layout of a delimited file, from its first lines: where the rows start, how many columns, their names."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.data.formats import delimited_parser
from fwsvm.data.formats.delimiters import WHITESPACE_NAMES, explain_bad_delimiters
from fwsvm.data.formats.svmlight_errors import QUOTED, FormatError, line_number
from fwsvm.data.formats.svmlight_parser import NEWLINE, skip_line
from fwsvm.errors import DataError, UsageError

ColumnKey = int | str
MAX_COLUMNS = 200_000


class FileLayout(NamedTuple):
    """Where the rows start, how many columns there are, and their names."""

    path: str | Path
    start: int  # of the first line after the header
    delimiter: int
    comment: int
    width: int
    names: tuple[str, ...]  # empty without a header

    def place(self, column: ColumnKey) -> int:
        """Return a column's number, from 0, given its number (negative: from the end) or its name."""
        if isinstance(column, str):
            if column in self.names:
                return self.names.index(column)
            some = ", ".join(name[:QUOTED] for name in self.names[:QUOTED])
            known = f"it has {some}" if self.names else "it is read without a header"
            raise DataError(f"{self.path} has no column '{column}'; {known}")
        if not -self.width <= column < self.width:
            raise DataError(
                f"{self.path} has no column {column}; it has {self.width} columns, counted from 0"
            )
        return column % self.width

    def called(self, place: int) -> str:
        """Return what messages call a column."""
        return f"column {place}" + (f" ({self.names[place][:QUOTED]})" if self.names else "")


def read_layout(
    path: str | Path, text: NDArray[np.uint8], delimiter: str | None, header: bool, comment: str
) -> FileLayout:
    """Return the layout that the first lines show which are neither empty nor comments."""
    if wrong := explain_bad_delimiters(delimiter, comment):
        raise UsageError(wrong)
    byte = delimited_parser.WHITESPACE if delimiter in WHITESPACE_NAMES else ord(str(delimiter))
    sign = ord(comment) if comment else 0
    first = list(islice(_lines(text, byte, sign), 1 + header))
    if len(first) < 1 + header:
        raise DataError(f"{path} has no rows")
    rows = [_split(path, text, at, byte) for at in first]
    names = tuple(rows[0]) if header else ()
    if header and len(names) != len(rows[1]):
        why = f"{len(rows[1])} fields, but the header names {len(names)} columns"
        raise FormatError(path, line_number(text, first[1]), why)
    return FileLayout(
        path=path,
        start=skip_line(text, first[0]) if header else 0,
        delimiter=byte,
        comment=sign,
        width=len(rows[-1]),
        names=names,
    )


def _lines(text: NDArray[np.uint8], delimiter: int, comment: int) -> Iterator[int]:
    """Yield where the lines start that are neither empty nor comments."""
    at = delimited_parser.skip_empty_lines(text, 0, delimiter, comment)
    while at < len(text):
        yield at
        at = delimited_parser.skip_empty_lines(text, skip_line(text, at), delimiter, comment)


def _split(path: str | Path, text: NDArray[np.uint8], at: int, delimiter: int) -> list[str]:
    """Return the fields of a line, up to a quote that is not closed or a character that does not delimit."""
    fields: list[str] = []
    begun = at
    while True:
        if len(fields) == MAX_COLUMNS:
            raise FormatError(path, line_number(text, begun), f"more than {MAX_COLUMNS:,} columns")
        start, stop, at = delimited_parser.field_bounds(text, at, delimiter)
        fields.append(text[start : max(start, stop)].tobytes().decode("utf-8", "replace").replace('""', '"'))
        if stop < 0 or text[at] == NEWLINE or delimiter not in (delimited_parser.WHITESPACE, text[at]):
            return fields
        if delimiter != delimited_parser.WHITESPACE:
            at = delimited_parser.skip_spaces(text, at + 1, delimiter)
