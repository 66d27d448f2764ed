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
    for some in blocks(X):
        largest_values = _largest(kernel, as_rows(X[some]))
        fits = largest_values <= LARGEST  # not those that are not numbers
        if not fits.all():
            row = int(np.argmin(fits))
            raise RangeError(
                f"row {some.start + row + 1} has the {kernel_name} kernel's value {largest_values[row]:.3g} with "
                f"itself, and single precision ends at {4 * LARGEST:.2g}; {SCALE}, or take a smaller degree, gamma or "
                "coef0"
            )


def _largest(kernel: Any, rows: Rows) -> np.ndarray:
    """Return the largest number that each row's kernel value with itself is made of, shape (m,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        found: np.ndarray = np.abs(own_terms_and_values(kernel, rows)).max(axis=0)
    return found
