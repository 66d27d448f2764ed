"""Rows to predict, unscaled: the machine scales them by its training ranges."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from fwsvm import data
from fwsvm.data import formats
from fwsvm.data.dataset import Dataset, LabelledRows

Pieces: TypeAlias = Iterator[tuple[LabelledRows, tuple[str, ...]]]


class UnseenRows(NamedTuple):
    """Rows to be predicted.

    Attributes
    ----------
    table : LabelledRows
        With labels, or with NaN for each.
    notices : tuple of str
        What the user should know of the rows.
    scaling : str
        How training on the data set of that name scales rows; ``none`` for files.
    """

    table: LabelledRows
    notices: tuple[str, ...]
    scaling: str = "none"


def load(name_or_path: str | Path, *, zero_based: bool | None = None) -> UnseenRows:
    """Return the rows of a file, with or without labels, or those of a data set: its test rows, else all.

    Raises
    ------
    UsageError, DataError
        As of `fwsvm.data.load`.
    """
    name = str(name_or_path)
    if Path(name).exists():
        return UnseenRows(*formats.read_path(Path(name), zero_based=zero_based, unlabelled=True))
    found = data.load(name, zero_based=zero_based, raw=True)
    table = rows_of(found)
    which = "training" if found.test is None else "test"
    said = f"{name}: {table.rows} {which} rows of the data set"
    return UnseenRows(table, (said, *found.notices), found.scaling)


def pieces(name_or_path: str | Path, *, zero_based: bool | None = None) -> Pieces | None:
    """Return the rows of a large file some at a time, with or without labels; None where they come all at once.

    With each come the notices of the file up to its end.

    Raises
    ------
    DataError
        As of `load`, where the iterator comes to it.
    """
    path = Path(name_or_path)
    if not path.is_file() or not formats.comes_in_pieces(path):
        return None
    return formats.in_pieces(path, zero_based=zero_based)


def rows_of(found: Dataset) -> LabelledRows:
    """Return the rows of a data set that machines are judged by: its test rows, else its training rows."""
    return found.train if found.test is None else found.test
