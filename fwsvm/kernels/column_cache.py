"""A cache of kernel matrix columns within a memory budget; misses are computed in blocks, victims drawn at random."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fwsvm.kernels.kernel import own_terms_and_values
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.kernels.values import Table, fill, is_dense, table

EVALUATIONS, MISSES, USED = range(3)  # places in `ColumnCache.counts`
FEWEST = 16  # columns that are cached even where the budget holds fewer
TRIES = 8  # columns that are drawn for each that is evicted, those of no priority first


class ColumnCache(NamedTuple):
    """Columns k(x_i, .) of m rows. Values have no signs of labels and no bias: these, and C, belong to the problem.

    A column's entry at its own row is k(x_i, x_i) from float64. Computed as the others are it would be off by the
    rounding of sums that cancel, in one direction for all rows of an rbf kernel, and by much where that is narrow.

    Attributes
    ----------
    kernel : NamedTuple
    table : the m rows
    itself : ndarray of float64, shape (m,), k(x_i, x_i)
    cached : ndarray of float32 or float64, shape (slots, m)
        One column a slot.
    slot_of : ndarray of int32, shape (m,); -1 where the column is not cached
    row_of : ndarray of int32, shape (slots,); the row whose column a slot holds
    counts : ndarray of int64, shape (3,): kernel evaluations, misses (blocks computed on demand), slots in use
    random : Generator, which draws victims
    threads : int
    """

    kernel: Any
    table: Table
    itself: np.ndarray
    cached: np.ndarray
    slot_of: np.ndarray
    row_of: np.ndarray
    counts: np.ndarray
    random: np.random.Generator
    threads: int


def column_cache(kernel: Any, rows: Rows, budget_bytes: int, threads: int = 1) -> ColumnCache:
    """Return an empty cache for the kernel's columns of these rows, of at most ``budget_bytes``.

    The system provides memory pages as columns are written, so a generous budget costs nothing by itself.
    """
    m = rows.height
    dtype = rows.values.dtype
    slots = min(m, max(FEWEST, budget_bytes // (m * dtype.itemsize)))
    own, itself = own_terms_and_values(kernel, rows)
    return ColumnCache(
        kernel,
        table(rows, own, dense=bool(budget_bytes) and is_dense(rows)),
        itself,
        np.empty((slots, m), dtype),
        np.full(m, -1, np.int32),
        np.full(slots, -1, np.int32),
        np.zeros(3, np.int64),
        np.random.default_rng(0),
        threads,
    )


#: The column caches of the subproblems of one training set, by number: the next run on the same rows finds them.
ColumnStore: TypeAlias = dict[int, ColumnCache]


def stored_cache(
    store: ColumnStore, number: int, kernel: Any, rows: Rows, budget_bytes: int, threads: int
) -> ColumnCache:
    """Return the cache of a kernel's columns over the rows of a subproblem, with the values that it has in a store.

    A store is of one kernel and one training set. A cache is kept for the next run if all that is kept then fits in the
    budget. Threads may use different numbers at the same time.
    """
    found = store.pop(number, None) or column_cache(kernel, rows, budget_bytes, threads)
    if sum(each.cached.nbytes for each in [found, *store.values()]) <= budget_bytes:
        store[number] = found
    return found


def _claim_slots(columns: ColumnCache, wanted: np.ndarray, priority: np.ndarray, keep: int) -> np.ndarray:
    """Return a slot for each wanted column: a free one, else by evicting a column drawn at random.

    Of the columns drawn, those of rows with ``priority`` zero are evicted first. Random replacement degrades gradually:
    with room for nine tenths of the columns it hits nine times in ten, where least-recently-used may never hit in a
    cyclic scan.
    """
    row_of = columns.row_of
    used = columns.counts[USED]
    free = min(len(wanted), len(row_of) - used)
    lines = np.arange(used, used + len(wanted))
    if missing := len(wanted) - free:
        drawn = columns.random.choice(len(row_of), min(len(row_of), TRIES * missing + 1), replace=False)
        drawn = drawn[(row_of[drawn] != keep) & (drawn < used)]
        victims = drawn[np.argsort(priority[row_of[drawn]] != 0.0, kind="stable")[:missing]]
        columns.slot_of[row_of[victims]] = -1
        lines[free:] = victims
    row_of[lines] = wanted
    columns.slot_of[wanted] = lines
    columns.counts[:] += len(wanted) * len(columns.slot_of), 1, free
    return lines


def compute(columns: ColumnCache, wanted: np.ndarray, priority: np.ndarray, keep: int = -1) -> None:
    """Compute the columns ``wanted`` (int32 row numbers, at most 64, none cached yet) as one block.

    ``priority`` (m,) is zero for rows whose columns are evicted first; the column of row ``keep`` is never evicted.
    """
    lines = _claim_slots(columns, wanted, priority, keep)
    every = columns.table
    fill(columns.kernel, every, wanted, every, columns.cached, lines, columns.threads)
    columns.cached[lines, wanted] = columns.itself[wanted]


def provide(
    columns: ColumnCache, rows: np.ndarray, announce: Callable[[float], None] = lambda _: None
) -> None:
    """Cache the columns of all these rows at the same time; ``announce`` is told what part of them is there."""
    priority = np.zeros(len(columns.slot_of))
    wanted = 0
    priority[rows] = 1.0
    while len(missing := rows[columns.slot_of[rows] < 0]):
        wanted = wanted or len(missing)
        announce(1.0 - len(missing) / wanted)
        compute(columns, missing[:WIDE].astype(np.int32), priority)


def pieces(columns: ColumnCache, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the rows, some at a time, whose columns are cached until the next come."""
    step = min(WIDE, max(1, len(columns.row_of) // 2))
    for first in range(0, len(rows), step):
        some = rows[first : first + step]
        provide(columns, some)
        yield some
