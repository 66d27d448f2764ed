"""Training on a cluster: rows on workers and settings in, a certified model out."""

from dataclasses import replace

import numpy as np

from fwsvm.distributed.table import ClusterSource
from fwsvm.errors import UsageError
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.kernels.widths import mean_squared_distance
from fwsvm.numerics.threads import blas_on
from fwsvm.phases import Phase, enter
from fwsvm.problems.precomputed import is_given
from fwsvm.settings import Settings
from fwsvm.solvers.fit import refuse_penalties, weights_of_classes
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved, width_rule_of
from fwsvm.solvers.resolve import resolve as resolve_rows
from fwsvm.solvers.result import Result, result_of
from fwsvm.solvers.subproblems import Subproblems, solve_all

METHOD = "chunking"  # the one whose rows may be on workers
CHOSEN = "distributed"  # how results call that


def for_cluster(settings: Settings) -> Settings:
    """Return settings with the method that trains on a cluster; `UsageError` where another one is asked for."""
    if settings.method == "auto" and not settings.parameters:
        return replace(settings, method=METHOD)
    if settings.method != METHOD:
        raise UsageError(f"--scheduler trains by {METHOD}, not by {settings.method}; leave out --method")
    return settings


def fit(source: ClusterSource, settings: Settings, resolved: Resolved, watch: Watch | None = None) -> Result:
    """Train a model on the rows of a cluster.

    Parameters
    ----------
    source : ClusterSource
    settings : Settings, of `for_cluster`
    resolved : Resolved, of `resolve`
    watch : callable, optional
        Told of the progress a few times a second.

    Raises
    ------
    FwsvmError
        What workers raise (`fwsvm.distributed.cluster`); as `fwsvm.solvers.fit.fit`.
    """
    enter(Phase.CHECK)
    codes = source.codes
    classes = source.table.classes
    weights = weights_of_classes(settings.class_weight, codes, classes, np.ones(len(codes)))[codes]
    refuse_penalties(resolved.C, weights)
    problems = Subproblems(source, source, None, codes, classes, weights, "one-vs-one")
    with blas_on(1):
        enter(Phase.TRAIN)
        result = result_of(problems, resolved, solve_all(problems, resolved, watch))
    support = None if result.support is None else source.which[result.support]
    return replace(result, chosen=CHOSEN, support=support)


def resolve(source: ClusterSource, settings: Settings) -> Resolved:
    """Return settings with nothing left open, for rows on a cluster; see `fwsvm.solvers.resolve.resolve`.

    Raises
    ------
    UsageError
        A kernel, or a rule for its default width, that needs all rows at once.
    """
    if is_given(settings.kernel):
        raise UsageError("a precomputed kernel needs all rows in one place; leave out --scheduler")
    has_width = settings.gamma is not None or settings.sigma2 is not None
    resolved = resolve_rows(settings if has_width else replace(settings, gamma=1.0), source)
    if has_width or not hasattr(resolved.kernel, "gamma"):
        return resolved
    rule, width = kernel_family(resolved.kernel_name).width(width_rule_of(settings))
    if width.spread is not mean_squared_distance:
        raise UsageError(
            f"the default width of the {resolved.kernel_name} kernel (rule {rule}) needs all rows in one place; give "
            "--gamma"
        )
    kernel = resolved.kernel._replace(gamma=width.gamma(source.spread))
    return replace(resolved, kernel=kernel, width_rule=rule)
