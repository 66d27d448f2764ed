"""Rows whose kernel values single precision, in which columns are kept, cannot hold: refused before any work is done.

All kernels are positive semi-definite, |k(x, z)|^2 <= k(x, x) k(z, z), so the largest values are those of rows with
themselves.
"""

from typing import Any

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix, blocks, largest_of
from fwsvm.errors import RangeError
from fwsvm.kernels.kernel import own_terms_and_values
from fwsvm.kernels.rows import Rows, as_rows

LARGEST = float(np.finfo(np.float32).max) / 4.0  # sums of four own terms are finite, too
SCALE = "scale the data first (--scale '[0,1]', in Python scale='[0,1]', or fwsvm scale)"


def refuse_overflow(kernel: Any, kernel_name: str, X: RowMatrix) -> None:
    """Raise RangeError if a row of X (m, n) has a kernel value with itself, or a sum of its own, that is too large.

    Where even a row that were as long as the longest, and as large as the largest value everywhere, would be in range
    the rows need not be looked at.
    """
    longest = int(np.diff(X.indptr).max(initial=0)) if isinstance(X, sparse.csr_array) else X.shape[1]
    largest = largest_of(X)
    bound = Rows(
        np.full(longest, largest), np.arange(longest, dtype=np.int32), np.array([0, longest]), int(longest)
    )
    if _largest(kernel, bound)[0] <= LARGEST:
        return
    row, most = 0, -np.inf
    for some in blocks(X):
        place, found = _most(kernel, as_rows(X[some]))
        if not found <= most:
            row, most = some.start + place, found
        if not most <= LARGEST:
            break
    if not most <= LARGEST:
        raise RangeError(
            f"row {row + 1} has the {kernel_name} kernel's value {most:.3g} with itself, and single precision ends at "
            f"{4 * LARGEST:.2g}; {SCALE}, or take a smaller degree, gamma or coef0"
        )


def _most(kernel: Any, rows: Rows) -> tuple[int, float]:
    """Return the row of the largest number that its kernel value with itself is made of, and that number."""
    largest = _largest(kernel, rows)
    row = int(np.argmax(np.where(np.isnan(largest), np.inf, largest)))
    return row, float(largest[row])


def _largest(kernel: Any, rows: Rows) -> np.ndarray:
    """Return the largest number that each row's kernel value with itself is made of, shape (m,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        found: np.ndarray = np.abs(own_terms_and_values(kernel, rows)).max(axis=0)
    return found
