"""Pairs without a certificate that holds: where they stood, from where runs of their own start, or which they keep."""

import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fwsvm.kernels.rows import Rows, some_rows
from fwsvm.problems.binary import Binary
from fwsvm.problems.simplex_qp import gradients
from fwsvm.solvers import certify
from fwsvm.solvers.auto.grouped_rows import GroupedRows
from fwsvm.solvers.auto.solutions import Solutions
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate
from fwsvm.solvers.frank_wolfe.stopping import stopping_line
from fwsvm.solvers.frank_wolfe.warm_start import SimplexStart
from fwsvm.solvers.loop import Clock, Course
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Outcome
from fwsvm.solvers.subproblems import NOTHING_DONE, Part
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status


class Point(NamedTuple):
    """Where a pair stood that has no certificate that holds.

    Attributes
    ----------
    places : ndarray of int, shape (n,), of its rows among the grouped ones: those of the class +1 first
    y, weights : ndarray of float64, shape (n,); the weights are on the simplex
    out_of_steps : bool, whether it ended before it seemed to reach the goal
    outcome : Outcome or None, of its certificate if it has one
    """

    places: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    out_of_steps: bool
    outcome: Outcome | None

    def rows(self, groups: GroupedRows) -> Rows:
        """Return copies of the pair's rows."""
        return some_rows(groups.rows, self.places)


def taken_back(
    solutions: Solutions, begun: np.ndarray, groups: GroupedRows, resolved: Resolved
) -> dict[int, Point]:
    """Take back, for one penalty, what pairs without a certificate that holds came to; return it, by number."""
    constant, slope = stopping_line(resolved.stop, resolved.tolerance, np.nan)
    goals, out_of_steps = constant + slope * solutions.certificates[:, 0], ~solutions.reached
    solutions.reached[:] &= certify.within_goals(solutions.certificates, goals)
    points: dict[int, Point] = {}
    for number in np.flatnonzero(~solutions.reached).tolist():
        (i, j), ends = groups.pairs[number], groups.starts
        plus, minus = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        signed = np.concatenate([solutions.coefficients[plus, j - 1], solutions.coefficients[minus, i]])
        solutions.coefficients[plus, j - 1] = solutions.coefficients[minus, i] = 0.0
        solutions.biases[number] = 0.0
        weights, total = np.abs(signed), float(np.abs(signed).sum())
        if begun[number] and np.isfinite(total) and total > 0.0:
            weights /= total
            places = np.concatenate([np.arange(ends[i], ends[i + 1]), np.arange(ends[j], ends[j + 1])])
            y = np.repeat([1.0, -1.0], [ends[i + 1] - ends[i], ends[j + 1] - ends[j]])
            outcome, numbers = None, solutions.certificates[number].tolist()
            if np.isfinite(numbers).all():
                *four, rounding = numbers
                outcome = certify.proven(*four, goal=float(goals[number]), measured=four[1] + rounding)
            points[number] = Point(places, y, weights, bool(out_of_steps[number]), outcome)
    return points


def starts_at(points: Mapping[int, Point], groups: GroupedRows, resolved: Resolved) -> dict[int, WarmStart]:
    """Return where the own runs of pairs may start, by number.

    Rows of a run are in the order of the groups, too: those of the class +1 first.
    """
    starts: dict[int, WarmStart] = {}
    for number, point in points.items():
        weights, ridge = point.weights, 1.0 / (resolved.C * groups.weights[point.places])
        q = gradients(
            resolved.kernel, point.rows(groups), point.y, weights[:, None], ridge[:, None], resolved.threads
        )[:, 0]
        starts[number] = SimplexStart(weights, resolved.kernel, q, ridge, point.out_of_steps)
    return starts


def part_at(number: int, point: Point, groups: GroupedRows, resolved: Resolved, status: Status) -> Part:
    """Return a pair as a run of its own that ended at a point; what was done for it is counted with all pairs."""
    started = time.perf_counter()
    problem = Binary(
        point.rows(groups), point.y, resolved.C * groups.weights[point.places], (resolved.seed, number)
    )
    nan, support_vectors = float("nan"), int(np.count_nonzero(point.weights))
    at = SimplexIterate(
        iterations=0, objective=nan, gap=nan, support_vectors=support_vectors, outcome=point.outcome,
        alpha=point.weights,
    )  # fmt: skip
    candidate = certify.Candidate(problem, resolved, at)
    try:
        (end,) = resolved.family.certify([candidate], exact=True)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        (end,) = resolved.family.certify([candidate], exact=False)
    return Part(
        number, groups.order[point.places], Course(status, Clock()), NOTHING_DONE, support_vectors,
        time.perf_counter() - started, end, "swap-2o",
    )  # fmt: skip
