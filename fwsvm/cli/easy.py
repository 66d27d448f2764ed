"""``fwsvm easy``: check, scale, choose C and width, train and test in one command."""

import math
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm import exit_codes
from fwsvm.cli import _names, _types
from fwsvm.cli._files import refuse_no_folder, refuse_overwriting, write_model
from fwsvm.cli._libsvm_words import KernelName
from fwsvm.cli._lines import echo, is_quiet
from fwsvm.cli._options import label_option, offline_option, quiet_option, zero_based_option
from fwsvm.cli._types import FiniteFloat
from fwsvm.errors import UsageError, clipped
from fwsvm.numerics.threads import MOST_THREADS

if TYPE_CHECKING:
    from fwsvm.data.dataset import Dataset
    from fwsvm.experiments.record import Row
    from fwsvm.experiments.width_and_penalty import SearchResult
    from fwsvm.solvers import Result, Settings

SEARCH_SHARE = 0.6  # of a time limit, for the choice of C and width
LISTED_CLASSES = 10


@click.command()
@click.argument("train", shell_complete=_names.datasets)
@click.argument("test", type=_types.ANY, required=False)
@click.option(
    "--model", type=_types.ANY, help="Where to write the model [default: TRAIN.model in this folder]."
)
@click.option(
    "--kernel",
    "-t",
    type=KernelName(),
    metavar="NAME",
    shell_complete=_names.kernels,
    help="One of `fwsvm kernels` [default: rbf].",
)
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
def command(
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
    from fwsvm.cli._progress import Display, loading
    from fwsvm.experiments.run import LocalRows, run_one
    from fwsvm.experiments.width_and_penalty import choose_width_and_penalty
    from fwsvm.problems import model_files
    from fwsvm.problems.precomputed import is_given
    from fwsvm.solvers import Settings, Status

    begun = time.monotonic()
    model = model or Path(f"{Path(train).name.partition('?')[0].replace(':', '-')}.model")
    if is_given(kernel):
        raise UsageError(
            f"easy scales rows and chooses a width; kernel {kernel} has neither: use cv and train"
        )
    refuse_overwriting([train, test], [model, model_files.range_path(model), _report_path(model)])
    refuse_no_folder(model, "--model")
    settings, steps = Settings(kernel=kernel, seed=seed, threads=threads), Steps()
    given: dict[str, str | None] = {
        "--kernel": kernel,
        "--label": label,
        "--seed": str(seed),
        "--model": str(model),
    }
    flags = ["--zero-based"] if zero_based else []
    with Display() as display:
        how = {
            "test": test,
            "label": label,
            "zero_based": zero_based,
            "options": loading(display, offline=offline),
        }
        data, whole = _loaded(steps, train, how)
        if data.scaling != "none":
            given["--scale"] = data.scaling
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
        if found.interrupted:
            best = (
                f"; the best pair so far is tried by `{_command(settings, given, flags, train)}`"
                if found.best
                else ""
            )
            echo(f"fwsvm: interrupted while C and gamma were chosen, nothing was written{best}", 2, err=True)
            sys.exit(exit_codes.INTERRUPTED)
        steps("choose", *_chosen(found, data, folds))
        if time_limit:
            left = max(0.1, time_limit - (time.monotonic() - begun))
            grown = data.train.rows / (found.rows * (1.0 - 1.0 / folds))
            is_long = (
                searched / max(1, found.runs) * grown**2 > left
            )  # as seconds grow with the square of the rows
            settings = replace(settings, time_limit=left, method="nested" if is_long else settings.method)
        display.begin()
        result, row = run_one(LocalRows(whole), settings, display)
    steps("train", *_trained(result, row))
    steps("test", _tested(data, found, row))
    write_model(model, result, row)
    steps("save", *_saved(model, data.scaling))
    _write_report(model, steps, found, _command(settings, given, flags, train))
    if result.status is Status.INTERRUPTED:
        said = f"{model} is the model as it was then; the command in its report trains it to the end"
        echo(f"fwsvm: interrupted: {said}", 2, err=True)
        sys.exit(exit_codes.INTERRUPTED)


def _loaded(steps: "Steps", train: str, how: dict[str, Any]) -> "tuple[Dataset, Dataset]":
    """Return the data set with the scaling that it should have, before and after it."""
    from fwsvm import data as data_sets
    from fwsvm.data import catalogue

    data = data_sets.load(train, raw=True, **how)
    steps("check", *_checked(data))
    scaling, why = _scaling(data)
    data = replace(data, scaling=scaling)
    whole = catalogue.scaled(data)
    met = whole.notices[len(data.notices) :]
    steps("scale", why, *(f"{notice}: are they rows of the same kind?" for notice in met))
    return data, whole


def _report_path(model: Path) -> Path:
    return Path(f"{model}.report.md")


def _command(settings: "Settings", given: dict[str, str | None], flags: list[str], train: str) -> str:
    """Return the command that trains the same model."""
    words = ["fwsvm", "train", "--method", settings.method, "-C", repr(settings.C or 1.0), *flags]
    width = None if settings.gamma is None else repr(settings.gamma)
    limit = f"{settings.time_limit:.3g}" if settings.method == "nested" else None
    for option, value in {"--gamma": width, "--time-limit": limit, **given}.items():
        words += [] if value is None else [option, value]
    return shlex.join([*words, train])


class Steps(list[tuple[str, str]]):
    """The steps that were done, each a title and its sentences, which are printed as they come."""

    def __call__(self, title: str, *sentences: str) -> None:
        """Print a step, and keep it."""
        text = " ".join(sentence for sentence in sentences if sentence)
        self.append((title, text))
        if not is_quiet():
            echo(f"{f'{len(self)} {title}':<12}{text}", 12)


def _label(name: str) -> str:
    """Return a label without what Markdown would take for marks."""
    return clipped("".join(c if c.isprintable() and c not in "|`<>&\\" else "?" for c in name), 20)


def _checked(data: "Dataset") -> list[str]:
    """Return sentences on the rows that were read."""
    import numpy as np

    from fwsvm.data.labels import encode

    counts = np.bincount(encode(data.train.labels, data.classes), minlength=len(data.classes))
    shares = [
        f"{_label(name)} ({count / counts.sum():.1%})"
        for name, count in zip(data.classes, counts, strict=True)
    ]
    more = f" and {len(shares) - LISTED_CLASSES} more" if len(shares) > LISTED_CLASSES else ""
    test = f", and {data.test.rows:,} test rows" if data.test is not None else ""
    rare = [
        f"Class {_label(name)} has {count} rows only: results for it are uncertain."
        for name, count in zip(data.classes, counts, strict=True)
        if count == counts.min() < 10
    ]
    return [
        f"{data.name} has {data.train.rows:,} rows of {data.train.features:,} features{test}.",
        f"The classes are {', '.join(shares[:LISTED_CLASSES])}{more}.",
        f"A model must do better than {counts.max() / counts.sum():.1%}, the share of the largest.",
        *rare[:1],
        *(f"{notice.rstrip('.')}." for notice in data.notices),
    ]


def _scaling(data: "Dataset") -> tuple[str, str]:
    """Return how to scale the rows, and why."""
    import numpy as np
    from scipy.sparse import issparse

    if data.scaling != "none":
        return data.scaling, f"Scaled to {data.scaling}, as the data set's entry says."
    X = data.train.X
    values = np.asarray(X.data) if issparse(X) else np.asarray(X)
    if values.size < X.shape[0] * X.shape[1] / 2:
        if not values.size or np.abs(values).max() <= 1.0:
            return "none", "The values are sparse and none is beyond 1, so they stay as they are."
        if values.min() < 0:
            why = "scaling would make most zeros non-zero"
            return "none", f"The values are sparse and some are negative, so they stay as they are: {why}."
    why = "so that none dominates because of its unit"
    return "[0,1]", f"Each feature is mapped to [0,1] by its range over the training rows, {why}."


def _chosen(found: "SearchResult", data: "Dataset", folds: int) -> list[str]:
    """Return sentences on how C and gamma were chosen."""
    best = found.best
    if best is None:
        return ["The time limit came before any C was tried on all folds, so C is 1 and gamma the default."]
    pair = f"C = {best.C:g}" + (f" and gamma = {best.gamma:.4g}" if best.gamma is not None else "")
    some = f" of {found.rows:,} of the rows" if found.rows < data.train.rows else ""
    tried_C, gammas = [one.C for one in found.tried], [one.gamma or 0.0 for one in found.tried]
    edges = [
        name
        for name, at, tried in (("C", best.C, tried_C), ("gamma", best.gamma or 0.0, gammas))
        if min(tried) < max(tried) and at in {min(tried), max(tried)}
    ]
    right = f"in {folds} folds{some} it predicts most held-out rows right, {best.accuracy:.2%}"
    return [
        f"{pair}: of {len(found.tried)} settings {right}.",
        f"A better {' or '.join(edges)} may lie beyond what was tried." if edges else "",
        "The time limit ended the search early." if found.cut else "",
    ]


def _trained(result: "Result", row: "Row") -> list[str]:
    """Return sentences on the training."""
    proven = (
        f"The objective is within {result.relative_gap:.2g} of the optimum, relative to it; that is proven."
    )
    return [
        f"By {row['method']} in {row['train_seconds']:.3g} s; {result.support_vectors:,} rows are support vectors.",
        result.message,
        proven if result.certified and result.sample is None else "",
    ]


def _tested(data: "Dataset", found: "SearchResult", row: "Row") -> str:
    """Return how good the model is on rows that it was not trained on."""
    if data.test is not None and row.get("test_accuracy") is not None:
        low, high = interval(row["test_accuracy"] * data.test.rows, data.test.rows)
        right = f"{row['test_accuracy']:.2%} of the {data.test.rows:,} test rows are predicted right"
        return f"{right} (95% interval {low:.1%} to {high:.1%})."
    lacking = "There are no test rows" if data.test is None else "The test rows could not be predicted"
    if (best := found.best) is None:
        return f"{lacking}, so how good the model is is not known."
    low, high = interval(best.right, best.judged)
    right = f"In cross-validation {best.accuracy:.2%} were right (95% interval {low:.1%} to {high:.1%})"
    return f"{lacking}. {right}, a little more than on new rows, because C and gamma were chosen by it."


def interval(right: float, judged: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a proportion of which ``right`` of ``judged`` were seen.

    >>> [round(end, 3) for end in interval(8, 10)]
    [0.49, 0.943]
    """
    z, p = 1.959964, right / judged
    middle, half = p + z * z / (2 * judged), z * math.sqrt(p * (1 - p) / judged + z * z / (4 * judged**2))
    return (middle - half) / (1 + z * z / judged), (middle + half) / (1 + z * z / judged)


def _saved(model: Path, scaling: str) -> list[str]:
    """Return sentences on the files that were written."""
    ranges = f" Its scaling is in {model}.range, too." if scaling != "none" else ""
    return [
        f"The model is in {model}, a text file in LIBSVM's format.{ranges}",
        f"`fwsvm predict {shlex.quote(str(model))} ROWS` predicts others.",
    ]


def _write_report(model: Path, steps: Steps, found: "SearchResult", again: str) -> None:
    """Write the steps, the accuracies of the search and the command that trains the same model."""
    from fwsvm.files.atomic import as_utf8, write_whole

    lines = [f"# {model.name}", ""]
    lines += [f"{number}. **{title}** {said}\n" for number, (title, said) in enumerate(steps, 1)]
    if found.tried:
        lines += ["## Right in cross-validation", "", "| C | gamma | right |", "|--:|--:|--:|"]
    for one in found.tried:
        best, gamma = " *" * (one == found.best), "" if one.gamma is None else f"{one.gamma:.4g}"
        lines.append(f"| {one.C:g} | {gamma} | {one.accuracy:.2%}{best} |")
    lines += ["", "## To repeat it", "", "```sh", again, "```", ""]
    write_whole(_report_path(model), as_utf8("\n".join(lines)))
    if not is_quiet():
        click.echo(f"\nAll of this is in {_report_path(model)}.")
