"""What a training run came to, from its parts: one result, one machine, one certificate."""

from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm._occurring import Occurring
from fwsvm.problems.binary import Expansion, Hyperplane
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.solvers import certify
from fwsvm.solvers.loop import Part, Solved, Subproblems
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.result import Result
from fwsvm.solvers.solver import Counters
from fwsvm.status import Status

#: What a run by `auto` says that its time limit ended.
NESTED = "--method nested is made for this: it returns the exact model of as many rows as the time allows."
NOTHING = certify.estimated(np.nan, np.nan, "none")


class Trained(NamedTuple):
    """What a run on rows X (m, n) with class numbers ``codes`` (m,) came to, part by part.

    ``read`` are the rows as solvers read them, without features that do not occur where these are most.
    """

    X: RowMatrix
    read: Occurring
    codes: np.ndarray
    classes: tuple[str, ...]
    resolved: Resolved
    problems: Subproblems
    solved: Solved
    compile_seconds: float


def gathered(run: Trained) -> Result:
    """Return the result of the parts of a run."""
    X, read, codes, classes, resolved, problems, solved, compile_seconds = run
    parts = solved.parts
    total = certify.summed([part.outcome for part in parts]) if parts else NOTHING
    counters = reduce(Counters.plus, (part.counters for part in parts), solved.counters)
    model: KernelModel | LinearModel
    support: np.ndarray | None = None
    if resolved.family.multiclass == "one-vs-one":
        support = support_rows(codes, solved)
        model = _kernel_model(X, codes, classes, resolved, solved, support)
        support_vectors = int(model.counts.sum())
    else:
        model = _linear_model(X.shape[1], read.columns, classes, resolved, parts)
        support_vectors = sum(part.support_vectors for part in parts)
    unreached = len(problems) - len(parts)
    ended = [certify.status_of(part.course.status, part.outcome) for part in parts]
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
        settings=resolved.as_columns(),
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
        compile_seconds=compile_seconds + solved.compile_seconds + counters.compile_seconds,
        train_seconds=solved.seconds,
        check_seconds=solved.check_seconds + sum(part.check_seconds for part in parts),
        trace=tuple(parts[0].course.trace) if len(problems) == 1 else (),
        gap_error=total.gap_error,
        solved=len(problems) - unreached,
        support=support,
        chosen=", ".join(dict.fromkeys(part.method for part in parts if part.method)),
    )


def _kernel_model(
    X: RowMatrix,
    codes: np.ndarray,
    classes: tuple[str, ...],
    resolved: Resolved,
    solved: Solved,
    support: np.ndarray,
) -> KernelModel:
    """Gather the pairs' expansions in LIBSVM's layout: support vectors by class, K - 1 coefficients each."""
    K = len(classes)
    numbers = list(combinations(range(K), 2))
    if solved.coefficients is None or solved.biases is None:
        coefficients, biases = np.zeros((len(codes), K - 1)), np.zeros(len(numbers))
    else:
        coefficients, biases = solved.coefficients.copy(), solved.biases.copy()
    for part in solved.parts:
        (i, j), machine = numbers[part.number], part.machine
        if not isinstance(machine, Expansion):  # one of those that were solved together
            continue
        rows = part.rows[machine.rows]
        first = codes[rows] == i
        coefficients[rows[first], j - 1] = machine.coefficients[first]
        coefficients[rows[~first], i] = machine.coefficients[~first]
        biases[part.number] = machine.bias
    counts = np.bincount(codes[support], minlength=K)
    vectors = X[support].astype(np.float64, copy=False)
    return KernelModel(classes, resolved.kernel, vectors, counts, coefficients[support], biases)


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


def _linear_model(
    features: int, columns: np.ndarray | None, classes: tuple[str, ...], resolved: Resolved, parts: list[Part]
) -> LinearModel:
    """Gather the hyperplanes; the weights they have are those of the features ``columns``, of all where it is None."""
    outputs = 1 if len(classes) == 2 else len(classes)
    weights, biases = np.zeros((outputs, features)), np.zeros(outputs)
    places = slice(None) if columns is None else columns
    for part in parts:
        machine = part.machine
        assert isinstance(machine, Hyperplane)  # noqa: S101  (what one-versus-rest families return)
        weights[part.number, places], biases[part.number] = machine.weights, machine.bias
    rule = resolved.rule
    return LinearModel(classes, weights, biases, rule.bias, {"loss": rule.loss.value})
