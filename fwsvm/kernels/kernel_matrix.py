"""The matrix of kernel values between two sets of rows, or of all rows."""

from typing import Any

import numpy as np

from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import WIDE, clear, empty_left_block, fill, fill_range, scatter
from fwsvm.numerics.atomics import compare_exchange
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import together


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


def gram_matrix(kernel: Any, rows: Rows, own: np.ndarray, out: np.ndarray, threads: int) -> None:
    """Write k(rows[i], rows[j]) to ``out[i, j]``, in the precision of ``rows``; each pair of rows is met once.

    ``own`` are the rows' own terms, (m,); as many ``threads`` share the work as there are blocks for.
    """
    claimed = np.zeros(-(-rows.height // WIDE), np.int64)
    together(
        lambda _: _fill_blocks(kernel, empty_left_block(rows), rows, own, claimed, out),
        min(threads, len(claimed)),
    )


@njit
def _fill_blocks(kernel, left_block, rows, own, claimed, out):
    """Write the values of those blocks of 64 rows that no other thread has claimed.

    A block meets the rows from its first on; the values with those before it are mirror images.
    """
    m = own.size
    every, lines = np.arange(m).astype(np.int32), np.arange(m)
    for block in range(claimed.size):
        if not compare_exchange(claimed, block, 0, 1):
            continue
        start, stop = block * WIDE, min(block * WIDE + WIDE, m)
        used = scatter(left_block, rows, own, every[start:stop], WIDE)
        fill_range(kernel, left_block, WIDE, stop - start, rows, own, every, start, m, out, lines[start:stop])
        clear(left_block, used)
        for r in range(start, m):
            line = out[r]
            for c in range(start, stop):
                line[c] = out[c, r]
