"""The rounds of a run in chunks: the inner method on a chunk, then a look at all rows, wherever these are.

`fwsvm.solvers.chunking.run` has them in memory or in a mapped file, `fwsvm.distributed.run` on the workers of a
cluster.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from fwsvm.problems.simplex_qp import SimplexCertificate
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate, outcome_of
from fwsvm.solvers.frank_wolfe.stopping import largest_gap
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, Outcome, Solver
from fwsvm.solvers.tuning import NEAR, SAFE_ROUNDING
from fwsvm.status import Status

SINGLE_ROUNDING = 4e-6  # of the largest K~_ii: what single precision may add to a gap, for alpha sums to 1


class Rounds(ABC):
    """A `Solver`, but for `iterate`: the present chunk and the inner run on it, or alpha alone between two of them.

    What a look at all rows returns is the subclass's own; it sets ``found``, the certificate of alpha over all rows.
    As that holds for the rows of the chunk, too, inner runs leave their own check from scratch to it, as long as their
    rounding does not keep the run from its goal.

    Attributes
    ----------
    passes_gradient : bool, whether an inner run starts from the q of a look in float64
    widest : float, the largest K~_ii of all rows
    inner : Solver or None, on the present chunk
    found : SimplexCertificate or None, of alpha over all rows, where they were looked at
    outcome : Outcome or None, of alpha, where an inner run ended at it
    lowest, gap : float, R and the gap at the look before, in either precision
    last : SimplexIterate or None, what the last inner run ended at
    defers : bool, whether inner runs leave their check to the look at all rows
    near, exact : bool, whether the next look is likely to be the last, and whether the last one was in float64
    before : Counters, what all before the present inner run did
    """

    passes_gradient = False

    def __init__(self, settings: Resolved, widest: float, before: Counters) -> None:
        self.settings, self.widest, self.before = settings, widest, before
        self.inner: Solver | None = None
        self.found: SimplexCertificate | None = None
        self.outcome: Outcome | None = None
        self.lowest = self.gap = np.inf
        self.last: SimplexIterate | None = None
        self.defers = True
        self.near, self.exact = False, False

    @property
    @abstractmethod
    def _is_whole(self) -> bool:
        """Whether the chunk is all rows."""

    @abstractmethod
    def _start(self, chunk: Any) -> None:
        """Let the inner method begin on a chunk, at alpha if there is one."""

    @abstractmethod
    def _again(self) -> None:
        """Let the inner method begin on the present chunk once more, at alpha."""

    @abstractmethod
    def _end(self) -> SimplexIterate:
        """Take over what the inner run found, and let go of its memory."""

    @abstractmethod
    def _survey(self, dtype: type = np.float64) -> Any:
        """Look at all rows at alpha in a precision: find its certificate, which is one in float64 only."""

    @abstractmethod
    def _excess_outside(self, look: Any) -> float:
        """Return by how much the gap of rows outside the chunk is above the goal."""

    @abstractmethod
    def _next_chunk(self, look: Any) -> Any:
        """Return the next chunk, after a look."""

    @abstractmethod
    def _whole_chunk(self) -> Any:
        """Return the chunk of all rows."""

    def _of_chunk(self) -> Resolved:
        """Return the settings of the inner run on the present chunk."""
        settings = self.settings
        if settings.stop == "meb" and self.found is not None:
            # the rule speaks of the largest K~_ii of all rows
            settings = replace(settings, stop="gap", tolerance=self._goal(self.found.objective))
        return replace(settings, deferred=SAFE_ROUNDING if self.defers and not self._is_whole else 0.0)

    def _goal(self, R: float) -> float:
        return largest_gap(self.settings.stop, self.settings.tolerance, self.widest, R)

    # ---------------------------------------------------------------- the contract of a Solver

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` of the inner method's steps."""
        assert self.inner is not None  # noqa: S101  (but while `check_stop` is at work)
        return self.inner.advance(steps)

    def check_stop(self) -> Status | None:
        """Ask the inner run; where it has ended look at all rows, and end or begin on the next chunk."""
        assert self.inner is not None  # noqa: S101  (as in `advance`)
        ended = self.inner.check_stop()
        if ended is None or self._is_whole:
            return ended
        last = self._end()
        look = self._look()
        assert self.found is not None  # noqa: S101  (by the look)
        halved, self.gap = self.found.gap < 0.5 * self.gap, self.found.gap
        if self.exact:
            outcome = outcome_of(self.found, self.settings, self.widest)
            if outcome.within and not self.settings.final_gap:
                return Status.SAMPLED_STOP
            self.outcome = outcome
            if outcome.within:
                return Status.CONVERGED
            if self._excess_outside(look) <= 0.0:  # no other row would help
                if not self.defers:
                    return Status.STALLED  # it is the inner method that can do no better
                # or it is its rounding, which it has not seen: that of steps from an exact q is small
                self.defers = self.passes_gradient and halved
                self._again()
                return None
        falls, self.lowest = self.lowest > last.objective, last.objective
        # R falls from chunk to chunk, or rounding has the last word, which must not go round in circles
        self._start(self._next_chunk(look) if falls else self._whole_chunk())
        return None

    def _look(self) -> Any:
        """Look at all rows, in single precision where that shows for sure that the run goes on."""
        self.exact = self.near
        look = self._survey(np.float64 if self.exact else np.float32)
        if not self.exact and self._excess_outside(look) <= SINGLE_ROUNDING * self.widest:
            self.exact, look = True, self._survey()
        assert self.found is not None  # noqa: S101  (by the survey)
        self.near = self.found.relative_gap <= NEAR
        return look

    @property
    def counters(self) -> Counters:
        """What was done so far, on all chunks, and between them."""
        return self.before if self.inner is None else self.before.plus(self.inner.counters)
