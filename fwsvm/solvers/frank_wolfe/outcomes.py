"""What a point on the simplex comes to: rows in the order of their classes, its outcome, and the machine."""

from collections.abc import Sequence

import numpy as np

from fwsvm.kernels.kernel import self_values
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.problems.simplex_qp import Certificate, SimplexQP, certificate, gradients, signs
from fwsvm.solvers import certify
from fwsvm.solvers.frank_wolfe.stopping import largest_gap
from fwsvm.solvers.process import Binary, Candidate, Expansion, Outcome


def by_class(problem: Binary) -> tuple[np.ndarray, Rows]:
    """Return the problem's row numbers with the class +1 first, shape (m,), and the rows in that order, float64."""
    order, rows = np.argsort(-problem.y, kind="stable"), as_rows(problem.X)
    sorted_already = (problem.y[1:] <= problem.y[:-1]).all()
    return order, rows if sorted_already else some_rows(rows, order)


def outcome_of(found: Certificate, goal: float) -> Outcome:
    """Return what a certificate from scratch says, for a run that was to reach the gap ``goal``."""
    return certify.proven(found.objective, found.gap, found.primal, found.dual, goal=goal)


def certify_together(
    rows: Rows, y: np.ndarray, candidates: Sequence[Candidate], threads: int
) -> list[Outcome]:
    """Return the certificates of several runs on the same rows: each kernel value is computed once for all.

    Parameters
    ----------
    rows : Rows of float64
    y : ndarray, shape (m,)
    candidates : sequence of Candidate
        Their kernels are one and the same.
    """
    kernel = candidates[0].resolved.kernel
    alphas = np.stack([candidate.weights for candidate in candidates], axis=1)
    ridges = np.stack([1.0 / candidate.penalties for candidate in candidates], axis=1)
    q = gradients(kernel, rows, y, alphas, ridges, threads)
    own, outcomes = self_values(kernel, rows) + 1.0, []
    for k, candidate in enumerate(candidates):
        ridge, rule = ridges[:, k], candidate.resolved
        found = certificate(ridge, candidate.weights, np.ascontiguousarray(q[:, k]))
        goal = largest_gap(rule.stop, rule.tolerance, float((own + ridge).max()), found.objective)
        outcomes.append(outcome_of(found, goal))
    return outcomes


def machine_of(qp: SimplexQP, order: np.ndarray, alpha: np.ndarray, R: float) -> Expansion:
    """Return the standard-form machine (w, b) / R over the rows with positive weight; alpha (m,) is in that order.

    Where R is lost in rounding, or below 0 by it, it is (w, b), which decides alike.
    """
    support = np.flatnonzero(alpha)
    weights = (signs(qp) * alpha)[support] / (R if R > 0.0 and R * R > 0.0 else 1.0)
    rows = order[support]
    ascending = np.argsort(rows)
    return Expansion(rows[ascending], weights[ascending], float(weights.sum()))
