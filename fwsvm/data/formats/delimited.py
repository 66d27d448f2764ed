"""Delimited text, as the UCI repository has it: one row a line, the label in one of the columns.

Every column is a number unless it is named as the label, dropped or categorical. A categorical column becomes
an indicator for each of its values, in the order given or of first appearance. Fields may be quoted.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._memory import require
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats import delimited_parser
from fwsvm.data.formats.decimal_fallback import parse_by_python
from fwsvm.data.formats.delimited_layout import ColumnKey, FileLayout, read_layout
from fwsvm.data.formats.interning import intern, token_bytes
from fwsvm.data.formats.svmlight_errors import QUOTED, FormatError, line_number
from fwsvm.data.formats.svmlight_parser import count_newlines_and_colons
from fwsvm.data.formats.text_file import FEWER, read_text
from fwsvm.data.labels import objection, of_names
from fwsvm.errors import DataError


def read(
    path: str | Path,
    *,
    delimiter: str | None = ",",
    header: bool = False,
    label: ColumnKey = -1,
    drop: Sequence[ColumnKey] = (),
    categorical: Sequence[ColumnKey] | Mapping[ColumnKey, Sequence[object]] = (),
    comment: str = "",
    features: int | None = None,
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Read a file into rows and labels.

    Parameters
    ----------
    path : str or Path
        Plain, gzip, bzip2 or xz text.
    delimiter : str or None
        One character; a blank, ``whitespace`` or None stand for any run of spaces and tabs.
    header : bool
        The first line names the columns.
    label : int or str
        The label's column: its place from 0 (from the end if negative), or its name in the header.
    drop : sequence of int or str
        Columns to leave out.
    categorical : sequence of int or str, or mapping of those to values
        Columns that become indicators; a mapping gives each column's values in order, which is needed where
        files that belong together are read apart.
    comment : str
        Lines that start with this character are skipped.
    features : int, optional
        The number of features there must be in the end.

    Returns
    -------
    table : LabelledRows
        ``X`` an ndarray, or a csr_array where columns are categorical; ``labels`` float64 where all are
        numbers, else text.
    notices : tuple of str

    Raises
    ------
    DataError
        The file cannot be read, has no such column, or a field is not what it should be: file, line and
        column are named.
    UsageError
        The delimiter or the sign of a comment is not one character.
    """
    text = read_text(path).content
    layout = read_layout(path, text, delimiter, header, comment)
    wanted = categorical if isinstance(categorical, Mapping) else dict.fromkeys(categorical, ())
    values = {layout.place(c): tuple(map(str, given)) for c, given in wanted.items()}
    label_place, dropped = layout.place(label), {layout.place(c) for c in drop}
    if both := (dropped | values.keys()) & {label_place} or dropped & values.keys():
        raise DataError(f"{path}: {layout.called(min(both))} cannot be read in two ways")
    features_at = [c for c in range(layout.width) if c != label_place and c not in dropped]
    numeric = [c for c in features_at if c not in values]
    symbolic = [c for c in features_at if c in values]
    fields = _parse(path, text, layout, numeric, [*symbolic, label_place])
    parse_by_python(path, text, fields.numbers.reshape(-1), fields.bits.reshape(-1))
    X: NDArray[np.float64] | csr_array = fields.numbers
    if symbolic:
        coded = [_codes(path, text, fields, k, layout, c, values[c]) for k, c in enumerate(symbolic)]
        X = _indicators(fields.numbers, features_at, dict(zip(symbolic, coded, strict=True)))
    if features is not None and X.shape[1] != features:
        raise DataError(f"{path} has {X.shape[1]} features, but {features} were expected")
    return LabelledRows(X, _labels(path, text, fields.starts[-1], fields.stops[-1])), ()


def _parse(
    path: str | Path, text: NDArray[np.uint8], layout: FileLayout, numeric: list[int], worded: list[int]
) -> delimited_parser.FieldBuffers:
    """Scan the file: the numeric columns as numbers, the worded ones as places in the text."""
    kind, slot = np.full(layout.width, delimited_parser.SKIP), np.zeros(layout.width, np.int64)
    kind[numeric], slot[numeric] = delimited_parser.NUMBER, np.arange(len(numeric))
    kind[worded], slot[worded] = delimited_parser.TEXT, np.arange(len(worded))
    lines = int(count_newlines_and_colons(text[layout.start :])[0])
    most = min(
        lines, (len(text) - layout.start) // layout.width
    )  # a field takes at least the byte that ends it
    what = f"{path}: reading {most:,} lines of {len(numeric) + len(worded):,} columns"
    require(most * 8 * (len(numeric) + 2 * len(worded)), what, FEWER, DataError)
    numbers = np.empty((most, len(numeric)))
    places = np.empty((2, len(worded), most), np.int64)
    fields = delimited_parser.FieldBuffers(numbers, numbers.view(np.int64), places[0], places[1])
    columns = delimited_parser.ColumnPlan(layout.delimiter, layout.comment, kind, slot)
    outcome, m, column, place = delimited_parser.parse_fields(text, layout.start, columns, fields)
    if outcome != delimited_parser.OK:
        raise FormatError(path, line_number(text, place), _explain(text, layout, outcome, column, place))
    return delimited_parser.FieldBuffers(
        numbers[:m], fields.bits[:m], fields.starts[:, :m], fields.stops[:, :m]
    )


def _explain(text: NDArray[np.uint8], layout: FileLayout, outcome: int, column: int, place: int) -> str:
    """Return what is wrong with a field."""
    if outcome == delimited_parser.TOO_FEW:
        return f"{column + 1} fields, but the first row has {layout.width}"
    if outcome == delimited_parser.TOO_MANY:
        return f"more than {layout.width} fields, as many as the first row has"
    if outcome == delimited_parser.OPEN_QUOTE:
        return f"{layout.called(column)}: the quote is never closed"
    if outcome == delimited_parser.AFTER_QUOTE:
        return f"{layout.called(column)}: the field goes on after its closing quote"
    start, stop, _ = delimited_parser.field_bounds(text, place, layout.delimiter)
    shown = text[start:stop].tobytes().decode("utf-8", "replace")[:QUOTED]
    return f"{layout.called(column)}: '{shown}' is not a finite number"


def _codes(
    path: str | Path,
    text: NDArray[np.uint8],
    fields: delimited_parser.FieldBuffers,
    k: int,
    layout: FileLayout,
    column: int,
    given: tuple[str, ...],
) -> tuple[NDArray[np.int64], int]:
    """Return each row's place among a categorical column's values, and how many of those there are."""
    starts, stops = fields.starts[k], fields.stops[k]
    codes, firsts = intern(text, starts, stops)
    found = _names(path, text, starts[firsts], stops[firsts])
    values = given or tuple(dict.fromkeys(found))
    place_of = {value: i for i, value in enumerate(values)}
    for first, name in zip(firsts, found, strict=True):
        if name not in place_of:
            line = line_number(text, int(starts[first]))
            raise FormatError(path, line, f"{layout.called(column)}: unknown value '{name[:QUOTED]}'")
    return np.array([place_of[name] for name in found])[codes], len(values)


def _indicators(
    numbers: NDArray[np.float64], features_at: list[int], coded: Mapping[int, tuple[NDArray[np.int64], int]]
) -> csr_array:
    """Return rows with the features in the file's order, categorical ones as indicators."""
    m = len(numbers)
    entries, places = np.ones((m, len(features_at))), np.empty((m, len(features_at)), np.int32)
    offset, taken = 0, 0
    for k, column in enumerate(features_at):
        if column in coded:
            codes, wide = coded[column]
            places[:, k] = offset + codes
            offset += wide
        else:
            entries[:, k], places[:, k] = numbers[:, taken], offset
            offset, taken = offset + 1, taken + 1
    kept = entries != 0
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    X = csr_array((entries[kept], places[kept], indptr), shape=(m, offset))
    X.has_sorted_indices = True
    X.has_canonical_format = True
    return X


def _labels(
    path: str | Path, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> NDArray[np.float64] | NDArray[np.str_]:
    """Return the labels: numbers where all are, else words."""
    codes, firsts = intern(text, starts, stops)
    names = _names(path, text, starts[firsts], stops[firsts])
    if "" in names:
        raise FormatError(
            path, line_number(text, int(starts[firsts[names.index("")]])), "the label is missing"
        )
    for first, name in zip(firsts, names, strict=True):
        if wrong := objection(name):
            raise FormatError(path, line_number(text, int(starts[first])), wrong)
    return of_names(names, codes, str(path))


def _names(
    path: str | Path, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> list[str]:
    """Return fields as text, doubled quotes made single."""
    try:
        return [word.decode().replace('""', '"') for word in token_bytes(text, starts, stops)]
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text") from None
