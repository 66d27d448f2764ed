"""The contract of a solver: a two-class problem and a warm start in, iterates out.

A family's `start` (`fwsvm.solvers.registry.Family`) begins a run, which is a `Solver`. The one loop of
`fwsvm.solvers.loop` gives it chunks of steps on the clock, asks it off the clock where it stands, and ends it by its
own rule, by a limit or by an interrupt. What an iterate is worth, and which machine it is, are functions of the
iterate: the family's `certify`.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from fwsvm.status import Status


@dataclass(frozen=True)
class WarmStart:
    """What every method can start from; a method that can use more has a subclass with more fields.

    Attributes
    ----------
    weights : ndarray of float64, shape (m,)
        The dual weights, in the order of the problem's rows. Where the next run has another C, it clips them to its
        box, or has another ridge on its diagonal.
    """

    weights: np.ndarray


WarmStarts: TypeAlias = dict[int, WarmStart]  # by number of the subproblem


class Counters(NamedTuple):
    """What a run did, so far.

    ``iterations`` are what ``max_iterations`` limits, ``steps`` the changes of the point; which of them `advance`
    counts is the method's matter.
    """

    iterations: int = 0
    steps: int = 0
    kernel_evaluations: int = 0
    column_requests: int = 0
    column_misses: int = 0

    def plus(self, other: "Counters") -> "Counters":
        """Return what two runs did together."""
        return Counters._make(a + b for a, b in zip(self, other, strict=True))


class Outcome(NamedTuple):
    """What an iterate is worth, recomputed from scratch or as the run kept it.

    Numbers of several iterates that were proven together are arrays.

    Attributes
    ----------
    objective, gap, relative_gap, primal, dual : float
        NaN where not computed.
    gap_kind : {"exact", "sampled", "estimate", "none"}
    within : bool
        Whether the gap is within the tolerance by the run's stopping rule.
    gap_error : float
        Standard error of an estimated gap, or of an estimated objective without a gap; else NaN.
    """

    objective: float
    gap: float
    relative_gap: float
    primal: float
    dual: float
    gap_kind: str
    within: bool
    gap_error: float = float("nan")


@dataclass(frozen=True, kw_only=True)
class Iterate:
    """Where a run stands; a family's iterates have the variables of its problem, too.

    Attributes
    ----------
    iterations : int
    objective, gap : float
        From numbers at hand; NaN where a family does not know one.
    support_vectors : int
    gap_kind : {"sampled", "none"}
        Over what ``gap`` was looked for: over sampled rows, or by the numbers that the run keeps.
    outcome : Outcome or None
        From scratch, where the run has computed it for this very iterate.
    warm_start : WarmStart or None
        From where another run on the same rows may go on; None where none can.
    """

    iterations: int
    objective: float
    gap: float
    support_vectors: int
    gap_kind: str = "none"
    outcome: Outcome | None = None
    warm_start: WarmStart | None = None


class Solver(Protocol):
    """A run on a two-class problem."""

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` steps (on the clock); return how many. Fewer means that `check_stop` has an answer."""

    def check_stop(self) -> Status | None:
        """Say how the run ended by its own rule, or None to go on.

        Called when `advance` took fewer steps than asked for. What it computes to check the gap is off the clock; if
        the check fails and the run goes on from what was computed, the loop counts its time after all.
        """

    def iterate(self) -> Iterate:
        """Return where the run stands (off the clock, cheap)."""

    @property
    def counters(self) -> Counters:
        """What was done so far."""
