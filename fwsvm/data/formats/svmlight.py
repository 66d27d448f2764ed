"""LIBSVM's text format (svmlight's): ``label index:value index:value ...``, a row a line, read a piece at a time.

Labels are numbers or text; indices are whole numbers that increase along the row and start at 1, or at 0 where the
first piece of a file has an index 0; what is not written is 0. Read besides: comments after ``#``, empty lines, rows
without entries, any blanks between tokens and after a colon, both kinds of line ends, a missing last line end, ``qid:``
(ignored, with a notice), and compression around it all. A number becomes the double that Python's ``float`` returns.

Pieces are parsed by compiled code on several threads. One that breaks the format is read again in plain Python, which
says what is wrong.
"""

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from fwsvm._mapped import RowMatrix, blocks
from fwsvm.data.dataset import LabelledRows, canonical_csr
from fwsvm.data.formats.svmlight_parser import MAX_INDEX, MAX_INDEX_DIGITS, PADDING, parse_rows
from fwsvm.data.formats.text_files import HEAD_BYTES, FormatError, open_text
from fwsvm.data.labels import number, of_names
from fwsvm.errors import DataError, shortened
from fwsvm.files.atomic import shortest
from fwsvm.numerics.threads import in_order, usable_threads

FOUND_ZERO_BASED = "the file counts its features from 0, as scikit-learn writes them, and is read so"
ZERO_HINT = "; --zero-based reads files that start at 0, --kernel precomputed those of kernel values"
SAYS_ZERO_BASED = b"# Column indices are zero-based"
LABEL = re.compile(rb"([^ #\t-\r]*)")
VALUE = re.compile(rb"[0-9]+:[ \t]*([^ #\t-\r]*)")
BLANKS_AFTER_COLON = re.compile(rb"(?<=[0-9]):[ \t]+")
NOT_FINITE = re.compile(rb"[-+]?(nan|inf(inity)?)", re.IGNORECASE)
PIECE_BYTES = 1 << 18
BLOCK_ENTRIES = 1 << 16  # entries written at a time
QUOTED = 40  # characters of a token in a message


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
        entries = size // 3  # at most: 1: and a blank
        rows = size // 2  # at most: 1 and a newline
        self.text = self.room = np.empty(size, np.uint8)
        self.arrays = np.empty(entries), np.empty(entries, np.int32), *np.empty((4, rows), np.int64)

    def parse(self) -> "Piece":
        """Parse the lines."""
        self.found = found = parse_rows(self.text, *self.arrays)
        values, indices, ends, codes, labels, unread = self.arrays
        self.data, self.indices = values[: found.entries], indices[: found.entries]
        self.indptr, self.codes = ends[: found.rows + 1], codes[: found.rows]
        self.names = self._tokens(LABEL, labels[: found.classes])
        self.is_valid = found.is_valid
        if found.nans:
            words = [word.decode("latin-1") for word in self._tokens(VALUE, unread[: found.nans])]
            self.data[np.isnan(self.data)] = np.array([*map(number, words)], np.float64)
            self.is_valid &= bool(np.isfinite(self.data).all())
        return self

    def _tokens(self, pattern: re.Pattern[bytes], places: NDArray[np.int64]) -> list[bytes]:
        return [found[1] for at in places.tolist() if (found := pattern.match(self.text.data, at))]


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

    def __init__(self) -> None:
        self.arrays: tuple[np.ndarray, np.ndarray] = np.empty(PIECE_BYTES), np.empty(PIECE_BYTES, np.int32)
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
        kind = np.int32 if self.used < 2**31 else np.int64  # SciPy widens indices to that of the ends
        return canonical_csr(*self.arrays, np.concatenate(self.ends).astype(kind), features)


def parse(
    path: Path,
    stream: IO[bytes],
    *,
    zero_based: bool | None = None,
    unlabelled: bool = False,
    add: Callable[[Piece], None] | None = None,
    all_faults: bool = False,
    threads: int = 1,
) -> LabelledRows:
    """Read a stream into sparse rows and labels.

    Parameters
    ----------
    path : Path
        The file that messages name.
    stream : binary file
    zero_based : bool, optional
        Indices start at 0. Without it they do where the first piece has an index 0, or a comment of scikit-learn's
        ``dump_svmlight_file`` says so; a notice tells.
    unlabelled : bool
        Rows may be without labels, all of them or none; the labels are then NaN.
    add : callable, optional
        Takes the rows of each piece. The returned table then has their shape alone.
    all_faults : bool
        Read on after a line that breaks the format, so that the error has all of them.
    threads : int

    Returns
    -------
    LabelledRows
        ``X`` a csr_array of shape (m, largest index), zeros kept where they are written; ``labels`` float64 where all
        are numbers, else text; ``notices`` say what was ignored.

    Raises
    ------
    DataError
        The stream cannot be read, or a line breaks the format: file, line and token are named.
    """
    rows = _Rows()
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
            and ((piece.codes >= 0) == labelled).all()
            and found.least >= least
            and not any(_label_fault(name) for name in piece.names if name not in names)
        ):
            piece.indices -= least
            width = max(width, found.largest + 1 - least)
            empty += found.empty
            queries += found.queries
            lines += found.lines
            numbers = [names.setdefault(name, len(names)) for name in piece.names]
            codes.append(np.array([*numbers, -1])[piece.codes])
            (add or rows.add)(piece)
            free.append(piece)
        else:
            text = piece.text[: -len(PADDING)].tobytes().split(b"\n")
            faults += _faults(text, lines, least=int(zero_based is False), labelled=labelled)
            lines += len(text) - 1
            if not all_faults:
                break
    if faults:
        raise FormatError(path, faults)
    which = np.concatenate(codes)
    labels = of_names([name.decode() for name in names], which) if labelled else np.full(len(which), np.nan)
    notices = {
        FOUND_ZERO_BASED: is_seen and zero_based,
        f"qid: was ignored in {queries} rows": queries,
        f"{empty} empty lines were skipped; a row without a label needs at least one index:value": empty
        and not labelled,
    }
    X = scipy.sparse.csr_array((len(which), width)) if add else rows.finish(width)
    return LabelledRows(
        X,
        labels,
        zero_based=bool(zero_based),
        notices=tuple(said for said, is_true in notices.items() if is_true),
    )


def read(path: str | Path, *, member: str = "", threads: int | None = None, **options: Any) -> LabelledRows:
    """Read a file, plain or compressed, or a member of a zip archive; for the options see `parse`.

    As many threads take part as there are processors for this process, unless ``threads`` says how many. `DataError`
    also where the file is empty or has no rows.
    """
    with open_text(path := Path(path), member) as stream:
        table = parse(path, stream, threads=threads or usable_threads(), **options)
    if not table.rows:
        raise FormatError(path, [(1, "the file has no rows")])
    return table


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
        if why := next(_row_faults(words, least, labelled=labelled), ""):
            if b":" not in line:
                is_header = place == 1 and re.search(rb"[A-Za-z]", line)
                why += (
                    "; if it is a header, leave it out"
                    if is_header
                    else "; fwsvm reads rows as 'label index:value ...', and tables with commas, semicolons or tabs "
                    "from NAME.csv"
                )
            yield place, why


def _row_faults(words: list[bytes], least: int, *, labelled: bool) -> Iterator[str]:
    """Yield what is wrong with the words of a row."""
    if labelled and (why := _label_fault(words[0])):
        yield why
    if not labelled and b":" not in words[0]:
        yield "the row has a label, but rows above have none"
    last = b"-1"
    for word in words[labelled:]:
        index, colon, value = word.partition(b":")
        shown = _shown(word)
        found = number(value.decode("latin-1"))
        if colon and index == b"qid" and last == b"-1":
            continue
        if not colon:
            yield f"'{shown}' is not index:value"
        elif not index.isdigit() or len(index) > MAX_INDEX_DIGITS or not least <= int(index) <= MAX_INDEX:
            hint = ZERO_HINT if index == b"0" else ""
            yield f"index of '{shown}' is not a whole number from {least} to {MAX_INDEX}{hint}"
        elif found is None or np.isinf(found):
            yield f"value of '{shown}' is not a finite number"
        elif int(index) <= int(last.partition(b":")[0]):
            yield f"'{shown}' comes after '{_shown(last)}', but indices must increase"
        else:
            last = word


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


def _shown(token: bytes) -> str:
    """Return a token for a sentence."""
    return shortened(token[: 4 * QUOTED].decode("utf-8", "replace"), QUOTED)


def text_blocks(
    X: RowMatrix, names: list[str], value_text: Callable[[float], str] = shortest
) -> Iterator[str]:
    """Yield the text of consecutive rows, about `BLOCK_ENTRIES` entries at a time.

    ``names`` are the labels as they are to be written, ``value_text`` returns that of a value.
    """
    for name in set(names):
        if name.split() != [name] or name == "nan" or any(mark in name for mark in ":,#"):
            raise DataError(f"label '{name}' cannot be written: a label is one word without ':', ',' and '#'")
    text_of = functools.lru_cache(BLOCK_ENTRIES)(value_text)  # many files have few different numbers
    for some in blocks(X, BLOCK_ENTRIES):
        part = scipy.sparse.csr_array(X[some])
        if not np.isfinite(part.data).all():
            raise DataError(
                f"a value in rows {some.start + 1} to {some.stop} is not finite and cannot be written"
            )
        part.eliminate_zeros()
        entries = [
            f"{j}:{text_of(value)} "
            for j, value in zip((part.indices + 1).tolist(), part.data.tolist(), strict=True)
        ]
        rows = zip(names[some], part.indptr.tolist(), part.indptr[1:].tolist(), strict=False)
        yield "".join(f"{name} {''.join(entries[first:last])}\n" for name, first, last in rows)
