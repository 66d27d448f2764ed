"""What runs of all stochastic methods share: the certificate, the outcome and the machine over the rows drawn."""

from abc import ABC, abstractmethod
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from fwsvm.errors import UsageError
from fwsvm.kernels.rows import as_rows
from fwsvm.kernels.sums import weighted_sums
from fwsvm.problems.hinge import EXACT_ROWS, Certificate, certificate, estimate, regularisation
from fwsvm.solvers import certify
from fwsvm.solvers.memory import Size
from fwsvm.solvers.process import Binary, Expansion, Outcome, Process
from fwsvm.solvers.resolve import Resolved

#: Kernel values are float32 for tolerances of at least this, else float64.
FLOAT32_TOLERANCE = 1e-5


@singledispatch
def begin(rule: Any, problem: Binary, resolved: Resolved) -> Process:
    """Return the process of a method on a two-class problem; each method's file adds its own."""
    raise TypeError(f"no stochastic method has parameters of type {type(rule).__name__}")


@singledispatch
def rows_drawn(rule: Any, resolved: Resolved, m: int, stream: tuple[int, ...]) -> np.ndarray:
    """Return the rows of m that a run may draw; each method that can tell them in advance adds its own."""
    raise UsageError(
        f"{resolved.method.name} as set up may look at any row, so it cannot be trained from blocks; use scs with "
        "kept tests, or pegasos with a limit of iterations, or give the rows as one array"
    )


@singledispatch
def memory_needed(rule: Any, size: Size, resolved: Resolved) -> int:
    """Return the bytes that a run allocates besides its rows; each method's file adds its own."""
    raise TypeError(f"no stochastic method has parameters of type {type(rule).__name__}")


def precision(resolved: Resolved) -> type:
    """Return the type of a run's kernel values."""
    return np.float32 if resolved.tolerance >= FLOAT32_TOLERANCE else np.float64


class Solution(NamedTuple):
    """The current solution of a run.

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
    lower: float
    lower_error: float


class StochasticRun(ABC):
    """The part of a `Process` that does not depend on the method.

    With at most `EXACT_ROWS` rows objective and gap are computed over all of them. With more, the objective
    is estimated on a fixed sample, without bias; a method that solves a random sample S to a lower bound D_S
    also gets the gap estimate (objective - D_S), which is at least the true gap on average, for E[min f_S] <=
    min f (Mak, Morton & Wood 1999).
    """

    def __init__(self, problem: Binary, resolved: Resolved) -> None:
        self.problem, self.resolved = problem, resolved
        self.lam = regularisation(problem.penalties, resolved.method.name)
        self.m = len(problem.y)
        self.dtype = precision(resolved)
        self.eps = resolved.tolerance if resolved.stop == "eps" else 0.0
        self.goal = 0.0 if resolved.stop == "eps" else resolved.tolerance

    @abstractmethod
    def solution(self) -> Solution:
        """Return the current solution."""

    def help(self, me: int) -> None:  # noqa: B027 - not abstract: there is nothing to help with
        """Return: iterations follow one another, and share what they can themselves."""

    def certificate(self, found: Solution) -> Certificate:
        """Return value and gap over all rows, in float64."""
        X, y, _, _ = self.problem
        return certificate(
            self.resolved.kernel, X, y, self.lam, found.rows, found.alpha, found.u, self.resolved.threads
        )

    def held(self) -> bool | None:
        """Compare the tracked gap with the one from scratch: True if it holds, None to continue to a smaller goal.

        False where the numbers at hand cannot tell any smaller gap.
        """
        if self._proven(self.solution()).within:
            return True
        self.goal *= 0.5
        return None if self.goal > 1e-3 * self.resolved.tolerance else False

    def outcome(self, *, final_gap: bool) -> Outcome:
        """Return the objective over all rows and its gap, exact or estimated."""
        found = self.solution()
        if not final_gap:
            point = self.point()  # type: ignore[attr-defined]
            return certify.tracked(point.objective, point.gap)
        return self._estimated(found) if self.m > EXACT_ROWS else self._proven(found)

    def _proven(self, found: Solution) -> Outcome:
        """Return the outcome from scratch over all rows; the length of a subgradient (``eps``) proves no gap."""
        exact = self.certificate(found)
        goal = self.resolved.tolerance * exact.primal if self.resolved.stop == "relative" else -np.inf
        return certify.proven(exact.primal, exact.gap, exact.primal, exact.dual, goal=goal)

    def _estimated(self, found: Solution) -> Outcome:
        X, y, _, _ = self.problem
        value = estimate(
            self.resolved.kernel, X, y, self.lam, found.rows, found.alpha, found.square, self.resolved.threads
        )
        gap = max(0.0, value.value - found.lower) if np.isfinite(found.lower) else np.nan
        error = float(np.hypot(value.error, found.lower_error)) if np.isfinite(gap) else value.error
        kind = "estimate" if np.isfinite(gap) else "none"
        return certify.tracked(value.value, gap, kind, error)

    def warm_start(self) -> None:  # noqa: B027 - the same for all of the family
        """No run starts where another ended."""

    def machine(self) -> Expansion:
        """Return the machine: the rows with a coefficient, ascending, and no bias."""
        found = self.solution()
        support = np.flatnonzero(found.alpha)
        support = support[np.argsort(found.rows[support])]
        return Expansion(found.rows[support], found.alpha[support], 0.0)

    def values(self, rows: np.ndarray, alpha: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return sum_j alpha_j k(x_j, .) over the problem's ``rows``, at its rows ``others``: (others,)."""
        X, kernel, threads = self.problem.X, self.resolved.kernel, self.resolved.threads
        sources = as_rows(X[rows], self.dtype)
        return weighted_sums(
            kernel, sources, np.arange(len(rows)), alpha[:, None], as_rows(X[others], self.dtype), threads
        )[:, 0]
