"""``fwsvm train``: train a model on a data file or a named data set."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from fwsvm import exit_codes
from fwsvm.cli._lines import tell
from fwsvm.cli._options import (
    DATA,
    OUTPUT,
    PAPERS,
    PATH,
    LibsvmCommand,
    data_argument,
    grouped,
    probability_option,
    refuse_on_cluster,
    refuse_outputs,
    run_options,
    settings_from,
)
from fwsvm.errors import FwsvmError, UsageError


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
    from fwsvm._memory import RAN_OUT
    from fwsvm.cli import _training_text as text
    from fwsvm.cli._progress import Display
    from fwsvm.experiments import record
    from fwsvm.experiments.record import known_columns
    from fwsvm.experiments.run import alone, run_one
    from fwsvm.files.lock import held_back
    from fwsvm.problems import model_files
    from fwsvm.results.writing import json_values, write_trace

    if probability and model is None:
        raise UsageError("--probability is for the model; give --model FILE as well")
    settings, how = settings_from(options)
    ranges = model_files.range_path(model) if model else None
    refuse_outputs([data, test], ("--model", model), ("--model", ranges), ("--trace", trace))
    if scheduler is not None:
        refuse_on_cluster(how, probability=probability)
    how |= {"test": test, "probability": probability}
    known = known_columns(vars(settings)) | {"dataset": data, "parameters": None}
    try:
        with (
            Display() as display,
            text.open_problem(display, data, settings, scheduler, how) as (rows, settings, resolved),
        ):
            if trace is not None and len(rows.classes) > 2:
                tell(
                    [f"{trace} will have no points: a trace is of two classes, not of {len(rows.classes):,}"]
                )
            cell = alone(rows, settings)
            known |= known_columns(resolved.as_columns()) | rows.columns | cell.identity_columns
            result, row = run_one(rows, cell, display, resolved)
    except (FwsvmError, MemoryError) as error:
        if as_json:
            known["message"] = RAN_OUT if isinstance(error, MemoryError) else str(error)
            click.echo(json.dumps(json_values(record.row(**known, status="error"))))
        raise
    writers = (
        (model, partial(text.write_model, result=result, row=row)),
        (trace, partial(write_trace, points=result.trace)),
    )
    has_failed = probability and getattr(result.model, "sigmoids", None) is None
    with held_back():  # what was trained is not lost
        for path, write in writers:
            try:
                if path is not None:
                    write(path)
            except FwsvmError as error:
                tell([error])
                has_failed = True
        text.print_result(result, row)
        if as_json:
            click.echo(json.dumps(json_values(row)))
    if result.status == "interrupted":
        sys.exit(exit_codes.INTERRUPTED)
    sys.exit(exit_codes.FAILED if has_failed else 0)
