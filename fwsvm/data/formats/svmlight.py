"""LIBSVM's text format (svmlight's): ``label index:value index:value ...``, a row a line.

Labels are numbers or names; indices are whole numbers that increase along the row and start at 1; what is not
written is 0. Read besides: comments after ``#``, empty lines, rows without entries, any blanks between
tokens, both kinds of line ends, a missing last line end, ``qid:`` (ignored, with a notice), and gzip, bzip2,
xz or compress around it all. Every number becomes the same double as Python's ``float`` makes of it.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._memory import require
from fwsvm.data.dataset import ENTRY, ROW, LabelledRows
from fwsvm.data.formats import svmlight_parser
from fwsvm.data.formats.decimal_fallback import parse_by_python
from fwsvm.data.formats.interning import intern, token_bytes
from fwsvm.data.formats.svmlight_errors import (
    NOT_FINITE,
    FormatError,
    IndexZeroError,
    NoRowsError,
    explain,
    is_index_zero,
    line_number,
)
from fwsvm.data.formats.svmlight_writer import write
from fwsvm.data.formats.text_file import FEWER, HEAD_BYTES, read_text
from fwsvm.data.labels import EXACT_WHOLE, number, objection, of_names
from fwsvm.errors import DataError

__all__ = ["parse", "problems", "read", "write"]

LARGEST_INT32 = 2**31 - 1
FOUND_ZERO_BASED = "the file counts its features from 0, as scikit-learn writes them, and is read so"
ZERO_BASED = re.compile(rb"^# Column indices are zero-based|^(?:[^#\n]*[ \t])?0+:", re.MULTILINE)
NO_LAST_NEWLINE = "missing a newline character in the end"


def read(
    path: str | Path, *, zero_based: bool | None = None, features: int | None = None, unlabelled: bool = False
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Read a file into sparse rows and labels.

    Parameters
    ----------
    path : str or Path
        Plain, gzip, bzip2, xz or compress (.Z); which of them is seen from its first bytes.
    zero_based : bool, optional
        Indices start at 0. Without it they do where an index is 0, or where a comment of scikit-learn's
        ``dump_svmlight_file`` says so; a notice tells.
    features : int, optional
        The number of columns; without it, the largest index found.
    unlabelled : bool
        Rows may be without labels, all of them or none; the labels are then NaN.

    Returns
    -------
    table : LabelledRows
        ``X`` a csr_array of shape (m, features) with int32 indices (int64 from 2^31 entries on), zeros kept
        where they are written; ``labels`` float64 where all are numbers, else text.
    notices : tuple of str
        What was ignored.

    Raises
    ------
    DataError
        The file cannot be read, is empty, or a line breaks the format: file, line and token are named.
    """
    return parse(
        path, read_text(path).content, zero_based=zero_based, features=features, unlabelled=unlabelled
    )


def parse(
    path: str | Path,
    text: NDArray[np.uint8],
    *,
    zero_based: bool | None = None,
    features: int | None = None,
    unlabelled: bool = False,
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the rows of a text, read-only and ending in a newline, as `read` does; ``path`` is for messages.

    Raises
    ------
    NoRowsError
        The text has none.
    FormatError
        A line breaks the format; lines are counted from the start of the text.
    """
    options: dict[str, Any] = {"features": features, "unlabelled": unlabelled}
    base = looks_zero_based(text[:HEAD_BYTES].tobytes()) if zero_based is None else zero_based
    try:
        table, ignored = parse_counting(path, text, zero_based=base, **options)
    except IndexZeroError:
        if zero_based is not None:
            raise
        base = True
        table, ignored = parse_counting(path, text, zero_based=base, **options)
    found = (FOUND_ZERO_BASED,) if base and zero_based is None else ()
    return replace(table, zero_based=base), (*found, *notices(ignored))


def looks_zero_based(head: bytes) -> bool:
    """Whether an index 0, or scikit-learn's comment, in the first bytes of a file says that indices start at 0."""
    return ZERO_BASED.search(head) is not None


class Ignored(NamedTuple):
    """How many rows have ``qid:``, and how many empty lines a text without labels has."""

    queries: int = 0
    empty: int = 0

    def and_of(self, more: "Ignored") -> "Ignored":
        """Return what was ignored in this text and another of the same file."""
        return Ignored(self.queries + more.queries, self.empty + more.empty)


def parse_counting(
    path: str | Path,
    text: NDArray[np.uint8],
    *,
    zero_based: bool = False,
    features: int | None = None,
    unlabelled: bool = False,
) -> tuple[LabelledRows, Ignored]:
    """Return the rows of a text as `parse` does, and counts in place of notices."""
    allowed = svmlight_parser.MAX_FEATURES if features is None else features
    found = entries(path, text, svmlight_parser.TextFormat(int(not zero_based), allowed, unlabelled, False))
    m, z = len(found.numbers), len(found.values)
    labels = _labels(path, text, found.numbers, found.label_at)
    kind = np.int32 if z <= LARGEST_INT32 else np.int64
    indices, indptr = found.indices.astype(kind, copy=False), found.indptr.astype(kind, copy=False)
    X = csr_array((found.values, indices, indptr), shape=(m, found.width if features is None else features))
    X.has_sorted_indices = True
    X.has_canonical_format = True
    return LabelledRows(X, labels), Ignored(found.queries, found.skipped if found.label_at[0] < 0 else 0)


class Entries(NamedTuple):
    """What a text of m rows holds.

    Attributes
    ----------
    indptr : ndarray of int64, shape (m + 1,)
    indices : ndarray of int32, shape (z,), from 0
    values : ndarray of float64, shape (z,)
    numbers : ndarray of float64, shape (m,), the labels, NaN for one that is a name
    label_at : ndarray of int64, shape (m,), where in the text a label is; ~start of the row if it has none
    width : int, one more than the largest index
    skipped, queries : int, empty lines, and ``qid:``
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    numbers: NDArray[np.float64]
    label_at: NDArray[np.int64]
    width: int
    skipped: int
    queries: int


def entries(path: str | Path, text: NDArray[np.uint8], rules: svmlight_parser.TextFormat) -> Entries:
    """Return what a text holds; see `parse` for the errors."""
    rows = _space(path, text)
    stopped, m, z, width, skipped, queries = svmlight_parser.parse_rows(text, 0, rules, rows)
    if stopped >= 0:
        kind = IndexZeroError if rules.first_index and is_index_zero(text, stopped) else FormatError
        raise kind(path, line_number(text, stopped), explain(text, stopped, rules))
    if m == 0:
        raise NoRowsError(path, 1, "the file has no rows")
    parse_by_python(path, text, rows.values[:z], rows.bits[:z])
    return Entries(
        rows.indptr[: m + 1], rows.indices[:z], rows.values[:z], rows.labels[:m], rows.label_at[:m], width, skipped,
        queries,
    )  # fmt: skip


def problems(
    path: str | Path, *, zero_based: bool = False, strict: bool = True,
    look: Callable[[LabelledRows], None] = lambda _: None,
) -> Iterator[tuple[int, str]]:  # fmt: skip
    """Yield every line that breaks the format, as (line number, reason), at most one reason a line.

    The rows of a file without any are read, and given to ``look``.

    With ``strict``, also what `read` takes but LIBSVM's own programs do not: comments, empty lines, names as
    labels, ``qid:`` and a missing last line end.
    """
    text, ended = read_text(path)
    clean = ended or not strict
    for problem in problems_of(path, text, rules_of(zero_based=zero_based, strict=strict)):
        clean = False
        yield problem
    if not ended and strict:
        yield line_number(text, len(text) - 1), NO_LAST_NEWLINE
    if clean:
        try:
            table, _ = parse(path, text, zero_based=zero_based)
        except FormatError as refusal:
            yield refusal.line, refusal.why
        else:
            look(table)


def rules_of(*, zero_based: bool, strict: bool) -> svmlight_parser.TextFormat:
    """Return the rules of rows with labels, with ``strict`` those of LIBSVM's own programs."""
    return svmlight_parser.TextFormat(int(not zero_based), svmlight_parser.MAX_FEATURES, False, strict)


def problems_of(
    path: str | Path, text: NDArray[np.uint8], rules: svmlight_parser.TextFormat
) -> Iterator[tuple[int, str]]:
    """Yield every line of a text that the parser stops in, counted from the start of the text, and why."""
    rows = _space(path, text)
    at, seen, line = 0, 0, 1
    while at < len(text):
        stopped, *_ = svmlight_parser.parse_rows(text, at, rules, rows)
        if stopped < 0:
            return
        line += line_number(text[seen:], stopped - seen) - 1
        yield line, explain(text, stopped, rules)
        seen, at = stopped, svmlight_parser.skip_line(text, stopped)


def _space(path: str | Path, text: NDArray[np.uint8]) -> svmlight_parser.RowBuffers:
    """Allocate arrays for all rows and entries that a text can hold."""
    lines, colons = svmlight_parser.count_newlines_and_colons(text)
    require(ROW * lines + ENTRY * colons, f"{path}: reading {lines:,} lines", FEWER, DataError)
    values = np.empty(colons)
    return svmlight_parser.RowBuffers(
        indptr=np.zeros(lines + 1, np.int64),
        indices=np.empty(colons, np.int32),
        values=values,
        bits=values.view(np.int64),
        labels=np.empty(lines),
        label_at=np.empty(lines, np.int64),
    )


def _labels(
    path: str | Path, text: NDArray[np.uint8], numbers: NDArray[np.float64], label_at: NDArray[np.int64]
) -> NDArray[np.float64] | NDArray[np.str_]:
    """Return the labels, shape (m,): float64 if all are numbers, else text."""
    bare = label_at < 0
    if bare[0] and bare.all():
        return np.full(len(numbers), np.nan)
    if bare.any():
        odd = int(label_at[np.argmax(bare != bare[0])])
        raise mixed_labels(path, line_number(text, max(odd, ~odd)), lacks=odd < 0)
    if (np.abs(numbers) < EXACT_WHOLE).all():  # no number is rounded, and none is NaN
        return numbers.copy()
    codes, names = label_names(path, text, label_at)
    return of_names(names, codes, str(path))


def mixed_labels(path: str | Path, line: int, *, lacks: bool) -> FormatError:
    """Return the refusal of a row that lacks a label, or has one, other than the rows above."""
    why = "has no label, but rows above have one" if lacks else "has a label, but rows above have none"
    return FormatError(path, line, f"the row {why}")


def label_names(
    path: str | Path, text: NDArray[np.uint8], label_at: NDArray[np.int64]
) -> tuple[NDArray[np.int32], list[str]]:
    """Return the different labels that stand at these places, and the number among them of each, shape (m,)."""
    stops = svmlight_parser.token_ends(text, label_at)
    codes, firsts = intern(text, label_at, stops)
    found = token_bytes(text, label_at[firsts], stops[firsts])
    return codes, [_name(path, text, label_at[i], word) for i, word in zip(firsts, found, strict=True)]


def _name(path: str | Path, text: NDArray[np.uint8], at: int, word: bytes) -> str:
    """Return a label as text; refuse what is not UTF-8, not finite or not printable."""
    try:
        name = word.decode()
    except UnicodeDecodeError:
        raise FormatError(path, line_number(text, at), "the label is not UTF-8 text") from None
    if NOT_FINITE.fullmatch(word) or abs(number(name) or 0.0) == math.inf:
        raise FormatError(path, line_number(text, at), f"label '{name}' is not finite")
    if wrong := objection(name):
        raise FormatError(path, line_number(text, at), wrong)
    return name


def notices(ignored: Ignored) -> Iterator[str]:
    """Yield what the user should know of what was ignored in a file."""
    if ignored.queries:
        yield f"qid: was ignored in {ignored.queries} rows"
    if ignored.empty:
        yield f"{ignored.empty} empty lines were skipped; a row without a label needs at least one index:value"
