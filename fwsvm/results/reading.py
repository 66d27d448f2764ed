"""A table of results line by line: the header known, every field of its kind, a torn end left out.

A refusal says file, line, column, what stands there and what to do.
"""

import csv
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fwsvm.errors import ResultsError, shown
from fwsvm.results.columns import COLUMNS, REQUIRED, SCHEMA, TRACE_COLUMNS, Column
from fwsvm.results.files import opened, unreadable
from fwsvm.results.kinds import Kind, Text, shortened
from fwsvm.results.schemas import updated

MOST_BYTES, MOST_LINES = 2**28, 500_000  # a run takes about 750 bytes here, and 2 KiB in memory
MOST_COLUMNS, LONGEST_LINE = 1000, 2**20
MOST_KEPT = 1000  # distinct fields of a column
REMEDY = "mend or delete the line"
_NAME = Text(200)


class CsvLine(NamedTuple):
    """A row: the number of its line, its fields as text, and their values, both in the order of `CsvTable.header`."""

    number: int
    fields: list[str]
    values: list[object]


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table that is read as it is iterated over.

    Attributes
    ----------
    path : Path
    header : tuple of str
        Names of the rows' columns, known or not; empty for a file without a whole line.
    missing : tuple of str
        Those at the end of ``header`` that the file lacks: rows of an older schema are updated.
    whole : int
        Bytes up to the end of the last whole line.
    torn : bool
        Whether part of a line follows, as a kill leaves it.
    """

    path: Path
    folder: Path
    header: tuple[str, ...]
    missing: tuple[str, ...]
    whole: int
    torn: bool
    columns: Mapping[str, Column]

    def _kind(self, name: str) -> Kind | None:
        return self.columns[name].kind if name in self.columns else None

    def __iter__(self) -> Iterator[CsvLine]:
        """Yield the rows, every field of a known column checked; fields of unknown ones have no value, None."""
        if not self.header:
            return
        known = [(name, self._kind(name)) for name in self.header]
        # words and names occur again and again: each is checked once, and one copy of it is kept
        met: list[dict[str, tuple[str, object]]] = [{} for _ in known]
        schema = self.header.index("schema") if "schema" in self.header else None
        for rows, (number, raw) in enumerate(_lines(self.path, self.folder, self.whole)):
            if rows == 0:
                continue
            if rows > MOST_LINES:
                raise ResultsError(
                    f"{self.path}: more than {MOST_LINES:,} rows; divide it over several folders"
                )
            if len(raw) != len(known) - len(self.missing):
                raise ResultsError(
                    f"{self.path}:{number}: {len(raw)} fields where the header has {len(known) - len(self.missing)}; "
                    f"{REMEDY}, then run the experiment again"
                )
            if schema is not None:
                _refuse_newer(self.path, number, raw[schema])
            fields = [*raw, *("" for _ in self.missing)]
            if "method" in self.header and (schema is None or raw[schema] != str(SCHEMA)):
                fields = list(updated(dict(zip(self.header, fields, strict=True))).values())
            values: list[object] = []
            for place, (name, kind) in enumerate(known):
                field, before = fields[place], met[place]
                if field in before:
                    fields[place], value = before[field]
                else:
                    try:
                        value = None if kind is None else kind.read(name, field)
                    except ValueError as error:
                        raise ResultsError(f"{self.path}:{number}: {error}; {REMEDY}") from None
                    if len(before) < MOST_KEPT:
                        before[field] = field, value
                values.append(value)
            yield CsvLine(number, fields, values)


def refuse_too_many(rows: int) -> None:
    """Raise ResultsError if the rows of several folders are more than are read together."""
    if rows > MOST_LINES:
        raise ResultsError(f"more than {MOST_LINES:,} rows in all; name fewer folders")


def runs_table(path: Path, folder: Path) -> CsvTable:
    """Return runs.csv of a folder; FileNotFoundError if there is none, ResultsError if it is none of fwsvm's."""
    return _table(path, folder, COLUMNS, REQUIRED)


def trace_table(path: Path, folder: Path) -> CsvTable:
    """Return the table of a trace; errors as `runs_table`."""
    return _table(path, folder, TRACE_COLUMNS, tuple(TRACE_COLUMNS))


def _table(path: Path, folder: Path, columns: Mapping[str, Column], required: Sequence[str]) -> CsvTable:
    with opened(path, folder, MOST_BYTES) as stream:
        try:
            whole, torn = whole_part(stream)
        except OSError as error:
            raise unreadable(path, error) from None
    lines = _lines(path, folder, whole)
    header = tuple(next(lines, (1, []))[1])
    if header or whole:
        if "schema" in header:
            number, first = next(lines, (0, []))
            if len(first) == len(header):
                _refuse_newer(path, number, first[header.index("schema")])
        _check_header(path, header, required)
    lines.close()
    later = [name for name, column in columns.items() if column.since == 4] if "method" in header else []
    missing = tuple(name for name in later if name not in header)
    return CsvTable(path, folder, (*header, *missing), missing, whole, torn, columns)


def _check_header(path: Path, header: tuple[str, ...], required: Sequence[str]) -> None:
    if len(header) > MOST_COLUMNS:
        raise ResultsError(f"{path}:1: {len(header):,} columns; is this a table of fwsvm?")
    if set(required).isdisjoint(header):
        raise ResultsError(
            f"{path}:1: none of the columns has a name of fwsvm's; is the header line missing? Put it back, or give a "
            "folder that fwsvm grid wrote"
        )
    for name in header:
        try:
            _NAME.read("the name of a column", name)
        except ValueError as error:
            raise ResultsError(f"{path}:1: {error}; mend the header") from None
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise ResultsError(f"{path}:1: the column {shown(twice[0])} stands there twice; take one of them out")
    lacking = [name for name in required if name not in header]
    if lacking:
        raise ResultsError(
            f"{path}:1: the columns are not this version's: no column {', '.join(lacking)}; "
            "give a folder that fwsvm grid wrote"
        )


def _refuse_newer(path: Path, number: int, field: str) -> None:
    if field.isascii() and field.isdigit() and len(field) < 10 and int(field) > SCHEMA:
        raise ResultsError(
            f"{path}:{number}: a row of schema {int(field)}, and this version reads schemas up to {SCHEMA}; "
            "update fwsvm"
        )


def whole_part(stream: BinaryIO) -> tuple[int, bool]:
    """Return the bytes up to the end of the last whole line, and whether more follow."""
    size = end = stream.seek(0, 2)
    while end > 0:
        begin = max(0, end - 2**16)
        stream.seek(begin)
        found = stream.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1, begin + found + 1 < size
        end = begin
    return 0, size > 0


def _lines(path: Path, folder: Path, whole: int) -> Generator[tuple[int, list[str]], None, None]:
    """Yield each record of a CSV file, up to byte ``whole``, with the number of the line it ends on."""
    with opened(path, folder, MOST_BYTES) as stream:
        reader = csv.reader(_decoded(stream, path, whole), strict=True)
        try:
            yield from ((reader.line_num, record) for record in reader)
        except csv.Error as error:
            raise ResultsError(
                f"{path}:{reader.line_num}: not CSV ({shortened(str(error))}); {REMEDY}"
            ) from None


def _decoded(stream: BinaryIO, path: Path, whole: int) -> Iterator[str]:
    left, number = whole, 0
    while left > 0:
        number += 1
        try:
            line = stream.readline(min(left, LONGEST_LINE))
        except OSError as error:
            raise unreadable(path, error) from None
        if not line:
            return
        left -= len(line)
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            raise ResultsError(f"{path}:{number}: a line of more than {LONGEST_LINE:,} bytes; {REMEDY}")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ResultsError(
                f"{path}:{number}: not UTF-8 at byte {error.start} of the line; {REMEDY}"
            ) from None
