"""newton: Newton's method on the L2-SVM, from where swap-2o is near (ours; none of the papers' methods).

With b = alpha / R the problem on the simplex is min 1/2 b' K~ b - sum b over b >= 0, and its dual the primal machine

    P(b) = 1/2 b' Q b + 1/2 sum_i C_i max(0, 1 - f_i)^2,     f = Q b,     K~ = Q + diag(1 / C).

P is convex and piecewise quadratic: on the region where the rows A = {i : f_i < 1} have a loss, its minimiser solves
K~_AA b_A = 1 with b = 0 elsewhere. Newton's method goes there and looks along the line for the least P (Keerthi &
DeCoste 2005, "A modified finite Newton method", for the linear machine; Chapelle 2007, "Training a support vector
machine in the primal", for kernels). When A is that of the solution itself, b_i = C_i (1 - f_i) > 0 on A: the point is
optimal, and the gap falls at once to rounding. There are finitely many A, and P falls from one to the next.

A step costs a linear system of the size of the support set, whatever C is, where methods that move weight between
pairs need more and more steps as C grows. What makes it cheap:

* The first A is the support of swap-2o's alpha after 2 m steps, or after as many as take the time of a factor or two of
  K~_AA: for small C these reach the goal, and Newton has nothing to do. Where by the fall of the gap the goal is nearer
  than another factor (`gap_fall`), swap-2o goes on for up to twice as many.
* From a point that far off, a step's A can be wrong in hundreds of rows, and the next overshoots. While more than an
  eighth are, swap-2o takes m / 2 steps from max(b, 0) instead of the next step: weight goes to a row that lacks it in
  one of its steps, of some microseconds, and b is already right in what swap-2o is slow at. This at most
  `MOST_REPAIRS` times; then Newton's steps alone, for which the proof above holds.
* Rows of Q are swap-2o's float32 columns, which do not depend on C, sums over them are float64, and factors float32
  (`cholesky_factor`). The error of rounded columns enters only through the steps since f was last computed from
  scratch, in float64, as it is wherever the goal seems reached; if that does not pass, and going on from there does
  not help, the columns become float64.
* Next to an optimum for another C few rows change sides: from there on no step of swap-2o is taken if the run that
  found it needed Newton.
* An inexact system is enough while rows change sides; the last one is solved until what has to be clipped off b, whose
  error is C times the residual, leaves the gap within the goal.

On a5a (6,414 rows, 2,500 to 3,000 of them active), one thread, to a relative gap of 1e-3, swap-2o and newton take 1.8
and 0.6 s of the processor at C = 256, 7.5 and 0.7 s at C = 4096.
"""

from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from fwsvm.errors import UsageError
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import gradient, signs
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate
from fwsvm.solvers.frank_wolfe.run import SimplexRun
from fwsvm.solvers.frank_wolfe.state import GOING, SimplexStart
from fwsvm.solvers.frank_wolfe.swap_2o import Swap2o
from fwsvm.solvers.newton.budget import SwapBudget, least_along
from fwsvm.solvers.newton.gram_rows import GramRows
from fwsvm.solvers.newton.system import ActiveSetSystem
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, WarmStart
from fwsvm.solvers.tuning import (
    FETCHED_BLOCK,
    FEW_WRONG,
    MANY_WRONG,
    MOST_REPAIRS,
    MOST_SHARPENINGS,
    REPAIR_SWAPS,
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
    """Start with swap-2o, then solve exactly on the face of the active rows, repeatedly. For large C.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap. The kernel matrix of the support vectors
    is kept and factored, in single precision as long as that suffices.

    Parameters
    ----------
    switch : relative gap at which Newton steps begin, if not after 2 m steps or the time of a factor before
    beyond : where a factor does not fit in the memory allowed, refuse, or go on with swap-2o's steps
    """

    switch: float = 1e-3
    beyond: Beyond = Beyond.REFUSE

    def check(self) -> None:
        """Refuse a switch that is no gap with `UsageError`."""
        if not 0.0 < self.switch < float("inf"):
            raise UsageError(f"newton needs a positive number for switch, not {self.switch:g}")


NO_LIMIT = 1 << 62  # steps
STANDSTILL = 1e-10  # a step along a line that rounding may have made of none


class Best(NamedTuple):
    """A point of the run: alpha and q = K~ alpha (m,), and R = alpha' q."""

    alpha: np.ndarray
    q: np.ndarray
    R: float


class NewtonRun:
    """A `Solver`: swap-2o first, from there on one Newton step a step, with swap-2o's in between while A is far off.

    It has a simplex run, whose point is alpha = max(b, 0) / sum for Newton's b, which may have entries below 0. That
    may be a worse point than the one before: the best is kept, and is the iterate.

    Parameters
    ----------
    problem : Binary
    rule : Newton
    resolved : Resolved
    warm_start : WarmStart, optional
        With the ends of earlier runs on the same kernel where it is a `SimplexStart`.
    columns : SharedColumns, optional
    """

    def __init__(
        self,
        problem: Binary,
        rule: Any,
        resolved: Resolved,
        warm_start: WarmStart | None = None,
        columns: SharedColumns | None = None,
    ) -> None:
        rule.check()
        self.simplex = SimplexRun(problem, Swap2o(), resolved, warm_start, columns)
        self.simplex.block = FETCHED_BLOCK
        self.simplex.level = resolved.tolerance  # no schedule: swap-2o need not reach any
        self.resolved, self.switch = resolved, rule.switch
        self.beyond, self.has_room = rule.beyond, True
        self.newton, self.stuck = False, False
        self.ended: Status | None = None
        self.best: Best | None = None  # an earlier point
        self.repairs = MOST_REPAIRS
        self.ridge = self.simplex.qp.ridge
        self.y = signs(self.simplex.qp)
        active = int(self.simplex.state.now["active"][0])
        self.swaps = SwapBudget(len(self.ridge), active, warm=warm_start is not None)
        self.sharp = 0  # how often linear systems were asked for more exactly
        self.b = self.f = np.empty(0)  # Newton's point, and f = Q b
        self.system = self._system()
        self.ends: tuple[SimplexStart, ...] = ()  # of the runs before
        if isinstance(warm_start, SimplexStart) and warm_start.kernel == resolved.kernel:
            self.ends = warm_start.ends
        if self.ends and self.ends[-1].newton:
            self.swaps.give(0)  # a little away from an optimum most rows stay on their side
        self._set_goal()

    def _system(self) -> ActiveSetSystem:
        """Return the linear systems over the present column cache."""
        columns = self.simplex.qp.columns
        lines = GramRows(columns, self.y, self.resolved.threads)
        return ActiveSetSystem(lines, self.ridge)

    def _set_goal(self) -> None:
        """Let swap-2o stop where Newton begins, if that is before its own goal."""
        self.simplex.switch = 0.0 if self.newton or not self.has_room else self.switch
        self.simplex.set_goal()

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` of swap-2o's steps, or one of Newton's."""
        if not self.newton:
            taken = self.simplex.advance(min(steps, self.swaps.to_look))
            self.swaps.spend(taken, self.simplex.state)
            return taken
        if self.ended is not None or self.stuck:
            return 0
        self._step()
        return 1

    def check_stop(self) -> Status | None:
        """Check the gap where the goal seems reached; what ends swap-2o's part is where Newton's begins."""
        if self.ended is None and (not self.stuck if self.newton else self._swaps_go_on()):
            return None
        reached = self.stuck or self.simplex.within() or not self.has_room
        if reached:
            self.stuck = False
            self.ended = self._check_gap()
        if self.ended is None and not (reached and not self.newton and self.swaps.left):
            self._begin()
        return self.ended

    def _swaps_go_on(self) -> bool:
        simplex = self.simplex
        if self.swaps.left:
            return bool(simplex.state.now["stop"] == GOING)
        return self.swaps.extend(simplex.state, simplex.goal(float(simplex.state.now["R"][0])))

    def _check_gap(self) -> Status | None:
        """Recompute the gap; None to go on from the gradient found, with columns in double precision if need be."""
        simplex = self.simplex
        simplex.state.now["stop"] = GOING
        if not self.resolved.final_gap:
            return Status.SAMPLED_STOP if simplex.within() else Status.STALLED
        columns = simplex.qp.columns
        ended = simplex.check_gap()
        if ended is Status.CONVERGED:
            self.best = None
        elif self.best is not None:
            self.best = self._checked(self.best)
        if simplex.qp.columns is not columns:
            self.system = self._system()
        return ended

    def _checked(self, best: Best) -> Best | None:
        """Return an earlier point with q from scratch, None where it is no better than the present."""
        simplex = self.simplex
        if simplex.exact is None or simplex.outcome is None or simplex.outcome.objective <= best.R:
            return None
        q = gradient(simplex.qp, simplex.rows, best.alpha, self.resolved.threads)
        R = float(best.alpha @ q)
        better = simplex.outcome.objective > R and simplex.outcome.gap > 2.0 * (R - float(q.min()))
        return Best(best.alpha, q, R) if better else None

    def _begin(self) -> None:
        """Set out from the point of the run: b = alpha / R, of which f is known without a product."""
        s = self.simplex.state
        R = float(s.now["R"][0])
        s.now["stop"] = GOING
        scale = R if R > 0.0 else 1.0  # R is lost in rounding: the next step says so
        self.b = s.alpha / scale
        self.f = s.q / scale - self.ridge * self.b
        self.newton, self.fresh, self.wrong = True, True, 0
        self.swaps.give(0)
        self._set_goal()

    def iterate(self) -> SimplexIterate:
        """Return the best point, with its gradient as its warm start."""
        simplex, best = self.simplex, self.best
        here, q = simplex.iterate(), simplex.state.q if simplex.exact is None else simplex.exact
        if best is not None and here.objective > best.R:
            q = best.q
            here = replace(
                here,
                objective=best.R,
                gap=2.0 * (best.R - float(q.min())),
                outcome=None,
                support_vectors=int(np.count_nonzero(best.alpha)),
                alpha=simplex.in_order(best.alpha),
            )
        start = SimplexStart(
            weights=here.alpha,
            kernel=self.resolved.kernel,
            gradient=simplex.in_order(q),
            ridge=simplex.in_order(self.ridge),
            newton=self.took_newton_steps,
            earlier=self.ends,
        )
        return replace(here, warm_start=start)

    @property
    def took_newton_steps(self) -> bool:
        """Whether swap-2o alone did not reach the goal."""
        return self.has_room and (self.newton or self.repairs < MOST_REPAIRS)

    @property
    def counters(self) -> Counters:
        """What was done so far, by both kinds of steps."""
        return self.simplex.counters

    # ---------------------------------------------------------------- Newton's steps

    def _step(self) -> None:
        """Solve on the face, and go there: as far as the primal falls, but at first all the way."""
        simplex, ridge = self.simplex, self.ridge
        if not simplex.state.now["R"][0] > 0.0:
            self.stuck = True
            return
        active = np.flatnonzero(self.b if self.fresh else self.f < 1.0)
        try:
            self.system.check_room(len(active), self.resolved)
        except UsageError:
            if self.beyond is Beyond.REFUSE:
                raise
            self.newton, self.has_room = False, False
            self.swaps.give(NO_LIMIT)
            self._set_goal()
            return
        simplex.count_step()
        try:
            x, Qx = self.system.solve(active, self.b, self.f, self._accuracy())
        except LinAlgError:
            self.stuck = True
            return
        self.wrong = len(np.setxor1d(np.flatnonzero(Qx < 1.0), active, assume_unique=True))
        below = np.minimum(x, 0.0)
        alpha = x - below
        total = float(alpha.sum())
        if not total > 0.0:
            self.stuck = True
            return
        self._go_to(alpha / total, (Qx - self.system.lines.product(below) + ridge * alpha) / total)
        if simplex.within():
            self.stuck = True
        elif not self.wrong:  # the rows are right, but by what is clipped off, b is not exact enough
            self.b, self.f, self.fresh = x, Qx, False
            self._sharpen()
        elif self.wrong > MANY_WRONG * len(active) and self.repairs:
            self._repair()
        elif self.fresh:
            self.b, self.f, self.fresh = x, Qx, False
        else:
            self._go_along(x, Qx)

    def _go_along(self, x: np.ndarray, Qx: np.ndarray) -> None:
        """Go from b towards x as far as the primal falls; solve more exactly where it does not."""
        step = least_along(self.b, self.f, x - self.b, Qx - self.f, 1.0 / self.ridge)
        self.b, self.f = self.b + step * (x - self.b), self.f + step * (Qx - self.f)
        if step < STANDSTILL:
            self._sharpen()

    def _sharpen(self) -> None:
        """Solve more exactly from here on, or give up where that was tried."""
        self.stuck = self.sharp == MOST_SHARPENINGS
        self.sharp = min(self.sharp + 1, MOST_SHARPENINGS)

    def _accuracy(self) -> float:
        """Return the residual that does not matter: beside the gap asked for, or while many rows are wrong."""
        R = float(self.simplex.state.now["R"][0])
        enough = min(ROUGH_RESIDUAL, max(1e-10, RESIDUAL_SHARE * self.simplex.goal(R) / R))
        if self.sharp:
            return enough * 1e-3**self.sharp
        return ROUGH_RESIDUAL if self.wrong > FEW_WRONG * np.count_nonzero(self.b) else enough

    def _repair(self) -> None:
        """Let swap-2o correct the active set: weight comes and goes there at a small part of the price."""
        self.repairs -= 1
        self.newton = False
        self.swaps.give(int(REPAIR_SWAPS * len(self.b)))
        self._set_goal()

    def _go_to(self, alpha: np.ndarray, q: np.ndarray) -> None:
        """Make alpha the point of the run, and keep the one before if that was better."""
        s = self.simplex.state
        here = Best(s.alpha, s.q, float(s.now["R"][0]))
        if self.best is None or here.R < self.best.R:
            self.best = here
        self.simplex.stand_at(alpha, q)
