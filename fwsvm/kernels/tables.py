"""Tables of rows laid out for kernel values: packed in dense tiles where few numbers are zero, else as they are."""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT, DenseTiles, dense_tiles, fill_dense
from fwsvm.kernels.kernel import own_terms_and_values
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import WIDE, fill_sparse
from fwsvm.numerics.threads import in_shares

#: Share of numbers that are not zero from which eight columns cost less by dense tiles.
DENSE = 0.25
PRODUCTS_PER_THREAD = 1 << 21  # multiplications below which a second thread costs more than it saves


def is_dense(rows: Rows) -> bool:
    """Whether enough of the numbers are not zero for dense tiles to be faster."""
    return len(rows.values) >= DENSE * rows.height * rows.features


class Table(NamedTuple):
    """Rows, their own terms (m,), and their tiles, which are empty where rows are sparse."""

    rows: Rows
    own: np.ndarray
    tiles: DenseTiles

    def threads(self, values: int, threads: int) -> int:
        """Return ``threads`` where so many kernel values with the rows are work for several, else 1."""
        packed = len(self.tiles.numbers) > 0
        each = 8.0 + (self.rows.features if packed else self.rows.values.size / max(1, self.rows.height))
        return threads if values * each > PRODUCTS_PER_THREAD else 1


def table(rows: Rows, own: np.ndarray, *, dense: bool | None = None) -> Table:
    """Return the table of rows with these own terms; ``dense`` is by default what `is_dense` says."""
    if is_dense(rows) if dense is None else dense:
        return Table(rows, own, dense_tiles(rows, own))
    return Table(rows, own, DenseTiles(own[:0], own[:0], rows.features))


def fill(
    kernel: Any,
    sources: Table,
    wanted: np.ndarray,
    targets: Table,
    out: np.ndarray,
    lines: np.ndarray,
    threads: int = 1,
    first: int = 0,
) -> None:
    """Write k(source wanted[c], target r) to ``out[lines[c], r]`` for the targets r from ``first`` on.

    At most 64 rows are wanted; ``first`` is a multiple of `HEIGHT`.
    """
    (rows, own, tiles), wanted = targets, wanted.astype(np.int32, copy=False)

    def share(begin: int, end: int) -> None:
        begin, end = first + begin, first + end
        if len(tiles.numbers):
            ends = begin // HEIGHT, -(-end // HEIGHT)
            fill_dense(kernel, sources.tiles, wanted, tiles, *ends, out, 0, lines)
        else:
            which = np.arange(begin, end, dtype=np.int32)
            fill_sparse(kernel, sources.rows, sources.own, wanted, rows, own, which, out, begin, lines)

    size = rows.height - first
    in_shares(share, size, targets.threads(size * len(wanted), threads), HEIGHT)


def kernel_matrix(kernel: Any, rows: Rows, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
    """Return the kernel matrix of rows in their precision, by default a new one.

    One half is computed; the diagonal is from float64.
    """
    (own, itself), m = own_terms_and_values(kernel, rows), rows.height
    every, out = table(rows, own), np.empty((m, m), own.dtype) if out is None else out
    for first in range(0, m, WIDE):
        after = min(first + WIDE, m)
        some = np.arange(first, after)
        fill(kernel, every, some, every, out, some, threads, first)
        out[after:m, first:after] = out[first:after, after:m].T
    np.fill_diagonal(out, itself)
    return out
