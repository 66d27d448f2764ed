"""``fwsvm train``: train a model on a data file or a named data set."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm import exit_codes
from fwsvm.cli._help import LibsvmCommand, grouped
from fwsvm.cli._lines import tell
from fwsvm.cli._options import (
    PATH,
    data_argument,
    probability_option,
    refuse_on_cluster,
    run_options,
    settings_from,
)
from fwsvm.cli._outputs import refuse_no_folder, refuse_overwriting, write_model
from fwsvm.errors import FwsvmError, ModelError, UsageError, WriteError
from fwsvm.settings import DATA, OUTPUT
from fwsvm.status import Status

if TYPE_CHECKING:
    from fwsvm.cli._progress import Display
    from fwsvm.cli._training_text import Problem
    from fwsvm.experiments.record import Row
    from fwsvm.experiments.run import LocalRows
    from fwsvm.settings import Settings
    from fwsvm.solvers import Result


@click.command(cls=LibsvmCommand)
@data_argument
@run_options
@grouped("--test", type=PATH, group=DATA, help="File of test rows.")
@grouped("--model", type=PATH, group=OUTPUT, help="Write the model to this file.")
@grouped(
    "--trace",
    type=PATH,
    group=OUTPUT,
    help="Write time and gap of each step (two classes).",
)
@probability_option("Let the model predict probabilities.")
def train(
    data: str,
    test: Path | None,
    model: Path | None,
    trace: Path | None,
    *,
    probability: bool,
    as_json: bool,
    scheduler: str | None,
    **options: Any,
) -> None:
    """Train a model on DATA.

    DATA is a file in LIBSVM's format or a CSV file, a name of `fwsvm data list`, or synthetic:KIND. With --scheduler it
    is a file or folder that all machines of the cluster see.

    \b
    fwsvm train --method swap data.svm
    fwsvm train -C 10 --test data.t --model data.model data.svm
    """  # noqa: D301
    from fwsvm.cli import _training_text as text
    from fwsvm.cli._progress import Display
    from fwsvm.experiments.probability import refuse_probability
    from fwsvm.experiments.run import LocalRows
    from fwsvm.files.lock import held_back
    from fwsvm.problems import model_files
    from fwsvm.results.writing import json_values

    if probability and model is None:
        raise UsageError("--probability is for the model; give --model FILE as well")
    settings, how = settings_from(options)
    how["test"] = test
    refuse_overwriting([data, test], [model, model_files.range_path(model) if model else None, trace])
    for output, option in ((model, "--model"), (trace, "--trace")):
        refuse_no_folder(output, option)
    say = text.printer(to_stderr=as_json)
    if scheduler is not None:
        refuse_on_cluster(how, probability=probability)
    with Display() as display, text.open_problem(say, display, data, settings, scheduler, how) as problem:
        rows, code = problem.rows, 0
        local = rows if probability and isinstance(rows, LocalRows) else None
        if local is not None:
            refuse_probability(local.data.name, local.codes, local.data.classes, settings)
        result, row = _run(problem, display, as_json=as_json)
        if local is not None and result.status is not Status.INTERRUPTED:
            result, code = _with_probabilities(local, problem.settings, result, display)
            row |= {"message": result.message, "status": str(result.status)}
    with held_back():  # what was trained is not lost
        failures = _write(model, trace, result, row)
        text.print_result(say, result, row)
        if as_json:
            click.echo(json.dumps(json_values(row)))
    tell(failures[:-1])
    if failures:
        raise failures[-1]
    sys.exit(code or (exit_codes.INTERRUPTED if result.status is Status.INTERRUPTED else 0))


def _run(problem: "Problem", display: "Display", *, as_json: bool) -> "tuple[Result, Row]":
    """Return result and row; a run that an error ends has a row, too."""
    from fwsvm._memory import ran_out
    from fwsvm.experiments.run import error_row, run_one
    from fwsvm.results.writing import json_values

    _, rows, settings, resolved = problem
    try:
        return run_one(rows, settings, display, resolved)
    except (FwsvmError, MemoryError) as error:
        if as_json:
            message = ran_out(error) if isinstance(error, MemoryError) else str(error)
            click.echo(json.dumps(json_values(error_row(rows, settings, resolved, message))))
        raise


def _with_probabilities(
    rows: "LocalRows", settings: "Settings", result: "Result", display: "Display"
) -> "tuple[Result, int]":
    """Return the result with probabilities, and the exit code if they cannot be had."""
    from fwsvm.experiments.probability import with_probabilities
    from fwsvm.experiments.run import UNMEASURED, unmeasured

    def count(done: int, folds: int) -> None:
        display.count("folds", done, folds)
        display.begin()

    X = rows.data.train.X
    try:
        return with_probabilities(X, rows.codes, result, settings, watch=display, count=count), 0
    except UNMEASURED as error:
        return unmeasured(result, "Probabilities", error), exit_codes.FAILED


def _write(model: Path | None, trace: Path | None, result: "Result", row: "Row") -> list[FwsvmError]:
    """Write model and trace; return the errors, printed after the result: hours of training may stand behind it."""
    failures: list[FwsvmError] = []
    try:
        if model is not None:
            write_model(model, result, row)
    except ModelError as error:
        failures.append(error)
    try:
        if trace is not None:
            from fwsvm.experiments.store import write_trace  # late: it imports pandas

            write_trace(trace, result.trace)
    except WriteError as error:
        failures.append(error)
    if trace is not None and result.subproblems > 1:
        tell([f"{trace} has no points: a trace is of one problem, and these are {result.subproblems:,}"])
    return failures
