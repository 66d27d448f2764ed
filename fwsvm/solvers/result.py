"""What a training run returns: the machine, its certificate, and what it cost."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.problems.binary import Expansion
from fwsvm.problems.cells import CellModel
from fwsvm.problems.machines import KernelModel, LinearModel, Model
from fwsvm.solvers import certify
from fwsvm.solvers.loop import TracePoint, subproblems_of
from fwsvm.solvers.registry import METHODS
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.subproblems import Solved, Subproblems
from fwsvm.status import Status, worst

#: What a run by `auto` on more rows than the first sample of `nested` says that its time limit ended.
NESTED = 'method="nested" is made for this: it returns the exact model of as many rows as the time allows.'


class SampleFacts(NamedTuple):
    """On how many rows a machine was trained, and of how many these are a sample (`fwsvm.solvers.auto.nested`)."""

    rows: int
    of: int


@dataclass(frozen=True, repr=False)
class Result:
    """A trained machine and everything measured on the way; the fields that results files have bear their names.

    Sums over subproblems, and ``relative_gap`` their maximum, where there are several.

    Attributes
    ----------
    model : KernelModel, LinearModel or CellModel
    status : Status
    message : str
        The status's sentence, and the particulars.
    settings : mapping
        Every setting as resolved, under the names of the results columns (kernel, gamma, sigma2, C, lambda, ...).
    subproblems, support_vectors, iterations, steps, kernel_evaluations : int
    objective, gap, relative_gap, primal, dual : float
    gap_kind : {"exact", "sampled", "estimate", "none"}
    gap_error : float
        Standard error of an estimated gap, or of an estimated objective without a gap; else NaN. In results files
        ``message`` says it.
    certified : bool
        gap_kind is exact and the gap is within the tolerance.
    cache_hit_rate : float
    compile_seconds, train_seconds, check_seconds : float
        Compiling, the algorithm alone, and recomputing the certificate.
    trace : tuple of TracePoint, empty where there are several subproblems
    solved : int
        Subproblems that were begun before a limit or an interrupt: the sums are over these.
    chosen : str
        The methods that ``auto`` chose; empty for any other.
    flags : tuple of str
        What a program must know besides the numbers (`fwsvm.status`), found when accuracies were measured.
    support : ndarray of int, shape (s,), or None
        Numbers of the support vectors among the training rows, in the model's order; None for linear models and those
        of a sample.
    sample : SampleFacts or None
        Of which rows the machine is, where it is not of all: objective, gap, certificate and lambda are of the problem
        of these rows, ``train_seconds`` of all samples.
    """

    model: Model
    status: Status
    message: str
    settings: Mapping[str, Any]
    subproblems: int
    objective: float = math.nan
    gap: float = math.nan
    relative_gap: float = math.nan
    gap_kind: str = "none"
    certified: bool = False
    primal: float = math.nan
    dual: float = math.nan
    support_vectors: int = 0
    iterations: int = 0
    steps: int = 0
    kernel_evaluations: int = 0
    cache_hit_rate: float = math.nan
    compile_seconds: float = 0.0
    train_seconds: float = 0.0
    check_seconds: float = 0.0
    trace: tuple[TracePoint, ...] = ()
    gap_error: float = math.nan
    solved: int = 1
    chosen: str = ""
    support: np.ndarray | None = None
    sample: SampleFacts | None = None
    flags: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return five lines: the run, how it ended, its certificate, what it took, and the model."""
        kind = type(self.model).__name__
        settings = self.settings
        chosen = f" ({self.chosen})" if self.chosen else ""
        return (
            f"Result of {settings.get('method')}{chosen}, {settings.get('kernel')} kernel, C = {settings.get('C'):g}\n"
            f"  {self.status}: {self.message}\n"
            f"  objective {self.objective:.6g}, relative gap {self.relative_gap:.3g} ({self.gap_kind})\n"
            f"  {self.support_vectors:,} support vectors, {self.iterations:,} iterations, {self.train_seconds:.3g} s\n"
            f"  model: {kind} of {len(self.model.classes):,} classes and {self.model.features:,} features"
        )


def result_of(problems: Subproblems, resolved: Resolved, solved: Solved) -> Result:
    """Return the result of solved subproblems: one model, one certificate."""
    parts = solved.parts
    lacking = ""
    total = certify.summed([part.certified.outcome for part in parts])
    reached = subproblems_of(parts)
    ended = [certify.status_of(part.status, part.certified.outcome) for part in parts]
    if unreached := len(problems) - reached:
        # the sum of some gaps bounds nothing
        total = certify.estimated(total.objective, math.nan, "none", total.gap_error)
        ended.append(Status.TIME_LIMIT)
        lacking = f"{unreached} of {len(problems)} subproblems were not reached."
    if solved.interrupted:
        ended.append(Status.INTERRUPTED)
    status = worst(ended)
    large = len(problems.codes) > METHODS["nested"].rule().first
    if status is Status.TIME_LIMIT and large and resolved.method.name == "auto":
        lacking = f"{lacking} {NESTED}".strip()
    model: Model
    if resolved.family.multiclass == "one-vs-one":
        model, support = _kernel_model(problems, resolved, solved)
        support_vectors = len(support)
    else:
        model = _linear_model(problems, resolved, solved)
        support = None
        support_vectors = sum(part.support_vectors for part in parts)
    counters = Counters(*map(sum, zip(*(part.counters for part in parts), strict=True)))
    requests = counters.column_requests
    certificate = total._asdict()
    del certificate["within"]
    return Result(
        model=model,
        status=status,
        message=certify.message(status, resolved.stop, total, lacking),
        settings=resolved.as_columns(),
        subproblems=len(problems),
        certified=status is Status.CONVERGED,
        **certificate,
        support_vectors=support_vectors,
        iterations=counters.iterations,
        steps=counters.steps,
        kernel_evaluations=counters.kernel_evaluations,
        cache_hit_rate=max(0.0, 1.0 - counters.column_misses / requests) if requests else np.nan,
        compile_seconds=solved.compile_seconds,
        train_seconds=solved.seconds,
        check_seconds=sum(part.check_seconds for part in parts),
        trace=tuple(parts[0].trace) if len(problems) == 1 and parts else (),
        solved=reached,
        support=support,
        chosen=", ".join(dict.fromkeys(part.method for part in parts if part.method)),
    )


def _kernel_model(
    problems: Subproblems, resolved: Resolved, solved: Solved
) -> tuple[KernelModel | CellModel, np.ndarray]:
    """Return the pairs' expansions in LIBSVM's layout: support vectors by class, K - 1 coefficients each.

    A pair that was not solved decides for the class of more rows. Returns also the numbers of the support vectors,
    class by class in each cell, and ascending in each class.
    """
    codes = problems.codes
    K = len(problems.labels)
    rows_of = problems.counts.reshape(-1, K)
    every = np.arange(K)
    by_classes = np.sign(rows_of[:, :, None] - rows_of[:, None]).astype(np.float64)
    biases = by_classes.reshape(-1)
    places = problems.classes[:, 0] * K + problems.classes[:, 1] % K
    known = biases[places]
    coefficients, together = solved.machines or (np.zeros((len(codes), K - 1)), known)
    for part in solved.parts:
        machine = part.certified.machine
        known[part.numbers] = together[part.numbers]
        if isinstance(machine, Expansion):  # else one of those that were solved together
            weights = np.zeros(len(part.rows))
            rows = part.rows
            weights[machine.rows] = machine.coefficients
            ((first, second),) = problems.classes[part.numbers] % K
            coefficients[rows, np.where(codes[rows] % K == first, second - 1, first)] = weights
            known[part.numbers] = machine.bias
    biases[places] = known
    support = np.flatnonzero(coefficients.any(axis=1))
    support = support[codes[support].argsort(kind="stable")]
    # a model does not keep the values of a precomputed kernel
    family = kernel_family(resolved.kernel_name)
    kernel = family.checked() if family.given else resolved.kernel
    vectors = problems.X[support].astype(np.float64, copy=False)
    labels = problems.labels
    counts = np.bincount(codes[support], minlength=problems.K)
    pairs = by_classes[:, np.less.outer(every, every)]
    model = KernelModel(labels, kernel, vectors, counts, coefficients[support], pairs.ravel())
    return model if problems.cells is None else CellModel(labels, problems.cells, model), support


def _linear_model(problems: Subproblems, resolved: Resolved, solved: Solved) -> LinearModel:
    """Return the hyperplanes; features that no row has weigh nothing."""
    weights = np.zeros((len(problems), problems.X.shape[1] + 1))  # the bias last
    places = np.arange(problems.X.shape[1]) if problems.columns is None else problems.columns
    for part in solved.parts:
        machine: Any = part.certified.machine  # a Hyperplane, as one-versus-rest families return
        weights[part.numbers, places] = machine.weights
        weights[part.numbers, -1] = machine.bias
    rule, K, occupied = resolved.rule, problems.K, problems.occupied
    constant = rule.bias
    if len(occupied) < K:  # what is 1 below the mean of the others is never the largest
        own = np.vstack([weights, -weights]) if len(occupied) == 2 else weights
        constant = rule.bias or 1.0
        weights = np.tile(own.mean(axis=0), (K, 1))
        weights[:, -1] -= 1.0 / constant
        weights[occupied] = own
    return LinearModel(
        problems.labels,
        weights[:, :-1].copy(),
        weights[:, -1].copy(),
        constant,
        facts={"loss": rule.loss.value},
    )
