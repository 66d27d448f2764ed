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
from fwsvm.data.formats.svmlight_parser import (
    INDEX_DIGITS,
    MAX_FEATURES,
    RowBuffers,
    parse_rows,
)
from fwsvm.data.formats.svmlight_writer import write
from fwsvm.data.formats.text_files import HEAD_BYTES, FormatError, lines_of, open_text
from fwsvm.data.labels import number, of_names
from fwsvm.errors import shortened

__all__ = ["parse", "problems", "read", "write"]

FOUND_ZERO_BASED = "the file counts its features from 0, as scikit-learn writes them, and is read so"
HEADER = re.compile(rb"[^:\n]*[A-Za-z][^:\n]*\n")
TOKEN = re.compile(rb"[ \t]*([^ #\t-\r]*)")
NOT_FINITE = re.compile(rb"[-+]?(nan|inf(inity)?)", re.IGNORECASE)
QUOTED = 40  # characters of a token in a message

Table = tuple[LabelledRows, tuple[str, ...]]


class Piece(NamedTuple):
    """Rows of a file as a `csr_array` has them, as wide as their largest index, and the numbers of their labels."""

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    shape: tuple[int, int]
    codes: NDArray[np.int32]  # (m,), -1 where rows have no labels


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
    used : int
        How many of the entries in the buffers are to be kept.
    """

    def __init__(
        self, path: str | Path, *, zero_based: bool | None, unlabelled: bool, lines: int = 0
    ) -> None:
        self.path, self.zero_based, self.unlabelled, self.lines = path, zero_based, unlabelled, lines
        self.names: dict[str, int] = {}
        self.labelled: bool | None = None
        self.rows = self.width = self.empty = self.queries = self.used = 0
        self._is_told = zero_based is not None
        self._values, self._indices = np.empty(0), np.empty(0, np.int32)

    def pieces(self, stream: IO[bytes]) -> Iterator[Piece]:
        """Yield each piece of a stream that has rows; it is valid until the next. `FormatError` names the line."""
        by_row = np.zeros((4, 0), np.int64)
        for text in lines_of(stream):
            if self.zero_based is None:
                self.zero_based = looks_zero_based(text.tobytes())
            room = self.used + len(text) // 4 + 1
            if len(self._values) < room:
                self._resize(2 * room)
            if by_row.shape[1] < len(text) // 2 + 2:
                by_row = np.zeros((4, len(text) // 2 + 2), np.int64)
            values, indices = self._values[self.used :], self._indices[self.used :]
            rows = RowBuffers._make([*by_row, indices, values, values.view(np.int64)])
            stopped, m, z, width, unread, empty, queries, lines, classes = parse_rows(
                text, int(not self.zero_based), self.unlabelled, rows
            )
            codes = self._codes(text, rows, m, classes)
            if stopped >= 0:
                self._refuse(text, stopped, _entry_fault(text, stopped, zero_based=bool(self.zero_based)))
            if unread:
                self._read_values(text, values[:z])
            self.rows, self.lines, self.width = self.rows + m, self.lines + lines, max(self.width, width)
            self.empty, self.queries = self.empty + empty, self.queries + queries
            if m:
                yield Piece(values[:z], indices[:z], rows.indptr[: m + 1], (m, width), codes)

    def _resize(self, entries: int) -> None:
        for array in (self._values, self._indices):
            array.resize(entries, refcheck=False)

    def _refuse(self, text: NDArray[np.uint8], at: int, why: str) -> None:
        """Raise `FormatError` for the line that holds ``text[at]``."""
        line = self.lines + text[:at].tobytes().count(b"\n") + 1
        hint = "; if it is a header, leave it out" if line == 1 and HEADER.match(text.data) else ""
        raise FormatError(self.path, line, why + hint)

    def _read_values(self, text: NDArray[np.uint8], values: NDArray[np.float64]) -> None:
        """Replace each NaN, whose payload is a place in the text, by the double that ``float`` reads there."""
        bits = values.view(np.int64)
        for i in np.flatnonzero(np.isnan(values)).tolist():
            at = int(bits[i] & 0x0007FFFFFFFFFFFF)
            values[i] = float(word := _token(text, at))
            if np.isinf(values[i]):
                self._refuse(text, at, f"value '{_shown(word)}' is too large for a double")

    def _codes(self, text: NDArray[np.uint8], rows: RowBuffers, m: int, classes: int) -> NDArray[np.int32]:
        """Return the numbers of the rows' names; `FormatError` where a label is none, or only some rows have one."""
        codes, numbers = rows.codes[:m], []
        if self.labelled is None and m:
            self.labelled = bool(codes[0] >= 0)
        for row in np.flatnonzero((codes >= 0) != self.labelled)[:1]:
            lacks = (
                "no label, but rows above have one" if self.labelled else "a label, but rows above have none"
            )
            self._refuse(text, int(rows.starts[row]), f"the row has {lacks}")
        for row in rows.firsts[:classes]:
            word = _token(text, at := int(rows.starts[row]))
            name = word.decode("utf-8", "surrogateescape")
            if name not in self.names and (wrong := _label_fault(word)):
                self._refuse(text, at, wrong)
            numbers.append(self.names.setdefault(name, len(self.names)))
        return np.array([*numbers, -1], np.int32)[codes]

    def notices(self) -> tuple[str, ...]:
        """Return what the user should know of how the file was read, and of what was ignored."""
        blank = "empty lines were skipped; a row without a label needs at least one index:value"
        said = {
            FOUND_ZERO_BASED: self.zero_based and not self._is_told,
            f"qid: was ignored in {self.queries} rows": self.queries,
            f"{self.empty} {blank}": self.empty and not self.labelled,
        }
        return tuple(sentence for sentence, is_true in said.items() if is_true)

    def collect(self, stream: IO[bytes], size: int, add: Callable[[Piece], None] | None = None) -> Table:
        """Return the rows of a stream of about so many bytes, or give them to ``add``."""
        codes, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
        if add is None:
            self._values, self._indices = np.empty(size // 4 + 1), np.empty(size // 4 + 1, np.int32)
        for piece in self.pieces(stream):
            codes.append(piece.codes)
            if add:
                add(piece)
            else:
                self.used += len(piece.data)
                lengths.append(np.diff(piece.indptr))
        X = csr_array((self.rows, self.width), dtype=np.float64)
        if add is None:
            self._resize(self.used)
            X = canonical_csr(self._values, self._indices, np.cumsum(np.concatenate(lengths)), self.width)
        found = np.concatenate(codes)
        labels = of_names([*self.names], found) if self.labelled else np.full(self.rows, np.nan)
        return LabelledRows(X, labels, zero_based=self.zero_based), self.notices()


def read(
    path: str | Path,
    *,
    zero_based: bool | None = None,
    unlabelled: bool = False,
    member: str = "",
    add: Callable[[Piece], None] | None = None,
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
    with open_text(path := Path(path), member) as stream:
        reader = _Reader(path, zero_based=zero_based, unlabelled=unlabelled)
        table, notices = reader.collect(stream, path.stat().st_size, add)
    if not reader.rows:
        raise FormatError(path, 1, "the file has no rows")
    return table, notices


def parse(
    path: str | Path, text: bytes, *, zero_based: bool = False, unlabelled: bool = False, lines: int = 0
) -> Table:
    """Return the rows of a part of a file, which so many ``lines`` precede. Errors are those of `read`."""
    reader = _Reader(path, zero_based=zero_based, unlabelled=unlabelled, lines=lines)
    return reader.collect(io.BytesIO(text), len(text))


def problems(path: Path, *, zero_based: bool | None = None) -> Iterator[tuple[int, str]]:
    """Yield every line that `read` refuses, as (line number, reason), at most one reason a line.

    Where ``zero_based`` is None, the first piece says whether indices count from 0.
    """
    found, before = False, 0
    with open_text(path) as stream:
        for piece in lines_of(stream):
            text = piece.tobytes()
            zero_based = looks_zero_based(text) if zero_based is None else zero_based
            lines = [text]
            try:
                found |= parse(path, text, zero_based=zero_based, lines=before)[0].rows > 0
            except FormatError:
                found, lines = True, text.split(b"\n")
            for number, line in enumerate(lines, before):
                try:
                    parse(path, line, zero_based=zero_based, lines=number)
                except FormatError as error:
                    yield error.line, error.why
            before += text.count(b"\n")
    if not found:
        yield 1, "the file has no rows"


def looks_zero_based(head: bytes) -> bool:
    """Whether an index 0, or scikit-learn's comment, in the first bytes of a file says that indices start at 0."""
    text = np.frombuffer(b"\n" + head, np.uint8)  # faster than an expression
    zeros = (text[2:] == ord(":")) & (text[1:-1] == ord("0")) & (text[:-2] <= ord(" "))
    return bool(zeros.any()) or b"# Column indices are zero-based" in head[:HEAD_BYTES]


def _token(text: NDArray[np.uint8], at: int) -> bytes:
    """Return the token at ``text[at]``, or after blanks there."""
    found = TOKEN.match(text.data, at)
    return bytes(found[1]) if found else b""


def _shown(token: bytes) -> str:
    """Return a token for a sentence."""
    return shortened(token[: 4 * QUOTED].decode("utf-8", "replace"), QUOTED)


def _label_fault(token: bytes) -> str:
    """Return why a token cannot be a label, as a sentence; empty where it can."""
    shown = _shown(token)
    if b":" in token:
        return f"the row has no label: it starts with '{shown}'"
    if b"," in token:
        return f"'{shown}' is more than one label; if the file is comma-separated, call it NAME.csv"
    try:
        name = token.decode()
    except UnicodeDecodeError:
        return "the label is not UTF-8 text"
    if NOT_FINITE.fullmatch(token) or np.isinf(number(name) or 0.0):
        return f"label '{shown}' is not finite"
    return ""


def _entry_fault(text: NDArray[np.uint8], at: int, *, zero_based: bool) -> str:
    """Return what is wrong with the entry at ``text[at]``."""
    token = _token(text, at)
    if token.endswith(b":"):  # blanks may follow the colon
        token += _token(text, at + len(token))
    index, colon, value = token.partition(b":")
    shown, least, largest = _shown(token), int(not zero_based), MAX_FEATURES - zero_based
    if not colon:
        return f"'{shown}' is not index:value"
    if not index.isdigit() or len(index) > INDEX_DIGITS or not least <= int(index) <= largest:
        zero = "; --zero-based reads files that start at 0, --kernel precomputed those of kernel values"
        hint = zero if index == b"0" else ""
        return f"index of '{shown}' is not a whole number from {least} to {largest}{hint}"
    if number(value.decode("latin-1")) is None:
        return f"value of '{shown}' is not {'finite' if NOT_FINITE.fullmatch(value) else 'a number'}"
    before = text[:at].tobytes().rpartition(b"\n")[2].split()
    return f"'{shown}' comes after '{_shown(before[-1])}', but indices must increase"
