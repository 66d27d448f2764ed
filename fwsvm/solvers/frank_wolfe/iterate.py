"""Iterates on the simplex: what they are worth, their machines, and what all families of such methods share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwsvm.kernels.rows import Rows
from fwsvm.kernels.source import RowSource, row_source
from fwsvm.problems.binary import Binary, Expansion
from fwsvm.problems.simplex_qp import SimplexCertificate, certificate, gradients
from fwsvm.solvers.certify import Candidate, Certified, proven, tracked
from fwsvm.solvers.frank_wolfe.state import largest_gap
from fwsvm.solvers.registry import Family
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Iterate, Outcome


@dataclass(frozen=True, kw_only=True)
class SimplexIterate(Iterate):
    """An iterate with its weights alpha (m,) on the simplex, in the order of the problem's rows."""

    alpha: np.ndarray


def sorted_by_class(problem: Binary) -> tuple[np.ndarray, Rows]:
    """Return the problem's row numbers with the class +1 first, shape (m,), and the rows in that order, float64."""
    order = np.argsort(-problem.y, kind="stable")
    return order, RowSource(problem.X).take(order)


def outcome_of(found: SimplexCertificate, resolved: Resolved, widest: float) -> Outcome:
    """Return what a certificate from scratch says by a run's stopping rule; ``widest`` is the largest K~_ii."""
    goal = largest_gap(resolved.stop, resolved.tolerance, widest, found.objective)
    return proven(
        found.objective, found.gap, found.primal, found.dual, goal=goal, measured=found.gap + found.rounding
    )


def certify(candidates: Sequence[Candidate[SimplexIterate]], *, exact: bool) -> list[Certified]:
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


def _outcomes(candidates: Sequence[Candidate[SimplexIterate]]) -> list[Outcome]:
    """Return the outcomes of candidates from scratch in float64 over all rows."""
    (X, y, _, _), resolved, _ = candidates[0]
    kernel, source = resolved.kernel, row_source(X)
    alphas = np.stack([candidate.iterate.alpha for candidate in candidates], axis=1)
    ridges = np.stack([1.0 / candidate.problem.penalties for candidate in candidates], axis=1)
    q = gradients(kernel, source, y, alphas, ridges, resolved.threads)
    own, outcomes = source.diagonal(kernel), []
    for k, candidate in enumerate(candidates):
        ridge, alpha = np.ascontiguousarray(ridges[:, k]), candidate.iterate.alpha
        diagonal = own.values + 1.0 + ridge
        found = certificate(ridge, diagonal, alpha, np.ascontiguousarray(q[:, k]), own.rounding)
        outcomes.append(outcome_of(found, candidate.resolved, float(diagonal.max())))
    return outcomes


def machine_of(y: np.ndarray, alpha: np.ndarray, R: float) -> Expansion:
    """Return the standard-form machine (w, b) / R over the rows with positive weight.

    Where R is lost in rounding, or below 0 by it, it is (w, b), which decides alike.
    """
    rows = np.flatnonzero(alpha)
    weights = (y * alpha)[rows] / (R if R > 0.0 and R * R > 0.0 else 1.0)
    return Expansion(rows, weights, float(weights.sum()))


def on_simplex(
    name: str,
    start: Callable[..., Any],
    searches: tuple[str, ...] = ("full",),
    *,
    keeps_values: bool = True,
) -> Family:
    """Return a family of methods for min a'K~a on the simplex, with any kernel."""
    return Family(
        name=name,
        problem="min a'K~a on the simplex (squared hinge, bias penalised)",
        kernels=None,
        default_kernel="rbf",
        stops=("relative", "gap", "meb"),
        searches=searches,
        keeps_values=keeps_values,
        multiclass="one-vs-one",
        ridge=True,
        start=start,
        certify=certify,
    )
