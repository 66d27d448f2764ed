"""newton: Newton's method on the L2-SVM, from a point that is near (ours; none of the papers' methods).

With b = alpha / R the problem on the simplex is min 1/2 b' K~ b - sum b over b >= 0, and its dual the primal machine

    P(b) = 1/2 b' Q b + 1/2 sum_i C_i max(0, 1 - f_i)^2,     f = Q b,     K~ = Q + diag(1 / C).

P is convex and piecewise quadratic: on the region where the rows A = {i : f_i < 1} have a loss, its minimiser solves
K~_AA b_A = 1 with b = 0 elsewhere. Newton's method goes there and looks along the line for the least P (Keerthi &
DeCoste 2005, "A modified finite Newton method", for the linear machine; Chapelle 2007, "Training a support vector
machine in the primal", for kernels). When A is that of the solution itself, b_i = C_i (1 - f_i) > 0 on A: the point is
optimal, and the gap falls at once to rounding. There are finitely many A, and P falls from one to the next.

A step costs a linear system of the size of the support set, whatever C is, where methods that move weight between
pairs need more and more steps as C grows. What makes it cheap:

* Where a machine of low rank is cheap (`low_rank`), its rows with a loss are the first A.
* Else the first A is the support of swap-2o's alpha after six steps for each row that has weight or lacks it, or
  after as many as take the time of a factor of K~_AA (`swaps_left`): for small C these reach the goal, and Newton has
  nothing to do.
* Rows of Q are swap-2o's float32 columns, which do not depend on C, sums over them are float64, and factors float32
  (`Factor`). The error of rounded columns enters only through the steps since f was last computed from
  scratch, in float64, as it is wherever the goal seems reached; if that does not pass, and going on from there does
  not help, the columns become float64.
* Next to an optimum for another C few rows change sides: from there on no step of swap-2o is taken if the run that
  found it needed Newton.
* An inexact system is enough while rows change sides; the last one is solved until what has to be clipped off b, whose
  error is C times the residual, leaves the gap within the goal.

On a5a (6,414 rows, 2,500 to 3,000 of them active), one thread, to a relative gap of 1e-3, swap-2o and newton take 1.8
and 0.6 s of the processor at C = 256, 7.5 and 0.7 s at C = 4096.
"""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from fwsvm.errors import SettingError
from fwsvm.kernels.column_cache import ColumnStore
from fwsvm.problems.binary import Binary
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate
from fwsvm.solvers.frank_wolfe.run import SimplexRun
from fwsvm.solvers.frank_wolfe.state import GOING, SimplexStart
from fwsvm.solvers.frank_wolfe.swap_2o import Swap2o
from fwsvm.solvers.newton.budget import least_along, swaps_left
from fwsvm.solvers.newton.face import Face
from fwsvm.solvers.newton.low_rank import low_rank
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, WarmStart
from fwsvm.solvers.tuning import (
    FETCHED_BLOCK,
    FEW_WRONG,
    FEWEST_RANKED,
    MOST_SHARPENINGS,
    RESIDUAL_SHARE,
    ROUGH_RESIDUAL,
)
from fwsvm.status import Status


class Beyond(Enum):
    """What is done where a factor does not fit in the memory allowed."""

    REFUSE = 0
    STEPS = 1


@register(
    "newton",
    family="active-set",
    paper="ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q), recomputed from scratch where the goal seems reached",
)
class Newton(NamedTuple):
    """Start with swap-2o or at low rank, then solve exactly on the face of the active rows, repeatedly. For large C.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap. The kernel matrix of the support vectors
    is kept and factored, in single precision as long as that suffices.

    Parameters
    ----------
    beyond : where a factor does not fit in the memory allowed, refuse, or go on with swap-2o's steps
    """

    beyond: Beyond = Beyond.REFUSE


NO_LIMIT = 1 << 62  # steps
STANDSTILL = 1e-10  # a step along a line that rounding may have made of none


class NewtonRun:
    """A `Solver`: swap-2o or a machine of low rank first, from there on one Newton step a step.

    It has a simplex run, whose point is alpha = max(b, 0) / sum for Newton's b, which may have entries below 0, or the
    point before, where that is better.

    Parameters
    ----------
    problem : Binary
    rule : Newton
    resolved : Resolved
    warm_start : WarmStart, optional
        With the ends of earlier runs on the same kernel where it is a `SimplexStart`.
    columns : ColumnStore, optional
    """

    def __init__(
        self,
        problem: Binary,
        rule: Any,
        resolved: Resolved,
        warm_start: WarmStart | None = None,
        columns: ColumnStore | None = None,
    ) -> None:
        self.simplex = simplex = SimplexRun(problem, Swap2o(), resolved, warm_start, columns)
        simplex.block = FETCHED_BLOCK
        simplex.level = resolved.tolerance  # no schedule: swap-2o need not reach any
        self.rule, self.resolved, self.ridge = rule, resolved, simplex.all_rows.ridge
        self.newton, self.has_room, self.stuck, self.fresh = False, True, False, True
        self.sharp = 0  # how often systems were asked for more exactly
        self.b = self.f = np.empty(0)  # Newton's point, and f = Q b
        self.face = Face(simplex.columns, simplex.all_rows)
        self.ends: tuple[SimplexStart, ...] = ()  # of the runs before
        if isinstance(warm_start, SimplexStart) and warm_start.kernel == resolved.kernel:
            self.ends = warm_start.ends
        # a little away from an optimum that Newton's method found most rows stay on their side
        at_once = bool(self.ends and self.ends[-1].newton)
        # steps of swap-2o to the next look at the gap
        self.swaps = 0 if at_once else swaps_left(simplex, warm=bool(self.ends))
        m = len(problem.y)
        if not self.ends and m >= FEWEST_RANKED and not self.face.lack_of_room(m, resolved):
            self._begin_by_low_rank(np.random.default_rng(problem.stream))

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` of swap-2o's steps, or one of Newton's."""
        if not self.newton:
            taken = self.simplex.advance(min(steps, self.swaps))
            self.swaps -= taken
            if not self.swaps:
                self.swaps = swaps_left(self.simplex, warm=bool(self.ends))
            return taken
        if self.stuck:
            return 0
        self._step()
        return 1

    def check_stop(self) -> Status | None:
        """Check the gap where the goal seems reached; what ends swap-2o's part is where Newton's begins."""
        simplex = self.simplex
        if not self.stuck if self.newton else self.swaps and simplex.state.now["stop"] == GOING:
            return None
        reached, ended = self.stuck or simplex.within() or not self.has_room, None
        if reached:
            self.stuck = False
            ended = self._check_gap()
        if ended is None and not (reached and not self.newton and self.swaps):
            self._begin()
        return ended

    def _check_gap(self) -> Status | None:
        """Recompute the gap; None to go on from the gradient found, with columns in double precision if need be."""
        simplex = self.simplex
        simplex.state.now["stop"] = GOING
        ended = simplex.check_gap()
        if simplex.columns is not self.face.columns:
            self.face = Face(simplex.columns, simplex.all_rows)
        return ended

    def _begin(self) -> None:
        """Set out from the point of the run: b = alpha / R, of which f is known without a product."""
        s = self.simplex.state
        R = float(s.now["R"])
        s.now["stop"] = GOING
        self.newton, self.fresh, self.wrong = True, True, 0
        self.stuck = not R > 0.0  # lost in rounding
        if not self.stuck:
            self.b = s.alpha / R
            self.f = s.q / R - self.ridge * self.b
            self.active = np.flatnonzero(self.b)
        self.swaps = 0

    def _begin_by_low_rank(self, random: np.random.Generator) -> None:
        """Set out from the rows with a loss under a machine of low rank, if one is cheap."""
        if low := low_rank(self.simplex.columns, self.simplex.all_rows, random):
            self.face.low, self.active, self.wrong = low, low.active, len(low.y)
            self.newton, self.swaps = True, 0
            self.b, self.f = np.zeros((2, len(low.y)))

    def iterate(self) -> SimplexIterate:
        """Return the point, with its gradient as its warm start."""
        return self.simplex.iterate(newton=self.took_newton_steps, earlier=self.ends)

    def confirm(self) -> None:
        """Let the next check of the gap be one from scratch, though it was deferred."""
        self.simplex.confirm()
        self.stuck = self.newton

    @property
    def took_newton_steps(self) -> bool:
        """Whether swap-2o alone did not reach the goal."""
        return self.has_room and self.newton

    @property
    def counters(self) -> Counters:
        """What was done so far, by both kinds of steps."""
        return self.simplex.counters

    # ---------------------------------------------------------------- Newton's steps

    def _step(self) -> None:
        """Solve on the face, and go there: as far as the primal falls, but at first all the way."""
        simplex, now, active = self.simplex, self.simplex.now, self.active
        if lack := self.face.lack_of_room(len(active), self.resolved):
            if self.rule.beyond is Beyond.REFUSE:
                raise SettingError(lack)
            self.newton, self.has_room, self.swaps = False, False, NO_LIMIT
            return
        simplex.count_step()
        try:
            accuracy = self._accuracy()
            x, Qx = self.face.solve(active, self.b, self.f, accuracy)
        except LinAlgError:
            self.stuck = True
            return
        wrong = self.wrong = len(np.setxor1d(np.flatnonzero(Qx < 1.0), active, assume_unique=True))
        below = np.minimum(x, 0.0)
        alpha = x - below
        total = float(alpha.sum())
        if not total > 0.0:
            self.stuck = True
            return
        alpha, q = alpha / total, (Qx - self.face.product(below) + self.ridge * alpha) / total
        R, change = float(now["R"]), float(alpha @ q - now["R"])
        if change < 0.0 or R + change - q.min() < R - simplex.state.q.min():
            simplex.stand_at(alpha, q)
        if simplex.within():
            self.stuck = True
        elif not wrong:  # the rows are right, but by what is clipped off, b is not exact enough
            self.b, self.f, self.fresh = x, Qx, False
            if self._accuracy() > 0.5 * accuracy:
                self._sharpen()
        elif self.fresh:
            self.b, self.f, self.fresh = x, Qx, False
        else:
            db, df = x - self.b, Qx - self.f
            step = least_along(self.f, df, float(self.b @ df), float(db @ df), 1.0 / self.ridge)
            self.b, self.f = self.b + step * db, self.f + step * df
            if step < STANDSTILL:
                self._sharpen()
        self.active = np.flatnonzero(self.f < 1.0)

    def _sharpen(self) -> None:
        """Solve more exactly from here on, or give up where that was tried."""
        self.stuck = self.sharp == MOST_SHARPENINGS
        self.sharp = min(self.sharp + 1, MOST_SHARPENINGS)

    def _accuracy(self) -> float:
        """Return the residual that does not matter: beside the gap asked for, or while many rows are wrong."""
        R = float(self.simplex.now["R"])
        enough = min(ROUGH_RESIDUAL, max(1e-10, RESIDUAL_SHARE * self.simplex.all_rows.goal(R) / R))
        few = self.sharp or self.wrong <= FEW_WRONG * np.count_nonzero(self.b)
        return float(enough * 1e-3**self.sharp) if few else ROUGH_RESIDUAL
