"""swap-2o on pairs of classes, in compiled code.

Each pair is set up and solved by the steps of `fwsvm.solvers.frank_wolfe.engine` over a column cache of its own, as a
run of its own would be, without the half of a millisecond that a run spends in the interpreter. For several penalties
it is solved for one after another, from where it ended for the one before, while its columns are in the processor's
caches. Certificates come afterwards (`fwsvm.solvers.auto.pair_certificates`).
"""

from typing import NamedTuple

import numpy as np

from fwsvm.kernels.column_cache import EVALUATIONS
from fwsvm.numerics.atomics import compare_exchange
from fwsvm.numerics.compile import njit
from fwsvm.solvers.auto.pair_state import change_penalty, pair_columns, pair_state, start_at_two
from fwsvm.solvers.auto.solutions import most_steps
from fwsvm.solvers.auto.whole_matrices import fill_pair, start_at_all
from fwsvm.solvers.frank_wolfe.run_until_miss import run_until_miss
from fwsvm.solvers.frank_wolfe.state import GOING
from fwsvm.solvers.tuning import MARGIN


class Addresses(NamedTuple):
    """Where the machine code stands (`fwsvm.numerics.call_by_address`) of steps, of columns, and of what fills them."""

    advance: int
    fetch: int
    fill: int


@njit
def solve_by_columns(
    laid, penalties, numbers, claimed, goal, rule, like, addresses, matrices, memory, left_block, solutions
):
    """Solve those of the pairs ``numbers`` that no other thread has claimed, and write the weights.

    Parameters
    ----------
    laid : LaidOutRows
    penalties : ndarray of float64, shape (S,), the values of C
    numbers : ndarray of int
    claimed : ndarray of int64, shape (pairs,), 1 where a pair is some thread's
    goal : Goal
    rule : the method's rule
    like : SimplexState, of another problem: what a pair does not need for itself is taken from it
    addresses : Addresses
    matrices : ClassMatrices, for pairs that begin with all columns
    memory : ndarray of float32, for kernel columns
    left_block : LeftBlock of float32, for sparse rows
    solutions : Solutions
        The coefficients become the weights with the signs of the classes, until a certificate divides them by R.
    """
    no_block = np.empty(0, np.int32)  # none is for several threads
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        i, j = laid.pairs[number]
        a, b = (laid.starts[i], laid.starts[i + 1]), (laid.starts[j], laid.starts[j + 1])
        columns = pair_columns(laid, a, b, addresses.fill, memory, left_block)
        s = pair_state(laid, penalties[0], a, b, columns, like)
        now, n = s.now[0], s.q.size
        if matrices.starts.size > 0:
            fill_pair(columns, s.plus, i, j, matrices, addresses.fetch)
            start_at_all(s)
        else:
            start_at_two(s, columns, addresses.fetch)
        now.stop_constant, now.stop_slope = (1.0 - MARGIN) * goal.constant, (1.0 - MARGIN) * goal.slope
        most, steps, evaluations = most_steps(goal, n), 0, 0
        for k in range(penalties.size):
            if k > 0:
                change_penalty(s, laid, penalties[k], a, b)
            run_until_miss(addresses.advance, addresses.fetch, rule, s, columns, most, no_block)
            solutions.reached[k, number] = now.stop != GOING
            solutions.steps[k, number] = now.steps - steps
            solutions.evaluations[k, number] = columns.counts[EVALUATIONS] - evaluations
            steps, evaluations = now.steps, columns.counts[EVALUATIONS]
            for t in range(n):
                if t < s.plus:
                    solutions.coefficients[k, a[0] + t, j - 1] = s.alpha[t]
                else:
                    solutions.coefficients[k, b[0] + t - s.plus, i] = -s.alpha[t]
            if now.stop == GOING:  # another method goes on, for this penalty and those after it
                break
