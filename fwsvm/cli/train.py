"""``fwsvm train``: train a model on a data file or a named data set."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm import exit_codes
from fwsvm.cli import _names, _types
from fwsvm.cli._files import refuse_no_folder, refuse_overwriting, write_model
from fwsvm.cli._groups import grouped
from fwsvm.cli._libsvm_words import libsvm_command, probability_option
from fwsvm.cli._lines import tell
from fwsvm.cli._options import (
    json_option,
    label_option,
    offline_option,
    quiet_option,
    refuse_on_cluster,
    scale_option,
    scheduler_option,
    settings_from,
    training_options,
    zero_based_option,
)
from fwsvm.cli._streams import end_where_unread
from fwsvm.errors import FwsvmError, ModelError, UsageError, WriteError
from fwsvm.phases import Phase
from fwsvm.settings import DATA, OUTPUT

if TYPE_CHECKING:
    from fwsvm.cli._progress import Display
    from fwsvm.cli._training_text import Print
    from fwsvm.data.dataset import Dataset
    from fwsvm.experiments.record import Row
    from fwsvm.solvers import Result, Settings
    from fwsvm.solvers.resolve import Resolved


@libsvm_command("train")
@click.argument("data", shell_complete=_names.datasets)
@training_options
@scale_option
@grouped("--test", type=_types.ANY, group=DATA, help="File of test rows.")
@label_option
@zero_based_option
@offline_option
@grouped("--model", type=_types.ANY, group=OUTPUT, help="Write the model to this file.")
@grouped(
    "--trace",
    type=_types.ANY,
    group=OUTPUT,
    help="Write time and gap of each step to this file (two classes only).",
)
@json_option
@quiet_option
@probability_option("Let the model predict probabilities.")
@scheduler_option
def command(
    data: str, scale: str | None, test: Path | None, model: Path | None, trace: Path | None,
    *, scheduler: str | None, probability: bool, as_json: bool, label: str | None, zero_based: bool | None,
    offline: bool, **options: Any,
) -> None:  # fmt: skip
    """Train a model on DATA.

    DATA is a file in LIBSVM's format or a CSV file, a name of `fwsvm data list`, or synthetic:KIND. With --scheduler it
    is a file or folder that all machines of the cluster see.

    \b
    fwsvm train --method swap data.svm
    fwsvm train -C 10 --test data.t --model data.model data.svm
    """  # noqa: D301
    from fwsvm.cli import _training_text as text
    from fwsvm.files.lock import held_back
    from fwsvm.problems import model_files
    from fwsvm.problems.precomputed import is_given, refuse_scaling
    from fwsvm.results.writing import json_values
    from fwsvm.status import Status

    if probability and model is None:
        raise UsageError("--probability is for the model; give --model FILE as well")
    settings = settings_from(options)
    refuse_scaling(settings.kernel, scale)
    zero_based = zero_based or is_given(settings.kernel) or None  # index 0 is the number of the row
    refuse_overwriting([data, test], [model, model_files.range_path(model) if model else None, trace])
    for output, option in ((model, "--model"), (trace, "--trace")):
        if output is not None:
            refuse_no_folder(output, option)
    if model is None and trace is None:
        end_where_unread()
    say = text.printer(to_stderr=as_json)
    lacking = 0
    if scheduler is not None:
        refuse_on_cluster({"--probability": probability, "--offline": offline, "--label": label})
        result, row = _on_cluster(say, scheduler, data, test, settings, scale, zero_based=zero_based)
    else:
        result, row, lacking = _here(
            say, data, settings, scale, test, model,
            probability=probability, as_json=as_json, label=label, zero_based=zero_based, offline=offline,
        )  # fmt: skip
    with held_back():  # what was trained is not lost
        failures = _written(model, trace, result, row)
        text.print_result(say, result, row)
        if as_json:
            click.echo(json.dumps(json_values(row)))
    if result.message != Status.CONVERGED.sentence:
        tell([result.message])
    tell(failures[:-1])
    if failures:
        raise failures[-1]
    sys.exit(lacking or (exit_codes.INTERRUPTED if result.status is Status.INTERRUPTED else 0))


def _here(
    say: "Print", data: str, settings: "Settings", scale: str | None, test: Path | None, model: Path | None,
    *, probability: bool, as_json: bool, label: str | None, zero_based: bool | None, offline: bool,
) -> "tuple[Result, Row, int]":  # fmt: skip
    """Train in this process; return result, row, and the exit code if probabilities that were asked for are lacking."""
    from fwsvm import data as data_sets
    from fwsvm.cli import _training_text as text
    from fwsvm.cli._progress import Display, loading
    from fwsvm.data import inputs
    from fwsvm.data.labels import encode
    from fwsvm.experiments import probability as sigmoids
    from fwsvm.experiments.run import UNMEASURED, unmeasured
    from fwsvm.problems.precomputed import is_given, refuse_other_rows
    from fwsvm.solvers.resolve import resolve
    from fwsvm.status import Status

    with Display() as display:
        loaded = data_sets.load(
            data,
            test=test,
            zero_based=zero_based,
            label=label,
            scale=scale,
            options=loading(display, offline=offline),
        )
        if test is not None and is_given(settings.kernel):
            refuse_other_rows(inputs.unseen_rows(test, zero_based=True).table.X, loaded.train.features - 1)
        resolved = resolve(settings, loaded.train.X)
        text.print_problem(say, loaded, resolved, settings.class_weight, is_file=Path(data).is_file())
        _refuse_too_wide(model, resolved, loaded)
        if probability:
            codes = encode(loaded.train.labels, loaded.classes)
            sigmoids.refuse_probability(loaded.name, codes, loaded.classes, settings)
        result, row = _trained(display, loaded, settings, resolved, as_json=as_json)
        if probability and result.status is not Status.INTERRUPTED:
            try:
                more = sigmoids.with_probabilities(
                    loaded.train.X, codes, result, settings, watch=display, count=partial(_count, display)
                )
            except UNMEASURED as error:
                result = unmeasured(result, "Probabilities", error)
                return result, row | {"message": result.message}, exit_codes.FAILED
            return more, row | {"message": more.message, "status": str(more.status)}, 0
    return result, row, 0


def _on_cluster(
    say: "Print", address: str, data: str, test: Path | None, settings: "Settings", scale: str | None,
    *, zero_based: bool | None,
) -> "tuple[Result, Row]":  # fmt: skip
    """Train on a Dask cluster; return result and row."""
    from fwsvm.cli import _training_text as text
    from fwsvm.cli._progress import Display
    from fwsvm.distributed.fit import for_cluster, resolve
    from fwsvm.experiments import cluster_training
    from fwsvm.experiments.run import run_one

    settings = for_cluster(settings)
    with Display() as display:
        display.enter(Phase.LOAD)
        with cluster_training.opened(address, data, test, zero_based=zero_based, scale=scale) as remote:
            resolved = resolve(remote.table, settings)
            text.print_remote_problem(say, remote, resolved)
            found = run_one(remote, settings, display, resolved)
            text.print_traffic(say, remote)
            return found


def _written(model: Path | None, trace: Path | None, result: "Result", row: "Row") -> list[FwsvmError]:
    """Write model and trace; return the errors, told of after the result: hours of training may stand behind it."""
    from fwsvm.experiments.store import write_trace

    failures: list[FwsvmError] = []
    if model is not None:
        try:
            write_model(model, result, row)
        except ModelError as error:
            failures.append(error)
    if trace is not None:
        try:
            write_trace(trace, result.trace)
        except WriteError as error:
            failures.append(error)
        else:
            if (count := result.subproblems) > 1:
                why = f"a trace is of one problem, and more than two classes make several ({count:,} here)"
                click.echo(f"fwsvm: {trace} has no points: {why}; train on rows of two classes", err=True)
    return failures


def _refuse_too_wide(model: Path | None, resolved: "Resolved", loaded: "Dataset") -> None:
    """Refuse a linear model whose file no disk holds, before it is trained."""
    if model is None or resolved.family.multiclass != "one-vs-rest":
        return
    from fwsvm.files.atomic import require_space
    from fwsvm.problems.model_files import least_linear_bytes

    features, K = loaded.train.X.shape[1], len(loaded.classes)
    require_space(
        model,
        least_linear_bytes(features, K),
        f"the file of a linear model of {features:,} features and {K} classes",
        "number the features without gaps, or use swap-2o with --kernel linear, whose model has rows",
    )


def _count(display: "Display", done: int, folds: int) -> None:
    """Show the folds for probabilities that ended, and begin with the next."""
    display.count("folds", done, folds)
    display.begin()


def _trained(
    display: "Display", data: "Dataset", settings: "Settings", resolved: "Resolved", *, as_json: bool
) -> "tuple[Result, Row]":
    """Train with progress; a run that an error ends has a row, too."""
    from fwsvm._memory import ran_out
    from fwsvm.experiments.run import LocalRows, error_row, run_one
    from fwsvm.results.writing import json_values

    rows = LocalRows(data)
    try:
        return run_one(rows, settings, display, resolved)
    except (FwsvmError, MemoryError) as error:
        if as_json:
            message = ran_out(error) if isinstance(error, MemoryError) else str(error)
            click.echo(json.dumps(json_values(error_row(rows, settings, resolved, message))))
        raise
