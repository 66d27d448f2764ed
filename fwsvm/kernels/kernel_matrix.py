"""The matrix of kernel values between two sets of rows, or of all rows."""

from typing import Any

import numpy as np

from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import (
    TILE,
    WIDE,
    clear,
    empty_left_block,
    fill,
    fill_range,
    scatter,
    threads_for,
)
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import in_shares


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


def gram_matrix(kernel: Any, rows: Rows, own: np.ndarray, out: np.ndarray, threads: int = 1) -> None:
    """Write k(rows[i], rows[j]) to ``out[i, j]``, in the precision of ``rows``; each pair of rows is met once.

    ``own`` are the rows' own terms, (m,).
    """
    m = rows.height
    left_block, every = empty_left_block(rows), np.arange(m, dtype=np.int32)
    for start in range(0, m, WIDE):
        some = every[start : start + WIDE]
        used = scatter(left_block, rows, own, some, WIDE)
        # against the rows from the block's first on: values with those before it are there
        _fill_from(kernel, left_block, rows, own, every, start, some.astype(np.int64), out, threads)
        clear(left_block, used)


def _fill_from(
    kernel: Any, left_block: Any, rows: Rows, own: np.ndarray, every: np.ndarray, start: int, lines: np.ndarray,
    out: np.ndarray, threads: int,
) -> None:  # fmt: skip
    left = len(every) - start

    def work(first: int, last: int) -> None:
        first, last = start + first, start + last
        fill_range(kernel, left_block, WIDE, len(lines), rows, own, every, first, last, out, lines)
        _mirror(out, start, len(lines), first, last)

    in_shares(work, left, threads_for(rows, left, len(lines), threads), TILE)


@njit
def _mirror(out, start, count, first, last):
    """Set out[r, c] = out[c, r] for the rows r of first ... last - 1 and ``count`` columns c from ``start`` on."""
    for r in range(first, last):
        line = out[r]
        for c in range(start, start + count):
            line[c] = out[c, r]
