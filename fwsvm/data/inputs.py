"""Rows as commands take them, by a path or the name of a data set: to scale, sample, check, summarise and predict.

Rows are not scaled: a model scales the rows that it predicts by its training ranges.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwsvm import data
from fwsvm._mapped import RowMatrix, blocks, in_memory, is_mapped
from fwsvm.data import formats, labels
from fwsvm.data.dataset import LabelledRows, refuse_one_based
from fwsvm.data.formats import loader_of
from fwsvm.scaling import extremes

COPIED_FROM = 1 << 26  # bytes of a file of rows to predict from which a parsed copy of it is kept


def read_rows(
    name_or_path: str | Path,
    *,
    zero_based: bool | None = None,
    label: str | None = None,
    unseen: bool = False,
    feature_names: tuple[str, ...] = (),
    features: int | None = None,
) -> LabelledRows:
    """Return the rows of a file, or those that training on a name uses, as they are before it scales them.

    Parameters
    ----------
    name_or_path : str or Path
    zero_based : bool, optional
        Whether features are counted from 0; without it that is seen from the file.
    label : str, optional
        The column of the labels of a CSV file, as of `fwsvm.data.load`.
    unseen : bool
        Whether a machine is to predict them: a file may be without labels, which are then NaN; of a name they are the
        test rows, if there are any.
    feature_names : tuple of str
        Those of the machine: of a CSV file with a header, these columns are taken.
    features : int, optional
        The number of the machine's features, where ``zero_based`` is what its training rows were, not what a user said:
        a file that looks one-based is then refused.

    Raises
    ------
    UsageError, DataError
        As of `fwsvm.data.load`.
    """
    path = Path(name_or_path)
    if path.exists():
        loader = loader_of(path, zero_based=zero_based, label=label, columns=feature_names, unlabelled=unseen)
        is_copied = loader["format"] != "npy" and path.stat().st_size >= COPIED_FROM
        table = (formats.read if is_copied or not unseen else formats.read_path)(path, loader)
        if features is not None:
            refuse_one_based(path, table, features)
        return table
    found = data.load(name_or_path, zero_based=zero_based, label=label, raw=True)
    table, which = (found.test, "test") if unseen and found.test else (found.train, "training")
    said = f"{name_or_path}: the {table.rows:,} {which} rows of the data set, not scaled"
    return replace(table, notices=(said, *found.notices))


def parts_of(table: LabelledRows) -> Iterator[LabelledRows]:
    """Yield the rows in memory: all at once, or of mapped ones some at a time."""
    if not is_mapped(table.X):
        yield table
        return
    for some in blocks(table.X):
        yield replace(table, X=in_memory(table.X, some), labels=table.labels[some])


def counts_of(table: LabelledRows) -> dict[str, Any]:
    """Return counts and ranges under the names of the JSON output; of mapped rows some at a time are looked at.

    ``minimum`` and ``maximum`` are over all values, including the zeros that sparse rows do not store;
    ``classes`` maps each class to its rows, in the order of `fwsvm.data.labels.classes`.
    """
    m, n = table.X.shape
    found = labels.classes(table.labels)
    counts = np.bincount(labels.encode(table.labels, found))
    columns, *ends = extremes(table.X)
    values = np.concatenate([*ends, np.zeros(int(len(columns) < n or not n))])
    each = np.concatenate([(table.X[some] != 0).sum(axis=1) for some in blocks(table.X)])
    nonzeros = int(each.sum())
    return {
        "rows": m,
        "features": n,
        "features_in_use": len(features_in_use(table.X)),
        "nonzeros": nonzeros,
        "density": nonzeros / max(1, m * n),
        "rows_without_nonzeros": int((each == 0).sum()),
        "minimum": float(values.min()),
        "maximum": float(values.max()),
        "classes": dict(zip(found, counts.tolist(), strict=True)),
    }


def features_in_use(X: RowMatrix) -> NDArray[np.int64]:
    """Return the columns of X, shape (m, n), that hold a value other than 0, ascending."""
    columns, least, most = extremes(X)
    return columns[(least != 0) | (most != 0)]
