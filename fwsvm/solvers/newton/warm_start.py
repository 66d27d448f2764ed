"""Where a run of Newton's method ended, for a warm start of the next one on the same rows with another C."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.rows import Rows
from fwsvm.solvers.newton.active_set_system import FactorState
from fwsvm.solvers.warm_start import WarmStart


@dataclass(frozen=True)
class NewtonStart(WarmStart):
    """What a Newton run makes use of, beside the weights.

    Attributes
    ----------
    kernel : NamedTuple
    gradient, ridge : ndarrays of float64, shape (m,), in the order of the problem's rows
        q = K~ alpha at the weights, and the 1 / C_i that are on the diagonal of K~.
    newton : bool
        Whether swap-2o alone did not reach the goal.
    factor : FactorState or None
        Serves for a ridge next to this one's; None where there is none, or no memory for it. The run that starts here
        may overwrite its memory, so no other one can start from the same factor.
    working_set : WorkingSet or None
        The rows that an inner run was restricted to.
    """

    kernel: Any
    gradient: np.ndarray
    ridge: np.ndarray
    newton: bool
    factor: FactorState | None = None
    working_set: "WorkingSet | None" = None

    def within(self, reserve: Callable[[int], bool]) -> "NewtonStart":
        """Return the start without its factor where there is no memory to keep that."""
        return self if self.factor is None or reserve(self.factor.nbytes) else replace(self, factor=None)

    def gradient_at(self, ridge: np.ndarray) -> np.ndarray:
        """Return q at the same weights with another ridge."""
        return self.gradient + (ridge - self.ridge) * self.weights


class WorkingSet(NamedTuple):
    """A working set of a subproblem: its rows in ascending order, their data, and where an inner run on them starts."""

    which: np.ndarray
    rows: Rows
    start: WarmStart
