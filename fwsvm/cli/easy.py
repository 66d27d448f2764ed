"""``fwsvm easy``: check, scale, choose C and width, train and test in one command."""

import functools
import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm import exit_codes
from fwsvm.cli._lines import LABEL, is_quiet, note, say
from fwsvm.cli._options import (
    FILE_OR_NAME,
    PATH,
    label_option,
    quiet_option,
    refuse_outputs,
)
from fwsvm.phases import Phase
from fwsvm.settings import Settings

if TYPE_CHECKING:
    from fwsvm.data.dataset import Dataset

FOLDS = 5
SEARCH_SHARE = 0.6  # of a time limit, for the choice of C and width


@click.command()
@click.argument("train", type=FILE_OR_NAME)
@click.argument("test", type=PATH, required=False)
@click.option("--model", type=PATH, help="Where to write the model [default: TRAIN.model in this folder].")
@click.option(
    "--time-limit",
    type=click.IntRange(min=1),
    metavar="SECONDS",
    help="For the whole: three fifths for the choice, the rest for training.",
)
@label_option
@quiet_option
def easy(
    train: str, test: Path | None, model: Path | None, time_limit: int | None, label: str | None
) -> None:
    """Scale, choose C and width, train, test: all in one.

    TRAIN and TEST are files in LIBSVM's format or CSV files; TRAIN may be a name of `fwsvm data list`. Five folds of
    the training rows choose C and the width of the rbf kernel. The model keeps the scaling, so `fwsvm predict` takes
    rows as they are in their files. The last line is the command that trains the same model.

    With --time-limit the method is nested, which trains on as many rows as the time allows.

    \b
    fwsvm easy train.svm test.svm
    """  # noqa: D301
    from fwsvm import data as data_sets
    from fwsvm.cli._progress import Display
    from fwsvm.cli.train import train as training
    from fwsvm.experiments.cross_validation import choose_width_and_penalty
    from fwsvm.problems import model_files

    begun = time.monotonic()
    model = model or Path(f"{Path(train).name.partition('?')[0].replace(':', '-')}.model")
    refuse_outputs([train, test], ("--model", model), ("--model", model_files.range_path(model)))
    settings = Settings()
    with Display() as display:
        display.enter(Phase.LOAD)
        data = data_sets.load(train, test=test, label=label, raw=True)
        scaling, why = _scaling(data)
        say("scale", why)
        best, used = choose_width_and_penalty(
            replace(data, scaling=scaling),
            settings,
            FOLDS,
            seconds=SEARCH_SHARE * time_limit if time_limit else None,
            watch=display,
            count=functools.partial(display.count, "choose"),
        )
    C, gamma = map(best.values.get, ("C", "gamma"))
    if best.why_not:
        why = "no time to try any C on all folds" if time_limit else best.why_not
        say("choose", f"{why}: C is 1, gamma the default")
    else:
        some = f" of {used:,} of the rows" if used < data.train.rows else ""
        how = f"best of {best.tried} in {FOLDS} folds{some}"
        say("choose", f"C {C:g}, gamma {gamma:.4g}: {how}, {best.accuracy:.2%} right")
        for name in best.on_edge:
            note(f"warning: {name} lies on the edge of the values tried; a better one may lie beyond")
    given = {
        "-m": "nested" if time_limit else settings.method,
        "-C": C,
        "--gamma": gamma,
        "--scale": scaling,
        "--time-limit": time_limit and f"{max(0.1, time_limit - (time.monotonic() - begun)):.3g}",
        "--label": label,
        "--test": test,
        "--model": model,
    }
    words = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    try:
        with training.make_context("train", [*words, train], click.get_current_context()) as context:
            training.invoke(context)
    except SystemExit as ended:
        if ended.code != exit_codes.FAILED:
            say("model", f"{model}; `fwsvm predict {shlex.quote(str(model))} ROWS` predicts other rows")
        if not is_quiet():  # in one piece, to be copied
            click.echo(f"{'repeat':<{LABEL}}{shlex.join(['fwsvm', 'train', *words, train])}")
        raise


def _scaling(data: "Dataset") -> tuple[str, str]:
    """Return how the rows are to be scaled, and why."""
    import numpy as np
    from scipy.sparse import issparse

    X = data.train.X
    values = np.asarray(X.data) if issparse(X) else np.asarray(X)
    is_sparse = values.size < X.shape[0] * X.shape[1] / 2
    if data.scaling != "none":
        return data.scaling, f"to {data.scaling}, as the data set's entry says"
    if is_sparse and np.abs(values).max(initial=0.0) <= 1.0:
        return "none", "the values are sparse and none is beyond 1, so they stay as they are"
    if is_sparse and values.min() < 0:
        return "none", "sparse values, some negative, stay as they are: scaling would fill the zeros"
    return "[0,1]", "each feature to [0,1], so that none dominates because of its unit"
