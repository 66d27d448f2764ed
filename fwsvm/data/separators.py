"""What may stand between the fields of a table, and before its comments."""

import string

BLANK_RUNS = (" ", "whitespace", None)  # the ways to say: any run of spaces and tabs
NOT_BETWEEN = frozenset(
    string.ascii_letters + string.digits + "+-.\"'"
)  # would take numbers and quotes apart


def not_a_separator(delimiter: object, comment: object) -> str:
    """Return what is wrong with a delimiter and the sign of a comment, if anything."""
    if delimiter not in BLANK_RUNS and not (_sign(delimiter) and delimiter not in NOT_BETWEEN):
        said = "one character that is no part of a number or a name, or whitespace"
        return f"delimiter: {said}, not {_shown(delimiter)}"
    if comment != "" and not (_sign(comment) and comment != delimiter):
        return f"comment: one character, not the delimiter, or nothing, not {_shown(comment)}"
    return ""


def _sign(value: object) -> bool:
    """Whether a value is one character that may have a meaning of its own between fields."""
    return isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\0\n\r"


def _shown(value: object) -> str:
    return repr(value[:40] if isinstance(value, str) else value)
