"""What runs of all stochastic methods share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm._memory import require
from fwsvm.problems.binary import Binary
from fwsvm.problems.hinge import regularisation
from fwsvm.solvers.memory import LESS, Size, size_of
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Outcome, Solver
from fwsvm.solvers.stochastic.iterate import (
    FLOAT32_TOLERANCE,
    StochasticIterate,
    far_from_origin,
    outcome_of,
    precision,
)
from fwsvm.solvers.warm_up import is_compiling, layouts, once, some_steps, tiny_problem


@singledispatch
def begin(rule: Any, problem: Binary, resolved: Resolved) -> Solver:
    """Return the run of a method on a two-class problem; each method's file adds its own."""
    raise TypeError(f"no stochastic method has parameters of type {type(rule).__name__}")


@singledispatch
def memory_needed(rule: Any, size: Size, resolved: Resolved) -> int:
    """Return the bytes that a run allocates besides its rows, 0 if unknown; each method's file adds its own."""
    return 0


def _compile(double: Resolved, X: RowMatrix) -> float:
    """Run the method on tiny problems, laid out as X is, in double precision; return the seconds, 0 if done before."""
    kinds = ("double", double.method.name, double.rule, type(double.kernel), double.stop)

    def work(gaps: int) -> None:
        some_steps(begin(double.rule, tiny_problem(gaps), double))

    return sum(once((gaps, *kinds), partial(work, gaps)) for gaps in layouts(X))


def repeated(iterate: Callable[[], bool], steps: int) -> int:
    """Iterate up to ``steps`` times, until an iteration returns False; return how many came before that."""
    for k in range(steps):
        if not iterate():
            return k
    return steps


class StochasticRun(ABC):
    """The part of a `Solver` that does not depend on the method."""

    def __init__(self, problem: Binary, resolved: Resolved) -> None:
        self.problem, self.resolved = problem, resolved
        self.lam = regularisation(problem.penalties, resolved.method.name)
        self.m = len(problem.y)
        self.dtype, self.compile_seconds = precision(resolved), 0.0
        # a tiny problem stands for others, most of which have float32 values
        if self.dtype is np.float32 and not is_compiling() and far_from_origin(problem, resolved):
            self.dtype, double = np.float64, replace(resolved, tolerance=0.5 * FLOAT32_TOLERANCE)
            rows: Any = getattr(problem.X, "values", problem.X)  # of blocks, the rows that were picked
            needed = memory_needed(resolved.rule, size_of(rows), double)
            require(
                needed, f"{resolved.method.name} in double precision, for rows far from the origin,", LESS
            )
            self.compile_seconds = _compile(double, rows)
        self.eps = resolved.tolerance if resolved.stop == "eps" else 0.0
        self.goal = 0.0 if resolved.stop == "eps" else resolved.tolerance
        self.checked: tuple[int, Outcome] | None = None  # an iteration, and the outcome of its iterate

    @abstractmethod
    def iterate(self) -> StochasticIterate:
        """Return where the run stands."""

    def outcome_at(self, iterations: int) -> Outcome | None:
        """Return the outcome of the iterate of that iteration, where it was checked."""
        return self.checked[1] if self.checked is not None and self.checked[0] == iterations else None

    def gap_holds(self) -> bool | None:
        """Compare the tracked gap with the one from scratch: True if it holds, None to continue to a smaller goal.

        False where the numbers at hand cannot tell any smaller gap.
        """
        at = self.iterate()
        outcome = outcome_of(self.problem, self.resolved, at)
        self.checked = at.iterations, outcome
        if outcome.within:
            return True
        self.goal *= 0.5
        return None if self.goal > 1e-3 * self.resolved.tolerance else False
