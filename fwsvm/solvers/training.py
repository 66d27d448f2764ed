"""A training: checked rows and resolved settings, the subproblems they make, and the result of these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm._occurring import occurring
from fwsvm.errors import UsageError
from fwsvm.kernels.limits import refuse_overflow
from fwsvm.phases import Phase, enter
from fwsvm.problems import precomputed
from fwsvm.problems.binary import Expansion, Hyperplane
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.solvers import certify, memory
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.result import Result
from fwsvm.solvers.solver import Counters, WarmStart
from fwsvm.solvers.subproblems import Solved, Subproblems, solve_all
from fwsvm.solvers.warm_up import compile_runs
from fwsvm.status import Status

SMALLEST_PENALTY, LARGEST_PENALTY = 1e-12, 1e12
#: What a run by `auto` says that its time limit ended.
NESTED = "--method nested is made for this: it returns the exact model of as many rows as the time allows."


@dataclass(frozen=True)
class Training:
    """Rows of positive weight of K classes, and how they are trained on.

    Attributes
    ----------
    X : ndarray, csr_array or RowSource, shape (m, n)
        The rows as the machine has them.
    rows : ndarray, csr_array or RowSource, shape (m, k)
        The same as solvers read them: without features that no row has, where these are most.
    columns : ndarray of int, shape (k,), or None
        The features of ``rows``; None for all.
    classes : tuple of str
    weights : ndarray of float64, shape (m,)
    resolved : Resolved
        With the values of a precomputed kernel, which the machine does not keep.
    kernel : NamedTuple, of the machine
    problems : Subproblems
    """

    X: Any
    rows: Any
    columns: np.ndarray | None
    classes: tuple[str, ...]
    weights: np.ndarray
    resolved: Resolved
    kernel: Any
    problems: Subproblems

    def solved(
        self,
        watch: Watch | None,
        warm_starts: Mapping[int, WarmStart] | None = None,
        columns: ColumnStore | None = None,
    ) -> Solved:
        """Return the solved subproblems; ``warm_starts`` and ``columns`` are what earlier runs on the rows came to."""
        if columns is None and not warm_starts and (together := self.solved_together([self.resolved], watch)):
            return together[0]
        compile_seconds = compile_runs(self.resolved, self.rows)
        found = solve_all(self.rows, self.weights, self.problems, self.resolved, watch, warm_starts, columns)
        return replace(found, compile_seconds=compile_seconds)

    def solved_together(self, settings: Sequence[Resolved], watch: Watch | None) -> list[Solved] | None:
        """Return the subproblems solved for settings that differ in C alone; None where the method does not do that."""
        together = self.resolved.family.solve_at_once
        if together is None:
            return None
        found: list[Solved] | None = together(self.rows, self.weights, self.problems, settings, watch)
        return found


def prepare(
    X: RowMatrix, codes: np.ndarray, classes: tuple[str, ...], resolved: Resolved, weights: np.ndarray
) -> Training:
    """Return the training of checked rows; refuse what does not fit in memory or in the range of numbers."""
    refuse_penalties(resolved.C, weights)
    rows, columns, solving, family = *occurring(X), resolved, resolved.family
    if precomputed.is_given(resolved.kernel_name):
        enter(Phase.CHECK)
        given = precomputed.given_by(X, resolved.C * weights if family.ridge else None)
        X, rows, columns, solving = given.numbers, given.places, None, replace(resolved, kernel=given.kernel)
    memory.check(rows, X.shape[1], codes, len(classes), resolved)
    if family.kernels is None:
        refuse_overflow(solving.kernel, resolved.kernel_name, rows)
    enter(Phase.TRAIN)
    problems = Subproblems(codes, len(classes), family.multiclass)
    return Training(X, rows, columns, classes, weights, solving, resolved.kernel, problems)


def refuse_penalties(C: float, weights: np.ndarray) -> None:
    """Refuse penalties C_i, the penalty times the row's weight, (m,), outside what double precision is good for."""
    least, most = C * float(weights.min()), C * float(weights.max())
    if not SMALLEST_PENALTY <= least <= most <= LARGEST_PENALTY:
        raise UsageError(
            f"C times the weights of rows goes from {least:.3g} to {most:.3g}, beyond {SMALLEST_PENALTY:g} to "
            f"{LARGEST_PENALTY:g}; take another C or other weights"
        )


def result_of(training: Training, solved: Solved) -> Result:
    """Return the result of a training's solved subproblems: one machine, one certificate."""
    resolved, problems, parts = training.resolved, training.problems, solved.parts
    total = certify.estimated(np.nan, np.nan, "none")
    if parts:
        total = certify.summed([part.outcome for part in parts])
    counters = reduce(Counters.plus, (part.counters for part in parts), solved.counters)
    model: KernelModel | LinearModel
    support: np.ndarray | None = None
    if resolved.family.multiclass == "one-vs-one":
        support = support_rows(problems.codes, solved)
        model = _kernel_model(training, solved, support)
        support_vectors = int(model.counts.sum())
    else:
        model = _linear_model(training, solved)
        support_vectors = sum(part.support_vectors for part in parts)
    unreached = len(problems) - len(parts)
    ended = [certify.status_of(part.status, part.outcome) for part in parts]
    if unreached or solved.interrupted:
        ended.append(Status.INTERRUPTED if solved.interrupted else Status.TIME_LIMIT)
    status = certify.status_of_parts(ended, total)
    lacking = f"{unreached} of {len(problems)} subproblems were not reached." if unreached else ""
    if status is Status.TIME_LIMIT and resolved.method.name == "auto":
        lacking = f"{lacking} {NESTED}".strip()
    requests = counters.column_requests
    return Result(
        model=model,
        status=status,
        message=certify.message(status, resolved.stop, total, lacking),
        settings=replace(resolved, kernel=training.kernel).as_columns(),
        subproblems=len(problems),
        objective=total.objective,
        gap=total.gap,
        relative_gap=total.relative_gap,
        gap_kind=total.gap_kind,
        certified=status is Status.CONVERGED,
        primal=total.primal,
        dual=total.dual,
        support_vectors=support_vectors,
        iterations=counters.iterations,
        steps=counters.steps,
        kernel_evaluations=counters.kernel_evaluations,
        cache_hit_rate=max(0.0, 1.0 - counters.column_misses / requests) if requests else np.nan,
        compile_seconds=solved.compile_seconds + counters.compile_seconds,
        train_seconds=solved.seconds,
        check_seconds=solved.check_seconds + sum(part.check_seconds for part in parts),
        trace=tuple(parts[0].trace) if len(problems) == 1 else (),
        gap_error=total.gap_error,
        solved=len(parts),
        support=support,
        chosen=", ".join(dict.fromkeys(part.method for part in parts if part.method)),
    )


def support_rows(codes: np.ndarray, solved: Solved) -> np.ndarray:
    """Return the numbers of the rows that are support vectors of any pair, class by class and ascending in each."""
    used: np.ndarray = np.zeros(len(codes), dtype=bool)
    if solved.coefficients is not None:
        used |= solved.coefficients.any(axis=1)
    for part in solved.parts:
        if isinstance(part.machine, Expansion):
            used[part.rows[part.machine.rows]] = True
    support = np.flatnonzero(used)
    return support[np.argsort(codes[support], kind="stable")]


def _kernel_model(training: Training, solved: Solved, support: np.ndarray) -> KernelModel:
    """Gather the pairs' expansions in LIBSVM's layout: support vectors by class, K - 1 coefficients each."""
    problems, K = training.problems, len(training.classes)
    codes = problems.codes
    coefficients, biases = np.zeros((len(codes), K - 1)), np.zeros(len(problems))
    if solved.coefficients is not None and solved.biases is not None:
        coefficients, biases = solved.coefficients.copy(), solved.biases.copy()
    for part in solved.parts:
        (i, j), machine = problems.classes[part.number], part.machine
        if not isinstance(machine, Expansion):  # one of those that were solved together
            continue
        rows = part.rows[machine.rows]
        first = codes[rows] == i
        coefficients[rows[first], j - 1] = machine.coefficients[first]
        coefficients[rows[~first], i] = machine.coefficients[~first]
        biases[part.number] = machine.bias
    counts = np.bincount(codes[support], minlength=K)
    vectors = training.X[support].astype(np.float64, copy=False)
    return KernelModel(training.classes, training.kernel, vectors, counts, coefficients[support], biases)


def _linear_model(training: Training, solved: Solved) -> LinearModel:
    """Gather the hyperplanes; features that no row has weigh nothing."""
    weights = np.zeros((len(training.problems), training.X.shape[1]))
    biases, places = np.zeros(len(weights)), slice(None) if training.columns is None else training.columns
    for part in solved.parts:
        machine = part.machine
        assert isinstance(machine, Hyperplane)  # noqa: S101  (what one-versus-rest families return)
        weights[part.number, places], biases[part.number] = machine.weights, machine.bias
    rule = training.resolved.rule
    return LinearModel(training.classes, weights, biases, rule.bias, {"loss": rule.loss.value})
