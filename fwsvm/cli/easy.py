"""``fwsvm easy``: from files to a tested machine, each step with a sentence that says what it does and why."""

import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm import exit_codes
from fwsvm.cli import _names, _types
from fwsvm.cli._display import Display
from fwsvm.cli._files import refuse_no_folder, refuse_overwriting, written_elsewhere
from fwsvm.cli._progress import loading
from fwsvm.cli._types import FiniteFloat
from fwsvm.errors import ModelError
from fwsvm.numerics.threads import MOST_THREADS

if TYPE_CHECKING:
    from fwsvm.data.dataset import Dataset
    from fwsvm.experiments.record import Row
    from fwsvm.experiments.width_and_penalty import SearchResult
    from fwsvm.solvers import Result, Settings

SEARCH_SHARE = 0.6  # of a time limit, that the choice of C and width may take


@dataclass
class Steps:
    """What was done, said as it is done and kept for the report: a title and its sentences a step.

    ``scaling`` is how rows are scaled, ``chosen`` what the search found so far, and ``kept`` says what was written.
    """

    said: list[tuple[str, str]] = field(default_factory=list)
    scaling: str = "none"
    chosen: "SearchResult | None" = None
    kept: str = ""

    def __call__(self, title: str, *sentences: str) -> None:
        """Print a step, and keep it."""
        from fwsvm.cli._lines import echo

        text = " ".join(sentence for sentence in sentences if sentence)
        self.said.append((title, text))
        echo(f"{f'{len(self.said)} {title}':<12}{text}", 12)


@click.command()
@click.argument("train", shell_complete=_names.datasets)
@click.argument("test", type=_types.ANY, required=False)
@click.option(
    "--model",
    type=_types.ANY,
    help="Where to write the model [default: TRAIN.model in this folder].",
)
@click.option("--folds", type=click.IntRange(2, 100), default=5, show_default=True,
              help="Parts of the training rows that are held out in turn to choose C and width.")  # fmt: skip
@click.option("--time-limit", type=FiniteFloat(0, min_open=True), metavar="SECONDS",
              help="For the whole: the choice gets three fifths, the training what is left.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Draws the folds.")
@click.option(
    "--threads", type=click.IntRange(1, MOST_THREADS), help="Threads to use [default: all there are]."
)
@click.option("--offline", is_flag=True, help="Ask no server for data.")
def command(
    train: str, test: Path | None, model: Path | None, folds: int, time_limit: float | None, seed: int,
    threads: int | None, *, offline: bool,
) -> None:  # fmt: skip
    """Scale, choose C and width, train, test: all in one.

    The rows of TRAIN are checked and scaled, C and width chosen, a machine trained and tested on TEST, and machine and
    report written. TRAIN and TEST are files in LIBSVM's format; TRAIN may be a name of `fwsvm data list`. Each step
    says what it does and why. The machine keeps the scaling, so `fwsvm predict` takes rows as they are in their files.
    MODEL.report.md has on one page what was done, what came out, and the commands that repeat it.

    \b
    fwsvm easy train.svm test.svm
    """  # noqa: D301
    from fwsvm.cli._easy_text import interrupted
    from fwsvm.cli._lines import echo

    model = model or Path(f"{Path(train).name.partition('?')[0].replace(':', '-')}.model")
    steps = Steps()
    try:
        status = _done(
            steps, train, test, model, folds, time_limit, seed=seed, threads=threads, offline=offline
        )
    except KeyboardInterrupt:
        said = interrupted(len(steps.said), steps.chosen, steps.kept, train, steps.scaling, model)
        echo(f"fwsvm: {said}", 2, err=True)
        status = exit_codes.INTERRUPTED
    sys.exit(status)


def _done(
    steps: Steps, train: str, test: Path | None, model: Path, folds: int, time_limit: float | None, *, seed: int,
    threads: int | None, offline: bool,
) -> int:  # fmt: skip
    """Do the steps; return the exit code. A KeyboardInterrupt outside the training of the machine goes on as one."""
    from fwsvm import data as data_sets
    from fwsvm.cli import _easy_text as text
    from fwsvm.cli._lines import echo
    from fwsvm.cli._runs import TrainingDisplay
    from fwsvm.data import catalogue
    from fwsvm.experiments.accuracy import UNMEASURED
    from fwsvm.experiments.width_and_penalty import choose_width_and_penalty
    from fwsvm.files.atomic import as_utf8, replacing
    from fwsvm.problems import model_files
    from fwsvm.solvers import Settings, Status

    begun = time.monotonic()
    report = Path(f"{model}.report.md")
    refuse_overwriting([train, test], [model, model_files.range_path(model), report])
    refuse_no_folder(model, "--model")
    settings = Settings(seed=seed, threads=threads)
    with Display() as display:
        loaded = data_sets.load(train, test=test, raw=True, options=loading(display, offline=offline))
        steps("check", *text.checked(loaded))
        loaded, sentences = text.with_scaling(loaded)
        steps.scaling = loaded.scaling
        whole = catalogue.scaled(loaded)
        steps("scale", *sentences, *text.met_in_scaling(loaded, whole))
        chosen = choose_width_and_penalty(
            loaded, settings, folds, watch=TrainingDisplay(display),
            seconds=SEARCH_SHARE * time_limit if time_limit else None,
            count=lambda done, total: display.count("choose", done, total),
        )  # fmt: skip
        display.overall = None
        steps.chosen = chosen
        if chosen.interrupted:
            raise KeyboardInterrupt
        steps("choose", *text.chosen(chosen, loaded, folds))
        if chosen.best is not None:
            settings = replace(settings, C=chosen.best.C, gamma=chosen.best.gamma)
        left = max(0.1, time_limit - (time.monotonic() - begun)) if time_limit else None
        result, row = _trained(display, whole, replace(settings, time_limit=left))
        steps("train", *text.trained(result, row))
        steps("test", *text.tested(loaded, chosen, row))
    _write(model, result, row, settings)
    steps.kept = f"The model is in {model}"
    steps("save", *text.saved(model, loaded))
    try:
        confusion = text.confused(result, loaded)
    except UNMEASURED:  # which step 5 has said
        confusion = None
    said = text.report(steps.said, loaded, chosen, result, model, confusion)
    with replacing(report, binary=True) as stream:
        stream.write(as_utf8(said))
    click.echo(f"\nAll of this is in {report}.")
    if result.status is Status.INTERRUPTED:
        echo(f"fwsvm: {text.unfinished(model)}", 2, err=True)
        return exit_codes.INTERRUPTED
    return 0


def _trained(display: Display, data: "Dataset", settings: "Settings") -> "tuple[Result, Row]":
    from fwsvm.cli._runs import TrainingDisplay
    from fwsvm.experiments.run import run_one

    display.begin()
    return run_one(data, settings, TrainingDisplay(display))


def _write(model: Path, result: "Result", row: "Row", settings: "Settings") -> None:
    """Write the machine; where its file cannot be, elsewhere, and say so with the C and gamma that were chosen."""
    from fwsvm.cli._lines import tell
    from fwsvm.cli._training_text import with_run_facts
    from fwsvm.problems import model_files

    machine = with_run_facts(result, row)
    try:
        notices = model_files.write(model, machine)
    except ModelError as error:
        failure = written_elsewhere(model, machine, error)
        if settings.gamma is None:  # no time to choose
            raise failure from None
        chosen = f"C = {settings.C:g} and gamma = {settings.gamma!r}"
        raise ModelError(f"{failure}; {chosen} were chosen for it") from None
    tell(notices)
