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
from typing import IO, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm.data.dataset import LabelledRows, canonical_csr
from fwsvm.data.formats.svmlight_parser import (
    CODES,
    ENDS,
    FIRSTS,
    INDEX_DIGITS,
    MAX_INDEX,
    UNREAD,
    parse_rows,
)
from fwsvm.data.formats.svmlight_writer import write
from fwsvm.data.formats.text_files import HEAD_BYTES, FormatError, lines_of, open_text
from fwsvm.data.labels import number, of_names
from fwsvm.errors import shortened

__all__ = ["parse", "problems", "read", "write"]

FOUND_ZERO_BASED = "the file counts its features from 0, as scikit-learn writes them, and is read so"
SAYS_ZERO_BASED = b"# Column indices are zero-based"
HEADER = re.compile(rb"[^:\n]*[A-Za-z][^:\n]*\n")
TOKEN = re.compile(rb"[ \t]*([^ #\t-\r]*)")
NOT_FINITE = re.compile(rb"[-+]?(nan|inf(inity)?)", re.IGNORECASE)
QUOTED = 40  # characters of a token in a message

Table = tuple[LabelledRows, tuple[str, ...]]


class Piece(NamedTuple):
    """Some rows of a file, as a `csr_array` has them."""

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]


def _parse(
    path: str | Path,
    stream: IO[bytes],
    size: int,
    *,
    zero_based: bool | None,
    unlabelled: bool,
    lines: int = 0,
    add: Callable[[Piece], None] | None = None,
) -> Table:
    """Return the rows of a stream of about ``size`` bytes, which so many ``lines`` precede, or give them to ``add``."""
    is_seen = zero_based is None
    rows = width = empty = queries = used = 0
    labelled = -1 if unlabelled else 1
    names: dict[str, int] = {}  # labels as they are written, and their numbers
    codes, ends = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    room = 0 if add else size // 4 + 1
    values, indices, lists = np.empty(room), np.empty(room, np.int32), np.empty((4, 0), np.int64)

    def labels_at(places: NDArray[np.int64]) -> Iterator[str]:
        for at in places.tolist():
            word = _token(text, at)
            name = word.decode("utf-8", "surrogateescape")
            if name not in names and (wrong := _label_fault(word)):
                _refuse(path, lines, text, at, wrong)
            yield name

    for text, words in lines_of(stream):
        if len(values) < used + len(text) // 4 + 1:
            for array in (values, indices):
                array.resize(2 * (used + len(text) // 4 + 1), refcheck=False)
        if lists.shape[1] < len(text) // 2 + 2:
            lists = np.empty((4, len(text) // 2 + 2), np.int64)
        found = parse_rows(text, words, int(zero_based is False), labelled, used, values, indices, lists)
        numbers_of = [
            names.setdefault(name, len(names)) for name in labels_at(lists[FIRSTS, : found.classes])
        ]
        if found.stopped >= 0:
            _refuse(path, lines, text, found.stopped, _fault(text, found.stopped, zero_based))
        new = slice(used, found.end)
        if found.unread:
            places = lists[UNREAD, : found.unread]
            numbers = np.array([float(_token(text, at)) for at in places.tolist()])
            values[new][np.isnan(values[new])] = numbers
            for at in places[np.isinf(numbers)].tolist():
                _refuse(
                    path, lines, text, at, f"value '{_shown(_token(text, at))}' is too large for a double"
                )
        rows, lines, labelled = rows + found.rows, lines + found.lines, found.labelled
        width, empty, queries = max(width, found.width), empty + found.empty, queries + found.queries
        if zero_based is None and found.end > used:
            zero_based = indices[new].min() == 0 or SAYS_ZERO_BASED in text[:HEAD_BYTES].tobytes()
            indices[new] -= not zero_based
            width -= not zero_based
        codes.append(np.array([*numbers_of, -1], np.int32)[lists[CODES, : found.rows]])
        if add:
            add(Piece(values[new], indices[new], lists[ENDS, : found.rows + 1]))
        else:
            ends.append(lists[ENDS, 1 : found.rows + 1].copy())
            used = found.end
    X = csr_array((rows, width), dtype=np.float64)
    if not add:
        for array in (values, indices):
            array.resize(used, refcheck=False)
        X = canonical_csr(values, indices, np.concatenate(ends), width)
    which = np.concatenate(codes)
    labels = np.full(rows, np.nan) if labelled == 0 else of_names([*names], which)
    blank = "empty lines were skipped; a row without a label needs at least one index:value"
    notices = {
        FOUND_ZERO_BASED: is_seen and zero_based,
        f"qid: was ignored in {queries} rows": queries,
        f"{empty} {blank}": empty and labelled != 1,
    }
    table = LabelledRows(X, labels, zero_based=bool(zero_based))
    return table, tuple(sentence for sentence, is_true in notices.items() if is_true)


def _refuse(path: str | Path, lines: int, text: NDArray[np.uint8], at: int, why: str) -> NoReturn:
    """Raise `FormatError` for the line that holds ``text[at]``; so many ``lines`` precede the text."""
    line = lines + text[:at].tobytes().count(b"\n") + 1
    hint = "; if it is a header, leave it out" if line == 1 and HEADER.match(text.data) else ""
    raise FormatError(path, line, why + hint)


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
        size = path.stat().st_size
        table, notices = _parse(path, stream, size, zero_based=zero_based, unlabelled=unlabelled, add=add)
    if not table.rows:
        raise FormatError(path, 1, "the file has no rows")
    return table, notices


def parse(
    path: str | Path, text: bytes, *, zero_based: bool = False, unlabelled: bool = False, lines: int = 0
) -> Table:
    """Return the rows of a part of a file, which so many ``lines`` precede. Errors are those of `read`."""
    return _parse(
        path, io.BytesIO(text), len(text), zero_based=zero_based, unlabelled=unlabelled, lines=lines
    )


def problems(path: Path, *, zero_based: bool | None = None) -> Iterator[tuple[int, str]]:
    """Yield every line that `read` refuses, as (line number, reason), at most one reason a line.

    Where ``zero_based`` is None, the first piece says whether indices count from 0.
    """
    found, before = False, 0
    with open_text(path) as stream:
        for piece, _ in lines_of(stream):
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
    return bool(zeros.any()) or SAYS_ZERO_BASED in head[:HEAD_BYTES]


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


def _fault(text: NDArray[np.uint8], at: int, zero_based: bool | None) -> str:
    """Return what is wrong with the row or the entry that starts at ``text[at]``."""
    token = _token(text, at)
    before = text[:at].tobytes().rpartition(b"\n")[2].split()
    if not before:
        return "the row has a label, but rows above have none"
    if token.endswith(b":"):  # blanks may follow the colon
        token += _token(text, at + len(token))
    if zero_based is None:
        zero_based = looks_zero_based(text.tobytes())
    index, colon, value = token.partition(b":")
    shown, least = _shown(token), int(not zero_based)
    if not colon:
        return f"'{shown}' is not index:value"
    if not index.isdigit() or len(index) > INDEX_DIGITS or not least <= int(index) <= MAX_INDEX:
        zero = "; --zero-based reads files that start at 0, --kernel precomputed those of kernel values"
        hint = zero if index == b"0" else ""
        return f"index of '{shown}' is not a whole number from {least} to {MAX_INDEX}{hint}"
    if number(value.decode("latin-1")) is None:
        return f"value of '{shown}' is not {'finite' if NOT_FINITE.fullmatch(value) else 'a number'}"
    return f"'{shown}' comes after '{_shown(before[-1])}', but indices must increase"
