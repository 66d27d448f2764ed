"""Counts and ranges of a table, as `fwsvm summary` prints them."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwsvm.data import labels
from fwsvm.data.dataset import LabelledRows


def counts_of(table: LabelledRows) -> dict[str, Any]:
    """Return counts and ranges under the names of the JSON output.

    ``minimum`` and ``maximum`` are over all values, including the zeros that sparse rows do not store;
    ``classes`` maps each class to its rows, in the order of `fwsvm.data.labels.classes`.
    """
    X = csr_array(table.X, copy=True)
    X.eliminate_zeros()
    m, n = X.shape
    found = labels.classes(table.labels)
    counts = np.bincount(labels.encode(table.labels, found), minlength=len(found))
    implied = [0.0] if X.nnz < m * n or not X.nnz else []
    return {
        "rows": m,
        "features": n,
        "features_in_use": len(np.unique(X.indices)),
        "nonzeros": int(X.nnz),
        "density": X.nnz / (m * n) if n else 0.0,
        "rows_without_nonzeros": int(np.sum(np.diff(X.indptr) == 0)),
        "minimum": float(min([*implied, *X.data[:1], X.data.min(initial=np.inf)])),
        "maximum": float(max([*implied, *X.data[:1], X.data.max(initial=-np.inf)])),
        "classes": dict(zip(found, counts.tolist(), strict=True)),
    }
