"""Steps and the kernel columns that they miss, in compiled code, without returning to the interpreter."""

import numpy as np

from fwsvm.kernels.sparse_tiles import threads_for
from fwsvm.numerics.call_by_address import call
from fwsvm.numerics.compile import njit
from fwsvm.solvers.frank_wolfe.gradient.full import prefetch_set
from fwsvm.solvers.frank_wolfe.state import COLUMN_MISS, GOING


@njit
def run_until_miss(advance_at, fetch_at, rule, s, columns, steps, block):
    """Take up to ``steps`` steps; return how many. Fewer means that ``now.stop`` says why.

    The addresses are those of `advance` for (rule, s, steps), and of `fetch_in_thread` for (columns, rows, alpha, row,
    0). Blocks of columns large enough for several threads are left to the caller: their numbers are in ``block``,
    int32 of shape (64,), and -1 after the last.
    """
    now = s.now[0]
    taken = call(advance_at, (rule, s, steps))
    while now.stop == COLUMN_MISS:
        wanted = prefetch_set(s, columns)
        if threads_for(columns.rows, s.q.size, wanted.size, columns.threads) > 1:
            for c in range(block.size):
                block[c] = wanted[c] if c < wanted.size else -1
            break
        call(fetch_at, (columns, wanted, s.alpha, now.vertex, np.int64(0)))
        now.stop = GOING
        taken += call(advance_at, (rule, s, steps - taken))
    return taken
