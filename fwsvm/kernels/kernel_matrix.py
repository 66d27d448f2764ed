"""The matrix of kernel values between two sets of rows."""

from typing import Any

import numpy as np

from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import WIDE, clear, empty_left_block, fill, scatter


def kernel_matrix(
    kernel: Any, rows: Rows, first: np.ndarray, second: np.ndarray, out: np.ndarray, threads: int = 1
) -> None:
    """Write k(rows[first[i]], rows[second[j]]) to ``out[i, j]``, in the precision of ``rows``."""
    first, second = (np.ascontiguousarray(which, dtype=np.int32) for which in (first, second))
    left_block, own = empty_left_block(rows), own_terms(kernel, rows)
    for start in range(0, len(first), WIDE):
        some = first[start : start + WIDE]
        used = scatter(left_block, rows, own, some, WIDE)
        fill(
            kernel, left_block, WIDE, len(some), rows, own, second, len(second), out,
            np.arange(start, start + len(some)), threads,
        )  # fmt: skip
        clear(left_block, used)
