"""A run of Newton's method on one two-class problem: swap-2o's steps, then Newton's."""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from fwsvm.errors import UsageError
from fwsvm.problems.simplex_qp import signs
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.run import SimplexRun
from fwsvm.solvers.frank_wolfe.state import GOING
from fwsvm.solvers.frank_wolfe.swap_2o import Swap2o
from fwsvm.solvers.frank_wolfe.thread_team import thread_team
from fwsvm.solvers.memory import for_factor
from fwsvm.solvers.newton.active_set_system import ActiveSetSystem, FactorState
from fwsvm.solvers.newton.gram_rows import GramRows
from fwsvm.solvers.newton.line_search import least_along
from fwsvm.solvers.newton.warm_start import NewtonStart
from fwsvm.solvers.newton.warm_up import compile_systems
from fwsvm.solvers.process import Binary, Outcome, Point
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status

FIRST, REPAIR = 2.0, 0.5  # steps of swap-2o a row, before Newton's first and between two of them
RATE = 220.0  # n^3 / (RATE m) of its steps take about as long as a factor and a half of n rows
OVERHEAD = 5000  # of them take about as long as what else a few Newton steps are
REPAIRS = 8  # at most; after them Newton's steps alone, which end
FEW, FAR = 0.01, 1 / 8  # of the active rows
ROUGH = 1e-3  # residual of a linear system while more than few rows are on the wrong side
SHARPEST = 2  # times a thousand
STANDSTILL = 1e-10  # a step along a line that rounding may have made of none
INEXACT = 0.05  # of the goal: the residual of a linear system, as a part of 1


class Best(NamedTuple):
    """A point of the run: alpha and q = K~ alpha (m,), and R = alpha' q."""

    alpha: np.ndarray
    q: np.ndarray
    R: float


class NewtonRun(SimplexRun):
    """A `Process`: swap-2o first, from there on one Newton step a step, with swap-2o's in between while A is far off.

    Newton's points b may have entries below 0; the point of the run is alpha = max(b, 0) / sum. It may be a worse one
    than before: the best is kept, and is what is reported.
    """

    def __init__(
        self, problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None,
        columns: SharedColumns | None = None,
    ) -> None:  # fmt: skip
        rule.check()
        self.switch, self.newton, self.stuck = rule.switch, False, False
        self.ended: Status | None = None
        self.best: Best | None = None  # an earlier point
        self.repairs = REPAIRS
        self.columns, self.is_warm = columns, warm_start is not None
        before = warm_start if isinstance(warm_start, NewtonStart) else None
        if before is not None and before.kernel != resolved.kernel:
            before = None
        self.before: NewtonStart | None = before
        super().__init__(problem, Swap2o(), resolved, warm_start, columns)
        self.compile_seconds += compile_systems(self.qp.columns)
        self.level = resolved.tolerance  # no schedule: swap-2o need not reach any
        self._set_goal()
        self.y, self.left = signs(self.qp), self._first_steps()
        self.sharp = 0  # how often linear systems were asked for more exactly
        self.patient = True  # swap-2o has not had the time of a factor yet
        self.b = self.f = np.empty(0)  # Newton's point, and f = Q b
        self.before = None  # its factor may be overwritten from here on
        self._renew_face(before.factor if before is not None else None)
        self.after_newton = before is not None and before.newton
        if self.after_newton:
            self.left, self.patient = 0, False  # a little away from an optimum most rows stay on their side

    def _first_steps(self) -> int:
        """Return how many of swap-2o's steps come first: fewer where a run before has found most of the active rows."""
        active, m = int(self.state.now["active"][0]), len(self.qp.ridge)
        most = int(FIRST * m)
        return min(most, OVERHEAD + int(active**3 / (RATE * m))) if self.is_warm else most

    def _first_gradient(self) -> np.ndarray:
        if self.before is None:
            return super()._first_gradient()
        return self.before.gradient_at(self._in_order(self.qp.ridge))[self.order]

    def warm_start(self) -> NewtonStart:
        """Return alpha and its gradient in the order of the problem's rows, and how the run came there.

        The factor is part of it where there is memory to keep it, beside the columns and factors of other runs.
        """
        factor = self.face.left()
        if factor is not None and not (
            self.columns is not None and self.columns.reserve(factor.nbytes, self.resolved.cache_bytes)
        ):
            factor = None
        return NewtonStart(
            weights=self._in_order(self.state.alpha),
            kernel=self.resolved.kernel,
            gradient=self._in_order(self.state.q if self.exact is None else self.exact),
            ridge=self._in_order(self.qp.ridge),
            newton=self.newton or self.repairs < REPAIRS,
            factor=factor,
        )

    def _renew_face(self, before: FactorState | None = None) -> None:
        self.face = ActiveSetSystem(
            GramRows(self.qp.columns, self.y, self.resolved.threads), self.qp.ridge, before
        )

    def _set_goal(self) -> None:
        """Let swap-2o stop where Newton begins, if that is before its own goal."""
        super()._set_goal()
        now = self.state.now[0]
        if not self.newton and self.switch * now["R"] > now["stop_slope"] * now["R"] + now["stop_constant"]:
            now["stop_constant"], now["stop_slope"] = 0.0, self.switch

    # ---------------------------------------------------------------- the contract of a Process

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` of swap-2o's steps, or one of Newton's."""
        if not self.newton:
            taken = super().advance(min(steps, self.left))
            self.left -= taken
            return taken
        if self.ended is not None or self.stuck:
            return 0
        self._leave_point()
        self._step()
        return 1

    def verdict(self) -> Status | None:
        """Check the gap where the goal seems reached; what ends swap-2o's part is where Newton's begins."""
        going = not self.stuck if self.newton else self.left and self.state.now["stop"] == GOING
        if self.ended is None and (going or self._has_time()):
            return None
        reached = self.stuck or self._within()
        if reached:
            self.stuck = False
            self.ended = self._checked()
        if self.ended is None and not (reached and not self.newton and self.left):
            self._begin()
        return self.ended

    def _has_time(self) -> bool:
        """Give swap-2o the time that a factor would take, once its first steps are done: what little it then costs."""
        if self.newton or self.left or not self.patient:
            return False
        self.patient, m, now = False, len(self.y), self.state.now[0]
        self.left = max(0, int(now["active"] ** 3 / (RATE * m)) - int(now["steps"]))
        return self.left > 0

    def _checked(self) -> Status | None:
        """Recompute the gap; None to go on from the gradient found, with columns in double precision if need be."""
        self.state.now["stop"] = GOING
        if not self.resolved.final_gap:
            return Status.SAMPLED_STOP
        columns = self.qp.columns
        ended = self._check()
        if ended is Status.CONVERGED:
            self.best = None
        if self.qp.columns is not columns:
            self._renew_face()
        return ended

    def _begin(self) -> None:
        """Set out from the point of the run: b = alpha / R, of which f is known without a product."""
        s, R = self.state, float(self.state.now["R"][0])
        s.now["stop"] = GOING
        scale = R if R > 0.0 else 1.0  # R is lost in rounding: the next step says so
        self.b = s.alpha / scale
        self.f = s.q / scale - self.qp.ridge * self.b
        self.newton, self.fresh, self.wrong = True, True, 0
        self._set_goal()

    def point(self) -> Point:
        """Return iterations, and objective, gap and support size of the best point."""
        here, best = super().point(), self.best
        if best is None or here.objective <= best.R:
            return here
        gap = 2.0 * (best.R - float(best.q.min()))
        return Point(here.iterations, best.R, gap, int(np.count_nonzero(best.alpha)))

    def outcome(self, *, final_gap: bool) -> Outcome:
        """Return to the best point, and return its certificate from scratch in float64."""
        if self.best is not None and self.state.now["R"][0] > self.best.R:
            self._leave_point()
            self.stand_at(self.best.alpha, self.best.q)
        return super().outcome(final_gap=final_gap)

    # ---------------------------------------------------------------- Newton's steps

    def _step(self) -> None:
        """Solve on the face, and go there: as far as the primal falls, but at first all the way."""
        ridge, now = self.qp.ridge, self.state.now[0]
        if not now["R"] > 0.0:
            self.stuck = True
            return
        active = np.flatnonzero(self.b if self.fresh else self.f < 1.0)
        self._check_room(len(active))
        now["iterations"] += 1
        now["steps"] += 1
        try:
            x, Qx = self.face.solve(active, self.b, self.f, self._accuracy())
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
        self._go_to(alpha / total, (Qx - self.face.lines.product(below) + ridge * alpha) / total)
        if self._within():
            self.stuck = True
        elif not self.wrong:  # the rows are right, but by what is clipped off, b is not exact enough
            self.b, self.f, self.fresh = x, Qx, False
            self._sharpen()
        elif self.wrong > FAR * len(active) and self.repairs:
            self._repair()
        elif self.fresh:
            self.b, self.f, self.fresh = x, Qx, False
        else:
            self._go_along(x, Qx)

    def _go_along(self, x: np.ndarray, Qx: np.ndarray) -> None:
        """Go from b towards x as far as the primal falls; solve more exactly where it does not."""
        step = least_along(self.b, self.f, x - self.b, Qx - self.f, 1.0 / self.qp.ridge)
        self.b, self.f = self.b + step * (x - self.b), self.f + step * (Qx - self.f)
        if step < STANDSTILL:
            self._sharpen()

    def _sharpen(self) -> None:
        """Solve more exactly from here on, or give up where that was tried."""
        self.stuck = self.sharp == SHARPEST
        self.sharp = min(self.sharp + 1, SHARPEST)

    def _accuracy(self) -> float:
        """Return the residual that does not matter: beside the gap asked for, or while many rows are wrong."""
        R = float(self.state.now["R"][0])
        enough = min(ROUGH, max(1e-10, INEXACT * self._goal(R) / R))
        if self.sharp:
            return enough * 1e-3**self.sharp
        return ROUGH if self.wrong > FEW * np.count_nonzero(self.b) else enough

    def _repair(self) -> None:
        """Let swap-2o correct the active set: weight comes and goes there at a small part of the price."""
        self.repairs -= 1
        self.newton, self.left = False, int(REPAIR * len(self.b))
        self._set_goal()

    def _go_to(self, alpha: np.ndarray, q: np.ndarray) -> None:
        """Make alpha the point of the run, and keep the one before if that was better."""
        here = Best(self.state.alpha, self.state.q, float(self.state.now["R"][0]))
        if self.best is None or here.R < self.best.R:
            self.best = here
        self.stand_at(alpha, q)

    def stand_at(self, alpha: np.ndarray, q: np.ndarray) -> None:
        """Make alpha, with q = K~ alpha, the point of the run."""
        support = np.flatnonzero(alpha)
        active, place = np.zeros_like(self.state.active), np.full_like(self.state.place, -1)
        active[: len(support)], place[support] = support, np.arange(len(support))
        active_diagonal = np.where(alpha > 0.0, self.state.diagonal, -1.0)
        now = self.state.now.copy()
        now["active"], now["R"], now["best"], now["found"] = len(support), alpha @ q, q.argmin(), 0
        team = thread_team(
            len(q), self.resolved.threads + self.resolved.lent
        )  # who was late for the last has no part in it
        self.state = self.state._replace(
            alpha=alpha, q=q, active=active, place=place, active_diagonal=active_diagonal, now=now, team=team
        )

    def _check_room(self, active: int) -> None:
        """Refuse a face too large: its lines are kept, its matrix is factored, and a border goes beside that."""
        for_factor(active, held=self.face.held)
        lines = self.face.lines
        needed = active * (lines.dtype.itemsize * len(self.y) + 8 * (active + 3 * active // 4))
        if needed > self.resolved.cache_bytes or active > lines.most:
            raise UsageError(
                f"newton has {active:,} active rows and needs {needed >> 20:,} MiB for them, where --cache-mb allows "
                f"{self.resolved.cache_mib:,}; give more (threads with a pair of classes each share it), or use swap-2o"
            )
