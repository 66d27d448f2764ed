"""``fwsvm scale``, ``check``, ``subset`` and ``summary``: LIBSVM's tools for data files."""

import contextlib
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fwsvm import exit_codes
from fwsvm.cli._lines import align, echo, note
from fwsvm.cli._options import (
    PATH,
    FiniteFloat,
    NearestChoice,
    data_argument,
    json_option,
    quiet_option,
    zero_based_option,
)
from fwsvm.cli._outputs import refuse_overwriting
from fwsvm.errors import UsageError, counted, listed

if TYPE_CHECKING:
    from fwsvm.data.dataset import LabelledRows

MAX_LISTED_CLASSES = 30
OVERFLOW = "the mean squared distance overflows double precision; scale the data first (fwsvm scale)"
FINITE = FiniteFloat()


@click.command()
@click.option(
    "-l", "--lower", type=FINITE, default=-1.0, show_default=True, help="What minima are mapped to."
)
@click.option("-u", "--upper", type=FINITE, default=1.0, show_default=True, help="What maxima are mapped to.")
@click.option("-s", "--save", type=PATH, help="Save the ranges to this file.")
@click.option("-r", "--restore", type=PATH, help="Take interval and ranges from this file.")
@click.option("-o", "--output", type=PATH, help="Write to this file instead of stdout.")
@click.option(
    "--digits",
    type=click.IntRange(1, 17),
    default=6,
    show_default=True,
    help="Significant digits; 17 lose nothing.",
)
@zero_based_option
@quiet_option
@data_argument
def scale(
    lower: float,
    upper: float,
    save: Path | None,
    restore: Path | None,
    output: Path | None,
    digits: int,
    zero_based: bool | None,
    data: str,
) -> None:
    """Scale every feature of DATA to an interval, as svm-scale does.

    DATA is a file, or a name of `fwsvm data list`, whose training rows are taken as they are in their files.
    Options, output and range files are svm-scale's. For test data, save the ranges of the training data with
    -s and use them with -r. The output counts features from 1:

    \b
        fwsvm scale -l 0 -s ranges train > train.scaled
        fwsvm scale -r ranges test > test.scaled
    """  # noqa: D301, a literal backslash-b tells click to keep the lines
    from fwsvm import scaling
    from fwsvm.data import inputs, ranges
    from fwsvm.files.atomic import replacing

    given = click.get_current_context().get_parameter_source
    refused = {
        "-s and -r cannot be used together: restored ranges are saved already": save,
        "-l, -u and -r cannot be used together: the interval is that of the restored ranges": any(
            given(name) is ParameterSource.COMMANDLINE for name in ("lower", "upper")
        ),
    }
    for why, found in refused.items():
        if restore and found:
            raise UsageError(why)
    if not lower < upper:
        raise UsageError("the lower end of an interval must be below its upper end")
    refuse_overwriting([data, restore], [save, output])
    table, notices = inputs.read_rows(data, zero_based=zero_based)
    X = table.X
    if restore:
        rule = ranges.read(restore)
        if new := ranges.unknown_features(X, rule):
            said = f"{len(new)} features are not in {restore} and become 0: {listed(map(str, new))}"
            notices = (*notices, said)
    else:
        rule = scaling.fit(X, "[-1,1]")._replace(lower=lower, upper=upper)
    if save:
        with replacing(save) as stream:
            stream.write(rule.text())
    written = before = 0
    with replacing(output) if output else contextlib.nullcontext(sys.stdout) as stream:
        for some in ranges.scaled_text(X, table.labels, rule, digits):
            stream.write(some.text)
            written, before = written + some.entries, before + some.before
    denser = (
        f"{written:,} values are not zero, {before:,} were before; where values are not negative and most of them "
        "zero, use -l 0 rather than -l -1"
    )
    for notice in (*notices, *[denser] * (written > before)):
        note(f"warning: {notice}")


@click.command()
@zero_based_option
@data_argument
def check(zero_based: bool | None, data: str) -> None:
    """List every line of DATA that training refuses.

    DATA is a file, or a name of `fwsvm data list` whose training files are in LIBSVM's format. A table (.csv, .npy) is
    read, and its first error named.

    The exit code is 0 if there is no error and 3 if there is one, so that scripts can rely on it.
    """
    from fwsvm.data import formats, inputs, labels
    from fwsvm.data.formats import svmlight

    wrong, files = set(), inputs.files_of(data)
    classes: set[str] = set()

    def look(table: "LabelledRows") -> None:
        classes.update(labels.classes(table.labels))

    for file in files:
        if (loader := formats.loader_of(file, unlabelled=True))["format"] != "svmlight":
            formats.read_path(file, loader)
            continue
        for line, reason in svmlight.problems(file, look, zero_based=zero_based):
            click.echo(f"{file}, line {line}: {reason}" if len(files) > 1 else f"line {line}: {reason}")
            wrong.add((file, line))
    if wrong:
        click.echo(f"Found {counted(len(wrong), 'line')} with error.")
        raise SystemExit(exit_codes.DATA)
    click.echo("No error.")
    if len(classes) == 1:
        echo(f"warning: every row has the label {classes.pop()}; it takes two classes to train", 2, err=True)


@click.command()
@click.option(
    "-s",
    "--method",
    type=NearestChoice(["0", "1"]),
    default="0",
    show_default=True,
    help="0: each class keeps its share. 1: each row has the same chance.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the draw; another seed draws other rows.",
)
@data_argument
@click.argument("size", type=int)
@click.argument("output", type=PATH, required=False)
@click.argument("rest", type=PATH, required=False)
def subset(method: str, seed: int, data: str, size: int, output: Path | None, rest: Path | None) -> None:
    """Draw SIZE rows of DATA.

    They are written to OUTPUT (else stdout), and all others to REST. DATA is a file, whose lines stay as they are, or a
    name of `fwsvm data list`, whose training rows are written in LIBSVM's format, not scaled. Rows stay in their order.
    The same seed draws the same rows.
    """
    import numpy as np

    from fwsvm.data import subset as draws
    from fwsvm.files.atomic import replacing

    refuse_overwriting([data], [output, rest])
    lines = draws.lines_of(data)
    chosen = (draws.stratified if method == "0" else draws.uniform)(lines.classes, size, seed)
    if output is None:
        for line in lines.of(chosen):
            click.echo(line, nl=False)
        return
    left = np.setdiff1d(np.arange(len(lines.classes)), chosen)
    for path, numbers in ((output, chosen), (rest, left)):
        if path is not None:
            with replacing(path) as stream:
                stream.writelines(lines.of(numbers))


@click.command()
@zero_based_option
@json_option
@data_argument
def summary(zero_based: bool | None, as_json: bool, data: str) -> None:
    """Show size, classes, values and kernel widths of DATA.

    DATA is a file, or a name of `fwsvm data list`, whose training rows are taken as they are in their files.
    """
    from fwsvm.data import inputs
    from fwsvm.kernels.kernel import family
    from fwsvm.kernels.widths import mean_squared_distance, sigma2_of

    table, notices = inputs.read_rows(data, zero_based=zero_based)
    distance = mean_squared_distance(table.X)
    found: dict[str, Any] = {"file": data, **inputs.counts_of(table), "widths": {}}
    found["mean_squared_distance"] = distance if distance < math.inf else None  # JSON has no infinity
    for rule, width in family("rbf").widths.items() if 0 < distance < math.inf else ():
        gamma = width.gamma(table.X)
        found["widths"][rule] = {"formula": width.formula, "gamma": gamma, "sigma2": sigma2_of(gamma)}
    found["notices"] = [*notices, *[OVERFLOW] * (distance == math.inf)]
    click.echo(json.dumps(found, indent=2, ensure_ascii=False) if as_json else "\n".join(_lines(found)))


def _lines(found: dict[str, Any]) -> list[str]:
    m, counts, distance = found["rows"], [*found["classes"].items()], found["mean_squared_distance"]
    more = len(counts) - MAX_LISTED_CLASSES
    rows = [
        ("rows", f"{m:,}"),
        ("features", f"{found['features']:,}, {found['features_in_use']:,} in use"),
        ("non-zeros", f"{found['nonzeros']:,}, {found['nonzeros'] / m:.4g} a row"),
        ("density", f"{found['density']:.4g}"),
        ("rows without non-zeros", f"{found['rows_without_nonzeros']:,}"),
        ("values", f"{found['minimum']:.6g} to {found['maximum']:.6g}"),
        ("classes", f"{len(counts):,}"),
        *((f"  {label}", f"{count:,} ({count / m:.1%})") for label, count in counts[:MAX_LISTED_CLASSES]),
        *([("  ...", f"{more:,} more")] if more > 0 else []),
        ("mean squared distance D", "overflows" if distance is None else f"{distance:.6g}"),
        *(
            (f"  gamma = {width['formula']}", f"{width['gamma']:.6g} (--width-rule {rule})")
            for rule, width in found["widths"].items()
        ),
    ]
    notes = [f"note: {notice}" for notice in found["notices"]]
    return [found["file"], *(f"  {line}" for line in align(rows)), *notes]
