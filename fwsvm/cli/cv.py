"""``fwsvm cv``: cross-validation of one setting."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm.cli import _names
from fwsvm.cli._display import Display
from fwsvm.cli._libsvm_words import libsvm_command
from fwsvm.cli._lines import echo
from fwsvm.cli._progress import loading
from fwsvm.cli._settings import scale_option, settings_from, training_options

if TYPE_CHECKING:
    from fwsvm.experiments.cross_validation import Fold


@libsvm_command("cv")
@click.argument("data", shell_complete=_names.datasets)
@click.option(
    "--folds", type=click.IntRange(2), default=10, show_default=True, help="Parts to hold out in turn."
)
@training_options
@scale_option
@click.option(
    "--json", "as_json", is_flag=True, help="Write accuracy and the folds' rows as one JSON object."
)
@click.option("--zero-based", is_flag=True, help="Files count their features from 0.")
@click.option("--offline", is_flag=True, help="Ask no server for data.")
def command(
    data: str,
    folds: int,
    scale: str | None,
    *,
    as_json: bool,
    zero_based: bool,
    offline: bool,
    **options: Any,
) -> None:
    """Cross-validate one setting on DATA, a file or a name of `fwsvm data list`.

    The folds are stratified and drawn by --seed, so they are the same for every method and setting. Where
    rows are scaled, then by the ranges of the rows that a fold trains on.
    """
    from fwsvm import data as data_sets
    from fwsvm.cli import _training_text as text
    from fwsvm.cli._runs import TrainingDisplay
    from fwsvm.data import catalogue
    from fwsvm.experiments.cross_validation import cross_validate
    from fwsvm.solvers.resolve import resolve
    from fwsvm.status import Status

    settings = settings_from(options)
    say = text.printer(to_stderr=as_json)
    made: list[Fold] = []
    with Display() as display:
        loaded = data_sets.load(
            data, zero_based=zero_based, scale=scale, raw=True, options=loading(display, offline=offline)
        )
        whole = catalogue.scaled(loaded)
        resolved = resolve(settings, whole.train.X)
        text.print_problem(say, whole, resolved, settings.class_weight, is_file=Path(data).is_file())
        del whole, resolved
        display.count("folds", 0, folds)
        for fold in cross_validate(loaded, settings, folds, TrainingDisplay(display)):
            if fold.result.status is Status.INTERRUPTED:
                echo(f"interrupted in fold {len(made)}; {len(made)} of {folds} folds count", 2, err=True)
                break
            made.append(fold)
            display.count("folds", len(made), folds)
            display.begin()
            say(f"fold {len(made) - 1}", _line(fold))
            if fold.result.message != fold.result.status.sentence:
                say("", fold.result.message.removeprefix(fold.result.status.sentence).strip())
    if made:
        _tell(made, folds, as_json=as_json)
    click.get_current_context().exit(0 if len(made) == folds else 130)


def _line(fold: "Fold") -> str:
    row = fold.row
    judged = f"{100 * row['test_accuracy']:.2f}% of {fold.held_out:,} rows"
    how = (
        f"{row['support_vectors']:,} SV, {row['train_seconds']:.3g} s, relative gap {row['relative_gap']:.1e}"
    )
    return f"{judged}, {how}, {row['status']}"


def _tell(made: "list[Fold]", folds: int, *, as_json: bool) -> None:
    """Print the accuracy over all rows held out, and its standard deviation over folds."""
    from statistics import stdev

    from fwsvm.results.writing import json_values

    right, judged = sum(fold.right for fold in made), sum(fold.held_out for fold in made)
    spread = stdev(fold.row["test_accuracy"] for fold in made) if len(made) > 1 else float("nan")
    if as_json:
        rows = [json_values(fold.row) for fold in made]
        click.echo(
            json.dumps({"folds": folds, "accuracy": right / judged, "deviation": spread, "rows": rows})
        )
        return
    click.echo(f"accuracy        {100 * right / judged:.2f}% ({right:,} of {judged:,}), "
               f"standard deviation over folds {100 * spread:.2f}")  # fmt: skip
