"""``fwsvm check``: LIBSVM's tools/checkdata.py."""

from typing import TYPE_CHECKING

import click

from fwsvm import exit_codes
from fwsvm.cli._options import zero_based_option

if TYPE_CHECKING:
    from fwsvm.data.dataset import LabelledRows


@click.command()
@zero_based_option
@click.option(
    "--lenient",
    is_flag=True,
    help="Let pass what fwsvm reads but LIBSVM does not: comments, empty lines, names as labels, qid:, and a "
    "missing last line end.",
)
@click.argument("data")
def command(zero_based: bool | None, lenient: bool, data: str) -> None:
    """List every line of DATA that is not in LIBSVM's format.

    DATA is a file, or a name of `fwsvm data list` whose training files are in LIBSVM's format.

    The exit code is 0 if there is no error and 3 if there is one, so that scripts can rely on it.
    """
    from fwsvm import scaling
    from fwsvm.cli._lines import echo
    from fwsvm.data import inputs, labels
    from fwsvm.data.formats import svmlight

    found, files = 0, inputs.files_of(data)
    classes: set[str] = set()
    ranges = [scaling.Seen() for _ in files]
    for file, seen in zip(files, ranges, strict=True):

        def look(table: "LabelledRows", seen: scaling.Seen = seen) -> None:
            classes.update(labels.classes(table.labels))
            seen.add(table.X)

        for line, reason in svmlight.problems(file, zero_based=zero_based, strict=not lenient, look=look):
            click.echo(f"{file}, line {line}: {reason}" if len(files) > 1 else f"line {line}: {reason}")
            found += 1
    if found:
        click.echo(f"Found {found} lines with error.")
        raise SystemExit(exit_codes.DATA)
    click.echo("No error.")
    if len(classes) == 1:
        echo(f"warning: every row has the label {classes.pop()}; it takes two classes to train", 2, err=True)
    if uneven := next(filter(None, (seen.uneven for seen in ranges)), None):
        remedy = "`fwsvm train --scale '[0,1]'`"
        echo(f"warning: {uneven.sentence('', remedy)}", 2, err=True)
