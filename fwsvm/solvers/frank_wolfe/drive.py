"""Steps, and the kernel columns that they ask for, in one stretch without the interpreter."""

from fwsvm._calls import call
from fwsvm._compile import njit
from fwsvm.kernels.blocks import threads_for
from fwsvm.solvers.frank_wolfe.state import GOING, WANTS_COLUMN
from fwsvm.solvers.frank_wolfe.values import likely


@njit
def drive(advance_at, compute_at, rule, s, columns, steps):
    """Take up to ``steps`` steps; return how many. Fewer means that ``now.stop`` says why.

    The addresses are those of `advance` for (rule, s, steps), and of `compute_here` for (columns, rows, alpha, row).
    Columns that are work for several threads are left to the caller.
    """
    now = s.now[0]
    taken = call(advance_at, (rule, s, steps))
    while now.stop == WANTS_COLUMN:
        wanted = likely(s, columns)
        if threads_for(columns.rows, s.q.size, wanted.size, columns.threads) > 1:
            break
        call(compute_at, (columns, wanted, s.alpha, now.vertex))
        now.stop = GOING
        taken += call(advance_at, (rule, s, steps - taken))
    return taken
