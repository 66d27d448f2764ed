"""``fwsvm check``: LIBSVM's tools/checkdata.py."""

from pathlib import Path

import click


@click.command()
@click.option("--zero-based", is_flag=True, help="Indices start at 0.")
@click.option(
    "--lenient",
    is_flag=True,
    help="Let pass what fwsvm reads but LIBSVM does not: comments, empty lines, names as labels, qid:, and a "
    "missing last line end.",
)
@click.argument("data", type=click.Path(path_type=Path))
def command(zero_based: bool, lenient: bool, data: Path) -> None:
    """Check that DATA is in LIBSVM's format, and list every line that is not.

    The exit code is 0 if there is no error and 3 if there is one, so that scripts can rely on it.
    """
    from fwsvm.data import labels, svmlight
    from fwsvm.errors import DataError

    found = 0
    for line, reason in svmlight.problems(data, zero_based=zero_based, strict=not lenient):
        click.echo(f"line {line}: {reason}")
        found += 1
    if found:
        click.echo(f"Found {found} lines with error.")
        raise SystemExit(DataError.exit_code)
    click.echo("No error.")
    classes = labels.classes(svmlight.read(data, zero_based=zero_based)[0].labels)
    if len(classes) == 1:
        click.echo(f"warning: every row has the label {classes[0]}; it takes two classes to train", err=True)
