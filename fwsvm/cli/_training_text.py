"""Loading of the rows to train on, and what ``fwsvm train``, ``cv`` and ``easy`` print and write of them."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fwsvm.cli._lines import known_of, say, tell
from fwsvm.errors import ModelError, UsageError, counted, listed
from fwsvm.phases import Phase
from fwsvm.settings import with_options

if TYPE_CHECKING:
    from fwsvm.cli._progress import Display
    from fwsvm.experiments.record import Row
    from fwsvm.experiments.run import TrainingRows
    from fwsvm.scaling import Ranges
    from fwsvm.solvers import Settings
    from fwsvm.solvers.resolve import Resolved
    from fwsvm.solvers.result import Result

MAX_NAMED_CLASSES = 100  # in their order; the model has all


#: Rows to train on, here or on a cluster, their settings, and what became of these.
Problem: TypeAlias = tuple["TrainingRows", "Settings", "Resolved"]


@contextlib.contextmanager
def open_problem(
    display: "Display",
    data: str,
    settings: "Settings",
    scheduler: str | None,
    how: dict[str, Any],
) -> Iterator[Problem]:
    """Load the rows here, or have a cluster read them within the block, and print the problem."""
    display.enter(Phase.LOAD)
    if scheduler is None:
        yield _load(data, settings, **how)
        return
    from fwsvm.distributed.fit import for_cluster, resolve
    from fwsvm.experiments.cluster_training import opened

    settings = for_cluster(settings)
    with opened(scheduler, data, how.get("test"), zero_based=how["zero_based"], scale=how["scale"]) as remote:
        resolved = resolve(remote.source, settings)
        table = remote.source.table
        _print_problem(
            remote,
            resolved,
            table.ranges,
            origin=f"{data} (on {counted(len(table.cluster.client.nthreads()), 'worker')})",
            shape=f"{len(table.codes):,} x {table.features:,}",
        )
        yield remote, settings, resolved


def _load(name: str, settings: "Settings", *, probability: bool = False, **how: Any) -> Problem:
    """Load a data set and print the problem."""
    import numpy as np

    from fwsvm import data as data_sets
    from fwsvm.data import inputs
    from fwsvm.experiments.run import LocalRows
    from fwsvm.kernels.kernel import family
    from fwsvm.kernels.source import RowSource
    from fwsvm.problems import model_files
    from fwsvm.problems.machines import scaling_warning
    from fwsvm.problems.precomputed import is_given, refuse_other_rows
    from fwsvm.solvers.fit import weights_of_classes
    from fwsvm.solvers.resolve import resolve

    if model_files.is_model_file(name):
        raise UsageError(f"{name} is a model, not rows to train on: fwsvm predict {name} DATA uses it")
    rows = LocalRows(data_sets.load(name, raw=True, **how), probability=probability)
    data = rows.data
    X = data.train.X
    classes = data.classes
    resolved, (m, n) = resolve(settings, X), X.shape
    filled = f"{X.nnz / max(1, m * n):.2%} non-zero" if hasattr(X, "nnz") else "dense"
    shape = f"{m:,} x {n:,}, {filled}"
    if is_given(settings.kernel):
        shape = f"{m:,} x {n - 1:,} kernel values"
        if how.get("test") is not None:
            unseen = inputs.read_rows(how["test"], zero_based=True, unseen=True)
            refuse_other_rows(unseen.X, n - 1, n - 1)
    origin = "file" if Path(name).is_file() else f"data set, source {data.source}"
    _print_problem(rows, resolved, data.train.ranges, origin=f"{data.name} ({origin})", shape=shape)
    weights = weights_of_classes(settings.class_weight, rows.codes, classes, np.ones(m))
    if settings.class_weight is not None:
        each = [f"{name}: {weight:.4g}" for name, weight in zip(classes, weights, strict=True)]
        say("class weights", listed(each, most=MAX_NAMED_CLASSES))
    if resolved.stop == "meb":
        own = RowSource(X).diagonal(resolved.kernel).values + 1.0 + 1.0 / (resolved.C * weights)[rows.codes]
        say("", f"Delta^2 = max K~_ii = {own.max():.6g}")
    if warning := scaling_warning(X, family(resolved.kernel_name)):
        tell([warning])
    return rows, settings, resolved


def _print_problem(rows: "TrainingRows", resolved: "Resolved", ranges: "Ranges | None", **facts: str) -> None:
    """Print a problem; ``facts`` are the origin of the rows, and their shape."""
    from fwsvm.kernels.kernel import family

    searches = bool(resolved.family.searches)
    classes = rows.classes
    known = {
        **resolved.as_columns(),
        **vars(resolved),
        **facts,
        "formula": family(resolved.kernel_name).formula,
        "classes": classes,
        "count": len(classes),
        "names": listed(classes, most=MAX_NAMED_CLASSES),
        "ranges": ranges,
        "tests": rows.test_count,
    }
    width = (
        ", gamma {gamma:.6g} (rule {width_rule})" if resolved.width_rule else ", gamma {gamma:.6g} (as given)"
    )
    stops = {
        "{stop} {tolerance:g}": True,
        "{search} search": searches,
        "protocol {protocol.label}": searches and resolved.protocol.label != "default",
        "at most {max_iterations:,} iterations": resolved.max_iterations,
        "at most {time_limit:.3g} s": resolved.time_limit,
    }
    lines = {
        "data": "{origin}",
        "rows": "{shape}, {tests:,} test rows" if rows.test_count else "{shape}",
        "classes": "{classes[0]} is +1, {classes[1]} is -1"
        if len(classes) == 2
        else "{count} ({names}), {family.multiclass}",
        "scaling": "{ranges.interval} by the ranges of the training rows"
        if ranges
        else "none (values as they are)",
        "method": "{method.name} ({method.paper})",
        "problem": "{family.problem}",
        "kernel": "{kernel_name}: {formula}" + ("" if known["gamma"] is None else width),
        "C": "{C:g} (lambda = {lambda_:.4g})",
        "stop": ", ".join(text for text, holds in stops.items() if holds),
    }
    for label, text in lines.items():
        say(label, text.format(**known))
    for notice in rows.notices:
        say("note", notice)


#: What is printed of a result, by the columns of its row and by what `print_result` adds.
RESULT = {
    "objective": "{objective:.10g}{in_all}",
    "gap": "{gap:.3g}{in_all}, relative {relative_gap:.3g}{worst} ({proof})",
    "support vectors": "{support_vectors:,}",
    "iterations": "{iterations:,} (steps {steps:,}, kernel values {kernel_evaluations:,})",
    "accuracy": "{accuracies}",
    "seconds": "{seconds}",
}
MEASURED = {
    "accuracies": {"train_accuracy": "training {:.2%}", "test_accuracy": "test {:.2%}"},
    "seconds": {
        f"{name}_seconds": f"{name} {{:.3g}}" for name in ("load", "compile", "train", "check", "predict")
    },
}
GAP_KINDS = {
    "exact": "recomputed from scratch",
    "sampled": "of a sample of rows: proves nothing",
    "estimate": "an estimate, standard error {gap_error:.2g}",
    "none": "not recomputed",
}


def print_result(result: "Result", row: dict[str, Any]) -> None:
    """Print status, objective, gap, model size, accuracies and times; any end but the best is told on stderr."""
    from fwsvm.results.schemas import method_label
    from fwsvm.status import Status, ending

    how = ending(result.status, row["stop"], result.relative_gap)
    known = {**row, **vars(result), "in_all": "", "worst": ""}
    if (total := result.subproblems) > 1:
        of = "" if result.solved == total else f"{result.solved:,} of "
        known |= {"in_all": f" (sum of {of}{total:,} subproblems)", "worst": " in the worst subproblem"}
    known["proof"] = "certified: " if result.certified else ""
    known["proof"] += "of the sample's problem, " if result.sample is not None else ""
    known["proof"] += GAP_KINDS[result.gap_kind].format(**known)
    known |= {name: known_of(known, forms) for name, forms in MEASURED.items()}
    is_best = result.message == Status.CONVERGED.sentence
    say("", "")
    say("status", f"{how}: {result.message}" if is_best else how)
    if result.chosen:
        say("solved by", method_label(row["method"], "", result.chosen))
    # gaps of some subproblems bound nothing
    lines = RESULT if result.solved == total else RESULT | {"gap": "unknown"}
    for label, text in lines.items():
        say(label, text.format(**known))
    if not is_best:
        tell([with_options(result.message)])


def write_model(path: Path, result: "Result", row: "Row") -> None:
    """Write the model with columns of its row, else to the folder for temporary files: hours may stand behind it.

    Raises
    ------
    ModelError
        The file cannot be written; the sentence says where the model is instead.
    """
    from fwsvm.experiments.record import with_facts
    from fwsvm.problems import model_files

    model = with_facts(result, row)
    try:
        model_files.write(path, model)
    except ModelError as error:
        try:
            spare = Path(tempfile.mkdtemp(prefix="fwsvm-")) / path.name
            model_files.write(spare, model)
        except (ModelError, OSError):
            raise error from None
        raise ModelError(f"{error}; the model is in {spare} instead") from None
