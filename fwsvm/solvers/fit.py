"""Training: settings and labelled rows in, a certified machine out."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fwsvm._occurring import Occurring, occurring
from fwsvm.errors import UsageError
from fwsvm.kernels.limits import refuse_overflow
from fwsvm.numerics.threads import blas_on
from fwsvm.problems.binary import Expansion, Hyperplane
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.solvers import certify, memory
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import Result
from fwsvm.solvers.scheduler import solve_all
from fwsvm.solvers.settings import Settings
from fwsvm.solvers.subproblems import Part, Solved, Subproblem, Table, subproblems
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.solvers.warm_up import GAPS, once, some_steps, tiny_problem
from fwsvm.status import Status

MOST_FEATURES = 2**31 - 1  # their numbers are int32


def fit(
    X: Table,
    codes: np.ndarray,
    classes: Sequence[str],
    settings: Settings,
    *,
    weights: np.ndarray | None = None,
    counts: np.ndarray | None = None,
    watch: Watch | None = None,
) -> Result:
    """Train a machine.

    Parameters
    ----------
    X : ndarray or csr_array of float64, shape (m, n)
    codes : ndarray of int, shape (m,)
        Class numbers: places in ``classes``. With two classes the first is +1.
    classes : sequence of str
        Labels in the order of conventions 6.
    settings : Settings
    weights : ndarray, shape (m,), optional
        Multiplies the penalty C of each row; rows of weight zero are left out.
    counts : ndarray, shape (m,), optional
        How often each row stands in the data, more than 0: multiplies its penalty, too, and counts in a default width.
    watch : callable, optional
        Told of the progress a few times a second.

    Raises
    ------
    UsageError
        Settings that make no sense, or fewer than two classes in the rows.
    RangeError
        Kernel values that single precision cannot hold.
    """
    with blas_on(1):
        if counts is not None:
            weights = counts if weights is None else counts * weights
            counts = counts[weights > 0]
        X, codes, weights = checked(X, codes, classes, weights)
        resolved = resolve(settings, X, counts)
        return gathered(train(X, codes, tuple(classes), resolved, weights, watch))


class Trained(NamedTuple):
    """What a run on rows X (m, n) with class numbers ``codes`` (m,) came to, part by part.

    ``read`` are the rows as solvers read them, without features that do not occur where these are most.
    """

    X: Table
    read: Occurring
    codes: np.ndarray
    classes: tuple[str, ...]
    resolved: Resolved
    problems: list[Subproblem]
    solved: Solved
    compile_seconds: float


def train(
    X: Table, codes: np.ndarray, classes: tuple[str, ...], resolved: Resolved, weights: np.ndarray,
    watch: Watch | None = None, warm_starts: Mapping[int, WarmStart] | None = None,
    columns: ColumnStore | None = None,
) -> Trained:  # fmt: skip
    """Train on rows that were checked; see `fit`, and `solve_all` for what earlier runs on them came to.

    Raises
    ------
    UsageError
        The training does not fit in the memory available.
    """
    _refuse_penalties(resolved.C, weights)
    read = occurring(X)
    memory.check(read.X, X.shape[1], codes, len(classes), resolved)
    if resolved.family.kernels is None:
        refuse_overflow(resolved.kernel, resolved.kernel_name, read.X)
    compile_seconds = warm_up(resolved)
    problems = list(subproblems(codes, len(classes), resolved.family.multiclass))
    solved = solve_all(read.X, weights, problems, resolved, watch, warm_starts, columns)
    return Trained(X, read, codes, classes, resolved, problems, solved, compile_seconds)


def checked(X: Any, codes: Any, classes: Sequence[str], weights: Any) -> tuple[Table, np.ndarray, np.ndarray]:
    """Return rows, class numbers and weights as they are trained on; see `fit` for what is refused."""
    codes = np.asarray(codes)
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.shape[0] != len(codes):
        raise UsageError(f"there are {len(codes)} labels for rows of shape {X.shape}")
    if X.shape[1] > MOST_FEATURES:
        raise UsageError(f"rows of {X.shape[1]:,} features; fwsvm counts no more than {MOST_FEATURES:,}")
    X = X.astype(np.float64, copy=False)
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise UsageError("the rows hold values that are not finite numbers")
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise UsageError("weights of rows must be finite and not negative")
    if (weights == 0).any():
        X, codes, weights = X[weights > 0], codes[weights > 0], weights[weights > 0]
    absent = [c for k, c in enumerate(classes) if not (codes == k).any()]
    if len(classes) < 2 or absent:
        raise UsageError(
            f"class {absent[0]} has no row to train on" if absent and len(classes) > 1
            else "there is one class only; a classifier needs rows of two"
        )  # fmt: skip
    return X, codes, weights


def _refuse_penalties(C: float, weights: np.ndarray) -> None:
    """Refuse penalties C_i, the penalty times the row's weight, of which a sum or the inverse is not finite."""
    least, most = C * float(weights.min()), C * float(weights.sum())
    if not (np.isfinite(most) and least > 0.0 and np.isfinite(len(weights) / least)):
        raise UsageError(
            f"C times the weights of rows goes from {least:.3g} to {C * float(weights.max()):.3g}, beyond what "
            "double precision holds; take another C or other weights"
        )


def warm_up(resolved: Resolved) -> float:
    """Run the method on a tiny problem, so that compiling is no part of any time reported; return its seconds.

    Once in a process for all that is compiled apart.
    """
    kinds = (
        resolved.method.name, resolved.rule, type(resolved.kernel), resolved.search, resolved.protocol, resolved.stop,
    )  # fmt: skip

    @np.errstate(all="ignore")  # a kernel for small values may overflow here
    def work() -> None:
        for gaps in (0, GAPS):
            problem = tiny_problem(gaps)
            solver = resolved.family.start(problem, resolved.rule, resolved)
            some_steps(solver)
            resolved.family.certify([certify.Candidate(problem, resolved, solver.iterate())], exact=True)

    return once(("whole runs", *kinds), work)


def gathered(run: Trained) -> Result:
    """Return the result of the parts of a run."""
    X, read, codes, classes, resolved, problems, solved, compile_seconds = run
    parts = solved.parts
    counters = [part.counters for part in parts]
    total = certify.together([part.outcome for part in parts])
    ended = [certify.status_of(part.course.status, part.outcome) for part in parts]
    unreached = len(problems) - len(parts)
    if unreached:
        ended.append(Status.INTERRUPTED if solved.interrupted else Status.TIME_LIMIT)
    status = certify.verdict(ended, total)
    lacking = f"{unreached} of {len(problems)} subproblems were not reached." if unreached else ""
    requests = sum(c.column_requests for c in counters)
    kernel = resolved.family.multiclass == "one-vs-one"
    model = (
        _kernel_model(X, codes, classes, resolved, parts, problems)
        if kernel
        else _linear_model(X.shape[1], read.columns, classes, resolved, parts)
    )
    return Result(
        model=model,
        status=status,
        message=certify.message(status, total, lacking),
        settings=resolved.as_columns(),
        subproblems=len(problems),
        objective=total.objective,
        gap=total.gap,
        relative_gap=total.relative_gap,
        gap_kind=total.gap_kind,
        certified=status is Status.CONVERGED,
        primal=total.primal,
        dual=total.dual,
        support_vectors=sum(part.support_vectors for part in parts)
        if isinstance(model, LinearModel)
        else int(model.counts.sum()),
        iterations=sum(c.iterations for c in counters),
        steps=sum(c.steps for c in counters),
        kernel_evaluations=sum(c.kernel_evaluations for c in counters),
        cache_hit_rate=1.0 - sum(c.column_misses for c in counters) / requests if requests else float("nan"),
        compile_seconds=compile_seconds + sum(c.compile_seconds for c in counters),
        train_seconds=solved.seconds,
        check_seconds=sum(part.check_seconds for part in parts),
        trace=tuple(parts[0].course.trace) if len(problems) == 1 else (),
        gap_error=total.gap_error,
        solved=len(parts),
    )


def _kernel_model(
    X: Table, codes: np.ndarray, classes: tuple[str, ...], resolved: Resolved, parts: list[Part],
    problems: list[Subproblem],
) -> KernelModel:  # fmt: skip
    """Gather the pairs' expansions in LIBSVM's layout: support vectors by class, K - 1 coefficients each."""
    K = len(classes)
    coefficients = np.zeros((X.shape[0], K - 1))
    biases = np.zeros(len(problems))
    pairs = list(combinations(range(K), 2))
    for part in parts:
        (i, j), machine = pairs[part.number], part.machine
        assert isinstance(machine, Expansion)  # noqa: S101  (what one-versus-one families return)
        rows = part.rows[machine.rows]
        first = codes[rows] == i
        coefficients[rows[first], j - 1] = machine.coefficients[first]
        coefficients[rows[~first], i] = machine.coefficients[~first]
        biases[part.number] = machine.bias
    support = support_rows(codes, parts)
    counts = np.bincount(codes[support], minlength=K)
    return KernelModel(classes, resolved.kernel, X[support], counts, coefficients[support], biases)


def support_rows(codes: np.ndarray, parts: list[Part]) -> np.ndarray:
    """Return the numbers of the rows that are support vectors of any pair, class by class and ascending in each."""
    used = np.zeros(len(codes), dtype=bool)
    for part in parts:
        assert isinstance(part.machine, Expansion)  # noqa: S101  (what one-versus-one families return)
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
