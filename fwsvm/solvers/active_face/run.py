"""A run of Newton's method on one two-class problem: swap-2o's steps, then Newton's."""

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fwsvm.errors import UsageError
from fwsvm.kernels.between import values_between
from fwsvm.kernels.columns import EVALUATIONS
from fwsvm.problems.simplex_qp import certificate, signs
from fwsvm.solvers.active_face.face import Face
from fwsvm.solvers.active_face.line import least_along
from fwsvm.solvers.frank_wolfe.run import SimplexRun
from fwsvm.solvers.frank_wolfe.state import GOING
from fwsvm.solvers.frank_wolfe.swap_2o import Swap2o
from fwsvm.solvers.handover import Handover
from fwsvm.solvers.process import Binary
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.status import Status


class FaceRun(SimplexRun):
    """A `Process`: swap-2o to the relative gap ``switch``, from there on one Newton step a step.

    Newton's points b may have entries below 0; the point of the run is the alpha = max(b, 0) / sum of the least
    objective so far, so that it is always feasible and never becomes worse.
    """

    def __init__(
        self, problem: Binary, rule: Any, resolved: Resolved, handover: Handover | None = None
    ) -> None:
        rule.check()
        self.switch, self.newton = rule.switch, False
        self.ended: Status | None = None
        super().__init__(problem, Swap2o(), resolved, handover)
        self.y, self.everyone = signs(self.qp), np.arange(len(problem.y))
        self.face = Face(self._write_lines, len(problem.y), resolved.cache_bytes // (8 * len(problem.y)))
        self.b = self.f = np.empty(0)  # Newton's point, and f = Q b

    def _set_goal(self) -> None:
        super()._set_goal()
        if not self.newton:
            now = self.state.now[0]
            now["goal_constant"], now["goal_slope"] = 0.0, self.switch

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` of swap-2o's steps, or one of Newton's."""
        if not self.newton:
            return super().advance(steps)
        if self.ended is not None:
            return 0
        self.certificate = None
        with threadpool_limits(self.resolved.threads, user_api="blas"):
            self.ended = self._step()
        return 1

    def verdict(self) -> Status | None:
        """Check what Newton's steps claim, from scratch; what ends swap-2o's part is where theirs begins."""
        if not self.newton:
            self.state.now["stop"], self.newton = GOING, True
            self.level = self.resolved.tolerance
            self._set_goal()
        elif self.ended is Status.CONVERGED and not self.resolved.final_gap:
            self.ended = Status.SAMPLED_STOP
        elif self.ended is Status.CONVERGED and self.certificate is None:
            self.certificate = certificate(self.qp, self.state.alpha, self._gradient())
            if self.certificate.gap > self._goal(self.certificate.objective):
                self.ended = Status.STALLED
        return self.ended

    def _step(self) -> Status | None:
        """Solve on the face, go there as far as the primal falls, and keep the point if it is better."""
        ridge, now = self.qp.ridge, self.state.now[0]
        first = len(self.b) == 0
        active = np.flatnonzero(self.state.alpha if first else self.f < 1.0)
        self._check_room(len(active))
        try:
            b = self.face.solve(active)
        except np.linalg.LinAlgError:
            return Status.STALLED
        f = self.face.product(b) - ridge * b
        stuck = False
        if not first:
            step = least_along(self.b, self.f, b - self.b, f - self.f, 1.0 / ridge)
            b, f = self.b + step * (b - self.b), self.f + step * (f - self.f)
            stuck = step == 0.0
        self.b, self.f = b, f
        alpha = np.maximum(b, 0.0)
        alpha /= alpha.sum()
        q = self.face.product(alpha)
        found = certificate(self.qp, alpha, q)
        within = found.gap <= self._goal(found.objective)
        now["iterations"] += 1
        now["steps"] += 1
        if within or found.objective < now["R"]:
            self._stand_at(alpha, q)
        return Status.CONVERGED if within else Status.STALLED if stuck else None

    def _stand_at(self, alpha: np.ndarray, q: np.ndarray) -> None:
        """Make alpha, with q = K~ alpha, the point of the run."""
        support = np.flatnonzero(alpha)
        active, place = np.zeros_like(self.state.active), np.full_like(self.state.place, -1)
        active[: len(support)], place[support] = support, np.arange(len(support))
        lit = np.where(alpha > 0.0, self.state.diagonal, -1.0)
        now = self.state.now.copy()
        now["active"], now["R"], now["best"] = len(support), alpha @ q, q.argmin()
        self.state = self.state._replace(alpha=alpha, q=q, active=active, place=place, lit=lit, now=now)

    def _write_lines(self, rows: np.ndarray, out: np.ndarray) -> None:
        """Write lines of K~ to ``out`` (len(rows), m)."""
        values_between(self.qp.columns.kernel, self.rows, rows, self.everyone, out, self.resolved.threads)
        self.qp.columns.counts[EVALUATIONS] += out.size
        for r, row in enumerate(rows):
            out[r] += 1.0
            out[r] *= self.y[row] * self.y
            out[r, row] += self.qp.ridge[row]

    def _check_room(self, active: int) -> None:
        """Refuse a face too large: its lines are kept, its matrix is factored, and a border goes beside that."""
        needed = 8 * active * (len(self.y) + active + active // 4)
        if needed > self.resolved.cache_bytes:
            raise UsageError(
                f"newton has {active:,} active rows and needs {needed >> 20:,} MiB for them, where --cache-mb allows "
                f"{self.resolved.cache_mib:,}; give more, or use swap-2o"
            )
