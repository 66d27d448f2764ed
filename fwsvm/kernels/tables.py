"""Tables of rows laid out for kernel values: packed in dense tiles where few numbers are zero, else as they are."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT, DenseTiles, dense_tiles, fill_dense
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows, some_rows
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
    last: int | None = None,
) -> None:
    """Write k(source wanted[c], target r) to ``out[lines[c], r - first]`` for the targets r of first ... last - 1.

    At most 64 rows are wanted (int32); of dense rows ``first`` is a multiple of `HEIGHT`.
    """
    (rows, own, tiles), size = targets, (targets.rows.height if last is None else last) - first

    def share(begin: int, end: int) -> None:
        if len(tiles.numbers):
            ends = (first + begin) // HEIGHT, -(-(first + end) // HEIGHT)
            fill_dense(kernel, sources.tiles, wanted, tiles, *ends, out, first, lines)
        else:
            which = np.arange(first + begin, first + end, dtype=np.int32)
            fill_sparse(kernel, sources.rows, sources.own, wanted, rows, own, which, out, begin, lines)

    in_shares(share, size, targets.threads(size * len(wanted), threads), HEIGHT)


def kernel_matrix(
    kernel: Any, rows: Rows, first: np.ndarray, second: np.ndarray, out: np.ndarray, threads: int = 1
) -> None:
    """Write k(rows[first[i]], rows[second[j]]) to ``out[i, j]``, in the precision of ``rows``."""
    own, dense = own_terms(kernel, rows), is_dense(rows)
    sources, targets = (table(some_rows(rows, which), own[which], dense=dense) for which in (first, second))
    for wanted in _blocks(sources):
        fill(kernel, sources, wanted, targets, out, wanted.astype(np.int64), threads)


def symmetric_matrix(kernel: Any, rows: Table, threads: int) -> np.ndarray:
    """Return the kernel matrix of rows, of which one half is computed."""
    out = np.empty((rows.rows.height,) * 2)
    for wanted in _blocks(rows):
        first, after = int(wanted[0]), int(wanted[-1]) + 1
        part = np.empty((len(wanted), len(out) - first))
        fill(kernel, rows, wanted, rows, part, np.arange(len(wanted)), threads, first)
        out[first:after, first:] = part
        out[after:, first:after] = part[:, after - first :].T
    return out


def _blocks(rows: Table) -> Iterator[np.ndarray]:
    """Yield the numbers of rows, as many at a time as `fill` takes."""
    for start in range(0, rows.rows.height, WIDE):
        yield np.arange(start, min(start + WIDE, rows.rows.height), dtype=np.int32)
