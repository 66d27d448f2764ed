"""Kernel values of tables of rows: blocks, whole matrices, and weighted sums of values that are not stored.

Tables are packed in dense tiles where few numbers are zero, else their rows are read as they are.
"""

from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fwsvm import phases
from fwsvm.kernels.dense_tiles import (
    HEIGHT,
    MOST,
    DenseTiles,
    add_dense_sums,
    dense_tiles,
    fill_dense,
    scratch,
)
from fwsvm.kernels.distances import OfDistance, cancels, value_error
from fwsvm.kernels.kernel import family_of, own_terms, own_terms_and_values
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import TILE, add_sparse_sums, fill_sparse
from fwsvm.numerics.threads import blas_on, in_shares, together

#: Share of numbers that are not zero from which eight columns cost less by dense tiles.
DENSE = 0.25
PRODUCTS_PER_THREAD = 1 << 21  # multiplications below which a second thread costs more than it saves
#: Bytes of rows that are packed at a time: they stay in the second-level cache while left-hand blocks pass by.
PACKED = 1 << 20
#: Outputs from which sums over dense rows are matrix products. Evidence: predictions for ten C take 0.56 of the time
#: on letter (250 outputs) and 0.9 on usps (90).
MANY_OUTPUTS = 64
PRODUCT_ROWS, PRODUCT_SOURCES = 512, 8 * MOST  # of a matrix of kernel values that is multiplied
ROUND = 1 << 14  # rows of a thread between two places where an interrupt is heard

#: What a kernel value of few features is off by, in parts of sqrt(k(x, x) k(z, z)): its products cancel, and so do
#: sums of such values.
VALUE_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
#: Features that are few. Errors of a sum are as random steps, and grow with the root of their number.
FEW = 16


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
        each = 8.0 + self.rows.values.size / max(1, self.rows.height)
        return threads if values * each > PRODUCTS_PER_THREAD else 1


def table(rows: Rows, own: np.ndarray, *, dense: bool | None = None) -> Table:
    """Return the table of rows with these own terms; ``dense`` is by default what `is_dense` says."""
    if is_dense(rows) if dense is None else dense:
        return Table(rows, own, dense_tiles(rows, own, np.arange(rows.height)))
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
    rows, own, tiles = targets
    wanted = wanted.astype(np.int32, copy=False)

    def share(begin: int, end: int) -> None:
        begin += first
        end += first
        if len(tiles.numbers):
            some = wanted, tiles, begin // HEIGHT, -(-end // HEIGHT)
            fill_dense(kernel, sources.tiles, *some, out.reshape(-1), out.shape[1], 0, lines, scratch(tiles))
        else:
            fill_sparse(
                kernel,
                sources.rows,
                sources.own,
                wanted,
                rows,
                own,
                np.arange(begin, end, dtype=np.int32),
                out,
                begin,
                lines,
            )

    size = rows.height - first
    in_shares(share, size, targets.threads(size * len(wanted), threads), HEIGHT)


def fill_some(
    kernel: Any, rows: Table, wanted: np.ndarray, which: np.ndarray, out: np.ndarray, threads: int
) -> None:
    """Write k(row wanted[c], row which[r]) of one table to ``out[c, r]``; at most 64 rows are wanted (int32)."""
    lines = np.arange(len(wanted))
    table = (rows.rows, rows.own)

    def share(first, last):
        fill_sparse(kernel, *table, wanted, *table, which[first:last], out, first, lines)

    in_shares(share, len(which), rows.threads(out.size, threads), TILE)


def kernel_matrix(kernel: Any, rows: Rows, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
    """Return the kernel matrix of rows in their precision, by default a new one.

    One half is computed; the diagonal is from float64.
    """
    own, itself = own_terms_and_values(kernel, rows)
    m = rows.height
    every = table(rows, own)
    out = np.empty((m, m), own.dtype) if out is None else out
    parts = every.threads(m * m, threads)

    def write(part: int) -> None:
        for first in range(part * MOST, m, parts * MOST):
            after = min(first + MOST, m)
            some = np.arange(first, after)
            fill(kernel, every, some, every, out, some, first=first)
            out[after:m, first:after] = out[first:after, after:m].T

    together(write, parts)
    np.fill_diagonal(out, itself)
    return out


def weighted_sums(
    kernel: Any, sources: Rows, which: np.ndarray, weights: np.ndarray, rows: Rows, threads: int = 1
) -> np.ndarray:
    """Return sum_j weights[j, o] k(sources[which[j]], rows[t]) for every row t and output o.

    Parameters
    ----------
    sources, rows : Rows of one precision, in which kernel values are computed
    which : ndarray of int, shape (s,)
    weights : ndarray, shape (s, outputs)
    threads : int

    Returns
    -------
    ndarray of float64, shape (rows, outputs); sums are kept in float64, but those of 64 values, or of
    `PRODUCT_SOURCES` for `MANY_OUTPUTS`, in the rows' precision.
    """
    kernel, source_table, which, targets = sum_tables(kernel, sources, which, rows)
    return sums_of_tables(kernel, source_table, which, weights, targets, 0, rows.height, threads)


def sum_tables(
    kernel: Any, sources: Rows, which: np.ndarray, rows: Rows
) -> tuple[Any, Table, np.ndarray, Table]:
    """Return the kernel, and the tables of sources and rows, for `sums_of_tables`; and where the sources ``which`` are.

    Where products would cancel, the kernel takes differences.
    """
    dense = is_dense(sources) and is_dense(rows)
    own = own_terms(kernel, rows)
    own_sources = own if sources is rows else own_terms(kernel, sources)
    if own.dtype == np.float64 and cancels(value_error(kernel, own, own_sources), dense=dense):
        kernel, dense, own, own_sources = (
            OfDistance(kernel),
            True,
            np.zeros_like(own),
            np.zeros_like(own_sources),
        )
    targets = table(rows, own, dense=False)
    if not dense:
        return kernel, table(sources, own_sources, dense=False), which, targets
    tiles = dense_tiles(sources, own_sources, which)
    return kernel, Table(sources, own_sources, tiles), np.arange(len(which)), targets


def sums_of_tables(
    kernel: Any,
    sources: Table,
    which: np.ndarray,
    weights: np.ndarray,
    targets: Table,
    first: int,
    last: int,
    threads: int,
) -> np.ndarray:
    """Do `weighted_sums` for the targets first ... last - 1; beside sources that are tiles they are packed."""
    (rows, own, tiles), dense, outputs = targets, len(sources.tiles.numbers) > 0, weights.shape[1]
    piece = max(1, PACKED // (HEIGHT * max(1, rows.features) * own.itemsize)) * HEIGHT
    many = dense and not len(tiles.numbers) and outputs >= MANY_OUTPUTS
    piece = min(piece, PRODUCT_ROWS) if many else piece
    out = np.zeros((outputs, last - first))
    which = which.astype(np.int32)
    padded = np.zeros((-(-len(which) // MOST), MOST, outputs), own.dtype)
    padded.reshape(-1, outputs)[: len(which)] = weights
    some = which, np.ascontiguousarray(padded.swapaxes(1, 2))

    def add(base: int, begin: int, end: int) -> None:
        begin += base
        end += base
        if not dense:
            add_sparse_sums(kernel, sources.rows, sources.own, *some, rows, own, begin, end, out, first)
        elif len(tiles.numbers):
            add_dense_sums(kernel, sources.tiles, *some, tiles, begin, end, out, first, scratch(tiles))
        else:
            left = scratch(sources.tiles)
            for start in range(begin, end, piece):
                stop = min(start + piece, end)
                packed = dense_tiles(rows, own, np.arange(start, stop))
                if many:
                    _add_products(
                        kernel, sources.tiles, which, weights, packed, out[:, start - first : stop - first]
                    )
                    continue
                add_dense_sums(
                    kernel, sources.tiles, *some, packed, 0, stop - start, out, first - start, left
                )

    for start in range(first, last, ROUND * threads):
        if start > first:
            phases.inside("kernel values", start / last)
        count = min(ROUND * threads, last - start)
        with blas_on(1) if many else nullcontext():
            in_shares(partial(add, start), count, targets.threads(count * len(which), threads), HEIGHT)
    return out.T


def _add_products(
    kernel: Any,
    sources: DenseTiles,
    which: np.ndarray,
    weights: np.ndarray,
    tiles: DenseTiles,
    out: np.ndarray,
) -> None:
    """Add sums of kernel values with the rows of some tiles to ``out``, shape (outputs, rows), by matrix products."""
    count = len(tiles.own) // HEIGHT
    lines = np.arange(PRODUCT_SOURCES)
    values = np.empty((PRODUCT_SOURCES, out.shape[1]), tiles.own.dtype)
    weights = weights.astype(tiles.own.dtype)
    left = scratch(tiles)
    for base in range(0, len(which), PRODUCT_SOURCES):
        some = slice(base, min(base + PRODUCT_SOURCES, len(which)))
        for at in range(base, some.stop, MOST):
            wanted = which[at : min(at + MOST, some.stop)]
            to = values.reshape(-1), values.shape[1], 0, lines[at - base :][: len(wanted)]
            fill_dense(kernel, sources, wanted, tiles, 0, count, *to, left)
        out += weights[some].T @ values[: some.stop - base]


def rounding_of_sums(kernel: Any, features: int, error: float) -> float:
    """Return what kernel values may be off by, sums over up to so many features.

    ``error`` is what the distance's rounding may change them by (`fwsvm.kernels.distances.value_error`), as if there
    were few.
    """
    grown = max(1.0, float(np.sqrt(features / FEW)))
    return (VALUE_ROUNDING * family_of(kernel).condition(kernel) + error) * grown


def most_stored(rows: Rows) -> int:
    """Return how many features the longest of the rows stores."""
    return int(np.diff(rows.starts).max(initial=0))
