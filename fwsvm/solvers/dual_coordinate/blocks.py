"""The order of visits to rows on a disk: a sweep goes through blocks of them in random order, through each likewise.

Rows of a mapped file in an order that is random altogether would be read from the disk one by one. By blocks each is
read once a sweep (Yu, Hsieh, Chang & Lin 2010, "Large linear classification when data cannot fit in memory", with one
pass over a block), and so many rows make a block that a few of them fit in the budget of memory.
"""

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm.numerics.compile import njit
from fwsvm.numerics.random import shuffle
from fwsvm.problems.box_qp import BoxQP

MOST = 1 << 27  # bytes of a block
A_BUDGET = 4  # blocks


def rows_of_a_block(qp: BoxQP, cache_bytes: int) -> int:
    """Return how many rows a block of mapped rows has; 0 for rows in memory."""
    if not is_mapped(qp.values):
        return 0
    stored = qp.values.nbytes + (0 if qp.columns is None else qp.columns.nbytes)
    return max(1, min(MOST, cache_bytes // A_BUDGET) * len(qp.points) // max(1, stored))


@njit
def shuffle_rows(s):
    """Put the rows of the next sweep, ``order[:now.size]``, in random order; mapped ones by blocks."""
    now = s.now[0]
    if now.block == 0:
        shuffle(s.order, now.size, s.random)
        return
    count = (len(s.qp.points) + now.block - 1) // now.block
    blocks = np.arange(count)
    shuffle(blocks, count, s.random)
    ends = np.zeros(count + 1, np.int64)
    for k in range(now.size):
        ends[s.order[k] // now.block] += 1
    at = 0
    for b in blocks:  # from how many rows a block has to where they begin
        size = ends[b]
        ends[b] = at
        at += size
    rows = s.order[: now.size].copy()
    for row in rows:
        b = row // now.block
        s.order[ends[b]] = row
        ends[b] += 1
    first = 0
    for b in blocks:
        shuffle(s.order[first : ends[b]], ends[b] - first, s.random)
        first = ends[b]
