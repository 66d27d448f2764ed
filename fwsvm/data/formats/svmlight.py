"""LIBSVM's text format (svmlight's): ``label index:value index:value ...``, a row a line, read a piece at a time.

Labels are numbers or text; indices are whole numbers that increase along the row and start at 1, or at 0 where the
first piece of a file has an index 0; what is not written is 0. Read besides: comments after ``#``, empty lines, rows
without entries, any blanks between tokens and after a colon, both kinds of line ends, a missing last line end, ``qid:``
(ignored, with a notice), and compression around it all. A number becomes the double that Python's ``float`` returns.
"""

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm.data.dataset import LabelledRows, canonical_csr
from fwsvm.data.formats.svmlight_errors import (
    FormatError,
    NoRowsError,
    entry_reason,
    label_reason,
    line_number,
    shown_token,
    token_at,
)
from fwsvm.data.formats.svmlight_parser import UNLABELLED, RowBuffers, parse_rows
from fwsvm.data.formats.svmlight_writer import write
from fwsvm.data.formats.text_files import lines_of, open_text
from fwsvm.data.labels import of_names

__all__ = ["parse", "problems", "read", "tables", "write"]

FOUND_ZERO_BASED = "the file counts its features from 0, as scikit-learn writes them, and is read so"
ZERO_BASED = re.compile(rb"^# Column indices are zero-based|^(?:[^#\n]*[ \t])?0+:", re.MULTILINE)
INDEX_ZERO = re.compile(rb"0+:")
HEAD_BYTES = 4096
MOST_WORDS = 64  # different labels that compiled code knows; others cost a microsecond a row
HEADER = re.compile(rb"[^:\n]*[A-Za-z][^:\n]*\n")
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
Table = tuple[LabelledRows, tuple[str, ...]]


class _Reader:
    """Reads the pieces of a file one after the other.

    Attributes
    ----------
    zero_based : bool or None
        Whether indices start at 0; None until the first piece tells.
    names : dict of str to int
        The labels so far, as they are written, and their numbers.
    labelled : bool or None
        Whether the rows have labels; None before the first row.
    rows, width, lines, empty, queries : int
        Counts of what was read: rows, features, lines, and empty lines and ``qid:`` that were skipped.
    """

    def __init__(self, path: str | Path, *, zero_based: bool | None, unlabelled: bool) -> None:
        self.path, self.zero_based, self._unlabelled = path, zero_based, unlabelled
        self.names: dict[str, int] = {}
        self.labelled: bool | None = None
        self.rows = self.width = self.lines = self.empty = self.queries = 0
        self._is_told = zero_based is not None
        self._words = np.zeros(MOST_WORDS, np.uint64)
        self._codes: list[int] = []  # of the names that the words are
        self._buffers = self._allocate(0)

    def _allocate(self, size: int) -> RowBuffers:
        """Return arrays for all rows and entries that a text may hold; what is not used of them takes no memory."""
        values = np.empty(size // 4 + 1)
        indices = np.empty(len(values), np.int32)
        indptr, labels = np.zeros(size // 2 + 2, np.int64), np.empty(size // 2 + 1, np.int64)
        return RowBuffers(indptr, labels, indices, values, values.view(np.int64), self._words)

    def pieces(self, stream: IO[bytes]) -> Iterator[Piece]:
        """Yield the rows of each piece of a stream that has any; the arrays are valid until the next one.

        `FormatError` names the line of the file.
        """
        for text in lines_of(self.path, stream):
            if self.zero_based is None:
                self.zero_based = looks_zero_based(text[:HEAD_BYTES].data)
            try:
                piece = self._parse(text)
            except FormatError as error:
                line = error.line + self.lines
                hint = "; if it is a header, leave it out" if line == 1 and HEADER.match(text.data) else ""
                raise FormatError(self.path, line, error.why + hint) from None
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
            if not (self._is_told or self.zero_based or self.lines) and INDEX_ZERO.match(text.data, stopped):
                self.zero_based = True
                return self._parse(text)
            why = entry_reason(text, stopped, zero_based=bool(self.zero_based))
            raise FormatError(self.path, line_number(text, stopped), why)
        values, bits = rows.values[:z], rows.bits[:z]  # the same memory
        for i in np.flatnonzero(np.isnan(values)) if unread else ():  # the payload of a NaN is a position
            at = int(bits[i] & POSITION_BITS)
            while text[at] in b" \t":
                at += 1
            word = token_at(text, at)
            values[i] = float(word)
            if np.isinf(values[i]):
                why = f"value '{shown_token(word)}' is too large for a double"
                raise FormatError(self.path, line_number(text, at), why)
        self.rows, self.lines, self.width = self.rows + m, self.lines + lines, max(self.width, width)
        self.empty, self.queries = self.empty + empty, self.queries + queries
        return Piece(values, rows.indices[:z], rows.indptr[: m + 1], width, codes)

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
                    "no label, but rows above have one" if bare[row] else "a label, but rows above have none"
                )
                raise FormatError(self.path, _line_of_row(text, row), f"the row has {lacks}")
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

    def labels(self, codes: NDArray[np.int32], rows: int) -> NDArray[np.float64] | NDArray[np.str_]:
        """Return labels of rows by the numbers of their names, NaN where rows have none."""
        return of_names(list(self.names), codes) if self.labelled else np.full(rows, np.nan)

    def notices(self) -> tuple[str, ...]:
        """Return what the user should know of how the file was read, and of what was ignored."""
        blank = "empty lines were skipped; a row without a label needs at least one index:value"
        said = {
            FOUND_ZERO_BASED: self.zero_based and not self._is_told,
            f"qid: was ignored in {self.queries} rows": self.queries,
            f"{self.empty} {blank}": self.empty and not self.labelled,
        }
        return tuple(sentence for sentence, is_true in said.items() if is_true)


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
    add: AddPiece | None = None,
) -> Table:
    """Read a file into sparse rows and labels.

    Parameters
    ----------
    path : str or Path
        Plain or compressed; which of them is seen from its first bytes.
    zero_based : bool, optional
        Indices start at 0. Without it they do where the first piece has an index 0, or a comment of scikit-learn's
        ``dump_svmlight_file`` says so; a notice tells.
    unlabelled : bool
        Rows may be without labels, all of them or none; the labels are then NaN.
    member : str
        The file inside a zip archive.
    add : callable, optional
        Takes the rows of each piece. The table that is returned then has no rows but their shape.

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
    with open_text(Path(path), member) as stream:
        found = _Reader(path, zero_based=zero_based, unlabelled=unlabelled)
        return _collected(found, stream, Path(path).stat().st_size, add)


def parse(
    path: str | Path, text: bytes, *, zero_based: bool = False, unlabelled: bool = False, before: int = 0
) -> Table:
    """Return the rows of a part of a file, with so many lines ``before`` it. Errors are those of `read`."""
    found = _Reader(path, zero_based=zero_based, unlabelled=unlabelled)
    found.lines = before
    return _collected(found, io.BytesIO(text), len(text), None)


def _collected(found: _Reader, stream: IO[bytes], size: int, add: AddPiece | None) -> Table:
    """Return the rows of a stream of so many bytes, or give them to ``add``."""
    kept, codes = _RowsInMemory(0 if add else size // 4), []
    for piece in found.pieces(stream):
        (add or kept.add)(piece)
        codes.append(piece.codes)
    labels = found.labels(np.concatenate(codes), found.rows)
    X = csr_array((found.rows, found.width), dtype=np.float64) if add else kept.rows(found.width)
    return LabelledRows(X, labels, zero_based=found.zero_based), found.notices()


def tables(path: Path, *, zero_based: bool | None = None) -> Iterator[Table]:
    """Yield the rows of each piece of a file, with or without labels, and notices about the file up to its end.

    Each has as many columns as its own largest index. Errors are those of `read`.
    """
    with open_text(path) as stream:
        found = _Reader(path, zero_based=zero_based, unlabelled=True)
        for piece in found.pieces(stream):
            X = canonical_csr(piece.data.copy(), piece.indices.copy(), piece.indptr.copy(), piece.width)
            labels = found.labels(piece.codes, X.shape[0])
            yield LabelledRows(X, labels, zero_based=found.zero_based), found.notices()


def problems(
    path: Path, look: Callable[[LabelledRows], None], *, zero_based: bool | None = None
) -> Iterator[tuple[int, str]]:
    """Yield every line that `read` refuses, as (line number, reason), at most one reason a line.

    The rows of each piece of the file without any are given to ``look``. Where ``zero_based`` is None, the first piece
    says whether indices count from 0.
    """
    empty, before = True, 0
    with open_text(path) as stream:
        for text in lines_of(path, stream):
            piece = text.tobytes()
            zero_based = looks_zero_based(piece) if zero_based is None else zero_based
            try:
                look(parse(path, piece, zero_based=zero_based)[0])
                empty = False
            except FormatError:
                for number, line in enumerate(piece.split(b"\n")[:-1], before):
                    try:
                        parse(path, line, zero_based=zero_based, before=number)
                        empty = False
                    except NoRowsError:
                        pass
                    except FormatError as error:
                        empty = False
                        yield error.line, error.why
            before += piece.count(b"\n")
    if empty:
        yield 1, "the file has no rows"


def looks_zero_based(head: bytes | memoryview) -> bool:
    """Whether an index 0, or scikit-learn's comment, in the first bytes of a file says that indices start at 0."""
    return ZERO_BASED.search(head) is not None


def _line_of_row(text: NDArray[np.uint8], row: int) -> int:
    """Return the number, from 1, of the line that holds a row of a text."""
    lines = enumerate(text.tobytes().split(b"\n"), 1)
    return [number for number, line in lines if line.split(b"#")[0].strip()][row]
