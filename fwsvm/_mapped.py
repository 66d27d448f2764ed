"""Rows (m, n), dense or sparse, in memory or mapped from a file larger than memory; passes go block by block.

The system reads the pages of a mapped file as they are used, and takes them back as it needs room. Maps are read-only.
`occurring` leaves out features that no row stores.
"""

import mmap
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, Union

import numpy as np
import scipy

#: Rows (m, n): all that reads, scales, trains and predicts takes them dense or sparse.
RowMatrix: TypeAlias = Union[
    np.ndarray, "scipy.sparse.csr_array"
]  # the name, since importing scipy.sparse takes long

#: Bytes of mapped numbers from which rows stay in their file. A number of its own, and not a share of what memory is
#: free: results of a computer do not depend on what else it does.
LARGE = 1 << 30
NUMBERS = 1 << 20  # of a block: 8 MiB
FEW = 1 << 16  # features: arrays of so many cost nothing


def is_mapped(X: Any) -> bool:
    """Whether rows, an ndarray or a csr_array, lie in a mapped file and are so many that they are to stay there."""
    array = X if isinstance(X, np.ndarray) else getattr(X, "data", X)
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    return isinstance(base, mmap.mmap) and array.nbytes >= LARGE


def slices(rows: int, numbers: int, each: int | None = None) -> Iterator[slice]:
    """Yield slices of ``rows`` rows that hold ``numbers`` numbers in all, about ``each`` (`NUMBERS`) numbers each."""
    height = max(1, (each or NUMBERS) * rows // max(1, numbers))
    for first in range(0, rows, height):
        yield slice(first, min(rows, first + height))


def blocks(X: RowMatrix, numbers: int | None = None) -> Iterator[slice]:
    """Yield slices of some rows each, of about so many numbers, all in order."""
    return slices(X.shape[0], X.size, numbers)


def in_memory(X: RowMatrix, some: slice) -> RowMatrix:
    """Return a copy of some rows in double precision."""
    rows: RowMatrix = X[some].astype(np.float64)
    return rows


def all_finite(X: RowMatrix) -> bool:
    """Return whether all numbers of an array, or stored in a sparse one, are finite."""
    values = X if isinstance(X, np.ndarray) else X.data
    return all(np.isfinite(values[some]).all() for some in slices(len(values), values.size))


def stacked(parts: Sequence[RowMatrix]) -> RowMatrix:
    """Return the rows of all parts in order, sparse where any part is."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return scipy.sparse.vstack([scipy.sparse.csr_array(part) for part in parts], format="csr")


def occurring(X: RowMatrix) -> tuple[RowMatrix, np.ndarray | None]:
    """Return the rows of X (m, n) with the k features that they store, where most of many are not among them.

    Values, their order and explicit zeros stay what they are. Returns also the numbers of these features, shape (k,),
    ascending; where nothing is left out, X itself and None.
    """
    if isinstance(X, np.ndarray) or X.shape[1] <= max(FEW, 4 * X.nnz):
        return X, None
    columns, places = np.unique(X.indices, return_inverse=True)
    return scipy.sparse.csr_array((X.data, places, X.indptr), shape=(X.shape[0], len(columns))), columns


def only_columns(X: "scipy.sparse.csr_array", columns: np.ndarray) -> "scipy.sparse.csr_array":
    """Return the rows of X (m, n) with the features ``columns``, ascending: shape (m, k)."""
    if len(columns) == X.shape[1]:
        return X
    kept = np.isin(X.indices, columns)
    starts = np.append(0, np.cumsum(kept))[X.indptr]
    entries = X.data[kept], np.searchsorted(columns, X.indices[kept]), starts
    return scipy.sparse.csr_array(entries, shape=(X.shape[0], len(columns)))


def fitted(X: RowMatrix, features: int) -> tuple[RowMatrix, int]:
    """Return the rows of X (m, n) with ``features`` columns, and how many non-zeros were left out.

    Missing features are zeros, as in LIBSVM's sparse format; features beyond are left out. Mapped rows are not copied
    to be given missing features.
    """
    if X.shape[1] == features:
        return X, 0
    m, n = X.shape
    kept: RowMatrix = X[:, :features] if n > features else X
    if isinstance(kept, np.ndarray):
        kept = np.pad(kept, ((0, 0), (0, max(0, features - n))))
    else:
        kept = scipy.sparse.csr_array((kept.data, kept.indices, kept.indptr), shape=(m, features))
    return kept, int((X[:, features:] != 0).sum())
