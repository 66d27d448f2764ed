"""``fwsvm cv``: cross-validation of one setting."""

import contextlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm import exit_codes
from fwsvm.cli import _names
from fwsvm.cli._groups import grouped
from fwsvm.cli._libsvm_words import libsvm_command
from fwsvm.cli._lines import echo
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
from fwsvm.cli._types import NearestChoice
from fwsvm.errors import FwsvmError
from fwsvm.promises import ending
from fwsvm.settings import DATA, OUTPUT

#: Names of `fwsvm.experiments.cross_validation`, which is imported only by a command that runs.
SCORES = ("accuracy", "balanced-accuracy", "f1", "f1-macro", "auc")

if TYPE_CHECKING:
    from fwsvm.cli._progress import Display
    from fwsvm.cli._training_text import Print
    from fwsvm.experiments.cross_validation import Fold
    from fwsvm.settings import Settings
    from fwsvm.solvers.loop import Watch


@libsvm_command("cv")
@click.argument("data", shell_complete=_names.datasets)
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
@training_options
@scale_option
@label_option
@zero_based_option
@offline_option
@json_option
@quiet_option
@scheduler_option
def command(
    data: str,
    folds: int,
    scores: tuple[str, ...],
    scale: str | None,
    scheduler: str | None,
    *,
    as_json: bool,
    label: str | None,
    zero_based: bool | None,
    offline: bool,
    **options: Any,
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
    from fwsvm.problems.precomputed import is_given, refuse_scaling
    from fwsvm.status import Status

    end_where_unread()
    settings, chosen = settings_from(options), tuple(dict.fromkeys(scores)) or ("accuracy",)
    refuse_scaling(settings.kernel, scale)
    zero_based = zero_based or is_given(settings.kernel) or None  # index 0 is the number of the row
    say = text.printer(to_stderr=as_json)
    made: list[Fold] = []
    with Display() as display, contextlib.ExitStack() as stack:
        if scheduler is None:
            others = tuple(name for name in chosen if name != "accuracy")
            found = _here(
                display,
                say,
                data,
                settings,
                folds,
                others,
                scale,
                label=label,
                zero_based=zero_based,
                offline=offline,
            )
        else:
            refuse_on_cluster(
                {"--scale": scale, "--offline": offline, "--label": label, "--score": chosen != ("accuracy",)}
            )
            found = _on_cluster(stack, say, scheduler, data, settings, folds, display, zero_based=zero_based)
        display.count("folds", 0, folds)
        try:
            for fold in itertools.takewhile(lambda f: f.result.status is not Status.INTERRUPTED, found):
                made.append(fold)
                display.count("folds", len(made), folds)
                display.begin()
                say(f"fold {len(made) - 1}", _line(fold))
                if message := fold.result.message.removeprefix(fold.result.status.sentence).strip():
                    say("", message)
        except KeyboardInterrupt:
            pass  # the folds that ended are told below
        except (FwsvmError, MemoryError):
            if as_json and made:  # the folds that ended are told
                _tell(made, folds, chosen, as_json=True)
            raise
        if len(made) < folds:
            echo(f"interrupted in fold {len(made)}; {len(made)} of {folds} folds count", 2, err=True)
    if lost := sum(fold.row["test_accuracy"] is None for fold in made):
        echo(f"{lost} of {folds} folds were not judged and do not count; their lines say why", 2, err=True)
    if lost < len(made) or as_json:
        _tell(made, folds, chosen, as_json=as_json)
    ended = exit_codes.FAILED if lost else 0
    click.get_current_context().exit(ended if len(made) == folds else exit_codes.INTERRUPTED)


def _here(
    display: "Display", say: "Print", data: str, settings: "Settings", folds: int,
    scores: tuple[str, ...], scale: str | None, *, label: str | None, zero_based: bool | None, offline: bool,
) -> "Iterator[Fold]":  # fmt: skip
    """Load the data here, and return the folds."""
    from fwsvm import data as data_sets
    from fwsvm.cli import _training_text as text
    from fwsvm.cli._progress import loading
    from fwsvm.data import catalogue
    from fwsvm.experiments.cross_validation import cross_validate, refuse_scores
    from fwsvm.solvers.resolve import resolve

    loaded = data_sets.load(
        data,
        zero_based=zero_based,
        label=label,
        scale=scale,
        raw=True,
        options=loading(display, offline=offline),
    )
    refuse_scores(scores, loaded.classes)
    whole = catalogue.scaled(loaded)
    resolved = resolve(settings, whole.train.X)
    text.print_problem(say, whole, resolved, settings.class_weight, is_file=Path(data).is_file())
    return cross_validate(loaded, settings, folds, display, chosen=scores)


def _on_cluster(
    stack: contextlib.ExitStack, say: "Print", address: str, data: str, settings: "Settings", folds: int,
    told: "Watch", *, zero_based: bool | None,
) -> "Iterator[Fold]":  # fmt: skip
    """Have a cluster read the data, until the stack is left, and return the folds."""
    from fwsvm.cli import _training_text as text
    from fwsvm.distributed.fit import for_cluster, resolve
    from fwsvm.experiments import cluster_training
    from fwsvm.experiments.cross_validation import cross_validate

    settings = for_cluster(settings)
    remote = stack.enter_context(cluster_training.opened(address, data, None, zero_based=zero_based))
    text.print_remote_problem(say, remote, resolve(remote.table, settings))
    return cross_validate(remote, settings, folds, told)


def _line(fold: "Fold") -> str:
    row = fold.row
    found = row["test_accuracy"]
    judged = "not judged" if found is None else f"{100 * found:.2f}% of {fold.held_out:,} rows"
    how = (
        f"{row['support_vectors']:,} SV, {row['train_seconds']:.3g} s, relative gap {row['relative_gap']:.1e}"
    )
    return f"{judged}, {how}, {ending(row['status'], row['stop'], row['relative_gap'])}"


def _tell(made: "list[Fold]", folds: int, chosen: tuple[str, ...], *, as_json: bool) -> None:
    """Print the accuracy over all rows held out, means of other scores, and standard deviations over folds."""
    from fwsvm.experiments.cross_validation import TITLES
    from fwsvm.results.writing import json_values

    told = [fold for fold in made if fold.row["test_accuracy"] is not None]
    right, judged = sum(fold.right for fold in told), sum(fold.held_out for fold in told)
    accuracies = [fold.row["test_accuracy"] for fold in told]
    by_fold = {name: [fold.scores[name] for fold in told] for name in chosen if name != "accuracy"}
    if as_json:
        found = {"accuracy": right / judged if judged else float("nan"), "deviation": _deviation(accuracies)}
        scores = {
            name: json_values({"mean": _mean(values), "deviation": _deviation(values)}) | {"folds": values}
            for name, values in by_fold.items()
        }
        counts = {"folds": folds, "folds_ended": len(made)}
        rows = [json_values(fold.row) for fold in made]
        click.echo(json.dumps({**counts, **json_values(found), "scores": scores, "rows": rows}))
        return
    for name in chosen:
        if name == "accuracy":
            said = f"{100 * right / judged:.2f}% ({right:,} of {judged:,})"
            spread = f"{100 * _deviation(accuracies):.2f}"
        else:
            said, spread = f"{_mean(by_fold[name]):.4f} (mean over folds)", f"{_deviation(by_fold[name]):.4f}"
        more = f", standard deviation over folds {spread}" if len(told) > 1 else ", of one fold"
        click.echo(f"{TITLES[name]:<16}{said}{more}")


def _mean(values: list[float]) -> float:
    from statistics import mean

    return mean(values) if values else float("nan")


def _deviation(values: list[float]) -> float:
    from statistics import stdev

    return stdev(values) if len(values) > 1 else float("nan")
