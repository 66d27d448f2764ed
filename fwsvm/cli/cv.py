"""``fwsvm cv``: cross-validation of one setting."""

import itertools
import json
import math
import statistics
from typing import TYPE_CHECKING, Any

import click

from fwsvm import exit_codes
from fwsvm.cli._help import LibsvmCommand, grouped
from fwsvm.cli._lines import echo
from fwsvm.cli._options import NearestChoice, data_argument, refuse_on_cluster, run_options, settings_from
from fwsvm.errors import FwsvmError
from fwsvm.promises import ending
from fwsvm.settings import DATA, OUTPUT, with_options
from fwsvm.status import Status

if TYPE_CHECKING:
    from fwsvm.experiments.cross_validation import Fold

#: Names of `fwsvm.experiments.cross_validation`, which is imported only by a command that runs.
SCORES = ("accuracy", "balanced-accuracy", "f1", "f1-macro", "auc")


@click.command(cls=LibsvmCommand)
@data_argument
@grouped(
    "--folds", type=click.IntRange(2), default=10, show_default=True, group=DATA, help="Number of folds."
)
@grouped(
    "--score",
    "scores",
    multiple=True,
    type=NearestChoice(SCORES),
    group=OUTPUT,
    help="Measure on each fold; may be repeated; f1 (of the class +1) and auc are for two classes [default: accuracy].",
)
@run_options
def cv(
    data: str, folds: int, scores: tuple[str, ...], *, as_json: bool, scheduler: str | None, **options: Any
) -> None:
    """Cross-validate one setting on DATA.

    DATA is a file, or a name of `fwsvm data list`. The folds are stratified and drawn by --seed, so they are the same
    for every method and setting. Scaling uses the ranges of the training rows of each fold. The accuracy is over all
    rows held out; other scores are means over the folds, because decision values of different folds come from different
    models.

    With --scheduler rows stay with the workers, as in `fwsvm train`; folds are drawn in each partition by itself.
    """
    from fwsvm.cli import _training_text as text
    from fwsvm.cli._progress import Display
    from fwsvm.experiments.cross_validation import cross_validate

    settings, how = settings_from(options)
    chosen = tuple(dict.fromkeys(scores)) or ("accuracy",)
    say = text.printer(to_stderr=as_json)
    made: list[Fold] = []
    others = tuple(name for name in chosen if name != "accuracy")
    if scheduler is not None:
        refuse_on_cluster(how, scale=how["scale"], score=others)
    with Display() as display, text.open_problem(say, display, data, settings, scheduler, how) as problem:
        found = cross_validate(problem.data, problem.settings, folds, display, chosen=others)
        display.count("folds", 0, folds)
        try:
            for fold in itertools.takewhile(lambda f: f.result.status is not Status.INTERRUPTED, found):
                made.append(fold)
                display.count("folds", len(made), folds)
                display.begin()
                say(f"fold {len(made) - 1}", _line(fold))
                if message := fold.result.message.removeprefix(fold.result.status.sentence).strip():
                    say("", with_options(message))
        except KeyboardInterrupt:
            pass  # the folds that ended are reported below
        except (FwsvmError, MemoryError):
            if as_json and made:
                _print(made, folds, chosen, as_json=True)
            raise
        if len(made) < folds:
            echo(f"interrupted in fold {len(made)}; folds that count: {len(made)} of {folds}", 2, err=True)
    if lost := sum(fold.row["test_accuracy"] is None for fold in made):
        echo(f"{lost} of {folds} folds were not judged and do not count; their lines say why", 2, err=True)
    if lost < len(made) or as_json:
        _print(made, folds, chosen, as_json=as_json)
    ended = exit_codes.FAILED if lost else 0
    click.get_current_context().exit(ended if len(made) == folds else exit_codes.INTERRUPTED)


def _line(fold: "Fold") -> str:
    row, found = fold.row, fold.row["test_accuracy"]
    judged = "not judged" if found is None else f"{100 * found:.2f}% of {fold.held_out:,} rows"
    took = f"{row['support_vectors']:,} SV, {row['train_seconds']:.3g} s"
    gap, how = row["relative_gap"], ending(row["status"], row["stop"], row["relative_gap"])
    return f"{judged}, {took}, relative gap {gap:.1e}, {how}"


def _print(made: "list[Fold]", folds: int, chosen: tuple[str, ...], *, as_json: bool) -> None:
    """Print the accuracy over all rows held out, means of other scores, and standard deviations over folds."""
    from fwsvm.experiments.cross_validation import TITLES
    from fwsvm.results.writing import json_values

    judged = [fold for fold in made if fold.row["test_accuracy"] is not None]
    right, rows = sum(fold.right for fold in judged), sum(fold.held_out for fold in judged)
    by_fold = {name: [fold.scores[name] for fold in judged] for name in chosen if name != "accuracy"}
    spread = {name: _deviation(values) for name, values in by_fold.items()}
    spread["accuracy"] = _deviation([fold.row["test_accuracy"] for fold in judged])
    means = {name: statistics.fmean(values) if values else math.nan for name, values in by_fold.items()}
    means["accuracy"] = right / rows if rows else math.nan
    if as_json:
        measured = {name: json_values({"mean": means[name], "deviation": spread[name]}) for name in means}
        accuracy = measured.pop("accuracy")
        record = {
            "folds": folds,
            "folds_ended": len(made),
            "accuracy": accuracy["mean"],
            "deviation": accuracy["deviation"],
            "scores": {name: {**each, "folds": by_fold[name]} for name, each in measured.items()},
            "rows": [json_values(fold.row) for fold in made],
        }
        click.echo(json.dumps(record))
        return
    for name in chosen:
        said, deviation = f"{means[name]:.4f} (mean over folds)", f"{spread[name]:.4f}"
        if name == "accuracy":
            said, deviation = f"{means[name]:.2%} ({right:,} of {rows:,})", f"{100 * spread[name]:.2f}"
        more = f", standard deviation over folds {deviation}" if len(judged) > 1 else ", of one fold"
        click.echo(f"{TITLES[name]:<16}{said}{more}")


def _deviation(values: list[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else math.nan
