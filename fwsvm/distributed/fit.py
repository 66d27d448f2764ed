"""Training on a cluster: the address of a scheduler, data and settings in, a certified machine out."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from fwsvm._memory import require
from fwsvm._occurring import Occurring
from fwsvm.distributed import block
from fwsvm.distributed.look import Pair
from fwsvm.distributed.machine_parts import sent
from fwsvm.distributed.pair_rows import PairRows
from fwsvm.distributed.run import certify, start
from fwsvm.distributed.sums import extreme, spread
from fwsvm.distributed.table import RemoteTable
from fwsvm.errors import UsageError
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.kernels.widths import mean_squared_distance
from fwsvm.numerics.threads import blas_on
from fwsvm.phases import Phase, enter
from fwsvm.problems.binary import Binary, Expansion
from fwsvm.problems.precomputed import is_given
from fwsvm.settings import Settings
from fwsvm.solvers.certify import Certified
from fwsvm.solvers.class_weight import of_classes
from fwsvm.solvers.fit import refuse_penalties
from fwsvm.solvers.gathering import Trained, gathered
from fwsvm.solvers.loop import Clock, Limits, Watch
from fwsvm.solvers.memory import PART
from fwsvm.solvers.resolve import Resolved, width_rule_of
from fwsvm.solvers.resolve import resolve as resolve_rows
from fwsvm.solvers.result import Result
from fwsvm.solvers.scheduler import Work, carry_out, shared_out
from fwsvm.solvers.subproblems import Part, Solved, Subproblems
from fwsvm.solvers.warm_up import ROWS, compile_runs

METHOD = "chunking"  # the one whose rows may be on workers
CHOSEN = "distributed"  # how results call that


def for_cluster(settings: Settings) -> Settings:
    """Return settings with the method that trains on a cluster; `UsageError` where another one is asked for."""
    if settings.method == "auto" and not settings.parameters:
        return replace(settings, method=METHOD)
    if settings.method != METHOD:
        raise UsageError(f"--scheduler trains by {METHOD}, not by {settings.method}; leave out --method")
    return settings


def fit(table: RemoteTable, settings: Settings, resolved: Resolved, watch: Watch | None = None) -> Result:
    """Train a machine on the rows of a cluster.

    Parameters
    ----------
    table : RemoteTable
    settings : Settings, of `for_cluster`
    resolved : Resolved, of `resolve`
    watch : callable, optional
        Told of the progress a few times a second.

    Raises
    ------
    FwsvmError
        What workers raise (`fwsvm.distributed.cluster`); as `fwsvm.solvers.fit.fit`.
    """
    found = table.found
    K = len(found.classes)
    _require_pairs(K, resolved)
    weights = _class_weights(settings, table)
    refuse_penalties(resolved.C, weights, found.counts.sum(axis=0))
    enter(Phase.CHECK)
    same = table.same
    most = table.ask(block.widest, same(resolved.kernel), same(resolved.kernel_name), same(K))
    with blas_on(1):
        _, some = table.of_numbers(np.arange(min(found.rows, ROWS)))
        compile_seconds = compile_runs(resolved, some)
        enter(Phase.TRAIN)
        remote = replace(resolved, family=replace(resolved.family, start=start, certify=certify))
        pairs = Pairs(
            table, tuple(combinations(range(K), 2)), 1.0 / (resolved.C * weights), np.max(most, axis=0)
        )
        solved = _solved(pairs, remote, watch)
    numbers = np.unique(np.concatenate([_machine(part).rows for part in solved.parts]))
    codes, X = table.of_numbers(numbers)
    parts = [_among(part, numbers) for part in solved.parts]
    problems = Subproblems(codes, K, "one-vs-one")
    whole = Trained(
        X, Occurring(X, None), codes, found.classes, resolved, problems, replace(solved, parts=parts), compile_seconds
    )  # fmt: skip
    result = gathered(whole)
    support = None if result.support is None else numbers[result.support]
    return replace(result, chosen=CHOSEN, support=support).with_rows(ranges=table.ranges)


def resolve(table: RemoteTable, settings: Settings) -> Resolved:
    """Return settings with nothing left open, for the rows of a table; see `fwsvm.solvers.resolve.resolve`.

    Raises
    ------
    UsageError
        A kernel, or a rule for its default width, that needs all rows at once.
    """
    if is_given(settings.kernel):
        raise UsageError("a precomputed kernel needs all rows in one place; leave out --scheduler")
    found = table.found
    has_width = settings.gamma is not None or settings.sigma2 is not None
    known = settings if has_width else replace(settings, gamma=1.0)
    resolved = resolve_rows(known, np.array([[extreme(found.sums)]]), rows=found.rows)
    if has_width or not hasattr(resolved.kernel, "gamma"):
        return resolved
    rule, width = kernel_family(resolved.kernel_name).width(width_rule_of(settings))
    if width.spread is not mean_squared_distance:
        raise UsageError(
            f"the default width of the {resolved.kernel_name} kernel (rule {rule}) needs all rows in one place; give "
            "--gamma"
        )
    gamma = width.of(spread(found.sums, found.rows))
    return replace(resolved, kernel=resolved.kernel._replace(gamma=gamma), width_rule=rule)


def accuracy(table: RemoteTable, result: Result) -> float:
    """Return the fraction of the rows that a machine is right on."""
    enter(Phase.PREDICT)
    right: list[int] = table.ask(block.right, table.same(sent(table.cluster, result.model)))
    return sum(right) / table.found.rows


def _require_pairs(classes: int, resolved: Resolved) -> None:
    """Refuse, with `UsageError`, so many classes that their pairs do not fit in this machine's memory."""
    what = f"{resolved.method.name} on the pairs of {classes:,} classes"
    require(classes * (classes - 1) // 2 * PART, what, "take fewer classes")


def _class_weights(settings: Settings, table: RemoteTable) -> np.ndarray:
    """Return the factor of C of each class."""
    found = table.found
    if settings.class_weight is None:
        return np.ones(len(found.classes))
    counts = found.counts.sum(axis=0).astype(np.float64)
    return of_classes(settings.class_weight, np.arange(len(counts)), found.classes, counts)


@dataclass(frozen=True)
class Pairs:
    """The pairs of classes of a table, and 1 / C and the largest k(x, x) of each class."""

    table: RemoteTable
    classes: tuple[tuple[int, int], ...]
    ridges: np.ndarray
    most: np.ndarray

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def sizes(self) -> np.ndarray:
        """The rows of each pair."""
        counts = self.table.found.counts.sum(axis=0)
        return np.array([counts[i] + counts[j] for i, j in self.classes])

    def rows(self, number: int, kernel: Any) -> PairRows:
        """Return the rows of a pair."""
        i, j = self.classes[number]
        most, ridges = self.most, self.ridges
        widest = 1.0 + float(max(most[i] + ridges[i], most[j] + ridges[j]))
        return PairRows(self.table, Pair(i, j, (float(ridges[i]), float(ridges[j]))), kernel, widest)


@dataclass(kw_only=True)
class RemoteWork(Work):
    """Problems whose rows are on workers of a cluster."""

    problems: Pairs

    def problem(self, number: int, clock: Clock) -> tuple[Binary, np.ndarray]:  # noqa: ARG002
        """Return a problem without y and penalties of all rows, and no numbers."""
        rows = self.problems.rows(number, self.resolved.kernel)
        each = np.broadcast_to(1.0, rows.count)
        return Binary(rows, each, each, (self.resolved.seed, number)), np.zeros(0, np.int64)


def _solved(pairs: Pairs, resolved: Resolved, watch: Watch | None) -> Solved:
    """Solve the pairs of classes; while one is solved here, the workers look at the rows of another."""
    resolved, workers = shared_out(resolved, len(pairs))
    limits = Limits(resolved.time_limit, resolved.max_iterations)
    numbers = range(len(pairs))
    work = RemoteWork(problems=pairs, resolved=resolved, limits=limits, watch=watch, numbers=numbers)
    return carry_out(work, workers)


def _machine(part: Part) -> Expansion:
    machine = part.machine
    assert isinstance(machine, Expansion)  # noqa: S101  (what `fwsvm.distributed.run.certify` returns)
    return machine


def _among(part: Part, numbers: np.ndarray) -> Part:
    """Return a part whose rows are these numbers of the table."""
    machine = _machine(part)
    end = Certified(part.outcome, machine._replace(rows=np.searchsorted(numbers, machine.rows)))
    return replace(part, rows=np.arange(len(numbers)), end=end)
