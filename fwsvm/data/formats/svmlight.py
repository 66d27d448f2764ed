"""LIBSVM's text format (svmlight's): ``label index:value index:value ...``, a row a line, read a piece at a time.

Labels are numbers or text; indices are whole numbers that increase along the row and start at 1, or at 0 where a file
has an index 0; what is not written is 0. Read besides: comments after ``#``, empty lines, rows without entries, any
blanks between tokens and after a colon, both kinds of line ends, a missing last line end, ``qid:`` (ignored, with a
notice), and compression around it all. Every number becomes the double that Python's ``float`` returns.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm.data.dataset import LabelledRows, canonical_csr
from fwsvm.data.formats import svmlight_parser as parser
from fwsvm.data.formats.svmlight_errors import (
    NOT_FINITE,
    QUOTED,
    FormatError,
    NoRowsError,
    explain,
    is_index_zero,
    line_number,
    token_at,
)
from fwsvm.data.formats.svmlight_parser import POSITION_BITS, Rules
from fwsvm.data.formats.svmlight_writer import write
from fwsvm.data.formats.text_files import lines_in_pieces
from fwsvm.data.labels import EXACT_WHOLE, number, objection, of_names

__all__ = ["parse", "problems", "read", "tables", "write"]

NUMBER_BYTES = frozenset(b"+-.0123456789eE")
NO_LAST_NEWLINE = "missing a newline character in the end"
FOUND_ZERO_BASED = "the file counts its features from 0, as scikit-learn writes them, and is read so"
ZERO_BASED = re.compile(rb"^# Column indices are zero-based|^(?:[^#\n]*[ \t])?0+:", re.MULTILINE)

AddRows = Callable[[csr_array], None]


class Piece(NamedTuple):
    """The rows of some lines of a file.

    Attributes
    ----------
    X : csr_array of float64, shape (m, 1 + the largest index)
    labels : ndarray of float64, or list of str, m of them; NaN for rows without labels
    skipped, queries : int, empty lines, and ``qid:``
    """

    X: csr_array
    labels: NDArray[np.float64] | list[str]
    skipped: int
    queries: int


class _ReadAgainError(Exception):
    """The file is to be read from its beginning: its indices start at 0, or its labels are text."""


def read(
    path: str | Path,
    *,
    zero_based: bool | None = None,
    unlabelled: bool = False,
    member: str = "",
    begin: Callable[[], AddRows] | None = None,
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
    base, text_labels = bool(zero_based), False
    while True:
        parts: list[csr_array] = []
        add = begin() if begin else parts.append
        try:
            table, notices = _read(Path(path), member, add, base, zero_based is None, unlabelled, text_labels)
            break
        except _ReadAgainError as again:
            base, text_labels = base or again.args[0] == "base", text_labels or again.args[0] == "labels"
    if not begin:
        table = replace(table, X=stacked_csr(parts, table.features))
    found = (FOUND_ZERO_BASED,) if base and zero_based is None else ()
    return table, (*found, *notices)


def _read(
    path: Path, member: str, add: AddRows, base: bool, guess: bool, unlabelled: bool, text_labels: bool
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Read a file once with these rules; give the rows to ``add``."""
    rules = Rules(int(not base), unlabelled=unlabelled)
    numbers: list[NDArray[np.float64]] = []
    names: dict[str, int] = {}
    codes: list[NDArray[np.int32]] = []
    width = rows = skipped = queries = 0
    bare: bool | None = None
    for text, before, _ in lines_in_pieces(path, member):
        if guess and not base and looks_zero_based(text[:4096].tobytes()):
            raise _ReadAgainError("base")
        try:
            piece, piece_is_bare = _parse_piece(
                path, text, rules, text_labels, may_restart=guess and not base
            )
        except NoRowsError:
            continue
        except FormatError as error:
            raise FormatError(path, error.line + before, error.why) from None
        if bare not in (None, piece_is_bare):
            raise mixed_labels(path, before + 1, lacks=piece_is_bare)
        bare = piece_is_bare
        add(piece.X)
        if isinstance(piece.labels, list):
            codes.append(np.array([names.setdefault(name, len(names)) for name in piece.labels], np.int32))
        else:
            numbers.append(piece.labels)
        width, rows = max(width, piece.X.shape[1]), rows + piece.X.shape[0]
        skipped, queries = skipped + piece.skipped, queries + piece.queries
    if not rows:
        raise NoRowsError(path, 1, "the file has no rows")
    labels = np.concatenate(numbers) if numbers else of_names(list(names), np.concatenate(codes), str(path))
    shape_only = csr_array((rows, width), dtype=np.float64)
    return LabelledRows(shape_only, labels, zero_based=base), tuple(_notices(queries, skipped if bare else 0))


def stacked_csr(parts: list[csr_array], features: int) -> csr_array:
    """Return the rows of all parts in order, in ``features`` columns."""
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    data, indices = (np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "indices"))
    return canonical_csr(data, indices, indptr, features)


def looks_zero_based(head: bytes) -> bool:
    """Whether an index 0, or scikit-learn's comment, in the first bytes of a file says that indices start at 0."""
    return ZERO_BASED.search(head) is not None


def parse(
    path: str | Path, text: NDArray[np.uint8], *, zero_based: bool = False, unlabelled: bool = False
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the rows of a part of a file, read-only and ending in a newline; lines are counted from its start.

    Raises
    ------
    NoRowsError
        The text has none.
    FormatError
        A line breaks the format.
    """
    table, queries, empty = _parse_text(path, text, Rules(int(not zero_based), unlabelled=unlabelled))
    return table, tuple(_notices(queries, empty))


def _parse_text(path: str | Path, text: NDArray[np.uint8], rules: Rules) -> tuple[LabelledRows, int, int]:
    """Return the rows of a text, and how many ``qid:`` and empty lines were ignored."""
    try:
        piece, bare = _parse_piece(path, text, rules, text_labels=False)
    except _ReadAgainError:
        piece, bare = _parse_piece(path, text, rules, text_labels=True)
    labels: NDArray[np.float64] | NDArray[np.str_]
    if isinstance(piece.labels, list):
        names: dict[str, int] = {}
        codes = np.array([names.setdefault(name, len(names)) for name in piece.labels])
        labels = of_names(list(names), codes, str(path))
    else:
        labels = piece.labels
    table = LabelledRows(piece.X, labels, zero_based=not rules.first_index)
    return table, piece.queries, piece.skipped if bare else 0


def tables(path: Path, *, zero_based: bool | None = None) -> Iterator[tuple[LabelledRows, tuple[str, ...]]]:
    """Yield the rows of each piece of a file, with or without labels, and notices about the file up to its end.

    Each has as many columns as its own largest index. Whether indices start at 0 is seen from the first piece. Errors
    are those of `read`.
    """
    rows = queries = empty = 0
    found: tuple[str, ...] = ()
    for text, before, _ in lines_in_pieces(path):
        if zero_based is None:
            zero_based = looks_zero_based(text.tobytes())
            found = (FOUND_ZERO_BASED,) if zero_based else ()
        try:
            table, ignored, skipped = _parse_text(path, text, Rules(int(not zero_based), unlabelled=True))
        except NoRowsError:
            continue
        except FormatError as error:
            raise FormatError(path, error.line + before, error.why) from None
        rows, queries, empty = rows + table.rows, queries + ignored, empty + skipped
        yield table, (*found, *_notices(queries, empty))
    if not rows:
        raise NoRowsError(path, 1, "the file has no rows")


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
    empty = True
    for text, before, ended in lines_in_pieces(Path(path)):
        if zero_based is None:
            zero_based = looks_zero_based(text[:4096].tobytes())
        rules = Rules(int(not zero_based), strict=strict)
        at, clean, rows = 0, True, _buffers(text)
        while at < len(text) and (stopped := parser.parse_rows(text, at, rules, rows)[0]) >= 0:
            clean = empty = False
            yield before + line_number(text, stopped), explain(text, stopped, rules)
            at = parser.skip_line(text, stopped)
        if clean:
            try:
                look(parse(path, text, zero_based=zero_based)[0])
                empty = False
            except NoRowsError:
                pass
            except FormatError as refusal:
                empty = False
                yield before + refusal.line, refusal.why
        if strict and not ended:
            yield before + line_number(text, len(text) - 1), NO_LAST_NEWLINE
    if empty:
        yield 1, "the file has no rows"


def _buffers(text: NDArray[np.uint8]) -> parser.RowBuffers:
    """Allocate arrays for all rows and entries that a text can hold."""
    lines, colons = parser.count_newlines_and_colons(text)
    values = np.empty(colons)
    return parser.RowBuffers(
        indptr=np.zeros(lines + 1, np.int64),
        indices=np.empty(colons, np.int32),
        values=values,
        bits=values.view(np.int64),
        labels=np.empty(lines),
        label_at=np.empty(lines, np.int64),
    )


def _parse_piece(
    path: str | Path, text: NDArray[np.uint8], rules: Rules, text_labels: bool, *, may_restart: bool = False
) -> tuple[Piece, bool]:
    """Return the rows of a text, and whether they have no labels."""
    buffers = _buffers(text)
    stopped, m, z, width, skipped, queries = parser.parse_rows(text, 0, rules, buffers)
    if stopped >= 0:
        if may_restart and is_index_zero(text, stopped):
            raise _ReadAgainError("base")
        raise FormatError(path, line_number(text, stopped), explain(text, stopped, rules))
    if m == 0:
        raise NoRowsError(path, 1, "the file has no rows")
    _parse_by_python(path, text, buffers.values[:z], buffers.bits[:z])
    X = canonical_csr(buffers.values[:z], buffers.indices[:z], buffers.indptr[: m + 1], width)
    labels, label_at = buffers.labels[:m], buffers.label_at[:m]
    bare = label_at < 0
    if bare.any() and not bare.all():
        odd = int(label_at[np.argmax(bare != bare[0])])
        raise mixed_labels(path, line_number(text, max(odd, ~odd)), lacks=odd < 0)
    if bare[0]:
        return Piece(X, np.full(m, np.nan), skipped, queries), True
    if text_labels:
        return Piece(X, [_name(path, text, at) for at in label_at.tolist()], skipped, queries), False
    if not (np.abs(labels) < EXACT_WHOLE).all():  # text, or a number that would be rounded
        raise _ReadAgainError("labels")
    return Piece(X, labels.copy(), skipped, queries), False


def _parse_by_python(
    path: str | Path, text: NDArray[np.uint8], values: NDArray[np.float64], bits: NDArray[np.int64]
) -> None:
    """Replace every NaN in ``values``, shape (z,), by the number at the position of the text in its payload.

    ``bits`` is the same memory as int64. `FormatError` if a number is too large for a double.
    """
    for i in np.flatnonzero(np.isnan(values)):
        start = stop = int(bits[i] & POSITION_BITS)
        while int(text[stop]) in NUMBER_BYTES:
            stop += 1
        word = text[start:stop].tobytes()
        values[i] = float(word)
        if math.isinf(values[i]):
            shown = word.decode()[:QUOTED]
            raise FormatError(path, line_number(text, start), f"value '{shown}' is too large for a double")


def mixed_labels(path: str | Path, line: int, *, lacks: bool) -> FormatError:
    """Return the refusal of a row that lacks a label, or has one, other than the rows above."""
    why = "has no label, but rows above have one" if lacks else "has a label, but rows above have none"
    return FormatError(path, line, f"the row {why}")


def _name(path: str | Path, text: NDArray[np.uint8], at: int) -> str:
    """Return the label at ``text[at]`` as text; refuse what is not UTF-8, not finite or not printable."""
    word = token_at(text, at, len(text))
    try:
        name = word.decode()
    except UnicodeDecodeError:
        raise FormatError(path, line_number(text, at), "the label is not UTF-8 text") from None
    if NOT_FINITE.fullmatch(word) or abs(number(name) or 0.0) == math.inf:
        raise FormatError(path, line_number(text, at), f"label '{name[:QUOTED]}' is not finite")
    if wrong := objection(name):
        raise FormatError(path, line_number(text, at), wrong)
    return name


def _notices(queries: int, empty: int) -> Iterator[str]:
    """Yield what the user should know of what was ignored in a file."""
    if queries:
        yield f"qid: was ignored in {queries} rows"
    if empty:
        yield f"{empty} empty lines were skipped; a row without a label needs at least one index:value"
