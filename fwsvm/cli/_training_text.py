"""Output of ``fwsvm train`` for a person: the problem and the result."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fwsvm.cli._lines import echo, is_quiet
from fwsvm.problems.precomputed import is_given

if TYPE_CHECKING:
    from fwsvm.data.dataset import Dataset
    from fwsvm.experiments.cluster_training import RemoteRows
    from fwsvm.solvers.class_weight import ClassWeight
    from fwsvm.solvers.resolve import Resolved
    from fwsvm.solvers.result import Result

Print = Callable[[str, str], None]
LABEL = 16  # columns of a line's label
MIB = 1 << 20
MOST_CLASSES = 100  # that are named, in their order; the model has all


def printer(*, to_stderr: bool) -> Print:
    """Return a function that prints a labelled line to stdout, or to stderr if stdout carries JSON."""
    if is_quiet():
        return lambda _label, _said: None
    return lambda label, said: echo(f"{label:<{LABEL}}{said}".rstrip(), LABEL, err=to_stderr)


def print_problem(
    say: Print, data: "Dataset", resolved: "Resolved", class_weight: "ClassWeight", *, is_file: bool
) -> None:
    """Print data set, method, problem, kernel and limits before training, and a warning where rows need scaling."""
    from fwsvm.kernels.kernel import family
    from fwsvm.problems.features import scaling_warning

    kind = "file" if is_file else f"data set, source {data.source}"
    say("data", f"{data.name} ({kind})")
    test = f", {data.test.rows:,} test rows" if data.test is not None else ""
    say("rows", f"{data.train.rows:,} x {_columns(data, resolved)}{test}")
    for notice in data.notices:
        say("", notice)
    say("classes", _classes(data.classes, resolved.family.multiclass))
    say("scaling", _scaling(data.scaling))
    _print_method(say, resolved)
    if class_weight is not None:
        say("class weights", _class_weights(class_weight, data))
    say("stop", _stop(resolved))
    if resolved.stop == "meb":
        say("", f"Delta^2 = max K~_ii = {_largest_diagonal(resolved, class_weight, data):.6g}")
    say("memory", _memory(resolved, data))
    if warning := scaling_warning(data.train.X, family(resolved.kernel_name)):
        echo(f"fwsvm: {warning}", 2, err=True)


def print_remote_problem(say: Print, data: "RemoteRows", resolved: "Resolved") -> None:
    """Print cluster, data set, method, problem, kernel and limits before training on a cluster."""
    found, workers = data.table.found, data.table.cluster.workers
    say("data", f"{data.columns['dataset']} (on {workers:,} workers, {len(found.digests):,} partitions)")
    share = found.stored / max(1, found.rows * found.features)
    test = f", {data.test.rows:,} test rows" if data.test is not None else ""
    say("rows", f"{found.rows:,} x {found.features:,}, {share:.2%} non-zero{test}")
    for notice in data.notices:
        say("", notice)
    say("classes", _classes(found.classes, resolved.family.multiclass))
    ranges = data.table.ranges
    say("scaling", _scaling("none" if ranges is None else ranges.interval))
    _print_method(say, resolved)
    say("stop", _stop(resolved))


def _scaling(how: str) -> str:
    return f"{how} by the ranges of the training rows" if how != "none" else "none (values as they are)"


def print_traffic(say: Print, data: "RemoteRows") -> None:
    """Print what went between this machine and the cluster."""
    sent, received = data.table.cluster.traffic
    say("traffic", f"{sent / MIB:,.1f} MiB sent, {received / MIB:,.1f} MiB received")


def _print_method(say: Print, resolved: "Resolved") -> None:
    say("method", f"{resolved.method.name} ({resolved.method.paper})")
    say("problem", resolved.family.problem)
    say("kernel", _kernel(resolved))
    say("C", f"{resolved.C:g} (lambda = {resolved.lambda_:.4g})")


def _columns(data: "Dataset", resolved: "Resolved") -> str:
    """Return the number of columns and how full they are; kernel values have the row's number before them."""
    if is_given(resolved.kernel_name):
        return f"{data.train.features - 1:,} kernel values"
    X = data.train.X
    if not hasattr(X, "nnz"):
        return f"{data.train.features:,}, dense"
    return f"{data.train.features:,}, {X.nnz / max(1, X.shape[0] * X.shape[1]):.2%} non-zero"


def _classes(classes: tuple[str, ...], multiclass: str) -> str:
    if len(classes) == 2:
        return f"{classes[0]} is +1, {classes[1]} is -1"
    shown = ", ".join(classes[:MOST_CLASSES]) + (", ..." if len(classes) > MOST_CLASSES else "")
    return f"{len(classes)} ({shown}), {multiclass}"


def _class_weights(given: "str | Mapping[str, float]", data: "Dataset") -> str:
    from fwsvm.data.labels import encode
    from fwsvm.solvers.class_weight import of_classes

    each = of_classes(given, encode(data.train.labels, data.classes), data.classes)
    shown = [f"{name} {value:.4g}" for name, value in zip(data.classes, each, strict=True)]
    return ", ".join(shown[:MOST_CLASSES]) + (", ..." if len(shown) > MOST_CLASSES else "") + " (times C)"


def _kernel(resolved: "Resolved") -> str:
    from fwsvm.kernels.kernel import family

    said = f"{resolved.kernel_name}: {family(resolved.kernel_name).formula}"
    columns = resolved.as_columns()
    if columns["gamma"] is not None:
        said += f", gamma {columns['gamma']:.6g}"
        rule = {"given": "as given", "default": "default"}.get(
            resolved.width_rule, f"rule {resolved.width_rule}"
        )
        said += f" ({rule})"
    return said


def _memory(resolved: "Resolved", data: "Dataset") -> str:
    """Return the memory that a run will take besides its data."""
    from fwsvm.data.labels import encode
    from fwsvm.solvers.memory import training

    rows, codes = data.train.rows, encode(data.train.labels, data.classes)
    needed = training(data.train.X, codes, len(data.classes), resolved)
    beside = f"about {max(0.1, needed / MIB):,.1f} MiB beside the data"
    if not resolved.family.searches:
        return beside
    columns = min(resolved.cache_mib, max(1, math.ceil(rows * rows * 8 / MIB)))
    return f"{beside}, and up to {columns:,} MiB for kernel columns"


def _stop(resolved: "Resolved") -> str:
    said = f"{resolved.stop} {resolved.tolerance:g}"
    if resolved.family.searches:
        said += f", {resolved.search} search"
        if resolved.protocol.label != "default":
            said += f", protocol {resolved.protocol.label}"
    if resolved.max_iterations is not None:
        said += f", at most {resolved.max_iterations:,} iterations"
    if resolved.time_limit is not None:
        said += f", at most {resolved.time_limit:g} s"
    return said


def _largest_diagonal(resolved: "Resolved", class_weight: "ClassWeight", data: "Dataset") -> float:
    """Return max K~_ii, in parts of which the meb rule states its goal; of several classes that of all pairs."""
    from fwsvm.data.labels import encode
    from fwsvm.kernels.source import RowSource
    from fwsvm.solvers.class_weight import of_classes

    X, kernel, penalties = data.train.X, resolved.kernel, np.asarray(resolved.C)
    own = RowSource(X).diagonal(kernel).values
    if class_weight is not None:
        codes = encode(data.train.labels, data.classes)
        penalties = penalties * of_classes(class_weight, codes, data.classes)[codes]
    return float((own + 1.0 + 1.0 / penalties).max())


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
    total, solved = result.subproblems, result.solved
    parts = (
        f" (sum of {'' if solved == total else f'{solved:,} of '}{total:,} subproblems)" if total > 1 else ""
    )
    say("objective", f"{result.objective:.10g}{parts}")
    say("gap", f"{result.gap:.3g}, relative {result.relative_gap:.3g} ({_gap_kind(result)})")
    say("support vectors", f"{result.support_vectors:,}")
    work = f"{result.steps:,} steps, {_millions(result.kernel_evaluations)} kernel values"
    say("iterations", f"{result.iterations:,} ({work})")
    said = [f"{name} {row[f'{kind}_accuracy']:.2%}" for name, kind in (("training", "train"), ("test", "test"))
            if row.get(f"{kind}_accuracy") is not None]  # fmt: skip
    if row.get("train_accuracy") is None:
        why = (
            "interrupted" if result.status is Status.INTERRUPTED
            else "the model was trained on a sample" if result.sample is not None
            else "the status says why" if TRAIN_UNMEASURED in result.flags
            else "too many rows and support vectors"
        )  # fmt: skip
        said.insert(0, f"training not computed: {why}; `fwsvm predict` computes it")
    say("accuracy", ", ".join(said))
    seconds = [("load", row["load_seconds"]), ("compile", result.compile_seconds), ("train", result.train_seconds),
               ("check", result.check_seconds), ("predict", row.get("predict_seconds"))]  # fmt: skip
    say("seconds", ", ".join(f"{name} {value:.3g}" for name, value in seconds if value is not None))


def _gap_kind(result: "Result") -> str:
    kind = {
        "exact": "recomputed from scratch",
        "sampled": "of a sample of rows: proves nothing",
        "estimate": f"an estimate, standard error {result.gap_error:.2g}",
        "none": "as tracked, not recomputed"
        if math.isnan(result.gap_error)
        else f"not known; the objective is an estimate, standard error {result.gap_error:.2g}",
    }[result.gap_kind]
    if result.sample is not None:
        kind = f"of the sample's problem, {kind}"
    return ("certified: " if result.certified else "") + kind


def _millions(count: int) -> str:
    millions = count / 1e6
    return (
        f"{count:,}"
        if millions < 1
        else f"{millions:.3g} million"
        if millions < 1000
        else f"{millions:,.0f} million"
    )
