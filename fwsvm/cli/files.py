"""``fwsvm scale``, ``check``, ``subset`` and ``summary``: LIBSVM's tools for data files."""

import contextlib
import math
import sys
from pathlib import Path
from typing import Any

import click

from fwsvm import exit_codes
from fwsvm.cli._lines import note, print_facts
from fwsvm.cli._options import (
    PATH,
    data_argument,
    label_option,
    quiet_option,
    refuse_outputs,
    zero_based_option,
)
from fwsvm.errors import UsageError, counted, listed

LARGEST = 1e300  # end of an interval, so that its length is finite, too


@click.command()
@click.option("-l", "--lower", type=float, metavar="NUMBER", help="What minima are mapped to.  [default: -1]")
@click.option("-u", "--upper", type=float, metavar="NUMBER", help="What maxima are mapped to.  [default: 1]")
@click.option("-s", "--save", type=PATH, help="Save the ranges to this file.")
@click.option("-r", "--restore", type=PATH, help="Take interval and ranges from this file.")
@click.option("-o", "--output", type=PATH, help="Write to this file instead of stdout.")
@zero_based_option
@label_option
@quiet_option
@data_argument
def scale(
    lower: float | None,
    upper: float | None,
    save: Path | None,
    restore: Path | None,
    output: Path | None,
    zero_based: bool | None,
    label: str | None,
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
    import numpy as np
    from scipy.sparse import csr_array

    from fwsvm import scaling
    from fwsvm.data import inputs, libsvm_tools
    from fwsvm.files.atomic import replacing

    if restore and (save, lower, upper) != (None, None, None):
        raise UsageError("-r takes interval and ranges from its file: leave out -l, -u and -s")
    low = -1.0 if lower is None else lower
    high = 1.0 if upper is None else upper
    if not -LARGEST < low < high < LARGEST:
        raise UsageError("the ends of an interval must be finite numbers, the lower below the upper")
    refuse_outputs([data, restore], ("--save", save), ("--output", output))
    table = inputs.read_rows(data, zero_based=zero_based, label=label)
    X = table.X
    notices = table.notices
    if restore:
        rule = libsvm_tools.read_ranges(restore)
        new = np.setdiff1d(inputs.features_in_use(X), rule.features) + 1
        if len(new):
            notices += (f"features that {restore} lacks become 0: {listed(map(str, new))}",)
    else:
        rule = scaling.fit(X, "[-1,1]")._replace(lower=low, upper=high)
    if save:
        with replacing(save) as stream:
            stream.write(rule.text())
    written = 0
    before = int(np.count_nonzero(X.data if isinstance(X, csr_array) else X))
    with replacing(output) if output else contextlib.nullcontext(sys.stdout) as stream:
        for text in libsvm_tools.scaled_text(X, table.labels, rule):
            stream.write(text)
            written += text.count(":")
    if written > before:
        denser = (
            f"{written:,} values are not zero, {before:,} were before; where values are not negative and most of them "
            "zero, use -l 0 rather than -l -1"
        )
        notices += (denser,)
    for notice in notices:
        note(f"warning: {notice}")


@click.command()
@zero_based_option
@label_option
@click.argument("file", type=PATH)
def check(zero_based: bool | None, label: str | None, file: Path) -> None:
    """List every line of FILE that training refuses.

    Of a .npy file the first error is named.

    The exit code is 0 if there is no error and 3 if there is one, so that scripts can rely on it.
    """
    from fwsvm.data import formats

    faults = formats.faults(file, formats.loader_of(file, zero_based=zero_based, label=label))
    for line, reason in faults:
        click.echo(f"line {line}: {reason}")
    click.echo(f"Found {counted(len(faults), 'line')} with error." if faults else "No error.")
    sys.exit(exit_codes.DATA if faults else 0)


@click.command()
@click.option(
    "-s",
    "--method",
    type=click.Choice(["0", "1"]),
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
@label_option
@data_argument
@click.argument("size", type=int)
@click.argument("output", type=PATH, required=False)
@click.argument("rest", type=PATH, required=False)
def subset(
    method: str, seed: int, label: str | None, data: str, size: int, output: Path | None, rest: Path | None
) -> None:
    """Draw SIZE rows of DATA.

    They are written in LIBSVM's format to OUTPUT (else stdout), and all others to REST. DATA is a file, or a name of
    `fwsvm data list`, whose training rows are taken, not scaled. Lines that are in LIBSVM's format stay as they are.
    Rows stay in their order. The same seed draws the same rows.
    """
    import numpy as np

    from fwsvm.data import formats, libsvm_tools
    from fwsvm.files.atomic import replacing

    for each in (output, rest):
        if each and each.suffix in formats.SUFFIXES:
            raise UsageError(
                f"{each}: rows are written in LIBSVM's format; name a file without {each.suffix}"
            )
    refuse_outputs([data], ("OUTPUT", output), ("REST", rest))
    classes, text_of = libsvm_tools.lines_of(data, label)
    chosen = libsvm_tools.draw(classes, size, seed, stratified=method == "0")
    if output is None:
        sys.stdout.writelines(text_of(chosen))
        return
    left = np.setdiff1d(np.arange(len(classes)), chosen)
    for path, numbers in ((output, chosen), (rest, left)):
        if path is not None:
            with replacing(path) as stream:
                stream.writelines(text_of(numbers))


@click.command()
@zero_based_option
@label_option
@data_argument
def summary(zero_based: bool | None, label: str | None, data: str) -> None:
    """Show size, classes, values and kernel widths of DATA.

    DATA is a file, or a name of `fwsvm data list`, whose training rows are taken as they are in their files. Widths
    follow from D, the mean squared distance of two rows.
    """
    from fwsvm.data import inputs
    from fwsvm.kernels.kernel import family
    from fwsvm.kernels.widths import mean_squared_distance, sigma2_of

    table = inputs.read_rows(data, zero_based=zero_based, label=label)
    distance = mean_squared_distance(table.X)
    widths: dict[str, Any] = {}
    for rule, width in family("rbf").widths.items() if 0 < distance < math.inf else ():
        gamma = width.gamma(width.spread(table.X))
        widths[rule] = {"formula": width.formula, "gamma": gamma, "sigma2": sigma2_of(gamma)}
    print_facts(
        {
            "file": data,
            **inputs.counts_of(table),
            "mean_squared_distance": distance if math.isfinite(distance) else None,
            "widths": widths,
            "notices": table.notices,
        }
    )
