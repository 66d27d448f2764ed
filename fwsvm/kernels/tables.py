"""Tables of rows laid out for kernel values: packed in dense tiles where few numbers are zero, else as they are."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT, DenseTiles, dense_tiles, empty_dense_tiles, fill_dense
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

    @property
    def products(self) -> float:
        """What a kernel value with a row costs, in multiplications."""
        packed = len(self.tiles.numbers) > 0
        return 8.0 + (self.rows.features if packed else self.rows.values.size / max(1, self.rows.height))


def table(rows: Rows, own: np.ndarray, *, dense: bool | None = None) -> Table:
    """Return the table of rows with these own terms; ``dense`` is by default what `is_dense` says."""
    if is_dense(rows) if dense is None else dense:
        return Table(rows, own, dense_tiles(rows, own))
    return Table(rows, own, empty_dense_tiles(0, rows.features, rows.values.dtype))


def fill(
    kernel: Any,
    sources: Table,
    wanted: np.ndarray,
    targets: Table,
    out: np.ndarray,
    lines: np.ndarray,
    first: int = 0,
    last: int | None = None,
    start: int = 0,
) -> None:
    """Write k(source wanted[c], target r) to ``out[lines[c], r - start]`` for the targets r of first ... last - 1.

    At most 64 rows are wanted (int32); of dense rows ``first`` is a multiple of `HEIGHT`.
    """
    last = targets.rows.height if last is None else last
    if targets.tiles.numbers.size:
        ends = first // HEIGHT, -(-last // HEIGHT)
        fill_dense(kernel, sources.tiles, wanted, targets.tiles, *ends, out, start, lines)
    else:
        rows, own, *_ = sources
        which = np.arange(first, last, dtype=np.int32)
        fill_sparse(kernel, rows, own, wanted, targets.rows, targets.own, which, out, first - start, lines)


def fill_lines(
    kernel: Any,
    sources: Table,
    wanted: np.ndarray,
    targets: Table,
    out: np.ndarray,
    lines: np.ndarray,
    threads: int,
    start: int = 0,
) -> None:
    """Do `fill` for all targets from ``start`` on, on several threads where that is faster."""
    size = targets.rows.height - start
    in_shares(
        lambda first, last: fill(kernel, sources, wanted, targets, out, lines, start + first, start + last),
        size,
        threads_for(targets, size * len(wanted), threads),
        HEIGHT,
    )


def threads_for(targets: Table, values: int, threads: int) -> int:
    """Return ``threads`` where so many kernel values with the targets are work for several, else 1."""
    return threads if values * targets.products > PRODUCTS_PER_THREAD else 1


def kernel_matrix(
    kernel: Any, rows: Rows, first: np.ndarray, second: np.ndarray, out: np.ndarray, threads: int = 1
) -> None:
    """Write k(rows[first[i]], rows[second[j]]) to ``out[i, j]``, in the precision of ``rows``."""
    own, dense = own_terms(kernel, rows), is_dense(rows)
    sources, targets = (table(some_rows(rows, which), own[which], dense=dense) for which in (first, second))
    for wanted in _blocks(sources):
        fill_lines(kernel, sources, wanted, targets, out, wanted.astype(np.int64), threads)


def symmetric_matrix(kernel: Any, rows: Table, threads: int) -> np.ndarray:
    """Return the kernel matrix of rows, of which one half is computed."""
    out = np.empty((rows.rows.height,) * 2)
    for wanted in _blocks(rows):
        first, after = wanted[0], wanted[-1] + 1
        fill_lines(kernel, rows, wanted, rows, out, wanted.astype(np.int64), threads, first)
        out[after:, first:after] = out[first:after, after:].T
    return out


def _blocks(rows: Table) -> Iterator[np.ndarray]:
    """Yield the numbers of rows, as many at a time as `fill` takes."""
    for start in range(0, rows.rows.height, WIDE):
        yield np.arange(start, min(start + WIDE, rows.rows.height), dtype=np.int32)
