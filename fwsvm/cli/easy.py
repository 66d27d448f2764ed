"""``fwsvm easy``: check, scale, choose C and width, train and test in one command."""

import math
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm import exit_codes
from fwsvm.cli._lines import echo, is_quiet, tell
from fwsvm.cli._options import (
    DATASET,
    KERNEL,
    PATH,
    FiniteFloat,
    label_option,
    offline_option,
    quiet_option,
    zero_based_option,
)
from fwsvm.cli._outputs import refuse_no_folder, refuse_overwriting, write_model
from fwsvm.errors import UsageError, clipped
from fwsvm.numerics.threads import MOST_THREADS
from fwsvm.settings import Settings
from fwsvm.status import Status

if TYPE_CHECKING:
    from fwsvm.data.dataset import Dataset
    from fwsvm.experiments.record import Row
    from fwsvm.experiments.width_and_penalty import SearchResult

SEARCH_SHARE = 0.6  # of a time limit, for the choice of C and width
LISTED_CLASSES = 10
FEW_ROWS = 10  # of a class, for which results are uncertain
STEP = 12  # columns of a step's title


@click.command()
@click.argument("train", type=DATASET)
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
    what it does and why. The model keeps the scaling, so `fwsvm predict` takes rows as they are in their files.
    MODEL.report.md has the steps, the accuracies of the search and the command that repeats the training.

    With --time-limit, if training on all rows would take longer than what is left, the method is nested, which trains
    on as many rows as the time allows.

    \b
    fwsvm easy train.svm test.svm
    """  # noqa: D301
    from fwsvm import data as data_sets
    from fwsvm.cli._progress import Display, loading
    from fwsvm.experiments.run import LocalRows, run_one
    from fwsvm.experiments.width_and_penalty import choose_width_and_penalty
    from fwsvm.problems import model_files
    from fwsvm.problems.precomputed import is_given

    begun = time.monotonic()
    model = model or Path(f"{Path(train).name.partition('?')[0].replace(':', '-')}.model")
    report = Path(f"{model}.report.md")
    if is_given(kernel):
        raise UsageError(
            f"easy scales rows and chooses a width; kernel {kernel} has neither: use cv and train"
        )
    refuse_overwriting([train, test], [model, model_files.range_path(model), report])
    refuse_no_folder(model, "--model")
    settings, steps = Settings(kernel=kernel, seed=seed, threads=threads), Steps()
    with Display() as display:
        options = loading(display, offline=offline)
        data = data_sets.load(train, test=test, label=label, zero_based=zero_based, options=options, raw=True)
        steps.add("check", *_check(data))
        data, whole = _scale(steps, data)
        searched = time.monotonic()
        found = choose_width_and_penalty(
            data,
            settings,
            folds,
            seconds=SEARCH_SHARE * time_limit if time_limit else None,
            watch=display,
            count=lambda done, total: display.count("choose", done, total),
        )
        searched = time.monotonic() - searched
        if found.best is not None:
            settings = replace(settings, C=found.best.C, gamma=found.best.gamma)
        if not found.interrupted:
            steps.add("choose", *_choice(found, data, folds))
            if time_limit:
                left = max(0.1, time_limit - (time.monotonic() - begun))
                grown = data.train.rows / (found.rows * (1.0 - 1.0 / folds))
                seconds = searched / max(1, found.runs) * grown**2  # they grow with the square of the rows
                method = "nested" if seconds > left else settings.method
                settings = replace(settings, time_limit=left, method=method)
            display.begin()
            result, row = run_one(LocalRows(whole), settings, display)
    again = _command(train, model, settings, data.scaling, label, zero_based=zero_based)
    if found.interrupted:
        best = f"; the best pair so far is tried by `{again}`" if found.best else ""
        tell([f"interrupted while C and gamma were chosen, nothing was written{best}"])
        sys.exit(exit_codes.INTERRUPTED)
    proof = (
        f"The objective is within {result.relative_gap:.2g} of the optimum, relative to it; that is proven."
    )
    steps.add(
        "train",
        f"By {row['method']} in {row['train_seconds']:.3g} s; {result.support_vectors:,} rows are support vectors.",
        result.message,
        proof if result.certified and result.sample is None else "",
    )
    steps.add("test", _judge(data, found, row))
    write_model(model, result, row)
    steps.add(
        "save",
        f"The model is in {model}, a text file in LIBSVM's format.",
        f"Its scaling is in {model}.range, too." if data.scaling != "none" else "",
        f"`fwsvm predict {shlex.quote(str(model))} ROWS` predicts others.",
    )
    steps.write(report, model.name, found, again)
    if result.status is Status.INTERRUPTED:
        said = f"{model} is the model as it was then; the command in its report trains it to the end"
        tell([f"interrupted: {said}"])
        sys.exit(exit_codes.INTERRUPTED)


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


class Steps:
    """The steps that were done, each a title and its sentences, which are printed as they come."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []

    def add(self, title: str, *sentences: str) -> None:
        """Print a step, and keep it."""
        said = " ".join(filter(None, sentences))
        self.done.append((title, said))
        if not is_quiet():
            echo(f"{f'{len(self.done)} {title}':<{STEP}}{said}", STEP)

    def write(self, path: Path, name: str, found: "SearchResult", again: str) -> None:
        """Write the steps, the accuracies of the search and the command that trains the same model."""
        from fwsvm.files.atomic import as_utf8, write_whole

        lines = [f"# {name}", ""]
        lines += [f"{number}. **{title}** {said}\n" for number, (title, said) in enumerate(self.done, 1)]
        if found.tried:
            lines += ["## Right in cross-validation", "", "| C | gamma | right |", "|--:|--:|--:|"]
        for one in found.tried:
            best, gamma = " *" * (one == found.best), "" if one.gamma is None else f"{one.gamma:.4g}"
            lines.append(f"| {one.C:g} | {gamma} | {one.accuracy:.2%}{best} |")
        lines += ["", "## To repeat it", "", "```sh", again, "```", ""]
        write_whole(path, as_utf8("\n".join(lines)))
        if not is_quiet():
            click.echo(f"\nAll of this is in {path}.")


def _check(data: "Dataset") -> Iterator[str]:
    """Yield sentences on the rows that were read."""
    import numpy as np

    from fwsvm.data.labels import encode

    counts = np.bincount(encode(data.train.labels, data.classes), minlength=len(data.classes))
    # labels without what Markdown would take for marks
    names = [
        "".join(c if c.isprintable() and c not in "|`<>&\\" else "?" for c in name) for name in data.classes
    ]
    by_class = [(clipped(name, 20), count) for name, count in zip(names, counts.tolist(), strict=True)]
    shares = [f"{name} ({count / counts.sum():.1%})" for name, count in by_class]
    more = f" and {len(shares) - LISTED_CLASSES} more" if len(shares) > LISTED_CLASSES else ""
    test = f", and {data.test.rows:,} test rows" if data.test is not None else ""
    yield f"{data.name} has {data.train.rows:,} rows of {data.train.features:,} features{test}."
    yield f"The classes are {', '.join(shares[:LISTED_CLASSES])}{more}."
    yield f"A model must do better than {counts.max() / counts.sum():.1%}, the share of the largest."
    name, least = min(by_class, key=lambda pair: pair[1])
    if least < FEW_ROWS:
        yield f"Class {name} has {least} rows only: results for it are uncertain."
    yield from (f"{notice.rstrip('.')}." for notice in data.notices)


def _scale(steps: Steps, data: "Dataset") -> "tuple[Dataset, Dataset]":
    """Say how the rows are scaled, and why; return the data set with this scaling, before and after it."""
    import numpy as np
    from scipy.sparse import issparse

    from fwsvm.data.catalogue import scaled

    X, scaling = data.train.X, data.scaling
    values = np.asarray(X.data) if issparse(X) else np.asarray(X)
    is_sparse = values.size < X.shape[0] * X.shape[1] / 2
    if scaling != "none":
        why = f"Scaled to {scaling}, as the data set's entry says."
    elif is_sparse and np.abs(values).max(initial=0.0) <= 1.0:
        why = "The values are sparse and none is beyond 1, so they stay as they are."
    elif is_sparse and values.min() < 0:
        unit = "scaling would make most zeros non-zero"
        why = f"The values are sparse and some are negative, so they stay as they are: {unit}."
    else:
        scaling, unit = "[0,1]", "so that none dominates because of its unit"
        why = f"Each feature is mapped to [0,1] by its range over the training rows, {unit}."
    whole = scaled(replace(data, scaling=scaling))
    odd = whole.notices[len(data.notices) :]
    steps.add("scale", why, *(f"{notice}: are they rows of the same kind?" for notice in odd))
    return replace(data, scaling=scaling), whole


def _choice(found: "SearchResult", data: "Dataset", folds: int) -> Iterator[str]:
    """Yield sentences on how C and gamma were chosen."""
    if (best := found.best) is None:
        yield "The time limit came before any C was tried on all folds, so C is 1 and gamma the default."
        return
    pair = f"C = {best.C:g}" + (f" and gamma = {best.gamma:.4g}" if best.gamma is not None else "")
    some = f" of {found.rows:,} of the rows" if found.rows < data.train.rows else ""
    right = f"in {folds} folds{some} it predicts most held-out rows right, {best.accuracy:.2%}"
    yield f"{pair}: of {len(found.tried)} settings {right}."
    edges = []
    for name in ("C", "gamma"):
        tried = sorted({getattr(one, name) for one in found.tried})
        if len(tried) > 1 and getattr(best, name) in (tried[0], tried[-1]):
            edges.append(name)
    if edges:
        yield f"A better {' or '.join(edges)} may lie beyond what was tried."
    if found.cut:
        yield "The time limit ended the search early."


def _judge(data: "Dataset", found: "SearchResult", row: "Row") -> str:
    """Return how good the model is on rows that it was not trained on."""
    accuracy, best = row.get("test_accuracy"), found.best
    if data.test is not None and accuracy is not None:
        right = f"{accuracy:.2%} of the {data.test.rows:,} test rows are predicted right"
        return f"{right} ({_interval(accuracy, data.test.rows)})."
    lacking = "There are no test rows" if data.test is None else "The test rows could not be predicted"
    if best is None:
        return f"{lacking}, so how good the model is is not known."
    right = f"In cross-validation {best.accuracy:.2%} were right ({_interval(best.accuracy, best.judged)})"
    return f"{lacking}. {right}, a little more than on new rows, because C and gamma were chosen by it."


def _interval(p: float, n: int) -> str:
    """Return Wilson's 95% interval of a share of n rows."""
    z = 1.959964
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n**2))
    low, high = ((middle + side) / (1 + z * z / n) for side in (-half, half))
    return f"95% interval {low:.1%} to {high:.1%}"
