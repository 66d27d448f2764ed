"""What runs of all stochastic methods share, and what their iterates are worth."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, singledispatch
from typing import Any

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm.kernels.distances import single_error
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import in_precision
from fwsvm.kernels.source import row_source
from fwsvm.kernels.sums import weighted_sums
from fwsvm.problems.binary import Binary, Expansion
from fwsvm.problems.hinge import EXACT_ROWS, certificate, estimate, fixed_sample, regularisation
from fwsvm.solvers.certify import Candidate, Certified, estimated, proven, tracked
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Iterate, Outcome, Solver
from fwsvm.solvers.tuning import SINGLE_TOLERATED
from fwsvm.solvers.warm_up import is_compiling, layouts, once, some_steps, tiny_problem

#: Kernel values are float32 where the tolerance leaves room for their error.
FLOAT32_TOLERANCE = 1e-5


@dataclass(frozen=True, kw_only=True)
class StochasticIterate(Iterate):
    """An iterate of a stochastic method.

    Attributes
    ----------
    rows : ndarray of int, shape (s,), rows of the problem
    alpha : ndarray, shape (s,), their coefficients in beta = sum_j alpha_j phi(x_j)
    u : ndarray, shape (s,), in [0, 1], a dual candidate b = u/(lambda m)
    square : float or None, <beta, beta>, None where it is not at hand
    lower : float
        A lower bound on the objective on the sample it was drawn from, NaN if none is known.
    lower_error : float
        Standard error of that sample's objective.
    """

    rows: np.ndarray
    alpha: np.ndarray
    u: np.ndarray
    square: float | None
    lower: float
    lower_error: float


def precision(resolved: Resolved) -> type:
    """Return the type of a run's kernel values, unless its rows are `far_from_origin`."""
    return np.float32 if resolved.tolerance >= FLOAT32_TOLERANCE else np.float64


def far_from_origin(problem: Binary, resolved: Resolved) -> bool:
    """Whether rows lie so far from the origin that their kernel values in float32 are noise.

    The rows of the fixed sample tell, so training from blocks, which has these and the rows drawn, finds the same.
    """
    some = row_source(problem.X).take(fixed_sample(len(problem.y)))
    return single_error(resolved.kernel, own_terms(resolved.kernel, some)) > SINGLE_TOLERATED


def certify(candidates: Sequence[Candidate[StochasticIterate]], *, exact: bool) -> list[Certified]:
    """Return what iterates are worth, and their machines; see `fwsvm.solvers.registry.Family`.

    With at most `EXACT_ROWS` rows objective and gap are computed over all of them. With more, the objective
    is estimated on a fixed sample, without bias; a method that solves a random sample S to a lower bound D_S
    also gets the gap estimate (objective - D_S), which is at least the true gap on average, for E[min f_S] <=
    min f (Mak, Morton & Wood 1999).
    """
    return [_certified(*candidate, exact=exact) for candidate in candidates]


def _certified(problem: Binary, resolved: Resolved, at: StochasticIterate, *, exact: bool) -> Certified:
    if exact:
        from_scratch = outcome_of if len(problem.y) <= EXACT_ROWS else _estimated
        outcome = at.outcome or from_scratch(problem, resolved, at)
    else:
        outcome = tracked(at)
    used = np.flatnonzero(at.alpha)
    used = used[np.argsort(at.rows[used])]
    return Certified(outcome, Expansion(at.rows[used], at.alpha[used], 0.0))


def outcome_of(problem: Binary, resolved: Resolved, at: StochasticIterate) -> Outcome:
    """Return the outcome from scratch over all rows; the length of a subgradient (``eps``) proves no gap."""
    X, y, penalties, _ = problem
    lam = regularisation(penalties, resolved.method.name)
    found = certificate(resolved.kernel, X, y, lam, at.rows, at.alpha, at.u, resolved.threads)
    goal = resolved.tolerance * found.primal if resolved.stop == "relative" else -np.inf
    return proven(
        found.primal, found.gap, found.primal, found.dual, goal=goal, measured=found.gap + found.rounding
    )


def _estimated(problem: Binary, resolved: Resolved, at: StochasticIterate) -> Outcome:
    """Return the outcome on the fixed sample of the rows."""
    X, y, penalties, _ = problem
    lam = regularisation(penalties, resolved.method.name)
    square = square_of(problem, resolved, at) if at.square is None else at.square
    dtype = np.float64 if far_from_origin(problem, resolved) else np.float32
    value = estimate(resolved.kernel, X, y, lam, at.rows, at.alpha, square, resolved.threads, dtype)
    gap = max(0.0, value.value - at.lower) if np.isfinite(at.lower) else np.nan
    error = float(np.hypot(value.error, at.lower_error)) if np.isfinite(gap) else value.error
    return estimated(value.value, gap, "estimate" if np.isfinite(gap) else "none", error)


def square_of(problem: Binary, resolved: Resolved, at: StochasticIterate) -> float:
    """Return <beta, beta>."""
    dtype = np.float64 if far_from_origin(problem, resolved) else precision(resolved)
    sources = in_precision(row_source(problem.X).take(at.rows), dtype)
    values = weighted_sums(
        resolved.kernel, sources, np.arange(len(at.rows)), at.alpha[:, None], sources, resolved.threads
    )
    return float(at.alpha @ values[:, 0])


@singledispatch
def begin(rule: Any, problem: Binary, resolved: Resolved) -> Solver:
    """Return the run of a method on a two-class problem; each method's file adds its own."""
    raise TypeError(f"no stochastic method has parameters of type {type(rule).__name__}")


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
            self.compile_seconds = _compile(double, problem.X)
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
