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
from typing import IO, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from fwsvm._mapped import RowMatrix, blocks
from fwsvm.data.dataset import LabelledRows, canonical_csr, row_ends
from fwsvm.data.formats.svmlight_parser import MAX_INDEX, MAX_INDEX_DIGITS, PADDING, Parsed, parse_rows
from fwsvm.data.formats.text_files import HEAD_BYTES, FormatError, open_text
from fwsvm.data.labels import Labels, label_text, number, of_names
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


class Piece(NamedTuple):
    """Some lines of a file, with `PADDING`, and what they hold; ``names`` are their labels."""

    text: bytes
    found: Parsed
    names: list[bytes]
    is_valid: bool


def texts_of(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream, some at a time, with `PADDING`."""
    while start := stream.read(PIECE_BYTES):
        yield b"".join((start, stream.readline(), PADDING))


def parse_piece(text: bytes) -> Piece:
    """Parse some lines."""
    found = parse_rows(np.frombuffer(text, np.uint8))
    is_valid = found.is_valid
    if len(found.unread):
        words = [word.decode("latin-1") for word in _tokens(VALUE, text, found.unread)]
        numbers = found.data[np.isnan(found.data)] = np.array([*map(number, words)], np.float64)
        is_valid &= bool(np.isfinite(numbers).all())
    return Piece(text, found, _tokens(LABEL, text, found.labels), is_valid)


def _tokens(pattern: re.Pattern[bytes], text: bytes, places: NDArray[np.int64]) -> list[bytes]:
    return [found[1] for at in places.tolist() if (found := pattern.match(text, at))]


def parse(
    path: Path,
    stream: IO[bytes],
    *,
    zero_based: bool | None = None,
    unlabelled: bool = False,
    add: Callable[[Parsed], None] | None = None,
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
    is_seen = zero_based is None
    labelled = None if unlabelled else True
    names: dict[bytes, int] = {}  # labels as they are written, and their numbers
    codes = [np.zeros(0, np.int64)]
    faults: list[tuple[int, str]] = []
    width = lines = empty = queries = 0
    data, places, lengths = bytearray(), bytearray(), list[np.ndarray]()  # rows in memory

    def keep(rows: Parsed) -> None:
        data.extend(rows.data)
        places.extend(rows.indices)
        lengths.append(np.diff(rows.indptr))

    for piece in in_order(parse_piece, texts_of(stream), threads):
        found = piece.found
        if zero_based is None and len(found.data):
            zero_based = looks_zero_based(piece)
        if labelled is None and len(found.codes):
            labelled = bool(found.codes[0] >= 0)
        least = int(not zero_based)
        if (
            piece.is_valid
            and ((found.codes >= 0) == labelled).all()
            and found.least >= least
            and not any(_label_fault(name) for name in piece.names if name not in names)
        ):
            np.subtract(found.indices, least, out=found.indices)
            width = max(width, found.largest + 1 - least)
            empty += found.empty
            queries += found.queries
            lines += found.lines
            numbers = [names.setdefault(name, len(names)) for name in piece.names]
            codes.append(np.array([*numbers, -1])[found.codes])
            (add or keep)(found)
        else:
            text = piece.text[: -len(PADDING)].split(b"\n")
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
    X = (
        scipy.sparse.csr_array((len(which), width))
        if add
        else canonical_csr(np.frombuffer(data), np.frombuffer(places, np.int32), row_ends(lengths), width)
    )
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
    return first.found.least == 0 or SAYS_ZERO_BASED in first.text[:HEAD_BYTES]


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
    return shortened(token.decode("utf-8", "replace"), QUOTED)


def text_blocks(X: RowMatrix, labels: Labels, value_text: Callable[[float], str] = shortest) -> Iterator[str]:
    """Yield the text of consecutive rows, about `BLOCK_ENTRIES` finite values at a time, each by ``value_text``."""
    names = [*map(label_text, labels.tolist())]
    for name in set(names):
        if name.partition("#")[0].split() != [name] or _label_fault(name.encode()):
            raise DataError(f"label '{name}' cannot be written: a label is one word without ':', ',' and '#'")
    text_of = functools.lru_cache(BLOCK_ENTRIES)(value_text)  # many files have few different numbers
    for some in blocks(X, BLOCK_ENTRIES):
        part = scipy.sparse.csr_array(X[some])
        part.eliminate_zeros()
        entries = [
            f"{j}:{text_of(value)} "
            for j, value in zip((part.indices + 1).tolist(), part.data.tolist(), strict=True)
        ]
        rows = zip(names[some], part.indptr.tolist(), part.indptr[1:].tolist(), strict=False)
        yield "".join(f"{name} {''.join(entries[first:last])}\n" for name, first, last in rows)
