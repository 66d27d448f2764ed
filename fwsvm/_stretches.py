"""Passes over arrays that may be larger than memory, a stretch at a time: no temporary is as long as the array.

Parsed copies of data files are mapped (`fwsvm.data.parsed_copies`), so an array may be read from disk as it is used.
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

NUMBERS = 1 << 20  # of a stretch: 8 MiB


def stretches(rows: int, numbers: int, each: int | None = None) -> Iterator[slice]:
    """Yield slices of ``rows`` rows that hold ``numbers`` numbers in all, about ``each`` (`NUMBERS`) numbers each."""
    height = max(1, (each or NUMBERS) * rows // max(1, numbers))
    for first in range(0, rows, height):
        yield slice(first, min(rows, first + height))


def all_finite(X: np.ndarray | sparse.csr_array) -> bool:
    """Return whether all numbers of an array, or stored in a sparse one, are finite."""
    values = np.atleast_1d(np.asarray(X.data if sparse.issparse(X) else X))
    return all(bool(np.isfinite(values[some]).all()) for some in stretches(len(values), values.size))
