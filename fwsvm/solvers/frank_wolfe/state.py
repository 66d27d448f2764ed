"""State of a Frank-Wolfe-type run on the simplex, the goal it has, and what a warm start begins with."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fwsvm.solvers.solver import WarmStart

#: Why the compiled loop returned: it has not; the gap is small enough; no candidate violates the stopping rule; a step
#: would not lower R; a kernel column is not cached; the candidates' kernel values are not computed.
GOING, REACHED, NO_VIOLATOR, NO_PROGRESS, COLUMN_MISS, CANDIDATES_MISS = range(6)

CONTROL = np.dtype(
    [
        ("R", np.float64),  # alpha' K~ alpha
        ("gap", np.float64),  # 2 (R - q_i) of the ascent vertex i
        ("stop_constant", np.float64),  # stop where gap <= stop_constant + stop_slope * R
        ("stop_slope", np.float64),
        ("noise", np.float64),  # gaps below it are what rounding leaves of kernel values this large
        ("inner", np.float64),  # CVM: how far pairs inside the core set may differ
        ("vertex", np.int64),  # i, the vertex the next move is about
        ("best", np.int64),  # argmin q over all rows, as the last full pass found it
        ("active", np.int64),  # |A|
        ("iterations", np.int64),  # ascent vertices searched for
        ("steps", np.int64),  # moves made
        ("drops", np.int64),  # moves that made a weight zero
        ("stop", np.int64),  # GOING, or why the loop came back
        ("wanted", np.int64),  # the row whose column is wanted
        ("found", np.int64),  # whether ``vertex`` is that of the present point
        ("draws", np.int64),  # `Sampled`, `Tracked`: how often candidates were drawn for the present point
        ("looked", np.int64),  # `Sampled`: kernel values that looking at candidates and checks cost
    ]
)


class SimplexState(NamedTuple):
    """The point, its gradient, and the kernel values at hand; arrays change, the tuple does not.

    Attributes
    ----------
    search : Full, Sampled or Tracked
        How the ascent vertex is found and how much of q is kept.
    plus : int
        Rows 0 ... plus - 1 have y = +1, the others -1.
    ridge, diagonal : ndarray of float64, shape (m,)
        1 / C_i and K~_ii.
    alpha : ndarray of float64, shape (m,)
        The weights; exactly zero outside the active set.
    q : ndarray of float64, shape (m,)
        K~ alpha; `Sampled` keeps it on the active set alone.
    active : ndarray of int32, shape (m,)
        The active set A in its first ``now.active`` places.
    place : ndarray of int32, shape (m,)
        Position in ``active``, -1 for none.
    active_diagonal : ndarray of float64, shape (m,)
        K~_ii of active rows, -1 of the others: one array tells a scan which rows are active, and their K~_ii.
    now : ndarray of `CONTROL`, shape (1,)
    random : ndarray of uint64, shape (1,)
        A stream of `fwsvm.numerics.random`.
    cached : ndarray, shape (slots, m)
        Kernel columns k(x_i, .) by row; under `Sampled`, shape (lines, room), by place in the active set.
    slot_of : ndarray of int32, shape (m,)
        Line of ``cached`` with a row's column, -1 for none.
    values : ndarray, shape (64, room)
        `Sampled`: kernel values of the candidates with the active set.
    core : ndarray of float64, shape (3, room)
        `Sampled`: room for copies by place in the active set (`fwsvm.solvers.frank_wolfe.cvm`).
    drawn : ndarray of int32, shape (64,)
        `Sampled`, `Tracked`: the candidates.
    team : ThreadTeam
        The threads that share scans over all rows.
    """

    search: Any
    plus: int
    ridge: np.ndarray
    diagonal: np.ndarray
    alpha: np.ndarray
    q: np.ndarray
    active: np.ndarray
    place: np.ndarray
    active_diagonal: np.ndarray
    now: np.ndarray
    random: np.ndarray
    cached: np.ndarray
    slot_of: np.ndarray
    values: np.ndarray
    core: np.ndarray
    drawn: np.ndarray
    team: Any


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


def largest_gap(stop: str, level: float, widest: float, R: float) -> float:
    """Return the gap at which a run with the objective R may stop."""
    constant, slope = stopping_line(stop, level, widest)
    return constant + slope * R


ROUNDED = 2.0**-52  # what sums in double precision are off by, in parts of R


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
    error : float
        Rounding of the gradient, in parts of R.
    """

    kernel: Any
    gradient: np.ndarray
    ridge: np.ndarray
    newton: bool = False
    earlier: tuple["SimplexStart", ...] = ()
    error: float = ROUNDED

    @property
    def ends(self) -> tuple["SimplexStart", ...]:
        """Where the last two runs ended."""
        return (*self.earlier, replace(self, earlier=()))[-2:]

    def gradient_at(self, ridge: np.ndarray) -> np.ndarray:
        """Return q at the same weights with another ridge."""
        return self.gradient + (ridge - self.ridge) * self.weights

    def extrapolated(self, ridge: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the best combination b of the ends of runs with another ridge: b, K~ b and its error.

        It minimises 1/2 b' K~ b - sum b over their span, where K~ is known, and may have entries below 0. The path of
        b along C is smooth: beside the last end alone, it leaves a half to a quarter of the steps to do.
        """
        points = (*self.earlier, self)
        b = np.stack([point.weights for point in points])
        f = np.stack([point.gradient_at(ridge) for point in points])
        products = b @ f.T
        R = products.diagonal()
        if not (R > 0.0).all():  # lost in rounding
            return b[-1], f[-1], self.error
        scales = 1.0 / np.sqrt(R)
        factors = scales * np.linalg.lstsq(products * np.outer(scales, scales), scales, rcond=ROUNDED)[0]
        error = ROUNDED + float(np.abs(factors) * R @ [point.error for point in points])
        return factors @ b, factors @ f, error
