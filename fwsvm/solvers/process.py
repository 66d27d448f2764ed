"""The contract between the one loop of `fwsvm.solvers.loop` and the families of solvers.

A family turns a two-class problem into a `Process`; the loop gives it chunks of steps on the clock, asks it for trace
points off the clock, and ends it by its own rule, by a limit or by an interrupt.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from fwsvm.kernels.rows import Rows
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status


class Binary(NamedTuple):
    """A two-class problem as a family gets it.

    Attributes
    ----------
    X : ndarray, csr_array or `Rows` of float64, shape (m, n)
    y : ndarray of float64, shape (m,), +1 or -1
    penalties : ndarray of float64, shape (m,)
        C_i, the penalty times the row's weight.
    stream : tuple of int
        Seeds this problem's random numbers: (seed, number of the subproblem).
    """

    X: np.ndarray | sparse.csr_array | Rows
    y: np.ndarray
    penalties: np.ndarray
    stream: tuple[int, ...]


class Point(NamedTuple):
    """Where a run stands, from numbers at hand; NaN where a family does not know a number."""

    iterations: int
    objective: float
    gap: float
    support_vectors: int


@dataclass(frozen=True)
class Outcome:
    """What one two-class run came to, recomputed from scratch (conventions 1).

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


class Candidate(NamedTuple):
    """The end of a run whose certificate is deferred, to be computed with those of others on the same rows.

    Attributes
    ----------
    weights, penalties : ndarrays, shape (m,)
    resolved : Resolved, what the run was to do
    """

    weights: np.ndarray
    penalties: np.ndarray
    resolved: Resolved


class Counters(NamedTuple):
    """What a run did, so far.

    ``compile_seconds`` were spent on code that no run had needed before; they are no part of any time reported.
    """

    iterations: int = 0
    steps: int = 0
    kernel_evaluations: int = 0
    column_requests: int = 0
    column_misses: int = 0
    compile_seconds: float = 0.0

    def plus(self, other: "Counters") -> "Counters":
        """Return what two runs did together."""
        return Counters._make(a + b for a, b in zip(self, other, strict=True))


class Expansion(NamedTuple):
    """A two-class machine over kernel functions at training rows: sum_j coefficients[j] k(X[rows[j]], x) + bias."""

    rows: np.ndarray
    coefficients: np.ndarray
    bias: float


class Hyperplane(NamedTuple):
    """A two-class linear machine: weights, and the coefficient of the constant feature, 0 without one."""

    weights: np.ndarray
    bias: float


class Process(Protocol):
    """One two-class run in progress."""

    def advance(self, steps: int) -> int:
        """Take up to ``steps`` steps (on the clock); return how many. Fewer means that `verdict` has an answer."""

    def help(self, me: int) -> None:
        """Lend this thread, the ``me``-th, to an `advance` that runs in another; return when it ends, or at once."""

    def verdict(self) -> Status | None:
        """Say how the run ended by its own rule, or None to go on.

        Called when `advance` took fewer steps than asked for. What it computes to check the claim is off the
        clock; if the check fails and the run goes on from what was computed, the loop counts its time after all.
        """

    def point(self) -> Point:
        """Return where the run stands (off the clock, cheap)."""

    def counters(self) -> Counters:
        """Return what was done so far."""

    def outcome(self, *, final_gap: bool) -> Outcome:
        """Return objective and gap from scratch (off the clock), or the tracked numbers without ``final_gap``."""

    def warm_start(self) -> WarmStart | None:
        """Return what a run on the same rows may start from, at the end of this one; None where none can."""

    def machine(self) -> Expansion | Hyperplane:
        """Return the machine at the current point."""
