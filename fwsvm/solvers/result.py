"""What a training run returns: the machine, its certificate, and what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.scaling import Ranges
from fwsvm.status import Status


@dataclass(frozen=True)
class TracePoint:
    """One line of a trace: seconds on the clock, iteration, objective, gap, support vectors."""

    seconds: float
    iteration: int
    objective: float
    gap: float
    support_vectors: int


@dataclass(frozen=True)
class SampleFacts:
    """On how many rows a machine was trained, and of how many these are a sample (`fwsvm.solvers.auto.nested`)."""

    rows: int
    of: int


@dataclass(frozen=True, repr=False)
class Result:
    """A trained machine and everything measured on the way; the fields that results files have bear their names.

    Sums over subproblems, and ``relative_gap`` their maximum, where there are several.

    Attributes
    ----------
    model : KernelModel or LinearModel
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
        Warm-up, the algorithm alone, and recomputing the certificate.
    trace : tuple of TracePoint, empty where there are several subproblems
    solved : int
        Subproblems that were begun before a limit or an interrupt: the sums are over these.
    chosen : str
        The methods that ``auto`` chose; empty for any other.
    flags : tuple of str
        What a program must know besides the numbers (`fwsvm.promises`), found when accuracies were measured.
    support : ndarray of int, shape (s,), or None
        Numbers of the support vectors among the training rows, in the model's order; None for linear models and those
        of a sample.
    sample : SampleFacts or None
        Of which rows the machine is, where it is not of all: objective, gap, certificate and lambda are of the problem
        of these rows, ``train_seconds`` of all samples.
    """

    model: KernelModel | LinearModel
    status: Status
    message: str
    settings: Mapping[str, Any]
    subproblems: int
    objective: float
    gap: float
    relative_gap: float
    gap_kind: str
    certified: bool
    primal: float
    dual: float
    support_vectors: int
    iterations: int
    steps: int
    kernel_evaluations: int
    cache_hit_rate: float
    compile_seconds: float
    train_seconds: float
    check_seconds: float
    trace: tuple[TracePoint, ...] = ()
    gap_error: float = float("nan")
    solved: int = 1
    chosen: str = ""
    support: np.ndarray | None = None
    sample: SampleFacts | None = None
    flags: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return five lines: the run, how it ended, its certificate, what it took, and the model."""
        kind, settings = type(self.model).__name__, self.settings
        chosen = f" ({self.chosen})" if self.chosen else ""
        return (
            f"Result of {settings.get('method')}{chosen}, {settings.get('kernel')} kernel, C = {settings.get('C'):g}\n"
            f"  {self.status}: {self.message}\n"
            f"  objective {self.objective:.6g}, relative gap {self.relative_gap:.3g} ({self.gap_kind})\n"
            f"  {self.support_vectors:,} support vectors, {self.iterations:,} iterations, {self.train_seconds:.3g} s\n"
            f"  model: {kind} of {len(self.model.classes):,} classes and {self.model.features:,} features"
        )

    def with_rows(
        self,
        *,
        ranges: Ranges | None = None,
        labels: np.ndarray | None = None,
        feature_names: tuple[str, ...] = (),
        zero_based: bool | None = None,
    ) -> Self:
        """Return the result with a model that knows how its training rows were written; see `KernelModel`."""
        model = replace(
            self.model, ranges=ranges, labels=labels, feature_names=feature_names, zero_based=zero_based
        )
        return replace(self, model=model)
