"""LIBSVM's text format (svmlight's): ``label index:value index:value ...``, a row a line, read a piece at a time.

Labels are numbers or text; indices are whole numbers that increase along the row and start at 1, or at 0 where the
first piece of a file has an index 0; what is not written is 0. Read besides: comments after ``#``, empty lines, rows
without entries, any blanks between tokens and after a colon, both kinds of line ends, a missing last line end, ``qid:``
(ignored, with a notice), and compression around it all. A number becomes the double that Python's ``float`` returns.

Pieces are parsed by compiled code on several threads. One that breaks the format is read again in plain Python, which
says what is wrong.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
import scipy

from fwsvm.data.dataset import LabelledRows, canonical_csr
from fwsvm.data.formats.svmlight_parser import MAX_INDEX, MAX_INDEX_DIGITS, PADDING, parse_rows
from fwsvm.data.formats.text_files import HEAD_BYTES, FormatError, open_text
from fwsvm.data.labels import number, of_names
from fwsvm.errors import shortened
from fwsvm.numerics.threads import in_order, usable_threads

FOUND_ZERO_BASED = "the file counts its features from 0, as scikit-learn writes them, and is read so"
SAYS_ZERO_BASED = b"# Column indices are zero-based"
LABEL = re.compile(rb"([^ #\t-\r]*)")
VALUE = re.compile(rb"[0-9]+:[ \t]*([^ #\t-\r]*)")
BLANKS_AFTER_COLON = re.compile(rb"(?<=[0-9]):[ \t]+")
NOT_FINITE = re.compile(rb"[-+]?(nan|inf(inity)?)", re.IGNORECASE)
PIECE_BYTES = 1 << 18
QUOTED = 40  # characters of a token in a message

Table = tuple[LabelledRows, tuple[str, ...]]


class Piece:
    """Some lines of a file and what is parsed from them; used again for other lines, since new memory costs time.

    Attributes
    ----------
    text : ndarray of uint8
        The lines, and `PADDING`.
    found : Parsed
    is_valid : bool
        Whether all rows and values are.
    data, indices, indptr : ndarray
        Those of a `csr_array`; indices are as they are written.
    codes, names : ndarray, list of bytes
        The number of each row's label, -1 without, and the labels.
    """

    def __init__(self, size: int) -> None:
        entries, rows = size // 3, size // 2  # at most: 1: and a blank, 1 and a newline
        self.text = self.room = np.empty(size, np.uint8)
        self.arrays = np.empty(entries), np.empty(entries, np.int32), *np.empty((5, rows), np.int64)

    def parse(self) -> "Piece":
        """Parse the lines."""
        self.found = found = parse_rows(self.text, *self.arrays)
        values, indices, ends, codes, labels, unread, holes = self.arrays
        self.data, self.indices = values[: found.entries], indices[: found.entries]
        self.indptr, self.codes = ends[: found.rows + 1], codes[: found.rows]
        self.names = [self._token(LABEL, at) for at in labels[: found.classes].tolist()]
        words = [self._token(VALUE, at).decode("latin-1") for at in unread[: found.nans].tolist()]
        numbers = np.array([*map(number, words)], np.float64)
        self.data[holes[: found.nans]] = numbers
        self.is_valid = found.is_valid and bool(np.isfinite(numbers).all())
        return self

    def _token(self, pattern: re.Pattern[bytes], at: int) -> bytes:
        found = pattern.match(self.text.data, at)
        return found[1] if found else b""


def pieces_of(stream: IO[bytes], free: list[Piece]) -> Iterator[Piece]:
    """Yield the lines of a stream a piece at a time, in pieces that are free."""
    while True:
        piece = free.pop() if free else Piece(PIECE_BYTES + HEAD_BYTES)
        got = stream.readinto(piece.room[:PIECE_BYTES].data)  # type: ignore[attr-defined]
        if not got:
            return
        rest = np.frombuffer(stream.readline() + PADDING, np.uint8)
        if (size := got + len(rest)) > len(piece.room):
            head, piece = piece.room[:got], Piece(2 * size)
            piece.room[:got] = head
        piece.room[got:size], piece.text = rest, piece.room[:size]
        yield piece


class _Rows:
    """Rows in memory, to which pieces are added."""

    def __init__(self, room: int) -> None:
        self.arrays: tuple[np.ndarray, np.ndarray] = np.empty(room), np.empty(room, np.int32)
        self.used, self.ends = 0, [np.zeros(1, np.int64)]

    def add(self, piece: Piece) -> None:
        """Append the rows of a piece."""
        self.ends.append(self.used + piece.indptr[1:])
        start, self.used = self.used, self.used + len(piece.data)
        for array, new in zip(self.arrays, (piece.data, piece.indices), strict=True):
            if len(array) < self.used:
                array.resize(2 * self.used, refcheck=False)
            array[start : self.used] = new

    def finish(self, features: int) -> "scipy.sparse.csr_array":
        """Return the rows."""
        for array in self.arrays:
            array.resize(self.used, refcheck=False)
        return canonical_csr(*self.arrays, np.concatenate(self.ends), features)


def parse(
    path: str | Path,
    stream: IO[bytes],
    size: int,
    *,
    zero_based: bool | None,
    unlabelled: bool = False,
    add: Callable[[Piece], None] | None = None,
    all_faults: bool = False,
    threads: int = 1,
) -> Table:
    """Return the rows of a stream of about ``size`` bytes; for the rest see `read`."""
    rows = _Rows(0 if add else size // 4)
    is_seen, labelled = zero_based is None, None if unlabelled else True
    names: dict[bytes, int] = {}  # labels as they are written, and their numbers
    codes = [np.zeros(0, np.int64)]
    free: list[Piece] = []
    faults: list[tuple[int, str]] = []
    width = lines = empty = queries = 0
    for piece in in_order(Piece.parse, pieces_of(stream, free), threads):
        found = piece.found
        if zero_based is None and found.entries:
            zero_based = looks_zero_based(piece)
        if labelled is None and found.rows:
            labelled = bool(piece.codes[0] >= 0)
        least = int(not zero_based)
        if (
            piece.is_valid
            and found.labelled == (found.rows if labelled else 0)
            and found.least >= least
            and not any(_label_fault(name) for name in piece.names if name not in names)
        ):
            piece.indices -= least
            width = max(width, found.largest + 1 - least)
            empty, queries, lines = empty + found.empty, queries + found.queries, lines + found.lines
            numbers = [names.setdefault(name, len(names)) for name in piece.names]
            codes.append(np.array([*numbers, -1])[piece.codes])
            (add or rows.add)(piece)
            free.append(piece)
        else:
            text = piece.text[: -len(PADDING)].tobytes().split(b"\n")
            faults += _faults(text, lines, least=int(zero_based is False), labelled=labelled)
            lines += len(text) - 1
            if not all_faults:
                raise FormatError(path, faults)
    if faults:
        raise FormatError(path, faults)
    which = np.concatenate(codes)
    labels = of_names([name.decode() for name in names], which) if labelled else np.full(len(which), np.nan)
    blank = "empty lines were skipped; a row without a label needs at least one index:value"
    notices = {
        FOUND_ZERO_BASED: is_seen and zero_based,
        f"qid: was ignored in {queries} rows": queries,
        f"{empty} {blank}": empty and not labelled,
    }
    X = scipy.sparse.csr_array((len(which), width)) if add else rows.finish(width)
    table = LabelledRows(X, labels, zero_based=bool(zero_based))
    return table, tuple(sentence for sentence, is_true in notices.items() if is_true)


def read(
    path: str | Path,
    *,
    zero_based: bool | None = None,
    unlabelled: bool = False,
    member: str = "",
    add: Callable[[Piece], None] | None = None,
    all_faults: bool = False,
    threads: int | None = None,
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
    all_faults : bool
        Read on after a line that breaks the format, so that the error has all of them.
    threads : int, optional
        Number of threads; by default as many as there are processors for this process.

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
        table, notices = parse(
            path,
            stream,
            path.stat().st_size,
            zero_based=zero_based,
            unlabelled=unlabelled,
            add=add,
            all_faults=all_faults,
            threads=threads or usable_threads(),
        )
    if not table.rows:
        raise FormatError(path, [(1, "the file has no rows")])
    return table, notices


def looks_zero_based(first: Piece) -> bool:
    """Whether an index 0, or scikit-learn's comment, in the first piece of a file says that indices start at 0."""
    return first.found.least == 0 or SAYS_ZERO_BASED in first.text[:HEAD_BYTES].tobytes()


def _faults(
    lines: list[bytes], before: int, *, least: int, labelled: bool | None
) -> Iterator[tuple[int, str]]:
    """Yield the lines that break the format, and why; so many lines are ``before`` them."""
    for place, line in enumerate(lines, before + 1):
        words = BLANKS_AFTER_COLON.sub(b":", line.partition(b"#")[0]).split()
        if not words:
            continue
        if labelled is None:
            labelled = b":" not in words[0]
        if why := _fault(words, least, labelled=labelled):
            yield place, why + _hint(line, place)


def _fault(words: list[bytes], least: int, *, labelled: bool) -> str:
    """Return what is wrong with the words of a row; empty where nothing is."""
    if labelled and (why := _label_fault(words[0])):
        return why
    if not labelled and b":" not in words[0]:
        return "the row has a label, but rows above have none"
    last, last_index = b"", -1
    for word in words[labelled:]:
        index, colon, value = word.partition(b":")
        shown, found = _shown(word), number(value.decode("latin-1"))
        if colon and index == b"qid" and not last:
            continue
        if not colon:
            return f"'{shown}' is not index:value"
        if not index.isdigit() or len(index) > MAX_INDEX_DIGITS or not least <= int(index) <= MAX_INDEX:
            zero = "; --zero-based reads files that start at 0, --kernel precomputed those of kernel values"
            why = f"index of '{shown}' is not a whole number from {least} to {MAX_INDEX}" + zero * (
                index == b"0"
            )
        elif found is None:
            why = f"value of '{shown}' is not {'finite' if NOT_FINITE.fullmatch(value) else 'a number'}"
        elif np.isinf(found):
            why = f"value '{_shown(value)}' is too large for a double"
        elif int(index) <= last_index:
            why = f"'{shown}' comes after '{_shown(last)}', but indices must increase"
        else:
            last, last_index = word, int(index)
            continue
        return why
    return ""


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


def _hint(line: bytes, place: int) -> str:
    """Return what to do about a wrong line, as the end of a sentence."""
    if b"\r" in line.strip():
        return "; if lines end in a carriage return alone, write newlines instead"
    if b":" in line:
        return ""
    if place == 1 and re.search(rb"[A-Za-z]", line):
        return "; if it is a header, leave it out"
    return "; fwsvm reads rows as 'label index:value ...', and tables with commas, semicolons or tabs from NAME.csv"


def _shown(token: bytes) -> str:
    """Return a token for a sentence."""
    return shortened(token[: 4 * QUOTED].decode("utf-8", "replace"), QUOTED)
