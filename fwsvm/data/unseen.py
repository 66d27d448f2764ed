"""Rows to predict, unscaled: the machine scales them by its training ranges."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from fwsvm import data
from fwsvm.data import formats
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.formats.registry import loader_of

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


def load(
    name_or_path: str | Path,
    *,
    zero_based: bool | None = None,
    label: str | None = None,
    feature_names: tuple[str, ...] = (),
) -> UnseenRows:
    """Return the rows of a file, with or without labels, or those of a data set: its test rows, else all.

    Parameters
    ----------
    name_or_path : str or Path
    zero_based : bool, optional
        Whether the machine's features were counted from 0; without it that is seen from the file.
    label : str, optional
        The column of the labels of a CSV file, as of `fwsvm.data.load`.
    feature_names : tuple of str
        Those of the machine: of a CSV file with a header, these columns are taken.

    Raises
    ------
    UsageError, DataError
        As of `fwsvm.data.load`.
    """
    path = Path(name_or_path)
    if path.exists():
        loader = loader_of(path, zero_based=zero_based, label=label, columns=feature_names, unlabelled=True)
        return UnseenRows(*formats.read_path(path, loader, unlabelled=True))
    name = str(name_or_path)
    found = data.load(name, zero_based=zero_based, raw=True)
    table = rows_of(found)
    which = "training" if found.test is None else "test"
    said = f"{name}: {table.rows} {which} rows of the data set"
    return UnseenRows(table, (said, *found.notices), found.scaling)


def pieces(name_or_path: str | Path, *, zero_based: bool | None = None) -> Pieces | None:
    """Return the rows of a large file some at a time, with or without labels; None where they come all at once.

    With each come notices.

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
