"""``fwsvm easy``: check, scale, choose C and width, train and test in one command."""

import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm import exit_codes
from fwsvm.cli._lines import echo, is_quiet, tell
from fwsvm.cli._options import (
    FILE_OR_NAME,
    KERNEL,
    PATH,
    FiniteFloat,
    label_option,
    offline_option,
    quiet_option,
    zero_based_option,
)
from fwsvm.cli._outputs import refuse_no_folder, refuse_overwriting, write_model
from fwsvm.errors import UsageError, counted
from fwsvm.phases import Phase
from fwsvm.settings import MOST_THREADS, Settings, with_options
from fwsvm.status import Status

if TYPE_CHECKING:
    from fwsvm.cli._progress import Display
    from fwsvm.data.dataset import Dataset
    from fwsvm.experiments.width_and_penalty import SearchResult

SEARCH_SHARE = 0.6  # of a time limit, for the choice of C and width
LISTED_CLASSES = 10
FEW_ROWS = 10  # of a class, for which results are uncertain
STEP = 8  # columns of a step's title


@click.command()
@click.argument("train", type=FILE_OR_NAME)
@click.argument("test", type=PATH, required=False)
@click.option("--model", type=PATH, help="Where to write the model [default: TRAIN.model in this folder].")
@click.option("--kernel", "-t", type=KERNEL, metavar="NAME", help="One of `fwsvm kernels` [default: rbf].")
@click.option(
    "--folds",
    type=click.IntRange(2, 100),
    default=5,
    show_default=True,
    help="Number of folds of the cross-validation that chooses C and gamma.",
)
@click.option(
    "--time-limit",
    type=FiniteFloat(0, min_open=True),
    metavar="SECONDS",
    help="For the whole: three fifths for the choice, the rest for training.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the folds.")
@click.option(
    "--threads", type=click.IntRange(1, MOST_THREADS), help="Threads to use [default: all there are]."
)
@label_option
@zero_based_option
@offline_option
@quiet_option
def easy(
    train: str,
    test: Path | None,
    model: Path | None,
    kernel: str | None,
    folds: int,
    time_limit: float | None,
    seed: int,
    threads: int | None,
    *,
    label: str | None,
    zero_based: bool | None,
    offline: bool,
) -> None:
    """Scale, choose C and width, train, test: all in one.

    TRAIN and TEST are files in LIBSVM's format or CSV files; TRAIN may be a name of `fwsvm data list`. Each step says
    what it does and why. The model keeps the scaling, so `fwsvm predict` takes rows as they are in their files. The
    last line is the command that trains the same model.

    With --time-limit, if training on all rows would take longer than what is left, the method is nested, which trains
    on as many rows as the time allows.

    \b
    fwsvm easy train.svm test.svm
    """  # noqa: D301
    from fwsvm import data as data_sets
    from fwsvm.cli._progress import Display, fetch_options
    from fwsvm.data.catalogue import scaled
    from fwsvm.experiments.run import LocalRows, run_one
    from fwsvm.problems import model_files
    from fwsvm.problems.precomputed import is_given

    begun = time.monotonic()
    model = model or Path(f"{Path(train).name.partition('?')[0].replace(':', '-')}.model")
    if is_given(kernel):
        raise UsageError(
            f"easy scales rows and chooses a width; kernel {kernel} has neither: use cv and train"
        )
    refuse_overwriting([train, test], [model, model_files.range_path(model)])
    refuse_no_folder(model, "--model")
    if test is not None and test.resolve() == Path(train).resolve():
        tell([f"{test} is the file of the training rows: the test says nothing about other rows"])
    settings = Settings(kernel=kernel, seed=seed, threads=threads)
    with Display() as display:
        display.enter(Phase.LOAD)
        options = fetch_options(display, offline=offline)
        data = data_sets.load(train, test=test, label=label, zero_based=zero_based, options=options, raw=True)
        _say("rows", _describe(data))
        scaling, why = _scaling(data)
        data = replace(data, scaling=scaling)
        whole = scaled(data)
        _say("scale", " ".join([why, *(f"{notice}." for notice in whole.notices)]))
        found, seconds = _search(display, data, settings, folds, time_limit)
        if found.interrupted:
            tell(["interrupted while C and gamma were chosen, nothing was written"])
            sys.exit(exit_codes.INTERRUPTED)
        _say("choose", _choice(found, data, folds))
        if found.best is not None:
            settings = replace(settings, C=found.best.C, gamma=found.best.gamma)
        if time_limit:
            left = max(0.1, time_limit - (time.monotonic() - begun))
            settings = replace(settings, time_limit=left, method="nested" if seconds > left else "auto")
        display.begin()
        result, row = run_one(LocalRows(whole), settings, display)
    gap = f"relative gap {result.relative_gap:.2g}{', certified' if result.certified else ''}"
    vectors = f"{result.support_vectors:,} support vectors"
    _say(
        "train",
        f"{row['method']}, {row['train_seconds']:.3g} s, {vectors}, {gap}. {with_options(result.message)}",
    )
    if (accuracy := row.get("test_accuracy")) is not None and data.test is not None:
        _say("test", f"{accuracy:.2%} of the {data.test.rows:,} test rows are predicted right.")
    write_model(model, result, row)
    _say("save", f"{model}; `fwsvm predict {shlex.quote(str(model))} ROWS` predicts other rows.")
    _say("repeat", _command(train, model, settings, scaling, label, zero_based=zero_based))
    if result.status is Status.INTERRUPTED:
        tell([f"interrupted: {model} is the model as it was then; the last line trains it to the end"])
        sys.exit(exit_codes.INTERRUPTED)


def _say(title: str, said: str) -> None:
    if not is_quiet():
        echo(f"{title:<{STEP}}{said}", STEP)


def _describe(data: "Dataset") -> str:
    """Return shape and classes of the rows, and what is odd about them."""
    from fwsvm.data.inputs import counts_of

    counts = [*counts_of(data.train)["classes"].items()]
    rows = data.train.rows
    shares = [f"{label} ({count / rows:.1%})" for label, count in counts]
    more = f" and {len(shares) - LISTED_CLASSES} more" if len(shares) > LISTED_CLASSES else ""
    test = f", and {data.test.rows:,} test rows" if data.test is not None else ""
    said = f"{rows:,} of {data.train.features:,} features{test}; classes {', '.join(shares[:LISTED_CLASSES])}{more}."
    label, least = min(counts, key=lambda pair: pair[1])
    if least < FEW_ROWS:
        said += f" Results for class {label} are uncertain: it has {counted(least, 'row')}."
    return said


def _scaling(data: "Dataset") -> tuple[str, str]:
    """Return how the rows are to be scaled, and why."""
    import numpy as np
    from scipy.sparse import issparse

    X = data.train.X
    values = np.asarray(X.data) if issparse(X) else np.asarray(X)
    is_sparse = values.size < X.shape[0] * X.shape[1] / 2
    if data.scaling != "none":
        return data.scaling, f"To {data.scaling}, as the data set's entry says."
    if is_sparse and np.abs(values).max(initial=0.0) <= 1.0:
        return "none", "The values are sparse and none is beyond 1, so they stay as they are."
    if is_sparse and values.min() < 0:
        return "none", "Sparse values, some negative, stay as they are: scaling would fill the zeros."
    return "[0,1]", "Each feature to [0,1], so that none dominates because of its unit."


def _search(
    display: "Display", data: "Dataset", settings: Settings, folds: int, time_limit: float | None
) -> "tuple[SearchResult, float]":
    """Return what the search came to, and about how many seconds a training on all rows takes."""
    from fwsvm.experiments.width_and_penalty import choose_width_and_penalty

    begun = time.monotonic()
    found = choose_width_and_penalty(
        data,
        settings,
        folds,
        seconds=SEARCH_SHARE * time_limit if time_limit else None,
        watch=display,
        count=lambda done, total: display.count("choose", done, total),
    )
    grown = data.train.rows / (found.rows * (1.0 - 1.0 / folds))  # seconds grow with its square
    return found, (time.monotonic() - begun) / max(1, found.runs) * grown**2


def _choice(found: "SearchResult", data: "Dataset", folds: int) -> str:
    """Return how C and gamma were chosen."""
    if (best := found.best) is None:
        return "The time limit came before any C was tried on all folds, so C is 1 and gamma the default."
    pair = f"C = {best.C:g}" + (f", gamma = {best.gamma:.4g}" if best.gamma is not None else "")
    some = f" of {found.rows:,} of the rows" if found.rows < data.train.rows else ""
    cut = " The time limit ended the search early." if found.cut else ""
    return f"{pair}: best of {len(found.tried)} in {folds} folds{some}, {best.accuracy:.2%} right.{cut}"


def _command(
    train: str, model: Path, settings: Settings, scaling: str, label: str | None, *, zero_based: bool | None
) -> str:
    """Return the command that trains the same model."""
    given = {
        "--method": settings.method,
        "-C": repr(settings.C or 1.0),
        "--gamma": settings.gamma,
        "--time-limit": f"{settings.time_limit:.3g}" if settings.method == "nested" else None,
        "--kernel": settings.kernel,
        "--label": label,
        "--seed": settings.seed,
        "--model": model,
        "--scale": None if scaling == "none" else scaling,
    }
    words = [str(word) for pair in given.items() if pair[1] is not None for word in pair]
    return shlex.join(["fwsvm", "train", *words, *["--zero-based"] * bool(zero_based), train])
