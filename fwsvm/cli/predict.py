"""``fwsvm predict``: labels for rows from a model file."""

import contextlib
import sys
from pathlib import Path

import click

from fwsvm.cli._lines import note, tell
from fwsvm.cli._options import (
    DATA,
    OUTPUT,
    PATH,
    RESOURCES,
    LibsvmCommand,
    data_argument,
    grouped,
    label_option,
    probability_option,
    quiet_option,
    refuse_outputs,
)
from fwsvm.errors import UsageError, counted, listed
from fwsvm.numerics.threads import usable_threads
from fwsvm.phases import Phase
from fwsvm.status import Status


@click.command(cls=LibsvmCommand)
@click.argument("model", type=PATH)
@data_argument
@click.argument("output", type=PATH, required=False)
@grouped("--decision", is_flag=True, group=OUTPUT, help="Write the decision values after each label.")
@probability_option("Write the classes' probabilities after the most probable label.")
@grouped(
    "--scheduler",
    metavar="ADDRESS",
    group=RESOURCES,
    help="Predict on a Dask cluster; DATA is a file or folder that all of its machines see.",
)
@label_option
@grouped(
    "--zero-based/--one-based",
    default=None,
    group=DATA,
    help="Features are counted from 0, or from 1 [default: as in MODEL's rows].",
)
@quiet_option
def predict(
    model: Path,
    data: str,
    output: Path | None,
    scheduler: str | None,
    *,
    decision: bool,
    probability: bool,
    label: str | None,
    zero_based: bool | None,
) -> None:
    """Predict the rows of DATA with MODEL.

    Labels go to OUTPUT or stdout, one a line. MODEL was written by fwsvm, LIBSVM or LIBLINEAR. DATA is a file in
    LIBSVM's format, with or without labels, or the name of a data set, whose test rows are then used. Where the rows
    have labels the accuracy is written to stderr. Decision values stand in the order of the pairs of classes (linear
    models of several classes: of the classes) and are positive for the first class of the pair.

    With --probability the output is that of svm-predict -b 1: a line with the classes, then for each row the most
    probable label and the probability of each class. MODEL must have been trained with --probability, or by svm-train
    -b 1.

    With --scheduler each worker of the cluster reads and predicts a part of the rows.

    Rows are taken unscaled, as in the file: a MODEL trained on scaled rows scales them by the same ranges. Any other
    MODEL scales nothing, even where the entry of a data set asks for it.
    """
    from fwsvm.cli._progress import Display
    from fwsvm.experiments import prediction
    from fwsvm.files.atomic import replacing
    from fwsvm.problems import model_files

    if decision and probability:
        raise UsageError("give --decision or --probability, not both")
    refuse_outputs([model, data], ("OUTPUT", output))
    wanted = prediction.DECISION if decision else prediction.PROBABILITY if probability else ""
    with Display() as display:
        display.enter(Phase.LOAD)
        if model.is_file() and not model_files.is_model_file(model) and model_files.is_model_file(data):
            raise UsageError(f"{data} is a model: the model comes first: fwsvm predict {data} {model}")
        machine = model_files.read(model)
        if scheduler is not None:
            found = prediction.predict_on_cluster(
                scheduler, machine, data, wanted=wanted, zero_based=zero_based
            )
        else:
            table = prediction.read_unseen(machine, data, zero_based=zero_based, label=label)
            found = prediction.predict(machine, table, usable_threads(), wanted=wanted, name=data)
    if machine.facts.get("gap_kind") == "none" and machine.facts.get("status") in (
        Status.TIME_LIMIT,
        Status.INTERRUPTED,
    ):
        tell(
            ["training of this model was cut short, and nothing is known of how far it is from the best one"]
        )
    if found.ignored:
        trained = counted(machine.features, "feature")
        tell([f"{counted(found.ignored, 'non-zero')} ignored: the model was trained on {trained}"])
    tell(found.notices)
    if found.unknown:
        tell([f"the model does not know the labels {listed(found.unknown)}; their rows count as wrong"])
    if found.correct is not None:
        right = found.correct
        rows = len(found.codes)
        note(f"Accuracy = {right / rows:.4%} ({right}/{rows})")
    if decision:
        note(f"decision values: {', '.join(prediction.decision_columns(machine))}")
    with replacing(output) if output else contextlib.nullcontext(sys.stdout) as stream:
        if probability:
            stream.write(f"labels {' '.join(machine.classes)}\n")
        for place, code in enumerate(found.codes.tolist()):
            values = "" if found.values is None else " " + " ".join(map(repr, found.values[place].tolist()))
            stream.write(f"{machine.classes[code]}{values}\n")
