"""A run of a simplex method on one two-class problem: from the starting point to the certificate."""

import time
from enum import IntEnum
from typing import Any

import numpy as np

from fwsvm._random import stream
from fwsvm.errors import UsageError
from fwsvm.kernels.blocks import WIDE
from fwsvm.kernels.columns import EVALUATIONS, MISSES, Columns, columns_of
from fwsvm.kernels.rows import as_rows, in_precision, some_rows
from fwsvm.kernels.sums import weighted_sums
from fwsvm.problems.simplex_qp import Certificate, SimplexQP, certificate, gradient, signs, simplex_qp
from fwsvm.solvers.frank_wolfe.engine import advance, settle
from fwsvm.solvers.frank_wolfe.search import OWN_LINES, Full, Sampled
from fwsvm.solvers.frank_wolfe.starting_point import draw, optimum
from fwsvm.solvers.frank_wolfe.state import GOING, NO_VIOLATOR, NOW, WANTS_COLUMN, WANTS_VALUES, State
from fwsvm.solvers.frank_wolfe.values import provide_active_column, provide_candidates, provide_columns
from fwsvm.solvers.handover import Handover
from fwsvm.solvers.process import Binary, Counters, Expansion, Outcome, Point
from fwsvm.solvers.resolve import Resolved, free_memory_bytes
from fwsvm.solvers.status import Status
from fwsvm.solvers.warming import some_steps, tiny_problem

FIRST_ROOM = 256  # active rows that `Sampled` has room for at first
#: `Sampled` keeps all columns up to this size: beyond it, fresh memory costs more than it saves.
WHOLE_BYTES = 1 << 26
NOTHING = Certificate(np.inf, np.inf, np.inf, 0.0)
FIRST_LEVEL = 0.1  # LIBCVM's tolerance schedule starts here and halves


class SimplexRun:
    """A `Process`: state, goal, and what to do when the compiled loop comes back.

    Kernel columns are float32 and q is float64. Where the loop says it is done, q is recomputed in float64 from
    scratch. If the gap then misses the tolerance the run goes on from that q: as in iterative refinement, the error
    of float32 columns enters only through the steps since. Where that stops helping, columns become float64.
    """

    def __init__(
        self, problem: Binary, rule: Any, resolved: Resolved, handover: Handover | None = None
    ) -> None:
        self.rule, self.resolved, self.stream = _plain(rule), resolved, problem.stream
        self.sampled = resolved.search == "sampled"
        self.order = np.argsort(-problem.y, kind="stable")  # the class +1 first
        self.rows = as_rows(problem.X[self.order])
        columns = self._columns(np.float32, handover)
        self.counted = columns.counts.copy()  # what other runs did
        self.qp = simplex_qp(columns, int(np.count_nonzero(problem.y > 0)), problem.penalties[self.order])
        self.level = FIRST_LEVEL if resolved.protocol == "libcvm" else resolved.tolerance
        self.compile_seconds = 0.0
        self.certificate: Certificate | None = None  # of the present point, once computed
        self.last = NOTHING  # the last certificate that missed the tolerance
        self.state = self._state(self.qp)
        before = handover.end(problem.stream[-1]) if handover is not None else None
        if before is None:
            self._start_from(*self._starting_point())
        else:
            support = np.flatnonzero(before[self.order])
            self._start_from(support, before[self.order][support])
        self._set_goal()

    # ---------------------------------------------------------------- arrays and the starting point

    def _columns(self, dtype: type, handover: Handover | None = None) -> Columns:
        rows, resolved = in_precision(self.rows, dtype), self.resolved
        asked = min(resolved.cache_bytes, rows.height**2 * np.dtype(dtype).itemsize)
        if not self.sampled and asked > (free := free_memory_bytes()):
            raise UsageError(
                f"kernel columns would take up to {asked >> 20:,} MiB and {free >> 20:,} MiB of memory are free; "
                "give --cache-mb less, or --search sampled"
            )
        if (
            self.sampled
        ):  # half of the budget, if that holds them all; the rest is for the active set's own lines
            fits = 2 * rows.height**2 * np.dtype(dtype).itemsize <= resolved.cache_bytes
            return columns_of(resolved.kernel, rows, resolved.cache_bytes if fits else 0, resolved.threads)
        if handover is None:
            return columns_of(resolved.kernel, rows, resolved.cache_bytes, resolved.threads)
        number = self.stream[-1]
        return handover.columns(number, resolved.kernel, rows, resolved.cache_bytes, resolved.threads)

    def _state(self, qp: SimplexQP) -> State:
        m, dtype, columns = len(qp.ridge), qp.columns.kept.dtype, qp.columns
        room = min(m, FIRST_ROOM) if self.sampled else 1
        return State(
            search=Sampled() if self.sampled else Full(),
            plus=qp.plus,
            ridge=qp.ridge,
            diagonal=qp.diagonal,
            alpha=np.zeros(m),
            q=np.zeros(m),
            active=np.zeros(m, np.int32),
            place=np.full(m, -1, np.int32),
            now=np.zeros(1, NOW),
            random=stream(*self.stream),
            kept=np.empty((self._lines(room, dtype), room), dtype) if self.sampled else columns.kept,
            slot_of=np.full(m, -1, np.int32) if self.sampled else columns.slot_of,
            values=np.empty((WIDE, room), dtype),
            drawn=np.zeros(WIDE, np.int32),
            whole=columns.kept,
            whole_slot=columns.slot_of,
        )

    def _starting_point(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and weights: the optimum over a few rows drawn at random."""
        random = np.random.default_rng(self.stream)
        which = draw(self.qp, random, balanced=self.resolved.protocol == "libcvm")
        few = some_rows(self.rows, which)
        gram = weighted_sums(self.resolved.kernel, few, np.arange(len(which)), np.eye(len(which)), few)
        weights = optimum(gram, self.qp, which)
        return which[weights > 0], weights[weights > 0]

    def _start_from(self, support: np.ndarray, weights: np.ndarray) -> None:
        s, now = self.state, self.state.now[0]
        s.alpha[support] = weights
        s.active[: len(support)] = support
        s.place[support] = np.arange(len(support))
        now["active"] = len(support)
        now["inner"] = getattr(self.rule, "inner", 0.0)
        where = support if self.sampled else None
        self._refresh(self._gradient(where), where)

    def _gradient(self, where: np.ndarray | None = None) -> np.ndarray:
        return gradient(self.qp, self.rows, self.state.alpha, self.resolved.threads, where)

    def _refresh(self, q: np.ndarray, where: np.ndarray | None = None) -> None:
        """Replace q, or its entries ``where``, by numbers computed from scratch."""
        s = self.state
        if where is None:
            s.q[:] = q
            s.now["best"] = q.argmin()
        else:
            s.q[where] = q
        settle(s.alpha, s.q, s.active, s.now)

    def _set_goal(self) -> None:
        now, level = self.state.now[0], self.level
        if self.resolved.stop == "relative":
            now["goal_constant"], now["goal_slope"] = 0.0, level
        elif self.resolved.stop == "gap":
            now["goal_constant"], now["goal_slope"] = level, 0.0
        else:  # the MEB rule gamma_i^2 <= (1 + eps)^2 r^2 (spec 1.5), with Delta^2 = max K~_ii
            slack = 2.0 * level + level * level
            now["goal_constant"], now["goal_slope"] = slack * float(self.qp.diagonal.max()), -slack

    def _goal(self, R: float) -> float:
        now = self.state.now[0]
        return float(now["goal_constant"] + now["goal_slope"] * R)

    # ---------------------------------------------------------------- the contract of a Process

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` steps, computing kernel values as they are wanted."""
        self.certificate = None
        s, now, taken = self.state, self.state.now[0], 0
        while True:
            taken += int(advance(self.rule, s, steps - taken))
            if now["stop"] == WANTS_VALUES:
                s = self._with_room()
                provide_candidates(s, self.qp.columns)
            elif now["stop"] == WANTS_COLUMN and self.sampled:
                s = self._with_room()
                provide_active_column(s, self.qp.columns)
            elif now["stop"] == WANTS_COLUMN:
                provide_columns(s, self.qp.columns)
            else:
                return taken

    def verdict(self) -> Status | None:
        """Check the claim of the compiled loop, and say how the run ended, or go on."""
        now = self.state.now[0]
        stop, now["stop"] = int(now["stop"]), GOING
        if self.sampled:  # a vertex held for a move that was not made: its line will be another's
            self.state.slot_of[self.state.slot_of < OWN_LINES] = -1
        if self.level > self.resolved.tolerance:
            self.level = max(self.level / 2.0, self.resolved.tolerance)
            self._set_goal()
            return None
        if (
            self.sampled
            and stop == NO_VIOLATOR
            and (self.resolved.protocol != "default" or not self.resolved.final_gap)
        ):
            return Status.SAMPLED_STOP
        if not self.resolved.final_gap:
            return Status.SAMPLED_STOP
        return self._check()

    def _check(self) -> Status | None:
        q, now = self._gradient(), self.state.now[0]
        self.certificate = found = certificate(self.qp, self.state.alpha, q)
        if found.gap <= self._goal(found.objective):
            return Status.CONVERGED
        helped = found.objective < self.last.objective if self.sampled else found.gap < 0.5 * self.last.gap
        self.last = found
        if not helped:
            if self.qp.columns.kept.dtype == np.float64:
                return Status.STALLED
            self.compile_seconds += _compile_double(self.rule, self.resolved)
            self.double()
        if not self.sampled:
            self._refresh(q)
            return None
        vertex, active = int(q.argmin()), self.state.active[: now["active"]]
        self._refresh(q[active], active)
        self.state.q[vertex] = q[vertex]
        now["vertex"], now["found"] = vertex, 1
        return None

    def double(self) -> None:
        """Go on with columns in double precision."""
        self.counted -= self.qp.columns.counts
        self.qp = self.qp._replace(columns=self._columns(np.float64))
        fresh = self._state(self.qp)
        self.state = fresh._replace(
            **{k: getattr(self.state, k) for k in ("alpha", "q", "active", "place", "now", "random")}
        )
        self.last = NOTHING

    def _with_room(self) -> State:
        """Return the state with room for the kernel values of an active set that is still growing."""
        s, needed = self.state, int(self.state.now["active"][0]) + 1
        before = s.values.shape[1]
        if needed > before:
            room = max(2 * before, needed)
            lines = self._lines(room, s.kept.dtype)
            kept = np.empty((lines, room), s.kept.dtype)
            kept[: len(s.kept), :before] = s.kept[:lines]
            s.slot_of[s.slot_of >= lines] = -1
            self.state = s._replace(values=np.empty((WIDE, room), s.values.dtype), kept=kept)
        return self.state

    def _lines(self, room: int, dtype: Any) -> int:
        """Return how many lines of that many kernel values fit in the budget, beside those that are lent."""
        return OWN_LINES + min(room, self.resolved.cache_bytes // (room * np.dtype(dtype).itemsize))

    def point(self) -> Point:
        """Return iterations, R, the gap last seen (exact under full search) and the support size."""
        now = self.state.now[0]
        gap = now["gap"] if self.sampled else 2.0 * (now["R"] - self.state.q[now["best"]])
        return Point(int(now["iterations"]), float(now["R"]), float(gap), int(now["active"]))

    def counters(self) -> Counters:
        """Return what was done so far."""
        now, counts = self.state.now[0], self.qp.columns.counts - self.counted
        wanted = 0 if self.sampled else 2 * int(now["steps"])
        return Counters(
            int(now["iterations"]), int(now["steps"]), int(counts[EVALUATIONS]), wanted, int(counts[MISSES]),
            self.compile_seconds,
        )  # fmt: skip

    def outcome(self, *, final_gap: bool) -> Outcome:
        """Return the certificate of the present point, from scratch in float64."""
        if not final_gap:
            point = self.point()
            kind = "sampled" if self.sampled else "none"
            return Outcome(
                point.objective, point.gap, point.gap / point.objective, np.nan, np.nan, kind, within=False
            )
        if self.certificate is None:
            self.certificate = certificate(self.qp, self.state.alpha, self._gradient())
        found = self.certificate
        within = found.gap <= self._goal(found.objective)
        return Outcome(
            found.objective, found.gap, found.relative_gap, found.primal, found.dual, "exact", within
        )  # fmt: skip

    def weights(self) -> np.ndarray:
        """Return alpha in the order of the problem's rows."""
        alpha = np.empty_like(self.state.alpha)
        alpha[self.order] = self.state.alpha
        return alpha

    def machine(self) -> Expansion:
        """Return the standard-form machine (w, b) / R over the rows with positive weight."""
        R, support = float(self.state.now["R"][0]), np.flatnonzero(self.state.alpha)
        weights = (signs(self.qp) * self.state.alpha)[support] / R
        rows = self.order[support]
        ascending = np.argsort(rows)
        return Expansion(rows[ascending], weights[ascending], float(weights.sum()))


_DOUBLE: set[tuple] = set()


def _compile_double(rule: Any, resolved: Resolved) -> float:
    """Take some steps on a tiny problem with columns in double precision; return the seconds, 0 if done before."""
    kinds = (type(rule), type(resolved.kernel), resolved.search)
    if kinds in _DOUBLE:
        return 0.0
    _DOUBLE.add(kinds)
    started = time.perf_counter()
    tiny = SimplexRun(tiny_problem(), rule, resolved)
    tiny.double()
    some_steps(tiny)
    return time.perf_counter() - started


def _plain(rule: Any) -> Any:
    """Return the rule with plain numbers for members of an IntEnum, which would slow every call of compiled code."""
    return rule._replace(**{k: int(v) for k, v in rule._asdict().items() if isinstance(v, IntEnum)})
