"""Iterates on the simplex: what they are worth, their machines, and what all families of such methods share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwsvm.kernels.source import ALL, Diagonal, row_source
from fwsvm.problems.binary import Binary, Expansion
from fwsvm.problems.simplex_qp import gradients, write_certificate
from fwsvm.settings import SEARCHES
from fwsvm.solvers.certify import Candidate, Certified, proven, tracked
from fwsvm.solvers.frank_wolfe.state import stopping_line
from fwsvm.solvers.registry import Family
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Iterate, Outcome

PROBLEM = "min a'K~a on the simplex (squared hinge, bias penalised)"


@dataclass(frozen=True, kw_only=True)
class SimplexIterate(Iterate):
    """An iterate with its weights alpha (m,) on the simplex, in the order of the problem's rows."""

    alpha: np.ndarray


class AllRows:
    """All rows of a two-class problem, and what weights of them are worth, from scratch.

    Attributes
    ----------
    source : RowSource
    y, ridge, diagonal : ndarrays, shape (m,), the classes 1 and -1, 1 / C_i and K~_ii
    widest : float, the largest K~_ii
    own : Diagonal, the kernel values k(x_i, x_i)
    """

    def __init__(self, problem: Binary, resolved: Resolved, own: Diagonal | None = None) -> None:
        self.source = row_source(problem.X)
        self.resolved, self.y, self.ridge = resolved, problem.y, 1.0 / problem.penalties
        self.own = self.source.diagonal(resolved.kernel) if own is None else own
        self.diagonal = self.own.values + 1.0 + self.ridge
        self.widest = float(self.diagonal.max())

    def goal(self, R: float) -> float:
        """Return the largest gap at which a run by the stopping rule has converged."""
        constant, slope = stopping_line(self.resolved.stop, self.resolved.tolerance, self.widest)
        return constant + slope * R

    def gradient(
        self, alpha: np.ndarray, dtype: type = np.float64, rows: np.ndarray | slice = ALL
    ) -> np.ndarray:
        """Return q = K~ alpha at some rows, ascending, of kernel values in a precision."""
        q = gradients(
            self.resolved.kernel,
            self.source,
            self.y,
            alpha[:, None],
            self.ridge[:, None],
            self.resolved.threads,
            dtype,
            rows,
        )
        return q[:, 0]

    def outcome(self, alpha: np.ndarray, q: np.ndarray) -> Outcome:
        """Return what alpha is worth by q = K~ alpha: by float64 values that is a certificate."""
        found = np.empty(5)
        write_certificate(alpha, q, self.ridge, self.diagonal, self.own.rounding, found)
        *numbers, rounding = found.tolist()
        return proven(*numbers, goal=self.goal(numbers[0]), measured=numbers[1] + rounding)


def certify(candidates: Sequence[Candidate], *, exact: bool) -> list[Certified]:
    """Return what iterates are worth, and their machines; see `fwsvm.solvers.registry.Family`.

    Certificates that no run has computed are computed here, together: each kernel value once for all.
    """
    if exact:
        unknown = [candidate for candidate in candidates if candidate.iterate.outcome is None]
        found = iter(_outcomes(unknown) if unknown else [])
        outcomes = [candidate.iterate.outcome or next(found) for candidate in candidates]
    else:
        outcomes = [tracked(candidate.iterate) for candidate in candidates]
    return [
        Certified(outcome, machine_of(candidate.problem.y, candidate.iterate.alpha, outcome.objective))
        for candidate, outcome in zip(candidates, outcomes, strict=True)
    ]


def _outcomes(candidates: Sequence[Candidate]) -> list[Outcome]:
    """Return the outcomes of candidates from scratch in float64 over all rows."""
    first = AllRows(candidates[0].problem, candidates[0].resolved)
    every = [AllRows(candidate.problem, candidate.resolved, first.own) for candidate in candidates]
    alphas = [candidate.iterate.alpha for candidate in candidates]
    q = gradients(
        first.resolved.kernel,
        first.source,
        first.y,
        np.stack(alphas, axis=1),
        np.stack([rows.ridge for rows in every], axis=1),
        first.resolved.threads,
    )
    columns = zip(every, alphas, np.ascontiguousarray(q.T), strict=True)
    return [rows.outcome(alpha, q_k) for rows, alpha, q_k in columns]


def machine_of(y: np.ndarray, alpha: np.ndarray, R: float) -> Expansion:
    """Return the standard-form machine (w, b) / R over the rows with positive weight.

    Where R is lost in rounding, or below 0 by it, it is (w, b), which decides alike.
    """
    rows = np.flatnonzero(alpha)
    weights = (y * alpha)[rows] / (R if R > 0.0 and R * R > 0.0 else 1.0)
    return Expansion(rows, weights, float(weights.sum()))


def on_simplex(name: str, start: Callable, **more: Any) -> Family:
    """Return a family of methods for min a'K~a on the simplex, with any kernel; by default they search all rows."""
    return Family(
        name=name,
        kernels=None,
        default_kernel="rbf",
        stops=("relative", "gap", "meb"),
        multiclass="one-vs-one",
        ridge=True,
        start=start,
        certify=certify,
        **{"problem": PROBLEM, "searches": SEARCHES[:1]} | more,
    )
