"""Loading of the rows that ``fwsvm train`` and ``cv`` train on, and what both print of problem and result."""

import contextlib
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
        found, workers = remote.table.found, remote.table.cluster.workers
        origin = f"{remote.columns['dataset']} (on {workers:,} workers)"
        shape = f"{found.rows:,} x {found.features:,}"
        _print_problem(say, remote, resolved, origin, shape, found.classes, remote.table.ranges)
        yield Problem(remote, remote, settings, resolved)


def _load(
    say: Print, display: "Display", data: str, settings: "Settings", *, offline: bool, **how: Any
) -> "Problem":
    """Load a data set and print the problem."""
    import numpy as np

    from fwsvm import data as data_sets
    from fwsvm.cli._progress import fetch_options
    from fwsvm.data import catalogue, inputs
    from fwsvm.data.labels import encode
    from fwsvm.experiments.run import LocalRows
    from fwsvm.kernels.kernel import family
    from fwsvm.kernels.source import RowSource
    from fwsvm.problems.features import scaling_warning
    from fwsvm.problems.precomputed import is_given, refuse_other_rows
    from fwsvm.solvers.class_weight import of_classes
    from fwsvm.solvers.resolve import resolve

    display.enter(Phase.LOAD)
    loaded = data_sets.load(data, raw=True, options=fetch_options(display, offline=offline), **how)
    whole = catalogue.scaled(loaded)
    if how.get("test") is not None and is_given(settings.kernel):
        unseen = inputs.unseen_rows(how["test"], zero_based=True)
        refuse_other_rows(unseen.table.X, whole.train.features - 1)
    X, classes, rows = whole.train.X, whole.classes, whole.train.rows
    resolved = resolve(settings, X)
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
        codes = encode(whole.train.labels, classes)
        each = of_classes(settings.class_weight, codes, classes, np.ones(rows))
        penalties = penalties * each[codes]
        weights = [f"{name} {value:.4g}" for name, value in zip(classes, each, strict=True)]
        say("class weights", f"{_few(weights)} (times C)")
    if resolved.stop == "meb":
        own = RowSource(X).diagonal(resolved.kernel).values
        say("", f"Delta^2 = max K~_ii = {(own + 1.0 + 1.0 / penalties).max():.6g}")
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

    order = f"{classes[0]} is +1, {classes[1]} is -1"
    if len(classes) > 2:
        order = f"{len(classes)} ({_few(classes)}), {resolved.family.multiclass}"
    kernel = f"{resolved.kernel_name}: {family(resolved.kernel_name).formula}"
    if (gamma := resolved.as_columns()["gamma"]) is not None:
        rule = {"given": "as given", "default": "default"}.get(resolved.width_rule)
        kernel += f", gamma {gamma:.6g} ({rule or f'rule {resolved.width_rule}'})"
    stop = [f"{resolved.stop} {resolved.tolerance:g}"]
    if resolved.family.searches:
        stop.append(f"{resolved.search} search")
        stop += [f"protocol {label}"] if (label := resolved.protocol.label) != "default" else []
    if resolved.max_iterations is not None:
        stop.append(f"at most {resolved.max_iterations:,} iterations")
    if resolved.time_limit is not None:
        stop.append(f"at most {resolved.time_limit:g} s")
    scaling = "none (values as they are)"
    say("data", origin)
    say("rows", shape + (f", {data.test.rows:,} test rows" if data.test is not None else ""))
    for notice in data.notices:
        say("", notice)
    say("classes", order)
    say("scaling", f"{ranges.interval} by the ranges of the training rows" if ranges else scaling)
    say("method", f"{resolved.method.name} ({resolved.method.paper})")
    say("problem", resolved.family.problem)
    say("kernel", kernel)
    say("C", f"{resolved.C:g} (lambda = {resolved.lambda_:.4g})")
    say("stop", ", ".join(stop))


def _few(texts: Sequence[str]) -> str:
    return ", ".join(texts[:MOST_CLASSES]) + (", ..." if len(texts) > MOST_CLASSES else "")


def print_result(say: Print, result: "Result", row: dict[str, Any]) -> None:
    """Print status, objective, gap, model size, accuracies and times."""
    from fwsvm.promises import ending
    from fwsvm.results.schemas import method_label
    from fwsvm.status import Status

    how = ending(result.status, row["stop"], result.relative_gap)
    # any other end is told on stderr
    message = result.message if result.message == Status.CONVERGED.sentence else ""
    in_all = worst = ""
    if (total := result.subproblems) > 1:
        of = "" if result.solved == total else f"{result.solved:,} of "
        in_all, worst = f" (sum of {of}{total:,} subproblems)", " in the worst subproblem"
    kind = {
        "exact": "recomputed from scratch",
        "sampled": "of a sample of rows: proves nothing",
        "estimate": f"an estimate, standard error {result.gap_error:.2g}",
        "none": "not recomputed",
    }[result.gap_kind]
    proof = "certified: " if result.certified else ""
    proof += "of the sample's problem, " if result.sample is not None else ""
    accuracy = {"training": row.get("train_accuracy"), "test": row.get("test_accuracy")}
    said = [f"{name} {value:.2%}" for name, value in accuracy.items() if value is not None]
    if accuracy["training"] is None:
        said.insert(0, "training not computed; `fwsvm predict` computes it")
    seconds = {
        "load": row["load_seconds"],
        "compile": result.compile_seconds,
        "train": result.train_seconds,
        "check": result.check_seconds,
        "predict": row.get("predict_seconds"),
    }
    say("", "")
    say("status", f"{how}: {message}" if message else how)
    if result.chosen:
        say("solved by", method_label(row["method"], "", result.chosen))
    say("objective", f"{result.objective:.10g}{in_all}")
    say("gap", f"{result.gap:.3g}{in_all}, relative {result.relative_gap:.3g}{worst} ({proof}{kind})")
    say("support vectors", f"{result.support_vectors:,}")
    work = f"{result.steps:,} steps, {result.kernel_evaluations:,} kernel values"
    say("iterations", f"{result.iterations:,} ({work})")
    say("accuracy", ", ".join(said))
    say("seconds", ", ".join(f"{name} {value:.3g}" for name, value in seconds.items() if value is not None))
