"""wolfe: the conjugate subgradient method on all rows (004's benchmark; Wolfe 1975)."""

from enum import Enum
from typing import NamedTuple

import numpy as np

from fwsvm._memory import MIB
from fwsvm.errors import SettingError, UsageError
from fwsvm.kernels.rows import as_rows
from fwsvm.kernels.values import kernel_matrix
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import add_lines
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.stochastic.descent import Bundle, DescentRun, Metric
from fwsvm.solvers.tuning import FRUITLESS_RESETS


class Keep(Enum):
    """Which subgradients make the next direction."""

    TWO = "two"
    FULL = "full"


@register(
    "wolfe",
    family="stochastic",
    paper="Zhang and Sen (2024), section 4 (Wolfe 1975)",
    tolerance="relative: (P - D) / P over all rows; eps: the length of a subgradient, after a reset",
)
class Wolfe(NamedTuple):
    """Minus the shortest convex combination of subgradients, and a strong Wolfe line search, on all rows.

    Problem: min lambda/2 alpha' Q alpha + mean hinge, no bias. The kernel matrix of all rows is kept.
    Stops on the gap over all rows or, by `eps`, on a short subgradient after a reset.

    Parameters
    ----------
    metric : rkhs, or euclid, which reads "subgradient in alpha" to the letter and needs far more iterations
    keep : two (004 eq. 5: last direction and new subgradient), or full (all since the last reset)
    size : subgradients that ``full`` holds before it starts again; 50: its inner problem stays the smaller
        part
    path : how far ``full`` goes before it starts again, in units of sqrt(2 / lambda), the distance from 0 within
        which the minimiser lies; 0.1: of 0.1, 0.3, 1 and 3 it takes the fewest iterations on wdbc, heart-failure and
        wine-quality-red
    m1 : enough decrease, in parts of |d|^2; 0.1 as is usual for Wolfe conditions
    m2 : enough increase of the slope; 0.4, m1 < m2 < 1/2 (004 Algorithm 2)
    n : steps below 1/n of the longest are null steps; 1e6: on all rows nothing but another subgradient can
        help
    """

    metric: Metric = Metric.RKHS
    keep: Keep = Keep.TWO
    size: int = 50
    path: float = 0.1
    m1: float = 0.1
    m2: float = 0.4
    n: float = 1e6

    def start(self, problem: Binary, resolved: Resolved) -> "WolfeRun":
        """Return the run on a two-class problem."""
        return WolfeRun(self, problem, resolved)


class WolfeRun(DescentRun):
    """A `Solver`: all rows, and the gap recomputed in float64 before it counts."""

    def __init__(self, rule: Wolfe, problem: Binary, resolved: Resolved) -> None:
        super().__init__(rule, problem, resolved)
        m = self.m
        needed = m * m * np.dtype(self.dtype).itemsize
        if needed > resolved.cache_bytes:
            raise SettingError(
                f"wolfe keeps the kernel matrix of all {m} rows, {needed // MIB} MiB, but cache_mib is "
                f"{resolved.cache_mib}; raise it, take fewer rows (fwsvm subset), or use scs, which samples"
            )
        if rule.size < 2 or not rule.path > 0:
            raise UsageError(
                f"a bundle needs a size of at least 2 subgradients, not {rule.size}, and a path longer than 0, "
                f"not {rule.path}"
            )
        if rule.keep is Keep.FULL:
            self.bundle = Bundle(rule.size, m, rule.path)
        self.Q: np.ndarray | None = None
        self.grow(problem.y, np.zeros((4, m)), np.zeros((4, 0)))
        self.best = np.inf, -np.inf, 0  # value, bound and resets when one of the first two last got better

    def advance(self, steps: int) -> int:
        """Iterate up to ``steps`` times; first of all compute the matrix, which an interrupt may end."""
        if self.Q is None:
            self.Q = kernel_matrix(
                self.resolved.kernel, as_rows(self.problem.X, self.dtype), self.resolved.threads
            )
            self.kernel_evaluations = self.Q.size
        return super().advance(steps)

    def products(self, which: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the sums of kernel values at all rows."""
        out = np.zeros(self.m)
        add_lines(self.Q, which, weights, out, 0, self.m)
        return out

    def step(self) -> bool:
        """Do one iteration; return False where the method stops.

        The incumbent moves with every t > 0. Where the line search finds none, alpha stays and the next
        subgradient is the one ahead, which no longer lets d descend: a null step.
        """
        if self.propose() or self.gap_closed():
            return False
        value, lower, resets = self.best
        if self.value < value * (1 - 1e-13) or self.lower > lower + 1e-13 * abs(lower):
            self.best = self.value, self.lower, self.resets
        elif self.resets - resets >= FRUITLESS_RESETS:
            self.stuck = True
            return False
        if self.t > 0.0:
            self.move()
        self.iterations += 1
        return True
