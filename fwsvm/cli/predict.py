"""``fwsvm predict``: labels for rows from a model file."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm.cli._lines import note, tell
from fwsvm.cli._options import (
    PATH,
    LibsvmCommand,
    data_argument,
    grouped,
    label_option,
    probability_option,
    quiet_option,
    refuse_no_folder,
    refuse_overwriting,
)
from fwsvm.errors import UsageError, counted, listed
from fwsvm.numerics.threads import usable_threads
from fwsvm.phases import Phase
from fwsvm.settings import DATA, OUTPUT, RESOURCES

if TYPE_CHECKING:
    from fwsvm.data.dataset import LabelledRows
    from fwsvm.experiments.prediction import Prediction
    from fwsvm.problems.machines import KernelModel, LinearModel


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
    from fwsvm.data import inputs
    from fwsvm.experiments import prediction
    from fwsvm.files.atomic import replacing
    from fwsvm.problems import model_files
    from fwsvm.problems.machines import takes_kernel_values

    if decision and probability:
        raise UsageError("give --decision or --probability, not both")
    refuse_overwriting([model, data], [output])
    refuse_no_folder(output, "OUTPUT")
    with Display() as display:
        display.enter(Phase.LOAD)
        if model.is_file() and not model_files.is_model_file(model) and model_files.is_model_file(data):
            order = f"the model comes first: fwsvm predict {data} {model}"
            raise UsageError(f"{data} is a model and {model} is none; {order}")
        machine = model_files.read(model)
        given = takes_kernel_values(machine)  # index 0 is the number of the row
        expected = machine.features if zero_based is None and machine.zero_based else None
        zero_based = given or (machine.zero_based if zero_based is None else zero_based)
        if scheduler is not None:
            predicted = prediction.predict_on_cluster(
                scheduler, machine, data, decision=decision, probability=probability, zero_based=zero_based
            )
        else:
            table, notices = _load(data, machine, model, expected, label, zero_based=zero_based)
            pieces = ((part, notices) for part in inputs.parts_of(table))
            predicted = prediction.predict_pieces(
                machine, pieces, data, usable_threads(), probability=probability, decision=decision
            )
    _tell(predicted, machine.features)
    if decision:
        note(f"decision values: {', '.join(prediction.decision_columns(machine))}")
    with replacing(output) if output else contextlib.nullcontext(sys.stdout) as stream:
        stream.writelines(lines_of(predicted, machine.classes, decision=decision))


def _tell(predicted: "Prediction", features: int) -> None:
    """Print what was read, what was ignored and how many labels are right on stderr."""
    if predicted.ignored:
        why = f"the model was trained on {counted(features, 'feature')}"
        tell([f"{counted(predicted.ignored, 'non-zero')} ignored: {why}"])
    tell(predicted.notices)
    if predicted.unknown:
        tell([f"the model does not know the labels {listed(predicted.unknown)}; their rows count as wrong"])
    if predicted.correct is not None:
        note(f"Accuracy = {predicted.accuracy:.4%} ({predicted.correct}/{len(predicted.labels)})")


def _load(
    data: str,
    machine: "KernelModel | LinearModel",
    model: Path,
    expected: int | None,
    label: str | None,
    *,
    zero_based: bool | None,
) -> "tuple[LabelledRows, tuple[str, ...]]":
    """Return the rows to predict, and notices on them."""
    from scipy.sparse import issparse

    from fwsvm.data import inputs

    names = machine.feature_names
    rows = inputs.unseen_rows(
        data, zero_based=zero_based, label=label, feature_names=names, features=expected
    )
    columns = rows.table.features
    if not issparse(rows.table.X) and columns != machine.features:
        raise UsageError(
            f"{data} has {counted(columns, 'column')}, but {model} was trained on {machine.features} features"
        )
    if rows.scaling == "none" or machine.ranges is not None:
        return rows.table, rows.notices
    said = (
        f"{model} scales nothing, so it gets the rows of {data} as they are in the file, though `fwsvm train {data}` "
        f"scales them to {rows.scaling}"
    )
    return rows.table, (*rows.notices, said)


def lines_of(predicted: "Prediction", classes: tuple[str, ...], *, decision: bool) -> Iterator[str]:
    """Yield the lines of the output, as svm-predict writes them."""
    values = predicted.decision if decision else predicted.probabilities
    if values is None:
        yield from (f"{label}\n" for label in predicted.labels)
        return
    if not decision:
        yield f"labels {' '.join(classes)}\n"
    for label, row in zip(predicted.labels, values.tolist(), strict=True):
        yield f"{label} {' '.join(map(repr, row))}\n"
