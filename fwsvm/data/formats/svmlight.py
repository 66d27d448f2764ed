"""LIBSVM's text format (svmlight's): ``label index:value index:value ...``, a row a line, read a piece at a time.

Labels are numbers or text; indices are whole numbers that increase along the row and start at 1, or at 0 where a file
has an index 0; what is not written is 0. Read besides: comments after ``#``, empty lines, rows without entries, any
blanks between tokens and after a colon, both kinds of line ends, a missing last line end, ``qid:`` (ignored, with a
notice), and compression around it all. Every number becomes the double that Python's ``float`` returns.
"""

import io
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm.data.dataset import LabelledRows, canonical_csr
from fwsvm.data.formats.svmlight_errors import (
    FormatError,
    NoRowsError,
    beyond_libsvm,
    entry_reason,
    label_reason,
    line_number,
    shown_token,
    token_at,
)
from fwsvm.data.formats.svmlight_parser import UNLABELLED, RowBuffers, parse_rows
from fwsvm.data.formats.svmlight_writer import write
from fwsvm.data.formats.text_files import TextLines, lines_of, open_text
from fwsvm.data.labels import of_names

__all__ = ["parse", "problems", "read", "tables", "write"]

NO_LAST_NEWLINE = "missing a newline character in the end"
FOUND_ZERO_BASED = "the file counts its features from 0, as scikit-learn writes them, and is read so"
ZERO_BASED = re.compile(rb"^# Column indices are zero-based|^(?:[^#\n]*[ \t])?0+:", re.MULTILINE)
HEAD_BYTES = 4096
MOST_WORDS = 64  # different labels that compiled code knows; others cost a microsecond a row
SUSPECT = re.compile(
    rb"#|qid:|^[ \t\v\f\r]*\n", re.MULTILINE
)  # what LIBSVM may refuse of lines that are read
INDEX_ZERO = re.compile(rb"0+:")
POSITION_BITS = np.int64(0x0007FFFFFFFFFFFF)


class Piece(NamedTuple):
    """The rows of some lines of a file, as of a `csr_array`.

    Attributes
    ----------
    data, indices : ndarray of float64 and of int32, shape (z,)
    indptr : ndarray of int64, shape (m + 1,)
    width : int, 1 + the largest index
    codes : ndarray of int32, shape (m,), numbers of the rows' labels; empty where they have none
    """

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    width: int
    codes: NDArray[np.int32]


AddPiece = Callable[[Piece], None]


class _ZeroIndexError(Exception):
    """An index is 0 where they were taken to start at 1."""


class _Reader:
    """Reads the pieces of a file one after the other.

    Attributes
    ----------
    names : dict of str to int
        The labels so far, as they are written, and their numbers.
    labelled : bool or None
        Whether the rows have labels; None before the first row.
    rows, width, lines, empty, queries : int
        Counts of what was read: rows, features, lines, and empty lines and ``qid:`` that were skipped.
    """

    def __init__(
        self, path: str | Path, *, zero_based: bool, unlabelled: bool, may_restart: bool = False
    ) -> None:
        self.path, self.zero_based = path, zero_based
        self._unlabelled, self._may_restart = unlabelled, may_restart
        self.names: dict[str, int] = {}
        self.labelled: bool | None = None
        self.rows = self.width = self.lines = self.empty = self.queries = 0
        self._words = np.zeros(MOST_WORDS, np.uint64)
        self._codes: list[int] = []  # of the names that the words are
        self._buffers = self._allocate(0)

    def _allocate(self, size: int) -> RowBuffers:
        """Return arrays for all rows and entries that a text may hold; what is not used of them takes no memory."""
        values = np.empty(size // 4 + 1)
        indices = np.empty(len(values), np.int32)
        indptr, labels = np.zeros(size // 2 + 2, np.int64), np.empty(size // 2 + 1, np.int64)
        return RowBuffers(indptr, labels, indices, values, values.view(np.int64), self._words)

    def pieces(self, texts: Iterator[TextLines]) -> Iterator[Piece]:
        """Yield the rows of each text that has any; the arrays are valid until the next one.

        `FormatError` names the line of the file, counted over all texts.
        """
        for text, _ in texts:
            if self._may_restart and not self.lines and looks_zero_based(text[:HEAD_BYTES].data):
                raise _ZeroIndexError
            try:
                piece = self._parse(text)
            except FormatError as error:
                raise FormatError(self.path, error.line + self.lines, error.why) from None
            if len(piece.indptr) > 1:
                yield piece
        if not self.rows:
            raise NoRowsError(self.path, 1, "the file has no rows")

    def _parse(self, text: NDArray[np.uint8]) -> Piece:
        if len(self._buffers.values) <= len(text) // 4:
            self._buffers = self._allocate(len(text))
        rows = self._buffers
        stopped, m, z, width, known, unread, empty, queries, lines = parse_rows(
            text, int(not self.zero_based), self._unlabelled, len(self._codes), rows
        )
        codes = self._read_labels(text, rows.labels[:m], known)
        if stopped >= 0:
            if self._may_restart and INDEX_ZERO.match(text.data, stopped):
                raise _ZeroIndexError
            why = entry_reason(text, stopped, zero_based=self.zero_based)
            raise FormatError(self.path, line_number(text, stopped), why)
        if unread:
            self._read_values(text, rows.values[:z], rows.bits[:z])
        self.rows, self.lines, self.width = self.rows + m, self.lines + lines, max(self.width, width)
        self.empty, self.queries = self.empty + empty, self.queries + queries
        return Piece(rows.values[:z], rows.indices[:z], rows.indptr[: m + 1], width, codes)

    def _read_labels(
        self, text: NDArray[np.uint8], labels: NDArray[np.int64], known: int
    ) -> NDArray[np.int32]:
        """Return the numbers of the rows' names; `FormatError` where a label is none, or only some rows have one."""
        if len(labels):
            bare = labels == UNLABELLED
            self.labelled = not bare[0] if self.labelled is None else self.labelled
            if (bare == self.labelled).any():
                row = int(np.argmax(bare == self.labelled))
                lacks = (
                    "has no label, but rows above have one"
                    if bare[row]
                    else "has a label, but rows above have none"
                )
                raise FormatError(self.path, _line_of_row(text, row), f"the row {lacks}")
            if bare[0]:
                return np.zeros(0, np.int32)
        for code in range(len(self._codes), known):
            word = int(self._words[code]).to_bytes(8, "big").lstrip(b"\0")
            self._codes.append(self._number_of(word, text, labels, code))
        codes = np.array(self._codes or [0], np.int32)[np.maximum(labels, 0)]
        for row in np.flatnonzero(labels < 0).tolist():
            word = token_at(text, int(~labels[row]))
            codes[row] = self._number_of(word, text, labels, int(labels[row]))
        return codes

    def _number_of(self, word: bytes, text: NDArray[np.uint8], labels: NDArray[np.int64], code: int) -> int:
        name = word.decode("utf-8", "surrogateescape")
        if name not in self.names and (wrong := label_reason(word)):
            raise FormatError(self.path, _line_of_row(text, int(np.argmax(labels == code))), wrong)
        return self.names.setdefault(name, len(self.names))

    def _read_values(
        self, text: NDArray[np.uint8], values: NDArray[np.float64], bits: NDArray[np.int64]
    ) -> None:
        """Replace every NaN by the number at the position in its payload; ``bits`` is the memory of ``values``."""
        for i in np.flatnonzero(np.isnan(values)):
            at = int(bits[i] & POSITION_BITS)
            while text[at] in b" \t":
                at += 1
            word = token_at(text, at)
            values[i] = float(word)
            if np.isinf(values[i]):
                why = f"value '{shown_token(word)}' is too large for a double"
                raise FormatError(self.path, line_number(text, at), why)

    def labels(self, codes: NDArray[np.int32], rows: int) -> NDArray[np.float64] | NDArray[np.str_]:
        """Return labels of rows by the numbers of their names, NaN where rows have none."""
        return of_names(list(self.names), codes, str(self.path)) if self.labelled else np.full(rows, np.nan)

    def notices(self) -> Iterator[str]:
        """Yield what the user should know of what was ignored."""
        if self.queries:
            yield f"qid: was ignored in {self.queries} rows"
        if self.empty and not self.labelled:
            yield f"{self.empty} empty lines were skipped; a row without a label needs at least one index:value"

    def collect(self, texts: Iterator[TextLines], add: AddPiece) -> tuple[LabelledRows, tuple[str, ...]]:
        """Give the rows of all pieces to ``add``; return a table without rows but their shape, and notices."""
        codes = []
        for piece in self.pieces(texts):
            add(piece)
            codes.append(piece.codes)
        labels = self.labels(np.concatenate(codes), self.rows)
        shape_only = csr_array((self.rows, self.width), dtype=np.float64)
        return LabelledRows(shape_only, labels, zero_based=self.zero_based), tuple(self.notices())


class _RowsInMemory:
    """Rows of pieces, appended to arrays with room for ``entries`` of them, which grow where these are more."""

    def __init__(self, entries: int) -> None:
        self.data, self.indices = np.empty(entries), np.empty(entries, np.int32)
        self.ends: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
        self.entries = 0

    def add(self, piece: Piece) -> None:
        start, self.entries = self.entries, self.entries + len(piece.data)
        for array, part in ((self.data, piece.data), (self.indices, piece.indices)):
            if len(array) < self.entries:
                array.resize(2 * self.entries, refcheck=False)
            array[start : self.entries] = part
        self.ends.append(piece.indptr[1:] + start)

    def rows(self, features: int) -> csr_array:
        for array in (self.data, self.indices):
            array.resize(self.entries, refcheck=False)
        return canonical_csr(self.data, self.indices, np.concatenate(self.ends), features)


def read(
    path: str | Path,
    *,
    zero_based: bool | None = None,
    unlabelled: bool = False,
    member: str = "",
    begin: Callable[[], AddPiece] | None = None,
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Read a file into sparse rows and labels.

    Parameters
    ----------
    path : str or Path
        Plain or compressed; which of them is seen from its first bytes.
    zero_based : bool, optional
        Indices start at 0. Without it they do where an index is 0, or where a comment of scikit-learn's
        ``dump_svmlight_file`` says so; a notice tells.
    unlabelled : bool
        Rows may be without labels, all of them or none; the labels are then NaN.
    member : str
        The file inside a zip archive.
    begin : callable, optional
        Called before the first piece of the file is read, once or again; returns what takes the rows of each piece.
        The table that is returned then has no rows but their shape.

    Returns
    -------
    table : LabelledRows
        ``X`` a csr_array of shape (m, largest index), zeros kept where they are written; ``labels`` float64 where all
        are numbers, else text.
    notices : tuple of str
        What was ignored.

    Raises
    ------
    DataError
        The file cannot be read, is empty, or a line breaks the format: file, line and token are named.
    """
    path, base = Path(path), bool(zero_based)
    while True:
        found = _Reader(
            path, zero_based=base, unlabelled=unlabelled, may_restart=zero_based is None and not base
        )
        try:
            with open_text(path, member) as stream:
                if begin:
                    table, notices = found.collect(lines_of(path, stream), begin())
                else:
                    table, notices = _in_memory(found, lines_of(path, stream), path.stat().st_size // 4)
            break
        except _ZeroIndexError:
            base = True
    return table, ((FOUND_ZERO_BASED, *notices) if base and zero_based is None else notices)


def _in_memory(
    found: _Reader, texts: Iterator[TextLines], entries: int
) -> tuple[LabelledRows, tuple[str, ...]]:
    kept = _RowsInMemory(entries)
    table, notices = found.collect(texts, kept.add)
    return LabelledRows(kept.rows(table.features), table.labels, zero_based=table.zero_based), notices


def parse(
    path: str | Path, text: bytes, *, zero_based: bool = False, unlabelled: bool = False
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the rows of a part of a file; lines are counted from its start. Errors are those of `read`."""
    found = _Reader(path, zero_based=zero_based, unlabelled=unlabelled)
    return _in_memory(found, lines_of(path, io.BytesIO(text)), len(text) // 4)


def tables(path: Path, *, zero_based: bool | None = None) -> Iterator[tuple[LabelledRows, tuple[str, ...]]]:
    """Yield the rows of each piece of a file, with or without labels, and notices about the file up to its end.

    Each has as many columns as its own largest index. Whether indices start at 0 is seen from the first piece. Errors
    are those of `read`.
    """
    with open_text(path) as stream:
        texts = lines_of(path, stream)
        first = next(texts, None)
        base = looks_zero_based(first.text.data) if zero_based is None and first else bool(zero_based)
        found = _Reader(path, zero_based=base, unlabelled=True)
        said = (FOUND_ZERO_BASED,) if base and zero_based is None else ()
        for piece in found.pieces(itertools.chain([first] if first else [], texts)):
            X = canonical_csr(piece.data.copy(), piece.indices.copy(), piece.indptr.copy(), piece.width)
            yield (
                LabelledRows(X, found.labels(piece.codes, X.shape[0]), zero_based=base),
                (*said, *found.notices()),
            )


def problems(
    path: str | Path,
    *,
    zero_based: bool | None = None,
    strict: bool = True,
    look: Callable[[LabelledRows], None] = lambda _: None,
) -> Iterator[tuple[int, str]]:
    """Yield every line that breaks the format, as (line number, reason), at most one reason a line.

    The rows of each piece of the file without any are given to ``look``. With ``strict``, also what `read` takes but
    LIBSVM's own programs do not: comments, empty lines, text as labels, ``qid:`` and a missing last line end. Where
    ``zero_based`` is None, the first lines say whether indices count from 0.
    """
    path, empty, before = Path(path), True, 0
    with open_text(path) as stream:
        for text, ended in lines_of(path, stream):
            lines = text.tobytes()
            first, before = before + 1, before + lines.count(b"\n")
            if zero_based is None:
                zero_based = looks_zero_based(text[:HEAD_BYTES].data)
            wrong = False
            try:
                table, _ = parse(path, lines, zero_based=zero_based)
                empty = False
                wrong = strict and (table.labels.dtype.kind == "U" or SUSPECT.search(lines) is not None)
            except NoRowsError:
                wrong = strict
            except FormatError:
                wrong, empty = True, False
            if not wrong:
                look(table)
            for number, line in enumerate(lines.split(b"\n")[:-1] if wrong else [], first):
                why = beyond_libsvm(line) if strict else ""
                try:
                    parse(path, line, zero_based=zero_based)
                except NoRowsError:
                    pass
                except FormatError as error:
                    why = why or error.why
                if why:
                    yield number, why
            if strict and not ended:
                yield before, NO_LAST_NEWLINE
    if empty:
        yield 1, "the file has no rows"


def looks_zero_based(head: bytes | memoryview) -> bool:
    """Whether an index 0, or scikit-learn's comment, in the first bytes of a file says that indices start at 0."""
    return ZERO_BASED.search(head) is not None


def _line_of_row(text: NDArray[np.uint8], row: int) -> int:
    """Return the number, from 1, of the line that holds a row of a text."""
    lines = enumerate(text.tobytes().split(b"\n"), 1)
    return [number for number, line in lines if line.split(b"#")[0].strip()][row]
