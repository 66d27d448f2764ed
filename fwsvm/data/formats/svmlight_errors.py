"""Error messages of the LIBSVM format: file, line, token and what is wrong with it."""

import math
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fwsvm.data import labels
from fwsvm.data.formats.svmlight_parser import (
    COLON,
    MAX_FEATURES,
    MAX_INDEX_DIGITS,
    NEWLINE,
    Rules,
    count_newlines_and_colons,
)
from fwsvm.errors import DataError, clipped

QUOTED = 40  # characters of a token
MAX_TOKEN_BYTES = 10_000  # of an invalid token that are examined
TOKEN_PATTERN = re.compile(rb"[^ #\t-\r]*")  # to what `fwsvm.data.formats.svmlight_parser.ends_token` names
INDEX_ZERO = re.compile(rb"0+:")
NOT_FINITE = re.compile(rb"[-+]?(nan|inf(inity)?)", re.IGNORECASE)


class FormatError(DataError):
    """A line that breaks the format of its file."""

    def __init__(self, path: str | Path, line: int, why: str) -> None:
        super().__init__(f"{path}:{line}: {why}")
        self.line = line
        self.why = why


class NoRowsError(FormatError):
    """A text without rows: empty lines and comments at most."""


def line_number(text: NDArray[np.uint8], at: int) -> int:
    """Return the number, from 1, of the line that holds ``text[at]``."""
    return int(count_newlines_and_colons(text[:at])[0]) + 1


def explain(text: NDArray[np.uint8], at: int, rules: Rules) -> str:
    """Return what is wrong with the token at ``text[at]``, where a parser following ``rules`` stopped."""
    before = _line_before(text, at)
    first, last = before.split(None, 1), before.rsplit(None, 1)
    token = token_at(text, at)
    if any(byte < 32 or byte == 127 for byte in token):
        return "the file is binary, not text"
    shown = _quoted(token)
    if not token:
        return "a comment" if text[at] != NEWLINE else "an empty line"
    if not first and not (rules.unlabelled and COLON in token):
        return _label_reason(token, shown)
    if token.startswith(b"qid:") and len(first) == 1:
        return f"'{shown}': query numbers are an extension of svmlight's"
    if token.endswith(b":"):  # blanks may follow the colon
        ahead = (
            text[at + len(token) : at + len(token) + MAX_TOKEN_BYTES]
            .tobytes()
            .partition(b"\n")[0]
            .lstrip(b" \t")
        )
        token += token_at(np.frombuffer(ahead, np.uint8), 0)
        shown = _quoted(token)
    return _entry_reason(token, shown, last[-1] if last else b"", rules)


def is_index_zero(text: NDArray[np.uint8], at: int) -> bool:
    """Whether an entry of index 0 stands at ``text[at]``."""
    return INDEX_ZERO.match(token_at(text, at)) is not None


def _line_before(text: NDArray[np.uint8], at: int) -> bytes:
    """Return the part of the line before ``text[at]``."""
    length = MAX_TOKEN_BYTES
    while True:
        before = text[max(0, at - length) : at].tobytes()
        line = before.rpartition(b"\n")[2]
        if len(line) < len(before) or length >= at:
            return line
        length *= 4


def token_at(text: NDArray[np.uint8], at: int, most: int = MAX_TOKEN_BYTES) -> bytes:
    """Return the token at ``text[at]``, of at most so many bytes."""
    found = TOKEN_PATTERN.match(text.data, at, at + most)
    return bytes(found[0]) if found else b""


def _quoted(token: bytes) -> str:
    return clipped(token.decode("utf-8", "replace"), QUOTED)


def _label_reason(token: bytes, shown: str) -> str:
    if COLON in token:
        return f"the row has no label: it starts with '{shown}'"
    if b"," in token:
        return f"'{shown}' is more than one label; if the file is comma-separated, call it NAME.csv"
    endless = NOT_FINITE.fullmatch(token) or labels.number(token.decode("latin-1"))
    return f"label '{shown}' is not {'finite' if endless else 'a number'}"


def _entry_reason(token: bytes, shown: str, before: bytes, rules: Rules) -> str:
    index, colon, value = token.partition(b":")
    if not colon:
        return f"'{shown}' is not index:value"
    return _index_reason(index, shown, rules) or _value_reason(value, shown, before)


def _index_reason(index: bytes, shown: str, rules: Rules) -> str:
    if not index:
        return f"'{shown}' has no index before the colon"
    if not index.isdigit():
        return f"index of '{shown}' is {_not_whole(index)}"
    place = int(index) if len(index) <= MAX_INDEX_DIGITS else MAX_FEATURES + 2
    if place < rules.first_index:
        other = "--zero-based reads files that start at 0, --kernel precomputed those of kernel values"
        return f"index 0 in '{shown}', but indices start at 1 ({other})"
    if place < rules.first_index + rules.width:
        return ""
    if rules.width == MAX_FEATURES:
        return f"index of '{shown}' is larger than {MAX_FEATURES}"
    return f"index of '{shown}' is beyond the {rules.width} features of the data"


def _not_whole(index: bytes) -> str:
    """Return what is wrong with an index that is not digits alone."""
    if index[1:].isdigit() and index[:1] in b"+-":
        return "negative" if index[:1] == b"-" else "written with a sign"
    return "not a whole number" if labels.number(index.decode("latin-1")) is None else "fractional"


def _value_reason(value: bytes, shown: str, before: bytes) -> str:
    if not value:
        return f"'{shown}' has no value after the colon"
    number = labels.number(value.decode("latin-1"))
    if number is None:
        return f"value of '{shown}' is not {'finite' if NOT_FINITE.fullmatch(value) else 'a number'}"
    if math.isinf(number):
        return f"value of '{shown}' is too large for a double"
    return f"'{shown}' comes after '{_quoted(before)}', but indices must increase"
