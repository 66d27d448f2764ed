"""Weighted sums of kernel values that are not stored: decision values, and gradients recomputed from scratch."""

from typing import Any

import numpy as np

from fwsvm import phases
from fwsvm.kernels.dense_tiles import HEIGHT, add_sums_of_rows, empty_dense_tiles, is_dense, pack_rows
from fwsvm.kernels.distances import OfDistance, cancels, value_error
from fwsvm.kernels.kernel import family_of, own_terms
from fwsvm.kernels.rows import Rows, some_rows
from fwsvm.kernels.sparse_tiles import WIDE, add_sparse_sums, empty_left_block, threads_for
from fwsvm.numerics.threads import in_shares, together

#: Kernel values that a thread computes between two places where an interrupt is heard: about half a second.
UNINTERRUPTED = 1 << 28

#: What a kernel value of few features is off by, in parts of sqrt(k(x, x) k(z, z)): its products cancel, and so do
#: sums of such values.
VALUE_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
#: Features that are few. Errors of a sum are as random steps, and grow with the root of their number.
FEW = 16


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
    ndarray of float64, shape (rows, outputs); sums are kept in float64, but those of 64 values in the rows' precision
    where they are dense.
    """
    dense = is_dense(sources) and is_dense(rows)
    own = own_terms(kernel, rows)
    own_sources = own if sources is rows else own_terms(kernel, sources)
    by_distances = cancels(value_error(kernel, own, own_sources), dense=dense)
    if not (dense or by_distances):
        return sums_of_sparse(kernel, sources, own_sources, which, weights, rows, own, threads)
    sources, own_sources = some_rows(sources, which), own_sources[which]
    if by_distances:
        kernel, own, own_sources = OfDistance(kernel), np.zeros_like(own), np.zeros_like(own_sources)
    return _sums_of_dense(kernel, sources, own_sources, weights, rows, own, threads)


def value_rounding(kernel: Any, rows: Rows, sources: Rows | None = None) -> float:
    """Return what the kernel values in `weighted_sums` of rows and sources, or of rows alone, may be off by.

    In parts of sqrt(k(x, x) k(z, z)), for float64.
    """
    own = own_terms(kernel, rows)
    error = value_error(kernel, own, own if sources is None else own_terms(kernel, sources))
    dense = is_dense(rows) and (sources is None or is_dense(sources))
    features = most_stored(rows) if sources is None else max(most_stored(rows), most_stored(sources))
    return rounding_of_sums(kernel, features, 0.0 if cancels(error, dense=dense) else error)


def product_rounding(kernel: Any, rows: Rows, own: np.ndarray) -> float:
    """Return what kernel values from products and the own terms of rows, (m,), may be off by, as `value_rounding`."""
    return rounding_of_sums(kernel, most_stored(rows), value_error(kernel, own, own))


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


def _sums_of_dense(
    kernel: Any,
    sources: Rows,
    own_sources: np.ndarray,
    weights: np.ndarray,
    rows: Rows,
    own: np.ndarray,
    threads: int,
) -> np.ndarray:
    out = np.zeros((weights.shape[1], rows.height))
    left_block = empty_dense_tiles(sources.height, sources.features, rows.values.dtype)
    pack_rows(left_block, sources, own_sources, 0)
    lines = np.ascontiguousarray(weights.T, dtype=np.float64)
    step = max(1, UNINTERRUPTED * threads // max(1, len(weights)) // HEIGHT) * HEIGHT
    for start in range(0, rows.height, step):
        if start:
            phases.inside("kernel values", start / rows.height)
        count = min(step, rows.height - start)

        def add(first: int, last: int, start: int = start) -> None:
            add_sums_of_rows(kernel, left_block, lines, rows, own, start + first, start + last, out)

        in_shares(add, count, threads_for(rows, count, len(weights), threads), HEIGHT)
    return out.T


def sums_of_sparse(
    kernel: Any,
    sources: Rows,
    own_sources: np.ndarray,
    which: np.ndarray,
    weights: np.ndarray,
    rows: Rows,
    own: np.ndarray,
    threads: int,
) -> np.ndarray:
    """Do `weighted_sums` for sparse rows whose own terms are known, from products."""
    out = np.zeros((weights.shape[1], rows.height))
    left_blocks = [empty_left_block(sources) for _ in range(threads_for(rows, rows.height, WIDE, threads))]
    ends = np.linspace(0, rows.height, len(left_blocks) + 1).astype(np.int64)
    for at in range(0, len(which), WIDE):
        if at:
            phases.inside("kernel values", at / len(which))
        some = np.ascontiguousarray(which[at : at + WIDE], dtype=np.int64)
        lines = np.ascontiguousarray(weights[at : at + WIDE].T, dtype=np.float64)

        def add(part: int, some: np.ndarray = some, lines: np.ndarray = lines) -> None:
            block, first, last = left_blocks[part], ends[part], ends[part + 1]
            add_sparse_sums(kernel, block, sources, own_sources, some, lines, rows, own, first, last, out)

        together(add, len(left_blocks))
    return out.T
