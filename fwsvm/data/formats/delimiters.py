"""Which characters may delimit fields and start comments."""

import string

from fwsvm.errors import shown

WHITESPACE_NAMES = (" ", "whitespace", None)  # the ways to say: any run of spaces and tabs
NOT_DELIMITERS = frozenset(
    string.ascii_letters + string.digits + "+-.\"'"
)  # would take numbers and quotes apart


def explain_bad_delimiters(delimiter: object, comment: object) -> str:
    """Return what is wrong with a delimiter or a comment character, or ''."""
    if delimiter not in WHITESPACE_NAMES and not (_sign(delimiter) and delimiter not in NOT_DELIMITERS):
        said = "one character that is no part of a number or a name, or whitespace"
        return f"delimiter: {said}, not {shown(delimiter)}"
    if comment != "" and not (_sign(comment) and comment != delimiter):
        return f"comment: one character, not the delimiter, or nothing, not {shown(comment)}"
    return ""


def _sign(value: object) -> bool:
    """Return whether a value is one ASCII character other than NUL and line ends."""
    return isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\0\n\r"
