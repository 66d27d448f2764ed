"""What a Frank-Wolfe-type run on the simplex carries from step to step."""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.problems.simplex_qp import SimplexQP

#: Why the compiled loop came back.
GOING, REACHED, NO_VIOLATOR, NO_PROGRESS, NO_ROOM = range(5)

NOW = np.dtype(
    [
        ("R", np.float64),  # alpha' K~ alpha
        ("gap", np.float64),  # 2 (R - q_i) of the current vertex i
        ("goal_constant", np.float64),  # stop where gap <= goal_constant + goal_slope * R
        ("goal_slope", np.float64),
        ("inner", np.float64),  # CVM: how far pairs inside the core set may differ
        ("vertex", np.int64),  # i, the vertex the next move is about
        ("held", np.int64),  # `Sampled`: the row whose column is in ``column_i``
        ("held_j", np.int64),  # ... and in ``column_j``
        ("best", np.int64),  # argmin q over all rows, as the last full pass found it
        ("active", np.int64),  # |A|
        ("iterations", np.int64),  # vertices searched for
        ("steps", np.int64),  # moves made
        ("drops", np.int64),  # moves that made a weight zero
        ("stop", np.int64),  # GOING or the reason to come back
    ]
)


class State(NamedTuple):
    """The point, its gradient, and room to work in; arrays change, the tuple does not.

    Attributes
    ----------
    qp : SimplexQP
    search : Full or Sampled, how the ascent vertex is found and q is kept
    alpha : ndarray of float64, shape (m,), the weights; exactly zero outside the active set
    q : ndarray of float64, shape (m,), K~ alpha; outside the active set only `Full` keeps it
    active : ndarray of int32, shape (m,), the active set A in its first ``now.active`` places
    place : ndarray of int32, shape (m,), position in ``active``, -1 for none
    now : ndarray of `NOW`, shape (1,)
    random : numpy Generator
    column_i, column_j : ndarray, shape (m,); `Sampled` puts columns here, valid on the active set
    values : ndarray, shape (candidates, room); `Sampled`: kernel values of candidates with the active set
    signed : ndarray of float64, shape (room,); `Sampled`: y alpha on the active set
    lines : ndarray of int64, 0 ... 63, the lines of ``values``
    drawn : ndarray of int32, shape (65,); candidates drawn, or the columns to compute together
    """

    qp: SimplexQP
    search: Any
    alpha: np.ndarray
    q: np.ndarray
    active: np.ndarray
    place: np.ndarray
    now: np.ndarray
    random: np.random.Generator
    column_i: np.ndarray
    column_j: np.ndarray
    values: np.ndarray
    signed: np.ndarray
    lines: np.ndarray
    drawn: np.ndarray
