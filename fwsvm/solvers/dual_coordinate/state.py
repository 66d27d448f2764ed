"""The state of dual coordinate descent."""

from typing import NamedTuple

import numpy as np

from fwsvm.problems.box_qp import BoxQP

#: Why the compiled loop returned: budget used up, gap small enough, the method's own rule, or no progress.
GOING, REACHED, OWN_RULE, STALLED = range(4)
#: Its two phases: coordinate steps in the order of the sweep, or a survey of all rows with w unchanged.
SWEEPING, SURVEYING = range(2)

COORDINATE = np.dtype(
    [
        ("alpha", np.float64),
        ("margin", np.float64),  # y_i <w, x_i> at the last survey
        ("slack", np.float64),  # the row rests while |w - w at the survey| is below this; -1: it does not
        ("shortfall", np.float64),  # its part of the gap when last visited
    ]
)

CONTROL = np.dtype(
    [
        ("dual", np.float64),  # D, by the sum of gains
        ("gap", np.float64),  # sum of the shortfalls: the gap as of each row's last visit
        ("moved", np.float64),  # |w - w at the survey|^2, never too small
        ("distance", np.float64),  # its root
        ("travelled", np.float64),  # sum of the squared lengths of this sweep's steps
        ("reach", np.float64),  # what |change of w|^2 of a sweep is taken to be
        ("least", np.float64),  # range of the projected gradient in this sweep
        ("most", np.float64),
        ("least_before", np.float64),  # liblinear's thresholds, from the sweep before
        ("most_before", np.float64),
        ("epsilon", np.float64),  # tolerance of the method's own rule
        ("reference", np.float64),  # Delta_ref of AVSF
        ("share", np.float64),  # 1 / m
        ("fade", np.float64),  # exp(-c), what a step of length zero does to a preference
        ("stop_constant", np.float64),  # stop where gap <= stop_constant + stop_slope * D
        ("stop_slope", np.float64),
        ("optimism", np.float64),  # gap as tracked / best gap as surveyed, when last surveyed
        ("theta", np.float64),  # the best multiple of w, when last surveyed,
        ("decrease", np.float64),  # and what it takes off P and the gap
        ("dual_surveyed", np.float64),  # D then
        ("sweeps_surveyed", np.int64),  # sweeps then
        ("least_gap", np.float64),  # the least gap surveyed
        ("at_rest", np.int64),  # surveys in a row without progress
        ("idle", np.int64),  # visits since then that moved nothing and that a survey would have spared
        ("doing", np.int64),  # SWEEPING or SURVEYING
        ("at", np.int64),  # place in the order, or row of the survey
        ("size", np.int64),  # length of the order: rows of this sweep
        ("can_stop", np.int64),  # AVSF: the sweep visits every row exactly once
        ("by_own_rule", np.int64),  # whether the method's own rule ends the run (--stop eps)
        ("block", np.int64),  # rows of a mapped file that are visited together; 0: they are in memory
        ("sweeps", np.int64),
        ("iterations", np.int64),  # rows visited
        ("steps", np.int64),  # visits after which the row stays in the active set: the paper's steps
        ("stop", np.int64),  # GOING or the reason to come back
    ]
)


class LinearState(NamedTuple):
    """The point, the order of visits and bounds for each row; the arrays are updated in place.

    Attributes
    ----------
    qp : BoxQP of m points
    coordinates : ndarray of `COORDINATE`, shape (m,)
    preferences : ndarray of float64, shape (m,), p of AVSF; of methods without them one number
    w : ndarray of float64, shape (n + 1,), sum_i y_i alpha_i x_i; last the weight of the constant feature
    order : ndarray of uint32, shape (m,), the sweep's rows in its first ``now.size`` places
    now : ndarray of `CONTROL`, shape (1,)
    random : ndarray of uint64, shape (1,), a stream of `fwsvm.numerics.random`
    """

    qp: BoxQP
    coordinates: np.ndarray
    preferences: np.ndarray
    w: np.ndarray
    order: np.ndarray
    now: np.ndarray
    random: np.ndarray
