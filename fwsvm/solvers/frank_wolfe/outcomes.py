"""What a point on the simplex comes to: rows in the order of their classes, its outcome, and the machine."""

import numpy as np

from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.problems.simplex_qp import Certificate, SimplexQP, signs
from fwsvm.solvers.process import Binary, Expansion, Outcome


def by_class(problem: Binary) -> tuple[np.ndarray, Rows]:
    """Return the problem's row numbers with the class +1 first, shape (m,), and the rows in that order, float64."""
    order, rows = np.argsort(-problem.y, kind="stable"), as_rows(problem.X)
    sorted_already = (problem.y[1:] <= problem.y[:-1]).all()
    return order, rows if sorted_already else some_rows(rows, order)


def outcome_of(found: Certificate, goal: float) -> Outcome:
    """Return what a certificate from scratch says, for a run that was to reach the gap ``goal``."""
    within = found.gap <= goal
    return Outcome(
        found.objective, found.gap, found.relative_gap, found.primal, found.dual, "exact", within
    )  # fmt: skip


def machine_of(qp: SimplexQP, order: np.ndarray, alpha: np.ndarray, R: float) -> Expansion:
    """Return the standard-form machine (w, b) / R over the rows with positive weight; alpha (m,) is in that order."""
    support = np.flatnonzero(alpha)
    weights, rows = (signs(qp) * alpha)[support] / R, order[support]
    ascending = np.argsort(rows)
    return Expansion(rows[ascending], weights[ascending], float(weights.sum()))
