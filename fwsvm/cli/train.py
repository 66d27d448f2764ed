"""``fwsvm train``: train a model on a data file or a named data set."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm import exit_codes
from fwsvm.cli._lines import tell
from fwsvm.cli._options import (
    PATH,
    LibsvmCommand,
    data_argument,
    grouped,
    probability_option,
    refuse_no_folder,
    refuse_on_cluster,
    refuse_overwriting,
    run_options,
    settings_from,
)
from fwsvm.errors import FwsvmError, UsageError
from fwsvm.settings import DATA, OUTPUT, PAPERS
from fwsvm.status import Status

if TYPE_CHECKING:
    from fwsvm.cli._progress import Display
    from fwsvm.cli._training_text import Problem
    from fwsvm.experiments.record import Row
    from fwsvm.solvers import Result


@click.command(cls=LibsvmCommand)
@data_argument
@run_options
@grouped("--test", type=PATH, group=DATA, help="File of test rows.")
@grouped("--model", type=PATH, group=OUTPUT, help="Write the model to this file.")
@grouped("--trace", type=PATH, group=PAPERS, help="Write time and gap of each step (two classes).")
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

    DATA is a file (LIBSVM or CSV), a name of `fwsvm data list`, or synthetic:KIND.

    \b
    fwsvm train --method swap data.svm
    fwsvm train -C 10 --test data.t --model data.model data.svm
    """  # noqa: D301
    from fwsvm.cli import _training_text as text
    from fwsvm.cli._progress import Display
    from fwsvm.files.lock import held_back
    from fwsvm.problems import model_files
    from fwsvm.results.writing import json_values, write_trace

    if probability and model is None:
        raise UsageError("--probability is for the model; give --model FILE as well")
    settings, how = settings_from(options)
    refuse_overwriting([data, test], [model, model_files.range_path(model) if model else None, trace])
    refuse_no_folder(model, "--model")
    refuse_no_folder(trace, "--trace")
    if scheduler is not None:
        refuse_on_cluster(how, probability=probability)
    say = text.printer(to_stderr=as_json)
    how |= {"test": test, "probability": probability}
    with Display() as display, text.open_problem(say, display, data, settings, scheduler, how) as problem:
        result, row = _run(problem, display, as_json=as_json)
    failures: list[FwsvmError] = []
    with held_back():  # what was trained is not lost
        for path, write in (
            (model, partial(text.write_model, result=result, row=row)),
            (trace, partial(write_trace, points=result.trace)),
        ):
            try:
                if path is not None:
                    write(path)
            except FwsvmError as error:  # said after the result: hours of training may stand behind it
                failures.append(error)
        text.print_result(say, result, row)
        if as_json:
            click.echo(json.dumps(json_values(row)))
    if trace is not None and result.subproblems > 1:
        tell([f"{trace} has no points: a trace is of one problem, and these are {result.subproblems:,}"])
    tell(failures[:-1])
    if failures:
        raise failures[-1]
    if result.status is Status.INTERRUPTED:
        sys.exit(exit_codes.INTERRUPTED)
    sys.exit(exit_codes.FAILED if probability and getattr(result.model, "sigmoids", None) is None else 0)


def _run(problem: "Problem", display: "Display", *, as_json: bool) -> "tuple[Result, Row]":
    """Return result and row; a run that an error ends has a row, too."""
    from fwsvm._memory import ran_out
    from fwsvm.experiments.record import known_columns
    from fwsvm.experiments.run import ALONE, alone, failure_record, run_one
    from fwsvm.results.writing import json_values

    rows, settings, resolved = problem
    cell = alone(rows, settings)
    try:
        return run_one(rows, cell, display, resolved)
    except (FwsvmError, MemoryError) as error:
        if as_json:
            known = ALONE | known_columns(resolved.as_columns()) | rows.columns
            message = ran_out(error) if isinstance(error, MemoryError) else str(error)
            failed = failure_record(cell, Status.ERROR, message, **known)
            click.echo(json.dumps(json_values(failed.row)))
        raise
