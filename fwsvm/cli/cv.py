"""``fwsvm cv``: cross-validation of one setting."""

import json
import statistics
from typing import TYPE_CHECKING, Any

import click

from fwsvm import exit_codes
from fwsvm.cli._lines import echo, outcome, say
from fwsvm.cli._options import (
    DATA,
    LibsvmCommand,
    data_argument,
    grouped,
    refuse_on_cluster,
    run_options,
    settings_from,
)
from fwsvm.settings import with_options
from fwsvm.status import Status

if TYPE_CHECKING:
    from fwsvm.experiments.record import Row


@click.command(cls=LibsvmCommand)
@data_argument
@grouped(
    "--folds", type=click.IntRange(2), default=10, show_default=True, group=DATA, help="Number of folds."
)
@run_options
def cv(data: str, folds: int, *, as_json: bool, scheduler: str | None, **options: Any) -> None:
    """Cross-validate one setting on DATA.

    DATA is a file, or a name of `fwsvm data list`. The folds are stratified and drawn by --seed, so they are the same
    for every method and setting. Scaling uses the ranges of the training rows of each fold. The accuracy is over all
    rows held out.

    With --scheduler rows stay with the workers, as in `fwsvm train`; folds are drawn in each partition by itself.
    """
    from fwsvm.cli import _training_text as text
    from fwsvm.cli._progress import Display
    from fwsvm.experiments.cross_validation import cross_validate

    settings, how = settings_from(options)
    made: list[tuple[Row, int]] = []
    if scheduler is not None:
        refuse_on_cluster(how, scale=how["scale"])
    with (
        Display() as display,
        text.open_problem(display, data, settings, scheduler, how) as (rows, settings, _),
    ):
        display.count("folds", 0, folds)
        found = cross_validate(rows, settings, folds, display)
        try:
            for row, held_out in found:
                if row["status"] == Status.INTERRUPTED:
                    break
                made.append((row, held_out))
                display.count("folds", len(made), folds)
                display.begin()
                say(f"fold {len(made) - 1}", outcome(row))
                if message := row["message"].removeprefix(Status(row["status"]).sentence).strip():
                    say("", with_options(message))
        except KeyboardInterrupt:
            pass  # the folds that ended are reported below
    if len(made) < folds:
        echo(f"interrupted in fold {len(made)}; folds that count: {len(made)} of {folds}", err=True)
    if lost := sum(row["test_accuracy"] is None for row, _ in made):
        echo(f"{lost} of {folds} folds were not judged and do not count; their lines say why", err=True)
    if lost < len(made) or as_json:
        _print(made, folds, as_json=as_json)
    ended = exit_codes.FAILED if lost else 0
    click.get_current_context().exit(ended if len(made) == folds else exit_codes.INTERRUPTED)


def _print(made: "list[tuple[Row, int]]", folds: int, *, as_json: bool) -> None:
    """Print the accuracy over all rows held out, and its standard deviation over folds."""
    from fwsvm.results.writing import json_values

    judged = [(row["test_accuracy"], held_out) for row, held_out in made if row["test_accuracy"] is not None]
    rows = sum(held_out for _, held_out in judged)
    right = sum(round(accuracy * held_out) for accuracy, held_out in judged)
    deviation = statistics.stdev(accuracy for accuracy, _ in judged) if len(judged) > 1 else None
    if as_json:
        record = {
            "folds": folds,
            "folds_ended": len(made),
            "accuracy": right / rows if rows else None,
            "deviation": deviation,
            "rows": [json_values(row) for row, _ in made],
        }
        click.echo(json.dumps(record))
        return
    more = ", of one fold" if deviation is None else f", standard deviation over folds {100 * deviation:.2f}"
    click.echo(f"{'accuracy':<16}{right / rows:.2%} ({right:,} of {rows:,}){more}")
