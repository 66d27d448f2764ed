"""Files in LIBSVM's format a piece at a time: some megabytes of whole lines are parsed before the next are read.

So memory is that of a piece, whatever the size of the file, and the file is read once. `copy` writes the rows of all
pieces to the arrays of a parsed copy; who needs each row once, as prediction does, takes `tables`.
"""

import contextlib
import errno
import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.data import array_files
from fwsvm.data.array_files import ArrayFile
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats import svmlight
from fwsvm.data.formats.svmlight_errors import FormatError, IndexZeroError, NoRowsError, line_number
from fwsvm.data.formats.text_file import (
    BYTE_ORDER_MARK,
    HEAD_BYTES,
    NEWLINE,
    open_decompressed,
    refuse_not_text,
)
from fwsvm.data.labels import EXACT_WHOLE, of_names
from fwsvm.errors import DataError

PIECE = 1 << 24  # bytes of text that are parsed at a time
STREAMED_FROM = 1 << 26  # bytes of a file below which all of its rows are read into memory at once
LONGEST_LINE = 1 << 30  # bytes; a line is held in memory whole


def is_large(path: Path) -> bool:
    """Whether a file has so much text that its rows should not be in memory together."""
    return path.is_file() and path.stat().st_size >= STREAMED_FROM


class Piece(NamedTuple):
    """Some lines of a file.

    Attributes
    ----------
    text : ndarray of uint8, ending in a newline
    lines_before : int, lines of the file before them
    ended : bool, whether the file has that newline, which only its last line may lack
    """

    text: NDArray[np.uint8]
    lines_before: int
    ended: bool


def pieces(path: Path, digest: Any = None) -> Iterator[Piece]:
    """Yield the lines of a plain or compressed file, about `PIECE` bytes at a time.

    ``digest``, of hashlib, is updated with all bytes of the text as it is read.

    Raises
    ------
    DataError
        As of `fwsvm.data.formats.text_file.read_text`; a line is longer than `LONGEST_LINE`.
    """
    with open_decompressed(path) as source:
        head = _read(path, source, HEAD_BYTES)
        if not head:
            raise DataError(f"{path} is empty")
        refuse_not_text(path, head)
        rest, read, lines, ended = bytearray(), head, 0, True
        while read or rest:
            if digest is not None:
                digest.update(read)
            rest += read if lines or rest or read is not head else head.removeprefix(BYTE_ORDER_MARK)
            if not read and not rest.endswith(b"\n"):
                ended = False
                rest += b"\n"
            if end := rest.rfind(b"\n") + 1:
                text = np.frombuffer(
                    bytes(memoryview(rest)[:end]), np.uint8
                )  # read-only, as parsers are compiled for
                rest = rest[end:]
                yield Piece(text, lines, ended)
                lines += int(np.count_nonzero(text == NEWLINE))
            elif len(rest) > LONGEST_LINE:
                why = f"the line has more than {LONGEST_LINE >> 20:,} MiB; end each row by a line feed"
                raise FormatError(path, lines + 1, why)
            read = _read(path, source, PIECE) if read else b""


def _read(path: Path, source: IO[bytes], size: int) -> bytes:
    try:
        return source.read(size)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


@contextlib.contextmanager
def _lines_of(path: Path, piece: Piece) -> Iterator[None]:
    """Have errors count the lines of the whole file."""
    try:
        yield
    except FormatError as error:
        raise type(error)(path, error.line + piece.lines_before, error.why) from None


def tables(
    path: Path, *, zero_based: bool | None = None, unlabelled: bool = False
) -> Iterator[tuple[LabelledRows, tuple[str, ...]]]:
    """Yield the rows of each piece, and what was ignored so far; each has as many columns as its own largest index.

    Labels of a piece are float64 where all of it are numbers. Whether indices start at 0 is seen from the first piece.
    Errors are those of `fwsvm.data.formats.svmlight.read`.
    """
    none, bare, ignored = True, None, svmlight.Ignored()
    found: tuple[str, ...] = ()
    for piece in pieces(path):
        if zero_based is None:
            zero_based = svmlight.looks_zero_based(piece.text.tobytes())
            found = (svmlight.FOUND_ZERO_BASED,) if zero_based else ()
        with contextlib.suppress(NoRowsError), _lines_of(path, piece):
            table, more = svmlight.parse_counting(
                path, piece.text, zero_based=zero_based, unlabelled=unlabelled
            )
            without = table.labels.dtype.kind == "f" and bool(np.isnan(table.labels[0]))
            if bare is not None and without != bare:
                raise svmlight.mixed_labels(path, 1, lacks=without)
            bare, none, ignored = without, False, ignored.and_of(more)
            yield table, (*found, *svmlight.notices(ignored))
    if none:
        raise NoRowsError(path, 1, "the file has no rows")


def problems(
    path: Path, *, zero_based: bool = False, strict: bool = True,
    look: Callable[[LabelledRows], None] = lambda _: None,
) -> Iterator[tuple[int, str]]:  # fmt: skip
    """Yield every line that breaks the format, as `fwsvm.data.formats.svmlight.problems` does.

    The rows of a file without any are given to ``look`` a piece at a time.
    """
    rules, clean, last, ended = svmlight.rules_of(zero_based=zero_based, strict=strict), True, 0, True
    for piece in pieces(path):
        for line, why in svmlight.problems_of(path, piece.text, rules):
            clean = False
            yield line + piece.lines_before, why
        last, ended = piece.lines_before + line_number(piece.text, len(piece.text) - 1), piece.ended
    if not ended and strict:
        clean = False
        yield last, svmlight.NO_LAST_NEWLINE
    if clean:
        try:
            for table, _ in tables(path, zero_based=zero_based):
                look(table)
        except FormatError as refusal:
            yield refusal.line, refusal.why


class _NamesMetError(Exception):
    """A label that is no plain number, in a file whose labels were taken to be numbers."""


class Copied(NamedTuple):
    """Rows and features, what was ignored, the sha256 (hex) of the text, and whether indices start at 0."""

    shape: tuple[int, int]
    notices: tuple[str, ...]
    sha256: str
    zero_based: bool


def copy(path: Path, place: Path, *, zero_based: bool | None = None) -> Copied:
    """Write the rows of a file to ``.npy`` files in the folder ``place``, as `fwsvm.data.parsed_copies` has them.

    The arrays are those of `fwsvm.data.formats.svmlight.read`; see there for the errors, which name lines of the whole
    file. Labels are taken to be numbers until one is a name: then the file is begun anew.

    Raises
    ------
    OSError
        The arrays cannot be written.
    """
    try:
        return _copied(path, place, bool(zero_based), _Numbers())
    except _NamesMetError:
        return _copied(path, place, bool(zero_based), _Words(path))
    except IndexZeroError:
        if zero_based is not None:
            raise
    found = copy(path, place, zero_based=True)
    return found._replace(notices=(svmlight.FOUND_ZERO_BASED, *found.notices))


def _copied(path: Path, place: Path, zero_based: bool, labels: "_Numbers | _Words") -> Copied:
    rules = svmlight.rules_of(zero_based=zero_based, strict=False)
    width = queries = 0
    digest = hashlib.sha256()
    with (
        ArrayFile(place / "data.npy", np.float64) as data,
        ArrayFile(place / "indices.npy", np.int32) as indices,
        ArrayFile(place / "indptr.npy", np.int64) as indptr,
        ArrayFile(place / "labels.npy", labels.dtype) as codes,
    ):
        indptr.append(np.zeros(1, np.int64))
        for piece in pieces(path, digest):
            with contextlib.suppress(NoRowsError), _lines_of(path, piece):
                found = svmlight.entries(path, piece.text, rules)
                codes.append(labels.of(piece.text, found))
                indptr.append(found.indptr[1:] + data.count)
                data.append(found.values)
                indices.append(found.indices)
                width, queries = max(width, found.width), queries + found.queries
    if not codes.count:
        raise NoRowsError(path, 1, "the file has no rows")
    if data.count <= svmlight.LARGEST_INT32:
        array_files.replaced(indptr.path, np.int32)
    else:  # scipy has both in one type
        array_files.replaced(indices.path, np.int64)
    labels.finish(codes.path)
    return Copied(
        (codes.count, width),
        tuple(svmlight.notices(svmlight.Ignored(queries))),
        digest.hexdigest(),
        zero_based,
    )


class _Numbers:
    """Labels that are numbers, written as they are."""

    dtype = np.float64

    def of(self, text: NDArray[np.uint8], found: svmlight.Entries) -> NDArray[np.float64]:  # noqa: ARG002
        """Return the labels of a piece."""
        if not (np.abs(found.numbers) < EXACT_WHOLE).all():  # a name, or a number that would be rounded
            raise _NamesMetError
        return found.numbers

    def finish(self, path: Path) -> None:
        """Leave the file as it is."""


class _Words:
    """Labels as words: their places in a list of all different ones are written, and in the end the labels."""

    dtype = np.int32

    def __init__(self, path: Path) -> None:
        self.path = path
        self.codes: dict[str, int] = {}

    def of(self, text: NDArray[np.uint8], found: svmlight.Entries) -> NDArray[np.int32]:
        """Return the places of a piece's labels."""
        own, names = svmlight.label_names(self.path, text, found.label_at)
        return np.array([self.codes.setdefault(name, len(self.codes)) for name in names], np.int32)[own]

    def finish(self, path: Path) -> None:
        """Write the labels in place of the codes: numbers where all are."""
        table = of_names(list(self.codes), np.arange(len(self.codes)), str(self.path))
        rows = array_files.count(path)
        if rows * table.itemsize > (free := shutil.disk_usage(path.parent).free):
            raise OSError(
                errno.ENOSPC,
                f"{rows:,} labels take {rows * table.itemsize >> 20:,} MiB and there are {free >> 20:,}",
            )
        array_files.replaced(path, table.dtype, table)
