"""Counts and ranges of a table, as `fwsvm summary` prints them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, blocks, is_mapped
from fwsvm.data import labels
from fwsvm.data.dataset import LabelledRows


def counts_of(table: LabelledRows) -> dict[str, Any]:
    """Return counts and ranges under the names of the JSON output; of mapped rows some at a time are looked at.

    ``minimum`` and ``maximum`` are over all values, including the zeros that sparse rows do not store;
    ``classes`` maps each class to its rows, in the order of `fwsvm.data.labels.classes`.
    """
    m, n = table.X.shape
    found = labels.classes(table.labels)
    counts = np.bincount(labels.encode(table.labels, found), minlength=len(found))
    nonzeros = empty = 0
    least, most = np.inf, -np.inf
    in_use: np.ndarray = np.zeros(0, np.int64)
    for X in _parts(table.X):
        nonzeros += int(X.nnz)
        empty += int(np.sum(np.diff(X.indptr) == 0))
        in_use = np.union1d(in_use, X.indices)
        least, most = X.data.min(initial=least), X.data.max(initial=most)
    if nonzeros < m * n or not nonzeros:
        least, most = min(0.0, least), max(0.0, most)
    return {
        "rows": m,
        "features": n,
        "features_in_use": len(in_use),
        "nonzeros": nonzeros,
        "density": nonzeros / (m * n) if n else 0.0,
        "rows_without_nonzeros": empty,
        "minimum": float(least),
        "maximum": float(most),
        "classes": dict(zip(found, counts.tolist(), strict=True)),
    }


def _parts(whole: RowMatrix) -> Iterator[csr_array]:
    """Yield copies of the rows without explicit zeros: all at once, or some of mapped ones at a time."""
    for some in blocks(whole) if is_mapped(whole) else [slice(0, whole.shape[0])]:
        X = csr_array(whole[some], copy=True)
        X.eliminate_zeros()
        yield X
