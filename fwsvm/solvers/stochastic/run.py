"""What runs of all stochastic methods share: the rows drawn, kernel sums over them, and what an iterate is worth.

A method that draws a large sample and changes few coefficients needs each kernel value about twice: values are computed
anew and not kept. The rows that a run may come to draw are laid out once, in the order of the draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fwsvm.kernels.distances import precision
from fwsvm.kernels.source import row_source
from fwsvm.problems.binary import Binary, Expansion
from fwsvm.problems.hinge import FIXED_SAMPLE, certificate, estimate, fixed_sample, regularisation
from fwsvm.solvers.certify import Candidate, Certified, estimated, proven, tracked
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Iterate, Outcome

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
    square : float, <beta, beta>
    lower : float
        A lower bound on the objective on the sample it was drawn from, NaN if none is known.
    lower_error : float
        Standard error of that sample's objective.
    """

    rows: np.ndarray
    alpha: np.ndarray
    u: np.ndarray
    square: float
    lower: float = np.nan
    lower_error: float = np.nan


def precision_for(problem: Binary, resolved: Resolved) -> type:
    """Return the precision of kernel values: the fixed sample of the rows decides."""
    return precision(resolved.kernel, row_source(problem.X).take(fixed_sample(len(problem.y))))


def certify(candidates: Sequence[Candidate], *, exact: bool) -> list[Certified]:
    """Return what iterates are worth, and their machines; see `fwsvm.solvers.registry.Family`.

    With at most `FIXED_SAMPLE` rows objective and gap are computed over all of them. With more, the objective
    is estimated on a fixed sample, without bias; a method that solves a random sample S to a lower bound D_S
    also gets the gap estimate (objective - D_S), which is at least the true gap on average, for E[min f_S] <=
    min f (Mak, Morton & Wood 1999).
    """
    found = []
    for problem, resolved, at in candidates:
        outcome = tracked(at)
        if exact:
            from_scratch = outcome_of if len(problem.y) <= FIXED_SAMPLE else _estimated
            outcome = at.outcome or from_scratch(problem, resolved, at)
        used = np.flatnonzero(at.alpha)
        used = used[np.argsort(at.rows[used])]
        found.append(Certified(outcome, Expansion(at.rows[used], at.alpha[used], 0.0)))
    return found


def outcome_of(problem: Binary, resolved: Resolved, at: StochasticIterate) -> Outcome:
    """Return the outcome from scratch over all rows; the length of a subgradient (``eps``) proves no gap."""
    primal, dual, rounding = certificate(
        resolved.kernel,
        problem.X,
        problem.y,
        regularisation(problem.penalties, resolved.method.name),
        at.rows,
        at.alpha,
        at.u,
        resolved.threads,
    )
    gap = primal - dual
    goal = resolved.tolerance * primal if resolved.stop == "relative" else -np.inf
    return proven(primal, gap, primal, dual, goal=goal, measured=gap + rounding)


def _estimated(problem: Binary, resolved: Resolved, at: StochasticIterate) -> Outcome:
    """Return the outcome on the fixed sample of the rows."""
    value, error = estimate(
        resolved.kernel,
        problem.X,
        problem.y,
        regularisation(problem.penalties, resolved.method.name),
        at.rows,
        at.alpha,
        at.square,
        resolved.threads,
        precision_for(problem, resolved),
    )
    if not np.isfinite(at.lower):
        return estimated(value, np.nan, "none", error)
    error = float(np.hypot(error, at.lower_error))
    return estimated(value, max(0.0, value - at.lower), "estimate", error)


class StochasticRun:
    """The part of a `Solver` that does not depend on the method."""

    kernel_evaluations = 0

    def __init__(self, problem: Binary, resolved: Resolved) -> None:
        self.problem = problem
        self.resolved = resolved
        self.lam = regularisation(problem.penalties, resolved.method.name)
        self.m = len(problem.y)
        self.dtype: type = np.float64
        if resolved.tolerance >= FLOAT32_TOLERANCE:
            self.dtype = precision_for(problem, resolved)
