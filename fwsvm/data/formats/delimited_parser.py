"""One compiled pass over delimited text: numbers go into a matrix, of text fields the positions are recorded."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwsvm.data.formats.decimal_numbers import NAN_WITH_POSITION, parse_decimal
from fwsvm.data.formats.svmlight_parser import NEWLINE, skip_line
from fwsvm.numerics.compile import njit

SPACE, QUOTE, TAB, RETURN = 32, 34, 9, 13
WHITESPACE = 0  # as the delimiter: any run of spaces and tabs
SKIP, NUMBER, TEXT = 0, 1, 2  # what to do with a column

OK, NOT_A_NUMBER, TOO_FEW, TOO_MANY, OPEN_QUOTE, AFTER_QUOTE = 0, 1, 2, 3, 4, 5


class ColumnPlan(NamedTuple):
    """How each column is read, and where its values are stored."""

    delimiter: int  # a byte
    comment: int  # lines that start with this byte are skipped; 0 for none
    kind: np.ndarray  # (columns,) int64, SKIP, NUMBER or TEXT
    slot: np.ndarray  # (columns,) int64, the column of numbers or the row of starts and stops


class FieldBuffers(NamedTuple):
    """Arrays that the parser fills: m lines of f numbers and w text fields each."""

    numbers: np.ndarray  # (m, f) float64
    bits: np.ndarray  # (m, f) int64, the same memory
    starts: np.ndarray  # (w, m) int64
    stops: np.ndarray  # (w, m) int64


@njit
def skip_spaces(text: NDArray[np.uint8], pos: int, delimiter: int) -> int:
    """Return the position of the next byte that is no space; tabs and returns are spaces unless they delimit."""
    byte = int(text[pos])
    while byte == SPACE or (byte in (TAB, RETURN) and byte != delimiter):
        pos += 1
        byte = int(text[pos])
    return pos


@njit
def skip_empty_lines(text: NDArray[np.uint8], pos: int, delimiter: int, comment: int) -> int:
    """Return where the next line starts that is neither empty nor a comment; the text's length if there is none."""
    while pos < len(text):
        pos = skip_spaces(text, pos, delimiter)
        if text[pos] != NEWLINE and (comment == 0 or text[pos] != comment):
            return pos
        pos = skip_line(text, pos)
    return pos


@njit
def field_bounds(text: NDArray[np.uint8], pos: int, delimiter: int) -> tuple[int, int, int]:
    """Return start, stop and the position after the field at ``text[pos]``; stop is -1 if its quote is not closed."""
    if text[pos] == QUOTE:
        start = pos + 1
        pos = start
        while text[pos] != QUOTE or text[pos + 1] == QUOTE:
            if text[pos] == NEWLINE:
                return start, -1, pos
            pos += 1 + (text[pos] == QUOTE)
        return start, pos, skip_spaces(text, pos + 1, delimiter)
    start = pos
    stop = pos
    byte = int(text[pos])
    while byte not in (NEWLINE, delimiter):
        if byte not in (SPACE, TAB, RETURN):
            stop = pos + 1
        elif delimiter == WHITESPACE:
            break
        pos += 1
        byte = int(text[pos])
    return start, stop, skip_spaces(text, pos, delimiter)


@njit
def parse_fields(
    text: NDArray[np.uint8], pos: int, columns: ColumnPlan, fields: FieldBuffers
) -> tuple[int, int, int, int]:
    """Read all lines from ``text[pos]`` on.

    Returns
    -------
    outcome : int
        OK, or what is wrong with the field at which parsing stopped.
    m : int
        Complete lines.
    column, place : int
        Column and position of that field.
    """
    m = 0
    pos = skip_empty_lines(text, pos, columns.delimiter, columns.comment)
    while pos < len(text):
        outcome, column, pos = parse_line(text, pos, columns, fields, m)
        if outcome != OK:
            return outcome, m, column, pos
        m += 1
        pos = skip_empty_lines(text, pos + 1, columns.delimiter, columns.comment)
    return OK, m, 0, pos


@njit(inner=True)
def parse_line(
    text: NDArray[np.uint8], pos: int, columns: ColumnPlan, fields: FieldBuffers, m: int
) -> tuple[int, int, int]:
    """Read line m; return the outcome, the last column and the place of the line's end or of the field."""
    last = len(columns.kind) - 1
    for column in range(last + 1):
        at = pos
        start, stop, pos = field_bounds(text, pos, columns.delimiter)
        if stop < 0:
            return OPEN_QUOTE, column, at
        slot = columns.slot[column]
        if columns.kind[column] == NUMBER:
            value, end = parse_decimal(text, start)
            if end != stop or end == start or np.isinf(value):
                return NOT_A_NUMBER, column, at
            fields.numbers[m, slot] = value
            if np.isnan(value):
                fields.bits[m, slot] = NAN_WITH_POSITION | start
        elif columns.kind[column] == TEXT:
            fields.starts[slot, m] = start
            fields.stops[slot, m] = stop
        if text[pos] == NEWLINE:
            return (OK if column == last else TOO_FEW), column, pos
        if columns.delimiter != WHITESPACE:
            if text[pos] != columns.delimiter:
                return AFTER_QUOTE, column, at
            pos = skip_spaces(text, pos + 1, columns.delimiter)
    return TOO_MANY, last, pos
