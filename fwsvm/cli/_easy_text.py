"""What ``fwsvm easy`` says of each step, and its report of one page."""

import math
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fwsvm.data.dataset import Dataset, LabelledRows
    from fwsvm.experiments.record import Row
    from fwsvm.experiments.width_and_penalty import SearchResult
    from fwsvm.solvers import Result

SHOWN_CLASSES, SHOWN_LABEL = 10, 20  # classes that a table has, and letters of a label
UNIT = 1.0  # largest magnitude of sparse rows that are left as they are


def _shown(label: str) -> str:
    """Return a label of a file as a line of text and a table may show it."""
    from fwsvm.errors import clipped

    return clipped("".join(c if c.isprintable() and c not in "|`<>&\\" else "?" for c in label), SHOWN_LABEL)


def _rows_of_classes(data: "Dataset") -> list[int]:
    from fwsvm.data.labels import encode

    codes = encode(data.train.labels, data.classes)
    return [int(count) for count in np.bincount(codes, minlength=len(data.classes))]


def checked(data: "Dataset") -> list[str]:
    """Return sentences on the rows that were read."""
    counts = _rows_of_classes(data)
    parts = [
        f"{_shown(name)} ({100 * count / sum(counts):.1f} %)"
        for name, count in zip(data.classes[:SHOWN_CLASSES], counts, strict=False)
    ]
    test = f", and {data.test.rows:,} rows to test on" if data.test is not None else ""
    more = f" and {len(counts) - SHOWN_CLASSES} more" if len(counts) > SHOWN_CLASSES else ""
    said = [
        f"{data.name} has {data.train.rows:,} rows of {data.train.features:,} features{test}.",
        "Every line can be read and every value is a finite number.",
        (
            f"The classes are {', '.join(parts)}{more}: always predicting the most frequent one is right for "
            f"{100 * max(counts) / sum(counts):.1f} % of the rows, and a model must do better."
        ),
    ]
    if min(counts) < 10:
        rare = _shown(data.classes[counts.index(min(counts))])
        few = "a single row" if min(counts) == 1 else f"{min(counts)} rows only"
        said.append(f"Class {rare} has {few}: results for it are uncertain.")
    return [*said, *(f"{notice.rstrip('.')}." for notice in data.notices)]


def with_scaling(data: "Dataset") -> "tuple[Dataset, list[str]]":
    """Return the data set with the scaling that it should have, and why."""
    from scipy.sparse import issparse

    if data.scaling != "none":
        return data, [f"The data set's entry asks for scaling to {data.scaling}, which is done."]
    X = data.train.X
    values = np.asarray(X.data) if issparse(X) else np.asarray(X)
    mostly_zeros = values.size < X.shape[0] * X.shape[1] / 2
    if mostly_zeros and (not values.size or np.abs(values).max() <= UNIT):
        return data, [
            "The values are sparse and none is beyond 1, so they stay as they are: zeros stay zeros."
        ]
    if mostly_zeros and values.min() < 0:
        return data, [
            (
                "The values are sparse and some are negative, so they stay as they are: mapping them to an interval "
                "would make most zeros non-zero. If the features have unlike units, divide each by its "
                "largest magnitude first."
            )
        ]
    return replace(data, scaling="[0,1]"), [
        (
            "Each feature is mapped to the interval from 0 to 1 by its range over the training rows, so that no "
            "feature dominates the distances because of its unit."
        ),
        "The model keeps these ranges and applies them to all rows that it predicts.",
    ]


def met_in_scaling(data: "Dataset", whole: "Dataset") -> list[str]:
    """Return what scaling the rows of a data set to ``whole`` met: test rows far outside the training ranges."""
    return [f"{notice}: are they rows of the same kind?" for notice in whole.notices[len(data.notices) :]]


def chosen(found: "SearchResult", data: "Dataset", folds: int) -> list[str]:
    """Return sentences on how C and width were chosen."""
    part = f"{found.rows:,} of the {data.train.rows:,} rows" if found.rows < data.train.rows else "the rows"
    said = [
        (
            f"C is the penalty of an error on a training row, and gamma sets the width of the kernel "
            "exp(-gamma |x - z|^2), a larger gamma a narrower one; good values are found by trying: "
            f"{part} are divided into {folds} parts, and each part is predicted by models trained on the others."
        )
    ]
    best = found.best
    if best is None:
        return [*said, ("The time limit ended this before any C was tried on all parts, so C is 1 and gamma 1/(2D), D "
                "being the mean squared distance of two rows.")]  # fmt: skip
    said.append(
        f"Of {len(found.tried)} pairs C = {best.C:g} and gamma = {best.gamma:.4g} were right most often, in "
        f"{100 * best.accuracy:.2f} % of the rows held out."
    )
    values = [{one.C for one in found.tried}, {one.gamma for one in found.tried}]
    edges = [
        name
        for name, at, tried in zip(("C", "gamma"), (best.C, best.gamma), values, strict=True)
        if len(tried) > 1 and at in {min(tried), max(tried)}
    ]
    if edges:
        said.append(
            f"{' and '.join(edges)} lies on the edge of what was tried, so a better one may lie beyond."
        )
    if found.cut:
        said.append("The time limit ended the search early.")
    return said


def trained(result: "Result", row: "Row") -> list[str]:
    """Return sentences on the training of the machine."""
    of = "all rows" if result.sample is None else f"{result.sample.rows:,} rows"
    return [
        (
            f"Trained on {of} with these, by {row['method']}, in {row['train_seconds']:.3g} s: "
            f"{result.support_vectors:,} of the rows are support vectors, which the model keeps."
        ),
        f"{result.message}",
        f"Its objective is within {100 * result.relative_gap:.2g} % of the best possible"
        f"{'' if result.sample is None else ' on these'}, and that is proven."
        if result.certified
        else "How near it is to the best possible is not proven.",
    ]


def interval(right: float, judged: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion of which ``right`` of ``judged`` were seen.

    >>> [round(end, 3) for end in interval(8, 10)]
    [0.49, 0.943]
    """
    z, p = 1.959964, right / judged
    middle, half = p + z * z / (2 * judged), z * math.sqrt(p * (1 - p) / judged + z * z / (4 * judged**2))
    return (middle - half) / (1 + z * z / judged), (middle + half) / (1 + z * z / judged)


def tested(data: "Dataset", found: "SearchResult", row: "Row") -> list[str]:
    """Return sentences on how good the machine is on rows that it was not trained on."""
    if data.test is not None and row.get("test_accuracy") is not None:
        right = row["test_accuracy"] * data.test.rows
        low, high = (100 * end for end in interval(right, data.test.rows))
        return [
            (
                f"Of the {data.test.rows:,} test rows, which the model has not seen, "
                f"{100 * row['test_accuracy']:.2f} % are predicted right."
            ),
            f"On new rows of the same kind the share lies between {low:.1f} and {high:.1f} % (95 % interval).",
        ]
    lacking = "There are no test rows" if data.test is None else "The test rows could not be predicted"
    if (best := found.best) is None:
        return [f"{lacking}, and nothing was cross-validated: how good the model is is not known."]
    low, high = (100 * end for end in interval(best.right, best.judged))
    return [
        (
            f"{lacking}. In cross-validation {100 * best.accuracy:.2f} % were right (95 % interval "
            f"{low:.1f} to {high:.1f} %), a little more than can be expected for new "
            "rows, because C and gamma were chosen by it."
        ),
    ]


def saved(model: Path, data: "Dataset") -> list[str]:
    """Return sentences on the files that were written."""
    ranges = f" {model}.range has its scaling for svm-scale." if data.scaling != "none" else ""
    return [(f"The model is in {model}, a text file in LIBSVM's format.{ranges} "
            f"`fwsvm predict {shlex.quote(str(model))} ROWS` predicts others.")]  # fmt: skip


STEPS = ("check", "scale", "choose", "train", "test", "save", "report")


def interrupted(
    done: int, found: "SearchResult | None", kept: str, train: str, scaling: str, model: Path
) -> str:  # fmt: skip
    """Return what an interrupt after so many steps leaves, and how to go on."""
    at = STEPS[min(done, len(STEPS) - 1)]
    runs = f", after {found.runs:,} runs of the search" if found is not None and found.interrupted else ""
    said = [f"interrupted at step {done + 1}, {at}{runs}. {kept or 'Nothing was written'}."]
    if found is not None and (best := found.best) is not None and not kept:
        again = _command(train, scaling, model, "-C", f"{best.C:g}", "--gamma", repr(best.gamma))
        said.append(
            f"Of the {len(found.tried)} pairs tried on all parts, C = {best.C:g} and gamma = {best.gamma:.4g} were "
            f"right most often, in {100 * best.accuracy:.2f} %: `{again}` trains with them."
        )
    if not kept:
        said.append("The same command begins anew; --time-limit SECONDS has it end in time with a model.")
    return " ".join(said)


def unfinished(model: Path) -> str:
    """Return what an interrupt during the training of the machine leaves, and how to go on."""
    return (
        f"interrupted while the model was trained: {model} is what it was by then. The command at the end of its "
        "report trains it to the end, with the C and gamma that were chosen."
    )


def confused(result: "Result", data: "Dataset") -> Counter[tuple[str, str]] | None:
    """Return how often each label was predicted as which on the test rows; None without any."""
    from fwsvm.data.labels import label_text
    from fwsvm.experiments.prediction import predict

    if data.test is None:
        return None
    table: LabelledRows = data.test
    return Counter(
        zip(map(label_text, table.labels.tolist()), predict(result.model, table).labels, strict=True)
    )


def report(
    steps: Sequence[tuple[str, str]], data: "Dataset", found: "SearchResult", result: "Result", model: Path,
    confusion: Counter[tuple[str, str]] | None,
) -> str:  # fmt: skip
    """Return the report in Markdown: the steps, what was tried, what was confused, and how to repeat it."""
    from fwsvm import __version__

    lines = [f"# {model.name}", ""]
    for number, (title, said) in enumerate(steps, 1):
        lines += [f"{number}. **{title}** {said}", ""]
    if found.tried:
        lines += ["## Right in cross-validation (%)", "", *_grid(found), ""]
    if confusion is not None:
        lines += [
            "## Test rows: labels (down) and predictions (across)",
            "",
            *_confusion(data, confusion),
            "",
        ]
    lines += ["## To repeat it", "", "```sh", _again(data, result, model), "```", ""]
    settings = ", ".join(
        f"{name} {result.settings[name]}" for name in ("C", "gamma", "stop", "tolerance", "seed")
    )
    lines.append(f"fwsvm {__version__}; data {data.fingerprint[:16]}; {settings}.")
    return "\n".join(lines) + "\n"


def _grid(found: "SearchResult") -> list[str]:
    gammas = sorted({one.gamma for one in found.tried})
    at = {(one.C, one.gamma): one for one in found.tried}
    lines = [
        f"| C | {' | '.join(f'gamma {gamma:.4g}' for gamma in gammas)} |",
        "|--:" * (len(gammas) + 1) + "|",
    ]
    for C in sorted({one.C for one in found.tried}):
        cells = [at.get((C, gamma)) for gamma in gammas]
        shown = [
            "" if one is None else f"{100 * one.accuracy:.2f}" + " *" * (one == found.best) for one in cells
        ]
        lines.append(f"| {C:g} | {' | '.join(shown)} |")
    return lines


def _confusion(data: "Dataset", confusion: Counter[tuple[str, str]]) -> list[str]:
    most = [name for name, _ in Counter(data.classes).items()][:SHOWN_CLASSES]
    lines = [f"| | {' | '.join(map(_shown, most))} |", "|--:" * (len(most) + 1) + "|"]
    lines += [
        f"| {_shown(true)} | {' | '.join(f'{confusion[true, said]:,}' for said in most)} |" for true in most
    ]
    if len(data.classes) > SHOWN_CLASSES:
        lines += ["", f"The first {SHOWN_CLASSES} of {len(data.classes)} classes."]
    return lines


def _again(data: "Dataset", result: "Result", model: Path) -> str:
    """Return the command that trains the same machine."""
    used = {name: result.settings[name] for name in ("method", "C", "gamma", "seed")}
    return _command(
        data.name, data.scaling, model, "--method", str(used["method"]), "-C", repr(used["C"]),
        "--gamma", repr(used["gamma"]), "--seed", str(used["seed"]),
    )  # fmt: skip


def _command(name: str, scaling: str, model: Path, *options: str) -> str:
    """Return the command that trains on the rows of that name, scaled so."""
    scale = ["--scale", scaling] if scaling != "none" else []
    return shlex.join(["fwsvm", "train", *options, *scale, "--model", str(model), name])
