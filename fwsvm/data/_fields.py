"""One pass over delimited text, compiled: numbers go into a matrix, words are noted by place."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.data._decimal import UNSETTLED, decimal
from fwsvm.data._scan import NEWLINE, past_line
from fwsvm.numerics.compile import njit

SPACE, QUOTE, TAB, RETURN = 32, 34, 9, 13
BLANKS = 0  # as the delimiter: any run of spaces and tabs
SKIP, NUMBER, WORD = 0, 1, 2  # what to do with a column

READ, NOT_A_NUMBER, TOO_FEW, TOO_MANY, OPEN_QUOTE, NOT_APART = 0, 1, 2, 3, 4, 5


class Columns(NamedTuple):
    """What the columns are and where they go."""

    delimiter: int  # a byte, or BLANKS
    comment: int  # lines that start with this byte are skipped; 0 for none
    kind: np.ndarray  # (columns,) int64, SKIP, NUMBER or WORD
    slot: np.ndarray  # (columns,) int64, the column of numbers or the row of starts and stops


class Fields(NamedTuple):
    """What a scan fills: m lines with f numbers and w words each."""

    numbers: np.ndarray  # (m, f) float64
    bits: np.ndarray  # (m, f) int64, the same memory
    starts: np.ndarray  # (w, m) int64
    stops: np.ndarray  # (w, m) int64


@njit
def past_spaces(text: NDArray[np.uint8], pos: int, delimiter: int) -> int:
    """Return the place of the next byte that is no space; a tab or return is one unless it delimits."""
    byte = int(text[pos])
    while byte == SPACE or (byte in (TAB, RETURN) and byte != delimiter):
        pos += 1
        byte = int(text[pos])
    return pos


@njit
def past_empty(text: NDArray[np.uint8], pos: int, delimiter: int, comment: int) -> int:
    """Return where the next line says something that is neither nothing nor a comment; the text's length if none."""
    while pos < len(text):
        pos = past_spaces(text, pos, delimiter)
        if text[pos] != NEWLINE and (comment == 0 or text[pos] != comment):
            return pos
        pos = past_line(text, pos)
    return pos


@njit
def word(text: NDArray[np.uint8], pos: int, delimiter: int) -> tuple[int, int, int]:
    """Return start, stop and the place after the field at ``text[pos]``; a stop of -1: its quote is open."""
    if text[pos] == QUOTE:
        start = pos + 1
        pos = start
        while text[pos] != QUOTE or text[pos + 1] == QUOTE:
            if text[pos] == NEWLINE:
                return start, -1, pos
            pos += 1 + (text[pos] == QUOTE)
        return start, pos, past_spaces(text, pos + 1, delimiter)
    start = pos
    stop = pos
    byte = int(text[pos])
    while byte not in (NEWLINE, delimiter):
        if byte not in (SPACE, TAB, RETURN):
            stop = pos + 1
        elif delimiter == BLANKS:
            break
        pos += 1
        byte = int(text[pos])
    return start, stop, past_spaces(text, pos, delimiter)


@njit
def scan_fields(
    text: NDArray[np.uint8], pos: int, columns: Columns, fields: Fields
) -> tuple[int, int, int, int]:
    """Read all lines from ``text[pos]`` on.

    Returns
    -------
    outcome : int
        READ, or what is wrong with the field at which reading stopped.
    m : int
        Lines read before.
    column, place : int
        Of that field.
    """
    m = 0
    pos = past_empty(text, pos, columns.delimiter, columns.comment)
    while pos < len(text):
        outcome, column, pos = scan_line(text, pos, columns, fields, m)
        if outcome != READ:
            return outcome, m, column, pos
        m += 1
        pos = past_empty(text, pos + 1, columns.delimiter, columns.comment)
    return READ, m, 0, pos


@njit
def scan_line(
    text: NDArray[np.uint8], pos: int, columns: Columns, fields: Fields, m: int
) -> tuple[int, int, int]:
    """Read line m; return the outcome, the last column and the place of the line's end or of the field."""
    last = len(columns.kind) - 1
    for column in range(last + 1):
        at = pos
        start, stop, pos = word(text, pos, columns.delimiter)
        if stop < 0:
            return OPEN_QUOTE, column, at
        slot = columns.slot[column]
        if columns.kind[column] == NUMBER:
            value, end = decimal(text, start)
            if end != stop or end == start or np.isinf(value):
                return NOT_A_NUMBER, column, at
            fields.numbers[m, slot] = value
            if np.isnan(value):
                fields.bits[m, slot] = UNSETTLED | start
        elif columns.kind[column] == WORD:
            fields.starts[slot, m] = start
            fields.stops[slot, m] = stop
        if text[pos] == NEWLINE:
            return (READ if column == last else TOO_FEW), column, pos
        if columns.delimiter != BLANKS:
            if text[pos] != columns.delimiter:
                return NOT_APART, column, at
            pos = past_spaces(text, pos + 1, columns.delimiter)
    return TOO_MANY, last, pos
