"""Iterates of the linear SVM's dual: what they are worth, and their machines, as functions of alpha."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fwsvm.kernels.rows import as_they_lie
from fwsvm.problems.binary import Hyperplane
from fwsvm.problems.box_certificate import BoxCertificate, certificate
from fwsvm.problems.box_qp import BoxQP, box_qp, weights_of_parts
from fwsvm.problems.multiple import best_certificate
from fwsvm.solvers.certify import Candidate, Certified, estimated, proven
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Iterate, Outcome


@dataclass(frozen=True, kw_only=True)
class LinearIterate(Iterate):
    """An iterate of a linear method.

    Attributes
    ----------
    alpha : ndarray of float64, shape (m,), of all rows
    w : ndarray of float64, shape (n + 1,)
        The weights, that of the constant feature last: those of ``outcome`` where it is known, else as the run keeps
        them.
    kept_objective, kept_gap : float
        P and P - D by the numbers that the run keeps.
    """

    alpha: np.ndarray
    w: np.ndarray
    kept_objective: float
    kept_gap: float


def certify(candidates: Sequence[Candidate[LinearIterate]], *, exact: bool) -> list[Certified]:
    """Return what iterates are worth, and their machines; see `fwsvm.solvers.registry.Family`."""
    return [_certified(candidate, exact=exact) for candidate in candidates]


def _certified(candidate: Candidate[LinearIterate], *, exact: bool) -> Certified:
    (X, y, penalties, _), resolved, at = candidate
    outcome, w = at.outcome, at.w
    if not exact:
        outcome = estimated(at.kept_objective, at.kept_gap, "none")
    elif outcome is None:
        qp = box_qp(as_they_lie(X), y, penalties, resolved.rule.loss, resolved.rule.bias)
        w, found = from_scratch(qp, at.alpha[qp.rows], resolved.stop)
        outcome = outcome_of(found, resolved, empty=not len(qp.rows))
    return Certified(outcome, Hyperplane(w[:-1].copy(), float(w[-1])))


def from_scratch(qp: BoxQP, alpha: np.ndarray, stop: str) -> tuple[np.ndarray, BoxCertificate]:
    """Return w and the certificate of alpha, of the rows of ``qp``, from scratch.

    Where the gap ends the run, w is the best multiple of sum y_i alpha_i x_i; the published rules leave it alone.
    """
    w = weights_of_parts(qp, alpha)
    if stop == "eps":
        return w, certificate(qp, alpha, w)
    return best_certificate(qp, alpha, w)


def outcome_of(c: BoxCertificate, resolved: Resolved, *, empty: bool) -> Outcome:
    """Return the outcome of a certificate by the run's stopping rule, which must hold whatever rounding does.

    ``empty`` where no row has a feature.
    """
    violation = 0.0 if empty else resolved.rule.violation(c.least, c.most)
    tolerance, widened = resolved.tolerance, c._replace(gap=c.gap + c.rounding.gap)
    measured, goal = {
        "relative": (widened.relative_gap, tolerance),
        "gap": (widened.gap, tolerance),
        "eps": (violation + c.rounding.gradient, np.nextafter(tolerance, 0.0)),  # below, not at it
    }[resolved.stop]
    return proven(c.primal, c.gap, c.primal, c.dual, measured=measured, goal=goal)
