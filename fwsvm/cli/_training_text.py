"""Loading of the rows that ``fwsvm train`` and ``cv`` train on, and what both print of problem and result."""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fwsvm.cli._lines import echo, is_quiet, tell
from fwsvm.phases import Phase

if TYPE_CHECKING:
    from fwsvm.cli._progress import Display
    from fwsvm.data.dataset import Dataset
    from fwsvm.experiments.cluster_training import RemoteRows
    from fwsvm.experiments.run import TrainingRows
    from fwsvm.scaling import Ranges
    from fwsvm.solvers import Settings
    from fwsvm.solvers.resolve import Resolved
    from fwsvm.solvers.result import Result

Print = Callable[[str, str], None]
LABEL = 16  # columns of a line's label
MIB = 1 << 20
MOST_CLASSES = 100  # that are named, in their order; the model has all


class Problem(NamedTuple):
    """Data as in its files and rows to train on (the same on a cluster), settings, and what became of them."""

    data: "Dataset | RemoteRows"
    rows: "TrainingRows"
    settings: "Settings"
    resolved: "Resolved"


def printer(*, to_stderr: bool) -> Print:
    """Return a function that prints a labelled line to stdout, or to stderr if stdout carries JSON."""
    if is_quiet():
        return lambda _label, _said: None
    return lambda label, said: echo(f"{label:<{LABEL}}{said}".rstrip(), LABEL, err=to_stderr)


@contextlib.contextmanager
def open_problem(
    say: Print,
    display: "Display",
    data: str,
    settings: "Settings",
    scheduler: str | None,
    how: dict[str, Any],
) -> "Iterator[Problem]":
    """Load the rows here, or have a cluster read them within the block, and print the problem."""
    if scheduler is None:
        yield _load(say, display, data, settings, **how)
        return
    from fwsvm.distributed.fit import for_cluster, resolve
    from fwsvm.experiments.cluster_training import opened

    settings = for_cluster(settings)
    display.enter(Phase.LOAD)
    base, scale = how["zero_based"], how["scale"]
    with opened(scheduler, data, how.get("test"), zero_based=base, scale=scale) as remote:
        resolved = resolve(remote.table, settings)
        found, cluster = remote.table.found, remote.table.cluster
        name = remote.columns["dataset"]
        origin = f"{name} (on {cluster.workers:,} workers, {len(found.digests):,} partitions)"
        share = found.stored / max(1, found.rows * found.features)
        shape = f"{found.rows:,} x {found.features:,}, {share:.2%} non-zero"
        _print_problem(say, remote, resolved, origin, shape, found.classes, remote.table.ranges)
        yield Problem(remote, remote, settings, resolved)
        sent, received = cluster.traffic
        say("traffic", f"{sent / MIB:,.1f} MiB sent, {received / MIB:,.1f} MiB received")


def _load(
    say: Print, display: "Display", data: str, settings: "Settings", *, offline: bool, **how: Any
) -> "Problem":
    """Load a data set and print the problem."""
    from fwsvm import data as data_sets
    from fwsvm.cli._progress import loading
    from fwsvm.data import catalogue, inputs
    from fwsvm.data.labels import encode
    from fwsvm.experiments.run import LocalRows
    from fwsvm.kernels.kernel import family
    from fwsvm.kernels.source import RowSource
    from fwsvm.problems.features import scaling_warning
    from fwsvm.problems.precomputed import is_given, refuse_other_rows
    from fwsvm.solvers.class_weight import of_classes
    from fwsvm.solvers.memory import training
    from fwsvm.solvers.resolve import resolve

    loaded = data_sets.load(data, raw=True, options=loading(display, offline=offline), **how)
    whole = catalogue.scaled(loaded)
    if how.get("test") is not None and is_given(settings.kernel):
        unseen = inputs.unseen_rows(how["test"], zero_based=True)
        refuse_other_rows(unseen.table.X, whole.train.features - 1)
    X, classes, rows = whole.train.X, whole.classes, whole.train.rows
    resolved, codes = resolve(settings, X), encode(whole.train.labels, classes)
    if is_given(resolved.kernel_name):
        columns = f"{whole.train.features - 1:,} kernel values"
    else:
        filled = f"{X.nnz / max(1, rows * X.shape[1]):.2%} non-zero" if hasattr(X, "nnz") else "dense"
        columns = f"{whole.train.features:,}, {filled}"
    origin = "file" if Path(data).is_file() else f"data set, source {whole.source}"
    _print_problem(
        say, whole, resolved, f"{whole.name} ({origin})", f"{rows:,} x {columns}", classes, whole.train.ranges
    )
    penalties: Any = resolved.C
    if settings.class_weight is not None:
        each = of_classes(settings.class_weight, codes, classes)
        penalties = penalties * each[codes]
        weights = [f"{name} {value:.4g}" for name, value in zip(classes, each, strict=True)]
        say("class weights", f"{_few(weights)} (times C)")
    if resolved.stop == "meb":
        own = RowSource(X).diagonal(resolved.kernel).values
        say("", f"Delta^2 = max K~_ii = {(own + 1.0 + 1.0 / penalties).max():.6g}")
    memory = f"about {max(0.1, training(X, codes, len(classes), resolved) / MIB):,.1f} MiB beside the data"
    if resolved.family.searches:
        most = min(resolved.cache_mib, max(1, math.ceil(rows * rows * 8 / MIB)))
        memory += f", and up to {most:,} MiB for kernel columns"
    say("memory", memory)
    if warning := scaling_warning(X, family(resolved.kernel_name)):
        tell([warning])
    return Problem(loaded, LocalRows(whole), settings, resolved)


def _print_problem(
    say: Print,
    data: "Dataset | RemoteRows",
    resolved: "Resolved",
    origin: str,
    shape: str,
    classes: Sequence[str],
    ranges: "Ranges | None",
) -> None:
    from fwsvm.kernels.kernel import family

    by_ranges = "none (values as they are)"
    if ranges is not None:
        by_ranges = f"{ranges.interval} by the ranges of the training rows"
    order = f"{classes[0]} is +1, {classes[1]} is -1"
    if len(classes) > 2:
        order = f"{len(classes)} ({_few(classes)}), {resolved.family.multiclass}"
    kernel, gamma = (
        f"{resolved.kernel_name}: {family(resolved.kernel_name).formula}",
        resolved.as_columns()["gamma"],
    )
    if gamma is not None:
        rule = {"given": "as given", "default": "default"}.get(resolved.width_rule)
        kernel += f", gamma {gamma:.6g} ({rule or f'rule {resolved.width_rule}'})"
    stop = [f"{resolved.stop} {resolved.tolerance:g}"]
    if resolved.family.searches:
        stop.append(f"{resolved.search} search")
        protocol = resolved.protocol.label
        stop += [f"protocol {protocol}"] if protocol != "default" else []
    if resolved.max_iterations is not None:
        stop.append(f"at most {resolved.max_iterations:,} iterations")
    if resolved.time_limit is not None:
        stop.append(f"at most {resolved.time_limit:g} s")
    say("data", origin)
    say("rows", shape + (f", {data.test.rows:,} test rows" if data.test is not None else ""))
    for notice in data.notices:
        say("", notice)
    say("classes", order)
    say("scaling", by_ranges)
    say("method", f"{resolved.method.name} ({resolved.method.paper})")
    say("problem", resolved.family.problem)
    say("kernel", kernel)
    say("C", f"{resolved.C:g} (lambda = {resolved.lambda_:.4g})")
    say("stop", ", ".join(stop))


def _few(texts: Sequence[str]) -> str:
    return ", ".join(texts[:MOST_CLASSES]) + (", ..." if len(texts) > MOST_CLASSES else "")


def print_result(say: Print, result: "Result", row: dict[str, Any]) -> None:
    """Print status, objective, gap, model size, accuracies and times."""
    from fwsvm.promises import TRAIN_UNMEASURED, ending
    from fwsvm.results.schemas import method_label
    from fwsvm.status import Status

    say("", "")
    how = ending(result.status, row["stop"], result.relative_gap)
    message = result.message.removeprefix(f"{how[0].upper()}{how[1:]}.").strip()
    say("status", f"{how}: {message}" if message else how)
    if result.chosen:
        say("solved by", method_label(row["method"], "", result.chosen))
    total, solved, in_all, worst = result.subproblems, result.solved, "", ""
    if total > 1:
        of = "" if solved == total else f"{solved:,} of "
        in_all, worst = f" (sum of {of}{total:,} subproblems)", " in the worst subproblem"
    say("objective", f"{result.objective:.10g}{in_all}")
    say("gap", f"{result.gap:.3g}{in_all}, relative {result.relative_gap:.3g}{worst} ({_gap_kind(result)})")
    say("support vectors", f"{result.support_vectors:,}")
    values = result.kernel_evaluations
    computed = f"{values:,}" if values < 1e6 else f"{values / 1e6:,.3g} million"
    say("iterations", f"{result.iterations:,} ({result.steps:,} steps, {computed} kernel values)")
    known = {"training": row.get("train_accuracy"), "test": row.get("test_accuracy")}
    said = [f"{name} {value:.2%}" for name, value in known.items() if value is not None]
    if known["training"] is None:
        why = "too many rows and support vectors"
        if result.status is Status.INTERRUPTED:
            why = "interrupted"
        elif result.sample is not None:
            why = "the model was trained on a sample"
        elif TRAIN_UNMEASURED in result.flags:
            why = "the status says why"
        said.insert(0, f"training not computed: {why}; `fwsvm predict` computes it")
    say("accuracy", ", ".join(said))
    seconds = {
        "load": row["load_seconds"],
        "compile": result.compile_seconds,
        "train": result.train_seconds,
        "check": result.check_seconds,
        "predict": row.get("predict_seconds"),
    }
    say("seconds", ", ".join(f"{name} {value:.3g}" for name, value in seconds.items() if value is not None))


def _gap_kind(result: "Result") -> str:
    error = result.gap_error
    unknown = f"not known; the objective is an estimate, standard error {error:.2g}"
    kind = {
        "exact": "recomputed from scratch",
        "sampled": "of a sample of rows: proves nothing",
        "estimate": f"an estimate, standard error {error:.2g}",
        "none": "as tracked, not recomputed" if math.isnan(error) else unknown,
    }[result.gap_kind]
    of = "of the sample's problem, " if result.sample is not None else ""
    return f"{'certified: ' if result.certified else ''}{of}{kind}"
