"""What may be called certified and converged: decided here alone, for all families and all ways to run them.

A family's `certify` takes `Candidate`s, one or many on the same rows: it computes objective, gap, primal and dual from
scratch and says what its stopping rule wants of them; `proven` makes the `Outcome` of it. No method's own word makes a
run converged, and no number that is not finite takes part in a certificate.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fwsvm.problems.binary import Binary, Machine
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Iterate, Outcome
from fwsvm.status import Status, ending, gap_warning

Numbers: TypeAlias = Any  # a float, or an ndarray of several


class Candidate(NamedTuple):
    """An iterate that a run ended at, of which the certificate and the machine are wanted."""

    problem: Binary
    resolved: Resolved
    iterate: Any


class Certified(NamedTuple):
    """What an iterate is worth, and its machine; None where `Solved` has the coefficients of several."""

    outcome: Outcome
    machine: Machine | None


def proven(
    objective: Numbers,
    gap: Numbers,
    primal: Numbers,
    dual: Numbers,
    *,
    goal: Numbers,
    measured: Numbers,
) -> Outcome:
    """Return the outcome of a point whose numbers were recomputed from scratch over all rows, or of several points.

    Parameters
    ----------
    objective, gap, primal, dual : float, or ndarray of shape (points,)
    goal : float or ndarray
        What the stopping rule allows.
    measured : float or ndarray
        What the rule looks at: the gap and what rounding may have taken of it, say.
    """
    # no gap is below 0: one that is shows how much of it is rounding
    at = np.maximum(measured, -gap)
    finite = np.isfinite([at, goal, objective, gap, primal, dual]).all(axis=0)
    within = finite & (objective > 0.0) & (at <= goal)
    return Outcome(objective, gap, _relative(gap, objective), primal, dual, "exact", within)


def tracked(at: Iterate) -> Outcome:
    """Return the outcome of an iterate from the numbers that the method kept."""
    return estimated(at.objective, at.gap, at.gap_kind)


def estimated(objective: float, gap: float, gap_kind: str, gap_error: float = math.nan) -> Outcome:
    """Return the outcome of numbers that prove nothing."""
    relative = _relative(gap, objective)
    return Outcome(objective, gap, relative, math.nan, math.nan, gap_kind, within=False, gap_error=gap_error)


def _relative(gap: Numbers, objective: Numbers) -> Numbers:
    """Return the gap in parts of the objective, which is above 0 but where rounding takes all of it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isnan(gap) | (objective > 0.0), np.divide(gap, objective), math.inf)[()]


def status_of(ended: Status, outcome: Outcome) -> Status:
    """Return how a part ended that says of itself that it ended so, with this outcome."""
    if np.all(outcome.within) and ended.done:
        return Status.CONVERGED
    return Status.STALLED if ended is Status.CONVERGED else ended


def summed(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a run of several parts: sums, and the largest relative gap."""
    if not outcomes:
        return estimated(math.nan, math.nan, "none")
    *_, kinds, within, errors = zip(*outcomes, strict=True)
    numbers = np.concatenate([np.reshape(each[:5], (5, -1)) for each in outcomes], axis=1)
    objective, gap, _, primal, dual = numbers.sum(axis=1).tolist()
    # what is known exactly adds to an estimate
    kind = "estimate" if set(kinds) == {"exact", "estimate"} else kinds[0] if len(set(kinds)) == 1 else "none"
    known = [error for error in errors if math.isfinite(error)]
    return Outcome(
        objective,
        gap,
        float(numbers[2].max()),
        primal,
        dual,
        kind,
        all(map(np.all, within)),
        math.hypot(*known) if known else math.nan,  # the parts' samples are independent
    )


def message(status: Status, stop: str, total: Outcome, unreached: str = "") -> str:
    """Return the status in a sentence with its particulars: what was not reached, estimated, or is worth little."""
    how = ending(status, stop, total.relative_gap)
    said = [status.sentence if how == status else f"{how.capitalize()}.", unreached]
    if math.isfinite(total.gap_error):
        what = "Objective and gap are" if total.gap_kind == "estimate" else "The objective is"
        said.append(f"{what} estimated from samples of the rows, standard error {total.gap_error:.3g}.")
    said.append(gap_warning(status, total.objective, total.gap, total.relative_gap, total.gap_kind))
    return " ".join(filter(None, said))
