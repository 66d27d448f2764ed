"""Error messages of the LIBSVM format: what is wrong with a token."""

import re

import numpy as np
from numpy.typing import NDArray

from fwsvm.data import labels
from fwsvm.data.formats.svmlight_parser import INDEX_DIGITS, MAX_FEATURES
from fwsvm.data.formats.text_files import FormatError
from fwsvm.errors import clipped

QUOTED = 40  # characters of a token
TOKEN = re.compile(rb"[ \t]*([^ #\t-\r]*)")
NOT_FINITE = re.compile(rb"[-+]?(nan|inf(inity)?)", re.IGNORECASE)


class NoRowsError(FormatError):
    """A text without rows: empty lines and comments at most."""


def token_at(text: NDArray[np.uint8], at: int) -> bytes:
    """Return the token at ``text[at]``, or after blanks there."""
    found = TOKEN.match(text.data, at)
    return bytes(found[1]) if found else b""


def shown_token(token: bytes) -> str:
    """Return a token for a sentence."""
    return clipped(token[: 4 * QUOTED].decode("utf-8", "replace"), QUOTED)


def label_reason(token: bytes) -> str:
    """Return why a token cannot be a label, as a sentence; empty where it can."""
    shown = shown_token(token)
    if b":" in token:
        return f"the row has no label: it starts with '{shown}'"
    if b"," in token:
        return f"'{shown}' is more than one label; if the file is comma-separated, call it NAME.csv"
    try:
        name = token.decode()
    except UnicodeDecodeError:
        return "the label is not UTF-8 text"
    if NOT_FINITE.fullmatch(token) or np.isinf(labels.number(name) or 0.0):
        return f"label '{shown}' is not finite"
    return labels.objection(name)


def entry_reason(text: NDArray[np.uint8], at: int, *, zero_based: bool) -> str:
    """Return what is wrong with the entry at ``text[at]``."""
    token = token_at(text, at)
    if token.endswith(b":"):  # blanks may follow the colon
        token += token_at(text, at + len(token))
    shown, largest = shown_token(token), MAX_FEATURES - zero_based
    index, colon, value = token.partition(b":")
    place = int(index) if index.isdigit() and len(index) <= INDEX_DIGITS else MAX_FEATURES + 1
    if not colon:
        return f"'{shown}' is not index:value"
    if not index.isdigit():
        return f"index of '{shown}' is not a whole number of digits alone"
    if not (place or zero_based):
        other = "--zero-based reads files that start at 0, --kernel precomputed those of kernel values"
        return f"index 0 in '{shown}', but indices start at 1 ({other})"
    if place > largest:
        return f"index of '{shown}' is larger than {largest}"
    if labels.number(value.decode("latin-1")) is None:
        return f"value of '{shown}' is not {'finite' if NOT_FINITE.fullmatch(value) else 'a number'}"
    before = text[:at].tobytes().rpartition(b"\n")[2].split()
    return f"'{shown}' comes after '{shown_token(before[-1])}', but indices must increase"
