"""``fwsvm scale``: LIBSVM's svm-scale."""

import contextlib
import sys
from pathlib import Path

import click
from click.core import ParameterSource

from fwsvm.cli import _types
from fwsvm.cli._files import refuse_overwriting
from fwsvm.cli._lines import note
from fwsvm.cli._options import quiet_option, zero_based_option
from fwsvm.cli._streams import end_where_unread
from fwsvm.cli._types import FiniteFloat
from fwsvm.errors import UsageError


@click.command()
@click.option(
    "-l", "--lower", type=FiniteFloat(), default=-1.0, show_default=True, help="What minima are mapped to."
)
@click.option(
    "-u", "--upper", type=FiniteFloat(), default=1.0, show_default=True, help="What maxima are mapped to."
)
@click.option(
    "-y",
    "--target",
    type=(FiniteFloat(), FiniteFloat()),
    metavar="LOWER UPPER",
    help="Scale labels, too, to this interval.",
)
@click.option("-s", "--save", type=_types.ANY, help="Save the ranges to this file.")
@click.option("-r", "--restore", type=_types.ANY, help="Take interval and ranges from this file.")
@click.option("-o", "--output", type=_types.ANY, help="Write to this file instead of stdout.")
@click.option(
    "--digits",
    type=click.IntRange(1, 17),
    default=6,
    show_default=True,
    help="Significant digits; 17 lose nothing.",
)
@zero_based_option
@quiet_option
@click.argument("data")
def command(
    lower: float,
    upper: float,
    target: tuple[float, float] | None,
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
    if save and restore:
        raise UsageError("-s and -r cannot be used together: restored ranges are saved already")
    if target and restore:
        raise UsageError(
            "-y and -r cannot be used together: give -y with -s, and the file then scales labels, too"
        )
    given = click.get_current_context().get_parameter_source
    if restore and any(given(name) is ParameterSource.COMMANDLINE for name in ("lower", "upper")):
        raise UsageError("-l, -u and -r cannot be used together: the interval is that of the restored ranges")
    for low, high in ((lower, upper), target or (0.0, 1.0)):
        if not high > low:
            raise UsageError("the lower end of an interval must be below its upper end")
    refuse_overwriting([data, restore], [save, output])
    from fwsvm.data import inputs, ranges
    from fwsvm.files.atomic import replacing, require_space

    table, notices = inputs.read_rows(data, zero_based=zero_based)
    X = table.X
    rule = (
        ranges.restore_ranges(restore, X)
        if restore
        else ranges.fit_ranges(X, table.labels, lower, upper, target)
    )
    if output:
        require_space(
            output,
            ranges.least_bytes(X, rule),
            f"{X.shape[0]:,} rows whose zeros are scaled to other values",
            "use -l 0, which keeps the zeros of features without negative values",
        )
    if save:
        ranges.write(save, rule)
    if not output:
        end_where_unread()
    written = before = 0
    with contextlib.ExitStack() as opened:
        stream = opened.enter_context(replacing(output)) if output else sys.stdout
        for some in ranges.scaled_text(X, table.labels, rule, digits):
            stream.write(some.text)
            written, before = written + some.entries, before + some.before
    for notice in (*notices, *rule.notices):
        note(f"warning: {notice}")
    if written > before:
        note(
            f"warning: {written:,} values are not zero, {before:,} were before; "
            "where values are not negative and most of them zero, use -l 0 rather than -l -1"
        )
