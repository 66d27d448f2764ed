"""What a delimited file's first lines tell: where the rows start, how many columns there are, their names."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.data import _fields
from fwsvm.data._refusals import SHOWN, FormatError, line_number
from fwsvm.data._scan import NEWLINE, past_line
from fwsvm.data.separators import BLANK_RUNS, not_a_separator
from fwsvm.errors import DataError, UsageError

Column = int | str
MOST_COLUMNS = 200_000


class Layout(NamedTuple):
    """Where the data start, how many columns there are, and what they are called."""

    path: str | Path
    start: int  # of the first line after the header
    delimiter: int
    comment: int
    width: int
    names: tuple[str, ...]  # empty without a header

    def place(self, column: Column) -> int:
        """Return a column's place from 0."""
        if isinstance(column, str):
            if column in self.names:
                return self.names.index(column)
            some = ", ".join(name[:SHOWN] for name in self.names[:SHOWN])
            known = f"it has {some}" if self.names else "it is read without a header"
            raise DataError(f"{self.path} has no column '{column}'; {known}")
        if not -self.width <= column < self.width:
            raise DataError(
                f"{self.path} has no column {column}; it has {self.width} columns, counted from 0"
            )
        return column % self.width

    def called(self, place: int) -> str:
        """Return how to speak of a column."""
        return f"column {place}" + (f" ({self.names[place][:SHOWN]})" if self.names else "")


def layout_of(
    path: str | Path, text: NDArray[np.uint8], delimiter: str | None, header: bool, comment: str
) -> Layout:
    """Learn the layout from the first lines that say something."""
    if wrong := not_a_separator(delimiter, comment):
        raise UsageError(wrong)
    byte = _fields.BLANKS if delimiter in BLANK_RUNS else ord(str(delimiter))
    sign = ord(comment) if comment else 0
    first = list(islice(_lines(text, byte, sign), 1 + header))
    if len(first) < 1 + header:
        raise DataError(f"{path} has no rows")
    rows = [_split(path, text, at, byte) for at in first]
    names = tuple(rows[0]) if header else ()
    if header and len(names) != len(rows[1]):
        why = f"{len(rows[1])} fields, but the header names {len(names)} columns"
        raise FormatError(path, line_number(text, first[1]), why)
    return Layout(
        path=path,
        start=past_line(text, first[0]) if header else 0,
        delimiter=byte,
        comment=sign,
        width=len(rows[-1]),
        names=names,
    )


def _lines(text: NDArray[np.uint8], delimiter: int, comment: int) -> Iterator[int]:
    """Yield where the lines start that are neither empty nor comments."""
    at = _fields.past_empty(text, 0, delimiter, comment)
    while at < len(text):
        yield at
        at = _fields.past_empty(text, past_line(text, at), delimiter, comment)


def _split(path: str | Path, text: NDArray[np.uint8], at: int, delimiter: int) -> list[str]:
    """Return the fields of a line, as far as they can be told apart."""
    fields: list[str] = []
    begun = at
    while True:
        if len(fields) == MOST_COLUMNS:
            raise FormatError(path, line_number(text, begun), f"more than {MOST_COLUMNS:,} columns")
        start, stop, at = _fields.word(text, at, delimiter)
        fields.append(text[start : max(start, stop)].tobytes().decode("utf-8", "replace").replace('""', '"'))
        if stop < 0 or text[at] == NEWLINE or delimiter not in (_fields.BLANKS, text[at]):
            return fields
        if delimiter != _fields.BLANKS:
            at = _fields.past_spaces(text, at + 1, delimiter)
