"""State of a Frank-Wolfe-type run on the simplex, the goal it has, and what a warm start begins with."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fwsvm.numerics.compile import record
from fwsvm.solvers.solver import WarmStart

#: Why the compiled loop returned: it has not; the gap is small enough; no candidate violates the stopping rule; a step
#: would not lower R; a kernel column is not cached; the candidates' kernel values are not computed.
GOING, REACHED, NO_VIOLATOR, NO_PROGRESS, COLUMN_MISS, CANDIDATES_MISS = range(6)

CONTROL = record(
    float64=(
        "R",  # alpha' K~ alpha
        "gap",  # 2 (R - q_i) of the ascent vertex i
        "stop_constant",  # stop where gap <= stop_constant + stop_slope * R
        "stop_slope",
        "noise",  # gaps below it are what rounding leaves of kernel values this large
        "inner",  # CVM: how far pairs inside the core set may differ
        "scale",  # arguments of `fwsvm.solvers.frank_wolfe.scans.scan`, for the threads that share it
        "a",
        "b",
    ),
    int64=(
        "vertex",  # i, the vertex the next move is about
        "best",  # argmin q over the rows held, or the candidates (`Sample.computed`)
        "active",  # |A|
        "plus",  # rows of the class +1 among them
        "iterations",  # ascent vertices searched for
        "steps",  # moves made
        "stop",  # GOING, or why the loop came back
        "wanted",  # the row whose column is wanted
        "found",  # whether ``vertex`` is that of the present point
        "draws",  # how often candidates were drawn for the present point
        "looked",  # kernel values that looking at candidates and checks cost
        "kind",  # further arguments of `scan`
        "i",
        "j",
    ),
)


class Sample(NamedTuple):
    """How sampled search draws its candidates, what it knows of all m rows of the problem, and the candidates.

    Attributes
    ----------
    retries : int
        Samples without a violator of the goal after which the run stops.
    outside : bool
        Whether candidates are drawn, with replacement, from the rows outside the active set.
    in_turn : bool
        Whether they are drawn from its two classes in turn, as LIBCVM and the program of 003's authors do for CVM.
    computed : bool
        Whether the run holds the active rows alone, and q of candidates is computed anew each time.
    plus : int
        Number of rows with y = +1.
    row : ndarray of int32, shape (n,)
        The row of the problem at each place.
    place_of : ndarray of int32, shape (m,)
        The place that each row of the problem was last held at, -1 for none.
    drawn : ndarray of int32, shape (64,)
        The candidates, rows of the problem.
    random : ndarray of uint64, shape (1,)
        A stream of `fwsvm.numerics.random`.
    """

    retries: int
    outside: bool
    in_turn: bool
    computed: bool
    plus: int
    row: np.ndarray
    place_of: np.ndarray
    drawn: np.ndarray
    random: np.ndarray


class SimplexState(NamedTuple):
    """The point, its gradient, and the kernel values at hand; arrays change, the tuple does not.

    It holds n rows: all m rows of the problem, or those that are or may become active (`Sample.computed`), each at a
    place of its class.

    Attributes
    ----------
    plus : int
        Places 0 ... plus - 1 are for rows with y = +1, the others for -1.
    ridge, diagonal : ndarray of float64, shape (n,)
        1 / C_i and K~_ii.
    alpha : ndarray of float64, shape (n,)
        The weights; exactly zero outside the active set.
    q : ndarray of float64, shape (n,)
        K~ alpha.
    active : ndarray of int32, shape (n,)
        The active set A in its first ``now.active`` entries.
    place : ndarray of int32, shape (n,)
        Position in ``active``, -1 for none.
    active_diagonal : ndarray of float64, shape (n,)
        K~_ii of active rows, -1 of the others: one array tells a scan which rows are active, and their K~_ii.
    now : a `CONTROL` record
    cached : ndarray, shape (slots, n)
        Kernel columns k(x_i, .).
    slot_of : ndarray of int32, shape (n,)
        Line of ``cached`` with a row's column, -1 for none.
    team : ThreadTeam
        The threads that share scans.
    sample : Sample; () under full search
    """

    plus: int
    ridge: np.ndarray
    diagonal: np.ndarray
    alpha: np.ndarray
    q: np.ndarray
    active: np.ndarray
    place: np.ndarray
    active_diagonal: np.ndarray
    now: np.void
    cached: np.ndarray
    slot_of: np.ndarray
    team: Any
    sample: Any


def stopping_line(stop: str, level: float, widest: float) -> tuple[float, float]:
    """Return a and b of the largest gap a + b R at which a run by this rule to this tolerance may stop.

    ``stop`` is relative (gap <= level R), gap (000 eq. 8: gap <= level), or meb: gamma_i^2 <= (1 + level)^2 r^2 (003
    section 4.3) with Delta^2 = ``widest`` = max K~_ii.
    """
    if stop == "relative":
        return 0.0, level
    if stop == "gap":
        return level, 0.0
    slack = 2.0 * level + level * level
    return slack * widest, -slack


@dataclass(frozen=True)
class SimplexStart(WarmStart):
    """What a run on the simplex makes use of, beside the weights.

    Attributes
    ----------
    kernel : NamedTuple
    gradient, ridge : ndarrays of float64, shape (m,), in the order of the problem's rows
        q = K~ alpha at the weights, and the 1 / C_i that are on the diagonal of K~.
    newton : bool
        Whether the run was Newton's, and swap-2o alone did not reach the goal.
    earlier : tuple of SimplexStart
        Where runs before it ended, by the same kernel, at most two.
    """

    kernel: Any
    gradient: np.ndarray
    ridge: np.ndarray
    newton: bool = False
    earlier: tuple["SimplexStart", ...] = ()

    @property
    def ends(self) -> tuple["SimplexStart", ...]:
        """Where the last two runs ended."""
        return (*self.earlier, replace(self, earlier=()))[-2:]
